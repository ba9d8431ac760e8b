from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fairtrial import (
    Case,
    Dataset,
    Eval,
    Experiment,
    InfraError,
    Score,
    TaskCall,
    compare,
    eval_async,
    grader,
)
from fairtrial.cli.main import main
from fairtrial.model.errors import FairtrialError, NotFoundError, UsageError
from fairtrial.model.experiment import Status
from fairtrial.sdk.progress import is_wanted

CASES: list[Case[str, str] | dict[str, str]] = [
    Case("a", "A", id="first"),
    {"input": "b", "expected": "B"},
    Case("c", "C"),
]


def upper(text: str) -> str:
    return text.upper()


def same(output: str, expected: str) -> bool:
    return output == expected


pytestmark = pytest.mark.usefixtures("folder")


def test_cases_a_task_and_graders_make_an_experiment() -> None:
    @grader(threshold=0.9, required=False)
    async def near(*, input: str, output: str, expected: str) -> Score:  # noqa: A002
        await asyncio.sleep(0)
        return Score(0.5, f"{input} {output} {expected}")

    found = Eval("letters", CASES, upper, [same, near, "exact"], trials=2, seed=1)
    assert (found.passed, found.failed, found.undecided) == (6, 0, 0)
    assert found.means == {"same": 1.0, "near": 0.5, "exact": 1.0}
    assert found.pass_rate.estimate == 1.0
    assert {row.key.case_id for row in found.rows} >= {"first"}
    assert (
        found.to_dicts()[0]["scores"][1]["reason"].lower().startswith(("a a a", "b b b", "c c c"))
    )
    provenance = found.report.state.experiment.provenance
    assert (provenance.source, provenance.environment) == ("sdk", "dev")


def test_where_it_ran_is_told_or_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Eval("letters", CASES, upper, environment="staging").provenance.environment == "staging"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_SHA", "abc")
    monkeypatch.setenv("GITHUB_HEAD_REF", "fix")
    monkeypatch.setenv("GITHUB_REF", "refs/pull/7/merge")
    found = Experiment.of(Eval("letters", CASES, upper).id).provenance
    told = (found.environment, found.git_commit, found.git_branch, found.pull_request)
    assert told == ("ci", "abc", "fix", "7")
    wrong: Any = "production"
    with pytest.raises(UsageError, match="'production' is no environment"):
        Eval("letters", CASES, upper, environment=wrong)


def test_rows_are_matched_by_id_or_else_by_their_input() -> None:
    before = Eval("letters", CASES, str.lower, ["exact"])
    after = Eval("letters", reversed(CASES), upper, ["exact"], baseline=before)
    assert after.comparison is not None
    assert len(after.comparison.fixed) == 3
    assert compare(before, after.id).delta.estimate == 1.0
    assert after.report.state.experiment.spec["baseline"] == before.id
    assert Experiment.of(after.id).report.vs_baseline == after.report.vs_baseline


def test_without_a_baseline_it_is_the_earlier_one_of_the_same_task() -> None:
    first = Eval("letters", CASES, upper)
    assert "no baseline" in (first.why_not_compared or "")
    second = Eval("letters", CASES, upper)
    assert second.comparison is not None
    assert second.comparison.report.comparison.a.id == first.id


def test_what_the_task_raises_or_cannot_say_is_a_verdict() -> None:
    def answer(text: str) -> object:
        if text == "a":
            raise InfraError("no network", kind="login")
        return float("nan") if text == "b" else object()

    found = Eval("letters", CASES, answer, ["exact"], retries=0, concurrency=1, seed=2)
    reasons = {trial.key.case_id: trial.reason or "" for trial in found.trials()}
    assert all("is not JSON" in why for case, why in reasons.items() if case != "first")
    assert found.passed == 0


def test_a_grader_that_raises_leaves_the_trial_undecided() -> None:
    def broken(output: str) -> float:
        raise KeyError(output)

    found = Eval("letters", CASES, upper, [broken])
    assert (found.undecided, found.exit_code) == (3, 4)
    assert found.pass_rate.estimate is None


def test_an_async_task_that_hangs_fails_over_its_limit() -> None:
    async def hang(text: str) -> str:
        await asyncio.sleep(3600)
        return text

    found = Eval("letters", CASES[:1], hang, ["exact"], trial_timeout=0.05)
    assert [trial.cause for trial in found.failures] == ["limit"]


def test_the_call_tells_trial_and_seed() -> None:
    seen: list[int] = []

    def answer(text: str, call: TaskCall) -> str:
        seen.append(call.trial)
        return text.upper()

    Eval("letters", CASES[:1], answer, trials=3)
    assert sorted(seen) == [1, 2, 3]


@pytest.mark.parametrize("kind", ["list", "function", "generator", "file", "name", "dataset"])
def test_where_cases_come_from(kind: str, folder: Path) -> None:
    def generated() -> Iterator[dict[str, str]]:
        yield {"input": "a", "expected": "A"}

    (folder / "letters.jsonl").write_text('{"input": "a", "expected": "A"}\n')
    main(["dataset", "add", "kept", "letters.jsonl"])
    data: Any = {
        "list": list(generated()),
        "function": generated,
        "generator": generated(),
        "file": folder / "letters.jsonl",
        "name": "kept",
        "dataset": Dataset("kept@1"),
    }[kind]
    assert Eval("buchstaben-ß", data, upper).passed == 1
    assert len(Dataset("kept")) == 1
    assert [case.input for case in Dataset("kept")] == ["a"]


def failing() -> Iterator[Case[str, str]]:
    yield Case("a", "A")
    raise RuntimeError("the file is cut short")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "the data hold no cases"),
        ([Case("a", id="x"), Case("b", id="x")], "case x is there more than once"),
        ([Case("a"), Case("a")], "is there more than once"),
        ([Case(object())], "is not JSON"),
        ([Case(float("nan"))], "nan is no JSON number"),
        ([{"question": "a"}], "has no 'input'"),
        ([{"input": "a", "answer": "b"}], "answer"),
        (["a"], "a str is no case"),
        (failing, "the file is cut short"),
        (7, "a int holds no cases"),
    ],
)
def test_data_that_are_none_are_refused_before_anything_runs(data: Any, message: str) -> None:
    called: list[str] = []
    with pytest.raises(UsageError, match=message):
        Eval("letters", data, called.append)
    assert called == []
    with pytest.raises(NotFoundError):
        Experiment.of("letters")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trails": 3}, "Eval takes no 'trails'"),
        ({"trials": 0}, "trials"),
        ({"concurrency": 0}, "concurrency"),
        ({"graders": []}, "no grader"),
        ({"graders": [7]}, "a int is no grader"),
        ({"graders": None}, "is no list of graders"),
        ({"graders": "exact"}, "is no list of graders"),
        ({"graders": {"kind": "exact"}}, "is no list of graders"),
        ({"graders": len}, "is no list of graders"),
        ({"baseline": 5}, "a int is no experiment"),
        ({"resume": 5}, "a int is no experiment"),
        ({"task": 7}, "a int is no task"),
        ({"name": "a@b"}, "is no name of an Eval"),
        ({"name": "a\nb"}, "is no name of an Eval"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"name": "letters", "data": CASES, "task": upper, **options}
    with pytest.raises(UsageError, match=message):
        Eval(**given)


@pytest.mark.parametrize("given", [None, 5, object()])
def test_what_is_no_experiment_is_not_compared(given: Any) -> None:
    with pytest.raises(UsageError, match="is no experiment"):
        compare(given, "a")
    with pytest.raises(UsageError, match="is no experiment"):
        compare("a", given)


def test_a_baseline_that_does_not_exist_is_told_before_anything_runs() -> None:
    called: list[str] = []
    with pytest.raises(NotFoundError):
        Eval("letters", CASES, called.append, baseline="exp_nowhere")
    assert called == []


def test_it_runs_where_an_event_loop_runs() -> None:
    async def notebook() -> tuple[Experiment, Experiment]:
        ticks = asyncio.create_task(asyncio.sleep(0))
        found = await eval_async("letters", CASES, upper)
        assert ticks.done()
        return Eval("letters", CASES, upper), found

    assert [one.passed for one in asyncio.run(notebook())] == [3, 3]


def test_a_cancel_ends_the_trials_in_flight_and_keeps_the_rest() -> None:
    started = threading.Event()

    async def slow(text: str) -> str:
        if text == "a":
            return "A"
        started.set()
        await asyncio.sleep(3600)
        return text

    async def cancelled() -> None:
        task = asyncio.create_task(eval_async("letters", CASES, slow, concurrency=1, seed=3))
        await asyncio.to_thread(started.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    kept = Experiment.of("letters")
    assert kept.status is Status.INTERRUPTED
    assert kept.passed <= 1


def test_an_interrupted_one_goes_on_where_it_stopped() -> None:
    calls: list[str] = []
    broken = True

    def answer(text: str) -> str:
        calls.append(text)
        if broken and len(calls) == 2:
            raise InfraError("no credit", kind="quota")
        return text.upper()

    first = Eval("letters", CASES, answer, concurrency=1, resume=True)
    assert (first.status, first.passed) == (Status.STOPPED, 1)
    broken = False
    second = Eval("letters", CASES, answer, resume=True)
    assert (second.id, second.status, second.passed) == (first.id, Status.FINISHED, 3)
    assert len(calls) == 4


def test_ctrl_c_keeps_what_has_finished() -> None:
    def answer(text: str) -> str:
        if text == "b":
            # As the terminal would: to the main thread, which waits.
            os.kill(os.getpid(), signal.SIGINT)
        return text.upper()

    with pytest.raises(KeyboardInterrupt):
        Eval("letters", CASES, answer, concurrency=1)
    kept = Experiment.of("letters")
    assert kept.status in (Status.INTERRUPTED, Status.FINISHED)
    assert kept.passed >= 1


def test_threads_run_their_own() -> None:
    found: list[Experiment] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(Eval(f"e{n}", CASES, upper)))
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.name for one in found) == ["e0", "e1", "e2"]
    assert all(one.passed == 3 for one in found)


CHILDREN = """
import multiprocessing
from fairtrial import Eval

def upper(text):
    return text.upper()

def run(name):
    assert Eval(name, [{"input": "a", "expected": "A"}], upper).passed == 1

if __name__ == "__main__":
    run("parent")
    for method in ("spawn", "fork"):
        child = multiprocessing.get_context(method).Process(target=run, args=(method,))
        child.start()
        child.join()
        assert child.exitcode == 0
"""


def test_child_processes_run_their_own(folder: Path) -> None:
    (folder / "children.py").write_text(CHILDREN)
    subprocess.run([sys.executable, "children.py"], check=True)
    assert [Experiment.of(name).passed for name in ("parent", "spawn", "fork")] == [1, 1, 1]


def test_errors_stand_at_the_line_that_called() -> None:
    def broken() -> Iterator[Case[str, str]]:
        yield Case("a")
        raise KeyError("mine")

    calls: list[Callable[[], object]] = [
        lambda: Eval("letters", [], upper),
        lambda: asyncio.run(eval_async("letters", CASES, upper, ["exakt"])),
        lambda: compare("a", "b"),
        lambda: Experiment.of("a"),
        lambda: Dataset("a").version,
    ]
    for call in calls:
        with pytest.raises(FairtrialError) as caught:
            call()
        ours = [one for one in caught.traceback if "/src/fairtrial/" in str(one.path)]
        assert len(ours) <= 1, call
    with pytest.raises(UsageError) as caught:
        Eval("letters", broken, upper)
    assert isinstance(caught.value.__cause__, KeyError)


def test_progress_is_shown_where_somebody_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class CellStream(io.StringIO):
        pass

    CellStream.__module__ = "ipykernel.iostream"
    assert not is_wanted({}, given=None)
    monkeypatch.setattr(sys, "stderr", CellStream())
    assert is_wanted({}, given=None)
    assert not is_wanted({"CI": "true"}, given=None)
    assert is_wanted({"CI": "true"}, given=True)
    assert not is_wanted({}, given=False)


def test_a_notebook_shows_text_as_text() -> None:
    def answer(text: str) -> str:
        return f"<script>alert({text!r})</script>\u202e"

    before = Eval("<b>letters</b>", CASES, upper)
    after = Eval("<b>letters</b>", CASES, answer, baseline=before)
    for html in (after._repr_html_(), compare(before, after, gate=True)._repr_html_()):
        assert "<script" not in html
        assert "<b>" not in html
        assert "\u202e" not in html
        assert "data:image/svg+xml;base64," in html
        assert "http:" not in html
        assert "https:" not in html
    assert before.id in after._repr_html_()
    assert "B − A: −100.0 points" in repr(after)
    assert f"against <b>letters</b> ({before.id}): 3 broken" in repr(after)
    assert "3 cases × 1 trial of" in repr(after)
    assert "3 failed" in repr(after)
    assert "fixed" in repr(compare(after, before)) or "broken" in repr(compare(before, after))


def test_the_command_line_says_where_a_function_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = Eval("letters", CASES, lambda text: text)
    assert main(["exp", "run", "--resume", found.id, "--retry-errors"]) == 0
    main(["exp", "show", found.id, "--json"])
    printed = capsys.readouterr().out
    assert json.loads(printed[printed.index("{") :])["provenance"]["source"] == "sdk"


def test_equal_names_of_functions_are_kept_apart() -> None:
    found = Eval(
        "letters",
        CASES,
        upper,
        [lambda output: 1.0 * len(output), lambda output: 0.75 * len(output)],
    )
    assert found.means == {"lambda": 1.0, "lambda_2": 0.75}
    assert found.failed == 0
