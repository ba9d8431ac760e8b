"""Each test runs pytest on a file of its own, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from fairtrial import Case, Eval, Experiment
from fairtrial.model.experiment import Status

pytestmark = pytest.mark.usefixtures("folder")

_INSTALLED = bool(entry_points(group="pytest11", name="fairtrial"))
_ON = ("-p", "fairtrial" if _INSTALLED else "fairtrial.pytest_plugin")

LETTERS = """
import pytest

CASES = [{"id": c, "input": c, "expected": c.upper()} for c in "abcdef"]

def loud(output):
    return output.isupper()

@pytest.mark.fairtrial(cases=CASES, graders=["exact", loud], trials=2, threshold=0.8)
def test_letters(case):
    return case.input.upper()
"""


@dataclass(frozen=True)
class Ran:
    """What a run of pytest came to."""

    code: int
    text: str

    @property
    def counts(self) -> dict[str, int]:
        last = [line for line in self.text.splitlines() if line.strip()][-1]
        found = re.findall(r"(\d+) (passed|failed|missed|skipped|xfailed|error)", last)
        return {what: int(count) for count, what in found}

    def shows(self, *patterns: str) -> bool:
        lines = self.text.splitlines()
        return all(any(fnmatch(line, pattern) for line in lines) for pattern in patterns)


def run(source: str, *words: str, **environ: str) -> Ran:
    Path("test_it.py").write_text(source)
    line = [sys.executable, "-m", "pytest", *_ON, "-p", "xdist", "-W", "error", *words]
    # What else is installed takes five times as long to load as everything that is tested here.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environ}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    return Ran(done.returncode, done.stdout + done.stderr)


def test_an_experiment_is_kept_of_each_marked_test() -> None:
    result = run(LETTERS, PYTEST_DISABLE_PLUGIN_AUTOLOAD="")  # beside all that is installed
    assert result.code == 0
    assert result.counts == {"passed": 6}
    assert result.shows(
        "*= fairtrial =*",
        "test_letters  exp_*",
        "  6 cases × 2 trials of test_letters@1: 12 passed, 0 failed, 0 undecided",
        "  100.0 % passed (95 % interval *",
        "  needed: 80.0 %",
    )
    kept = Experiment.of("test_letters")
    assert kept.means == {"test": 1.0, "exact": 1.0, "loud": 1.0}
    assert kept.status is Status.FINISHED
    assert kept.report.state.experiment.provenance.source == "pytest"
    assert kept.to_dicts()[0]["output"] == "A"


def test_the_workers_of_xdist_fill_one_experiment() -> None:
    result = run(LETTERS, "-n", "2")
    assert result.code == 0
    assert result.counts == {"passed": 6}
    kept = Experiment.of("test_letters")
    assert (kept.passed, len(kept.rows), kept.status) == (12, 6, Status.FINISHED)
    assert result.shows("*12 passed, 0 failed, 0 undecided")
    assert result.text.count("exp_") == 1


HALF = """
import pytest

CASES = [{"id": f"{c}-", "input": c, "expected": c.upper()} for c in "abcd"]

@pytest.mark.fairtrial(cases=CASES, graders=["exact"], %s)
def test_half(input, expected):
    assert input != "a", "no a"
    return input if input == "b" else input.upper()
"""


@pytest.mark.parametrize(
    ("bars", "code", "passed", "failed", "workers"),
    [
        ("threshold=0.5", 0, 2, 0, ()),
        ("threshold=0.6", 1, 2, 0, ()),
        ("threshold=0.6", 1, 2, 0, ("-n", "2")),
        ("trials=2", 1, 2, 2, ("-n", "2")),
        ("row_threshold=0.0", 0, 4, 0, ()),
        ("row_threshold=1.0, threshold=0.5", 1, 2, 2, ()),
    ],
)
def test_bars_for_rows_and_for_the_whole(
    bars: str, code: int, passed: int, failed: int, workers: tuple[str, ...]
) -> None:
    result = run(HALF % bars, *workers)
    assert result.code == code
    counts = result.counts
    assert (counts["passed"], counts.get("failed", 0)) == (passed, failed)
    assert counts.get("missed", 0) == (2 if passed == 2 and not failed else 0)
    if code == 1 and not failed:
        assert result.shows("*the pass rate, 50.0 %, is below 60.0 %")
    reasons = [trial.reason or "" for trial in Experiment.of("test_half").failures]
    assert any("no a" in reason for reason in reasons)


def test_each_trial_has_fixtures_of_its_own_and_wider_ones_stay() -> None:
    result = run(
        """
import pytest
log = []

@pytest.fixture(scope="module")
def wide():
    log.append("wide")
    yield
    log.append("wide ends")

@pytest.fixture
def narrow():
    log.append("narrow")
    yield len(log)
    log.append("narrow ends")

class TestThem:
    @pytest.mark.parametrize("thing", [object(), lambda: 1])
    @pytest.mark.fairtrial(cases=[{"input": 1}, {"input": 2}], trials=2, name="vielfältig")
    def test_it(self, wide, narrow, case, thing):
        assert log[-1] == "narrow"
        assert self.__class__ is TestThem

def test_last():
    assert log.count("wide") == 1
    assert log.count("narrow") == log.count("narrow ends") == 8
""",
    )
    assert result.code == 0
    assert result.counts == {"passed": 5}
    kept = Experiment.of("vielfältig").report.state.experiment
    assert (kept.arms, kept.n_cases) == (("thing0", "thing1"), 2)


def test_what_a_row_did_stands_in_junit_reports() -> None:
    run(HALF % "threshold=0.5", "--junitxml=out.xml", "-o", "junit_family=xunit1")
    cases = ET.parse("out.xml").getroot().iter("testcase")  # noqa: S314  # our own
    found = {
        one.get("name"): {p.get("name"): p.get("value") for p in one.iter("property")}
        for one in cases
    }
    assert found["test_half[c-]"]["fairtrial_passed"] == "1"
    assert found["test_half[a-]"]["fairtrial_failed"] == "1"
    assert found["test_half[b-]"]["fairtrial_score"] == "0.5"


def test_a_broken_world_is_no_pass() -> None:
    result = run(
        """
import pytest
from fairtrial import InfraError

@pytest.mark.fairtrial(cases=[{"input": n} for n in range(20)], threshold=0.1)
def test_net(input):
    if input > 3:
        raise InfraError("429", kind="rate_limit")
""",
    )
    assert result.code != 0
    kept = Experiment.of("test_net")
    assert (kept.passed, kept.undecided, kept.status) == (4, 5, Status.STOPPED)
    assert result.shows("*5 cases in a row without a verdict*429*")


def test_rows_without_a_verdict_cannot_carry_a_pass() -> None:
    result = run(
        """
import pytest
from fairtrial import InfraError

@pytest.mark.fairtrial(cases=[{"input": n} for n in range(4)], threshold=0.9)
def test_net(input):
    if input == 2:
        raise InfraError("429", kind="rate_limit")
""",
    )
    assert result.code == 1
    assert result.shows("*1 of 4 cases have no verdict*")


def test_fixtures_that_fail_skips_and_expected_failures() -> None:
    result = run(
        """
import pytest

@pytest.fixture
def broken(case):
    if case.input == 0:
        raise OSError("no database")

@pytest.mark.fairtrial(cases=[{"input": n} for n in range(4)], trials=2)
def test_all(case, broken):
    if case.input == 1:
        pytest.skip("not here")
    if case.input == 2:
        pytest.xfail("known")
    return case.input

@pytest.mark.fairtrial(cases=[{"input": 1}])
def test_no_json(case):
    return object()
""",
    )
    assert result.counts == {"passed": 1, "skipped": 1, "xfailed": 1, "error": 1, "failed": 1}
    kept = Experiment.of("test_all")
    assert (kept.passed, kept.undecided, kept.status) == (2, 1, Status.STOPPED)
    assert any("no database" in (trial.reason or "") for trial in kept.trials())
    assert result.shows("*the function's value is not JSON*")


def test_selections_and_their_failed_rows_again() -> None:
    assert run(LETTERS, "--collect-only", "-q").code == 0
    run(HALF % "trials=1", "-k", "a- or c-")
    assert len(Experiment.of("test_half").rows) == 2
    result = run(HALF % "trials=1", "--lf")
    assert result.counts == {"failed": 1}
    assert Experiment.of("test_half").report.state.experiment.n_cases == 1


def test_nothing_is_kept_where_nothing_runs_or_it_is_off() -> None:
    assert run(LETTERS, "--collect-only").code == 0
    result = run(LETTERS, "--fairtrial-off")
    assert result.counts == {"passed": 6}
    assert "exp_" not in result.text
    with pytest.raises(Exception, match="no experiment"):
        Experiment.of("test_letters")


def test_the_options_go_over_the_marks() -> None:
    words = ("trials=3", "sample=2", "name=mine")
    run(LETTERS, *(f"--fairtrial-{word}" for word in words))
    kept = Experiment.of("mine").report.state.experiment
    assert (kept.trials, kept.n_cases) == (3, 2)


def test_a_dataset_and_a_baseline_of_the_store() -> None:
    cases = [Case(str(n), str(n), id=f"n{n}") for n in range(12)]
    Eval("numbers", cases, lambda text: text)
    source = """
import pytest

@pytest.mark.fairtrial(dataset="numbers", graders=["exact"], threshold=0)
def test_numbers(input):
    return input
"""
    assert run(source).code == 0
    base = Experiment.of("test_numbers")
    source = source.replace("return input", "return '?'")
    result = run(source, f"--fairtrial-baseline={base.id}", "--fairtrial-gate")
    assert result.code == 1
    assert result.shows(
        f"  against test_numbers ({base.id}): 12 broken, 0 fixed",
        "  B − A: −100.0 points (95 % interval −* to −*)",
        "*the gate says hold*",
    )
    # Without one it is the session before.
    again = run(source)
    assert again.code == 0
    assert again.shows("*No difference*")


@pytest.mark.parametrize(
    ("mark", "parameter", "message"),
    [
        ("cases=[]", "case", "the data hold no cases"),
        (
            "cases=[{'id': 'a', 'input': 1}, {'id': 'a', 'input': 2}]",
            "case",
            "twice|more than once",
        ),
        ("cases=[{'input': 1}], trails=2", "case", "takes no 'trails'"),
        ("cases=[{'input': 1}], trials=0", "case", "trials must be"),
        ("cases=[{'input': 1}], threshold=80", "case", "share from 0 to 1"),
        ("cases=[{'input': 1}]", "other", "takes a parameter called case"),
        ("", "case", "neither of dataset and cases"),
        ("dataset='nowhere'", "case", "nowhere"),
        ("cases=[{'input': 1}], graders=['exakt']", "case", "exakt"),
        ("cases=broken()", "case", "cut short"),
    ],
)
def test_mistakes_are_errors_of_the_collection(mark: str, parameter: str, message: str) -> None:
    result = run(
        f"""
import pytest

def broken():
    yield {{"input": 1}}
    raise RuntimeError("cut short")

@pytest.mark.fairtrial({mark})
def test_it({parameter}):
    pass
""",
    )
    assert result.code == 2
    text = result.text
    assert "Traceback" not in text
    assert re.search(message, text)


RAN = """
import pathlib, pytest

@pytest.mark.fairtrial(cases=[{"input": 1}, {"input": 2}], graders=%s)
def test_it(input):
    pathlib.Path("ran").touch()
    return input
"""


@pytest.mark.parametrize(
    ("graders", "words", "environ", "message"),
    [
        ([], ["--fairtrial-baseline=exp_nowhere"], {}, "there is no experiment exp_nowhere"),
        ([], ["-n", "2"], {"FAIRTRIAL_ENVIRONMENT": "moon"}, "'moon' is no environment"),
        ([], [], {"FAIRTRIAL_HOME": "/dev/null/here"}, "the store cannot be here"),
        ([{"kind": "judge", "rubric": "good?"}], [], {}, "no provider is given"),
        (["exact", "exakt"], [], {}, "graders[1]: unknown grader kind 'exakt'"),
    ],
)
def test_what_cannot_be_kept_or_graded_is_told_before_anything_runs(
    graders: list[object], words: list[str], environ: dict[str, str], message: str
) -> None:
    result = run(RAN % graders, *words, **environ)
    assert result.code not in (0, 3)
    assert message in result.text
    assert "INTERNALERROR" not in result.text
    assert not Path("ran").exists()


def test_a_grader_that_cannot_start_ends_the_session() -> None:
    result = run(RAN % [{"kind": "command", "command": "/nowhere/grade"}])
    assert (result.code, result.counts) == (2, {"failed": 1})
    assert "finds no program '/nowhere/grade'" in result.text
    assert "INTERNALERROR" not in result.text


def test_a_store_that_is_gone_meanwhile_is_told_and_the_tests_go_on() -> None:
    source = """
import os, pathlib, pytest

@pytest.fixture(autouse=True, scope="session")
def moved():
    home = pathlib.Path(os.environ["FAIRTRIAL_HOME"])
    home.rename(home.with_name("moved"))

@pytest.mark.fairtrial(cases=[{"input": 1}, {"input": 2}])
def test_it(input):
    return input
"""
    result = run(source)
    assert (result.code, result.counts) == (1, {"passed": 2})
    assert result.text.count("not stored: ") == 1
    assert "INTERNALERROR" not in result.text


def test_coroutines_return_outputs_too() -> None:
    pytest.importorskip("anyio")
    result = run(
        """
import pytest

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
@pytest.mark.fairtrial(cases=[{"input": "a", "expected": "A"}], graders=["exact"])
async def test_later(case):
    return case.input.upper()
""",
        "-p",
        "anyio",
    )
    assert result.counts == {"passed": 1}
    assert Experiment.of("test_later").means == {"test": 1.0, "exact": 1.0}


@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_coroutines_run_under_pytest_asyncio(mode: str) -> None:
    pytest.importorskip(
        "pytest_asyncio", reason="needs pytest-asyncio in an environment of its own"
    )
    result = run(
        """
import asyncio, pytest, pytest_asyncio

@pytest_asyncio.fixture
async def client():
    await asyncio.sleep(0)
    yield str.upper

@pytest.mark.asyncio
@pytest.mark.fairtrial(cases=[{"input": "a", "expected": "A"}], graders=["exact"], trials=2)
async def test_later(input, client):
    await asyncio.sleep(0)
    return client(input)
""",
        "-p",
        "pytest_asyncio.plugin",
        f"--asyncio-mode={mode}",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
    )
    assert result.counts == {"passed": 1}
    assert Experiment.of("test_later").passed == 2


def test_it_costs_nothing_where_nobody_uses_it() -> None:
    result = run(
        """
import sys

def test_plain():
    loaded = [name for name in sys.modules if name.startswith("fairtrial.")]
    assert loaded == ["fairtrial.pytest_plugin"]
""",
        "--strict-markers",
    )
    assert result.code == 0
