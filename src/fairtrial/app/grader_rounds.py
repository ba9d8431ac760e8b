"""Which graders are worth asking twice, and how much they differed when they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairtrial.engine.regrade import Pass
from fairtrial.graders.grading import DEFAULT_THRESHOLD
from fairtrial.graders.in_process import InProcessGrader
from fairtrial.model.regrade import GraderNoise
from fairtrial.model.trial import TrialKey
from fairtrial.model.verdict import Verdict
from fairtrial.ports import Grader

_PASSED = {Verdict.PASSED: True, Verdict.FAILED: False, Verdict.UNDECIDED: None}


def repeats(graders: Sequence[Grader]) -> bool:
    """Return whether any grader could answer differently when asked again."""
    return not all(isinstance(grader, InProcessGrader) for grader in graders)


def noise_of(
    graders: Sequence[Grader], passes: Mapping[TrialKey, Sequence[Pass]]
) -> tuple[GraderNoise, ...]:
    """Return the noise of the verdict, then of each grader in order."""
    from fairtrial.analysis.grader_noise import (  # noqa: PLC0415  # numpy: only for several rounds
        grader_noise,
        no_noise,
        verdict_noise,
    )

    if not repeats(graders):
        return tuple(no_noise(grader.spec.name) for grader in graders)
    rounds = list(passes.values())
    found = [verdict_noise([[_PASSED[one.verdict] for one in trial] for trial in rounds])]
    for grader in graders:
        spec = grader.spec
        if isinstance(grader, InProcessGrader):
            found.append(no_noise(spec.name))
            continue
        values = [[one.values.get(spec.name) for one in trial] for trial in rounds]
        threshold = DEFAULT_THRESHOLD if spec.threshold is None else spec.threshold
        found.append(grader_noise(spec.name, values, threshold))
    return tuple(found)
