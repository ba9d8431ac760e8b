"""A resume after a grader's file was edited: it would mix two graders in one experiment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fairtrial.app.attempting import critic_of
from fairtrial.engine.plan import Plan
from fairtrial.graders.scripts import script_digests
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import Experiment
from fairtrial.model.json import Json


def refuse_edited_graders(experiment: Experiment, plan: Plan) -> None:
    """Refuse to go on with an experiment whose graders run other files than when it began.

    Raises:
        UsageError: the file of a grader was edited.
    """
    before: Mapping[str, Json] = experiment.spec.get("grader_scripts") or {}
    folder = Path(experiment.spec["base_dir"])
    critic = critic_of(plan)
    graders = plan.graders if critic is None else (critic, *plan.graders)
    now = script_digests((grader, folder) for grader in graders if grader.name in before)
    edited = [name for name, digest in now.items() if digest != before[name]]
    if edited:
        names = ", ".join(edited)
        raise UsageError(
            f"the file of grader {names} was edited since {experiment.id} began",
            why="the trials on record were graded by the old one, and the rest would be by the new",
            fix="put the file back as it was and resume; or start a new run without --resume. What "
            f"is on record can be graded anew: fairtrial exp regrade {experiment.id}",
        )
