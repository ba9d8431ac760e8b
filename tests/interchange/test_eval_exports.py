"""Reports on runs of eval tasks: whatever an agent wrote stays text."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import UTC, datetime
from types import ModuleType

import pytest

from fairtrial.analysis.eval_reading import eval_reading
from fairtrial.interchange.eval_exports import html, markdown
from fairtrial.interchange.eval_exports.export import EvalExport
from fairtrial.interchange.experiment_exports.markdown import MAX_CHARACTERS
from fairtrial.model.case import Case
from fairtrial.model.experiment import Experiment, ExperimentState, Provenance, Status, Totals
from fairtrial.model.score import Score
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Verdict

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script> ``` | @team [x](http://evil) \u202e"


def a_trial(case: str, number: int, *, passed: bool, said: str = "") -> Trial:
    detail = {"stdout": said, "stderr": "", "exit_status": 1}
    score = Score("verifier", float(passed), passed, said or None, detail=detail)
    return Trial(
        key=TrialKey(case, "default", "main", number),
        verdict=Verdict.PASSED if passed else Verdict.FAILED,
        cause=None,
        reason=None if passed else f"verifier: {said}",
        score=float(passed),
        scores=(score,),
        output={
            "patch": f"+{said}\n",
            "session": "ses_1",
            "leaks": [f"event 3: saw {said}"] if said else [],
            "isolation": {"level": "bwrap", "held": [], "hits": [], "image": None},
        },
        started_at=NOON,
        duration_s=1.0,
        tries=1,
        seed=1,
    )


def an_export(trials: list[Trial], names: tuple[str, ...]) -> EvalExport:
    cases = [Case(id=name, input="Do", metadata={"reference": False}) for name in names]
    reading = eval_reading("s", (2, ("main",)), cases, dict.fromkeys(names, False), trials)
    state = ExperimentState(
        experiment=Experiment(
            id="exp_1",
            name=HOSTILE,
            dataset="evals/s",
            dataset_number=1,
            dataset_digest="d",
            arms=("main",),
            trials=2,
            n_cases=len(names),
            seed=1,
            spec={},
            policy={},
            identity="i",
            provenance=Provenance("1", "3.11", "h", "/"),
            created_at=NOON,
        ),
        status=Status.FINISHED,
        status_reason=None,
        totals=Totals(passed=1, failed=len(trials) - 1),
        finished_at=NOON,
        heartbeat_at=NOON,
    )
    return EvalExport(state, reading, HOSTILE, lambda: iter(trials))


def written(writer: ModuleType, export: EvalExport) -> str:
    stream = io.StringIO()
    writer.write(export, stream)
    return stream.getvalue()


def the_export() -> EvalExport:
    trials = [a_trial("a", 1, passed=True), a_trial("a", 2, passed=False, said=HOSTILE)]
    return an_export(trials, ("a",))


def test_the_page_escapes_what_agents_wrote_and_asks_nothing_of_the_network() -> None:
    page = written(html, the_export())
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\u202e" not in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert not re.findall(r'(?:src|href)="', page)
    for what in ("fairtrial sessions show ses_1", "draft, no reference", "1 / 2", "pass^2"):
        assert what in page


def test_the_comment_is_inert() -> None:
    text = written(markdown, the_export())
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "<script>" not in outside
    assert "@team" not in outside
    assert "[x]" not in outside
    assert text.startswith(markdown.MARKER)
    assert "| <code>a</code> | 1/2 | flaky, draft, no reference |" in text
    assert "<code>fairtrial sessions show ses&#95;1</code>" in text


@pytest.mark.parametrize("writer", [html, markdown])
def test_a_large_run_makes_no_endless_document(writer: ModuleType) -> None:
    names = tuple(f"t{n:04}" for n in range(400))
    trials = [a_trial(name, 1, passed=False, said="x" * 2_000) for name in names]
    text = written(writer, an_export(trials, names))
    if writer is markdown:
        assert len(text) <= MAX_CHARACTERS
        assert "more are left out" in text
    else:
        assert "300 of 400 are on this page" in text


def test_a_run_without_a_trial_is_told() -> None:
    empty = an_export([], ("a",))
    unfinished = replace(empty, state=replace(empty.state, status=Status.INTERRUPTED))
    assert "Not finished" in written(markdown, unfinished)
    assert "Not finished" in written(html, unfinished)
