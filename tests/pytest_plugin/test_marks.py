"""What a mark may say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.model.verdict import Verdict
from fairtrial.pytest_plugin.marks import mark_of
from fairtrial.pytest_plugin.session import _Judged
from fairtrial.testing.store.facts import a_trial

CASES = [{"input": 1}]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"threshold": True}, "threshold must be a share from 0 to 1, got True"),
        ({"row_threshold": False}, "row_threshold must be a share"),
        ({"threshold": float("nan")}, "threshold must be a share"),
        ({"threshold": 1.01}, "threshold must be a share"),
        ({"name": 5}, "name must be a text, got 5"),
        ({"name": " "}, "is no name of an experiment"),
        ({"name": "a\nb"}, "is no name of an experiment"),
        ({"name": "a@1"}, "is no name of an experiment"),
        ({"name": "x" * 201}, "is no name of an experiment"),
        ({"split": 5}, "split must be a text"),
        ({"cases": None, "dataset": 5}, "dataset must be a text"),
        ({"graders": "exact"}, "graders must be a list"),
        ({"graders": None}, "graders must be a list"),
        ({"graders": len}, "graders must be a list"),
        ({"trials": True}, "trials must be a whole number"),
        ({"trials": 100_001}, "trials must be a whole number"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], said: str) -> None:
    mark = pytest.mark.fairtrial(**{"cases": CASES, **given}).mark
    with pytest.raises(UsageError, match=said):
        mark_of([mark], SimpleNamespace(option=SimpleNamespace()))  # type: ignore[arg-type]


def test_a_pass_that_must_not_be_stays_a_failure() -> None:
    judged = _Judged.of([a_trial(verdict=Verdict.PASSED)], 1.0)
    told = "[XPASS(strict)] known"
    report = pytest.TestReport("a", ("a", 1, "a"), {}, "failed", told, "call")
    judged.put(report)
    assert (report.outcome, report.longrepr) == ("failed", told)
