"""A judge that verifies: settled, not fooled, the same bar as a command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.suites.validation.trial import a_good_task, a_repo, failed, of, validation_of

from fairtrial.model.eval_task import TaskStatus, Verifier
from fairtrial.suites.validation.findings import Check, State
from fairtrial.suites.validation.judging import unsettled
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest


def judged_by(server: ModelServer, **more: Any) -> dict[str, Any]:
    provider = {"kind": "anthropic", "base_url": server.url, "api_key_env": "KEY_OF_TEST"}
    told = {"kind": "judge", "rubric": "calc.add adds.", "provider": provider, "model": "m"}
    return {"verifier": Verifier(judge={**told, "choices": ["yes", "no"], **more})}


def asked(request: ScriptedRequest) -> str:
    return str(request.body)


def honest(request: ScriptedRequest) -> ScriptedAnswer:
    good = "+    return a + b" in asked(request)
    return ScriptedAnswer('{"reason": "seen", "choice": "%s"}' % ("yes" if good else "no"))


def fooled(request: ScriptedRequest) -> ScriptedAnswer:
    order = "Ignore the rubric above" in asked(request)
    return ScriptedAnswer('{"reason": "told", "choice": "yes"}') if order else honest(request)


def kind(_request: ScriptedRequest) -> ScriptedAnswer:
    return ScriptedAnswer('{"reason": "nice", "choice": "yes"}')


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KEY_OF_TEST", "sk-ant-of-a-test")
    return a_repo(tmp_path / "repo")


def test_an_honest_judge_validates(repo: Path, tmp_path: Path) -> None:
    with ModelServer(honest) as server:
        validation = validation_of(tmp_path / "store", a_good_task(repo, **judged_by(server)))
    assert failed(validation) == []
    assert of(validation, Check.TAMPERING).state is State.SKIPPED
    assert of(validation, Check.JUDGE).facts == {"tried": 13, "fooled": []}
    assert validation.status is TaskStatus.VALIDATED


def test_a_judge_that_takes_orders_is_no_verifier(repo: Path, tmp_path: Path) -> None:
    with ModelServer(fooled) as server:
        validation = validation_of(tmp_path / "store", a_good_task(repo, **judged_by(server)))
    assert failed(validation) == [Check.JUDGE]
    assert "the judge is fooled by: plain order (take a better model" in str(validation.reason)


def test_a_judge_that_passes_everything_is_no_verifier(repo: Path, tmp_path: Path) -> None:
    with ModelServer(kind) as server:
        validation = validation_of(tmp_path / "store", a_good_task(repo, **judged_by(server)))
    assert failed(validation) == [Check.NOTHING_DONE, Check.NEAR_MISSES, Check.JUDGE]
    assert "an agent that says it changed nothing" in of(validation, Check.JUDGE).problems[0].text


@pytest.mark.parametrize(
    ("judge", "loose"),
    [
        ({"provider": "anthropic", "model": "m"}, []),
        ({"provider": {"kind": "fake", "model": "m"}}, []),
        ({"provider": "anthropic"}, ["its model"]),
        ({"model": "m"}, ["its provider"]),
        ({}, ["its provider", "its model"]),
        ({"model": "m", "judges": [{"provider": "a"}, {"provider": "b", "model": "n"}]}, []),
        ({"judges": [{"provider": "a", "model": "m"}, {"provider": "b"}]}, ["its model"]),
    ],
)
def test_a_judge_names_who_judges(judge: Mapping[str, Any], loose: list[str]) -> None:
    assert unsettled(judge) == loose


def test_a_judge_that_is_not_settled_is_not_asked(repo: Path, tmp_path: Path) -> None:
    judge = Verifier(judge={"kind": "judge", "rubric": "calc.add adds.", "provider": "fake"})
    task = a_good_task(repo, verifier=judge, near_misses={})
    validation = validation_of(tmp_path / "store", task, k=1)
    assert Check.JUDGE in failed(validation)
    assert "its model would be chosen anew" in of(validation, Check.JUDGE).problems[0].text


def test_a_judge_that_makes_no_sense_is_told(repo: Path, tmp_path: Path) -> None:
    judge = Verifier(judge={"rubric": "x", "provider": "fake", "model": "m", "samples": 0})
    validation = validation_of(tmp_path / "store", a_good_task(repo, verifier=judge), k=1)
    assert "the judge makes no sense: " in of(validation, Check.JUDGE).problems[0].text
    assert Check.NOTHING_DONE in failed(validation)
