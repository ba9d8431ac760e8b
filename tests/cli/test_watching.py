"""`exp run --watch`: what a change brings about, and how it ends."""

from __future__ import annotations

import functools
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, process
from tests.cli.test_interrupts import PATIENCE_S, until

from fairtrial.app.bench import bench_here
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.spec_files import build_request
from fairtrial.app.watched_files import content_of
from fairtrial.cli.watching import FilesAndKeys, Wake, watched_runs
from fairtrial.model.errors import ExitCode

AGENT = "import sys\nn = int(sys.stdin.read())\nprint(n if n < {solves} else 'wrong', end='')\n"
GRADER = "def right(output, expected):\n    return 1.0 if output == expected else {wrong}\n"
SPEC: dict[str, Any] = {
    "dataset": "numbers",
    "task": {"kind": "command", "command": ["python3", "agent.py"]},
    "graders": [{"kind": "python", "name": "right", "function": "grader:right"}],
    "first_n": 8,
    "seed": 1,
    "name": "watched",
}
Step = Callable[[], object]


class Script:
    """A source that does a step before each return, and quits after the last."""

    def __init__(self, steps: Iterable[Step | Wake]) -> None:
        self.steps = list(steps)
        self.folders: list[Collection[Path]] = []

    def wait(self, folders: Collection[Path]) -> Wake:
        self.folders.append(folders)
        if not self.steps:
            return Wake.QUIT
        step = self.steps.pop(0)
        if isinstance(step, Wake):
            return step
        step()
        return Wake.CHANGED

    def close(self) -> None:
        """There is nothing to end."""


@pytest.fixture
def place(fairtrial: Command, folder: Path, numbers: str) -> Path:
    """A folder with a spec, an agent that solves 4 of 8 cases, and a grader."""
    del fairtrial, numbers
    (folder / "agent.py").write_text(AGENT.format(solves=4))
    (folder / "grader.py").write_text(GRADER.format(wrong=0.0))
    (folder / "prompts").mkdir()
    (folder / "prompts" / "system.md").write_text("Be kind.")
    (folder / "spec.json").write_text(json.dumps(SPEC))
    return folder


@pytest.fixture
def watch(place: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., list[Any]]:
    """Watch while a script goes on, and return the turns."""

    def watched(*steps: Step | Wake, **given: Any) -> list[Any]:
        bench = bench_here()
        capfd.readouterr()
        build = functools.partial(build_request, Request, {"spec": "spec.json", **given}, place)
        try:
            code = watched_runs(bench, build(), build, as_json=True, source=Script(steps))
        finally:
            bench.close()
        assert code == 0
        return [json.loads(line) for line in capfd.readouterr().out.splitlines()]

    return watched


def edit(place: Path, name: str, text: str) -> Step:
    return functools.partial((place / name).write_text, text)


class TestWhatAChangeBringsAbout:
    def test_the_first_run_comes_at_once(self, watch: Callable[..., list[Any]]) -> None:
        (turn,) = watch()
        assert (turn["what"], turn["number"], turn["delta"]) == ("run", 1, None)
        assert turn["pass_rate"]["estimate"] == 0.5

    def test_a_changed_script_runs_again_with_the_delta(
        self, watch: Callable[..., list[Any]], place: Path
    ) -> None:
        turns = watch(edit(place, "agent.py", AGENT.format(solves=8)))
        assert [turn["what"] for turn in turns] == ["run", "run"]
        assert turns[1]["delta"]["estimate"] == 0.5
        assert turns[1]["delta"]["previous"] == turns[0]["id"]

    def test_a_changed_grader_only_regrades_the_stored_outputs(
        self, watch: Callable[..., list[Any]], place: Path, fairtrial: Command
    ) -> None:
        turns = watch(edit(place, "grader.py", GRADER.format(wrong=1.0)))
        assert [turn["what"] for turn in turns] == ["run", "regrade"]
        assert (turns[1]["n_flips"], turns[1]["pass_rate"]["estimate"]) == (4, 1.0)
        shown = fairtrial("exp", "show", turns[1]["id"], "--json").json
        assert shown["spec"]["regrade_of"] == turns[0]["id"]

    def test_graders_changed_in_the_spec_only_regrade_too(
        self, watch: Callable[..., list[Any]], place: Path
    ) -> None:
        spec = {**SPEC, "graders": ["exact"]}
        turns = watch(edit(place, "spec.json", json.dumps(spec)))
        assert [turn["what"] for turn in turns] == ["run", "regrade"]

    def test_a_changed_spec_runs_again(self, watch: Callable[..., list[Any]], place: Path) -> None:
        turns = watch(edit(place, "spec.json", json.dumps({**SPEC, "first_n": 4})))
        assert [turn["pass_rate"]["n"] for turn in turns] == [8, 4]

    def test_a_file_written_with_the_same_content_does_nothing(
        self, watch: Callable[..., list[Any]], place: Path
    ) -> None:
        turns = watch(edit(place, "agent.py", AGENT.format(solves=4)), Wake.CHANGED)
        assert len(turns) == 1

    def test_further_files_are_watched_by_a_pattern(
        self, watch: Callable[..., list[Any]], place: Path
    ) -> None:
        change = edit(place, "prompts/system.md", "Be brief.")
        assert len(watch(change)) == 1
        again = edit(place, "prompts/system.md", "Be long.")
        new = edit(place, "prompts/more.md", "More.")
        assert len(watch(again, new, watch=["prompts/**/*.md"])) == 3

    def test_programs_that_only_crash_are_held_against_nothing(
        self, watch: Callable[..., list[Any]], place: Path
    ) -> None:
        again = edit(place, "agent.py", AGENT.format(solves=8))
        turns = watch((place / "agent.py").unlink, again)
        assert [turn["exit_code"] for turn in turns] == [0, 4, 0]
        assert turns[1]["delta"] is None
        assert turns[2]["delta"]["previous"] == turns[0]["id"]

    def test_the_user_may_ask_for_a_run(self, watch: Callable[..., list[Any]]) -> None:
        turns = watch(Wake.AGAIN)
        assert [turn["what"] for turn in turns] == ["run", "run"]
        assert turns[1]["delta"]["estimate"] == 0.0

    def test_a_spec_that_is_half_written_is_told_once_and_the_watch_goes_on(
        self, watch: Callable[..., list[Any]], place: Path
    ) -> None:
        broken = edit(place, "spec.json", '{"dataset": ')
        mended = edit(place, "spec.json", json.dumps({**SPEC, "first_n": 4}))
        turns = watch(broken, Wake.CHANGED, Wake.CHANGED, mended)
        assert [turn["status"] for turn in turns] == ["finished", None, "finished"]
        assert "cannot be parsed" in turns[1]["error"]
        assert turns[1]["exit_code"] == ExitCode.USAGE

    def test_a_run_that_cannot_begin_waits_for_the_next_change(
        self, watch: Callable[..., list[Any]], place: Path
    ) -> None:
        wrong = edit(place, "spec.json", json.dumps({**SPEC, "first_n": 8, "split": "none"}))
        turns = watch(wrong, Wake.CHANGED, edit(place, "spec.json", json.dumps(SPEC)))
        assert [turn["error"] is None for turn in turns] == [True, False, True]
        assert "leaves no case" in turns[1]["error"]

    def test_functions_in_this_process_are_read_anew(
        self, watch: Callable[..., list[Any]], place: Path
    ) -> None:
        text = "def answer(n):\n    return str(n) if n < {solves} else 'wrong'\n"
        (place / "solver.py").write_text(text.format(solves=2))
        task = {"kind": "python", "function": "solver:answer"}
        (place / "spec.json").write_text(json.dumps({**SPEC, "task": task}))
        # Of the same length, within the same second: the compiled file would be taken for it.
        turns = watch(edit(place, "solver.py", text.format(solves=6)))
        assert [turn["pass_rate"]["estimate"] for turn in turns] == [0.25, 0.75]

    def test_a_run_that_is_in_a_session_joins_it(
        self, watch: Callable[..., list[Any]], place: Path, fairtrial: Command
    ) -> None:
        fairtrial("exp", "session", "new", "--name", "s")
        watch(edit(place, "agent.py", AGENT.format(solves=8)))
        entries = fairtrial("exp", "session", "summary", "--json").json["entries"]
        assert len(entries) == 2

    def test_a_file_that_the_run_itself_writes_is_not_watched_for_ever(
        self,
        watch: Callable[..., list[Any]],
        place: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        told: list[str] = []
        monkeypatch.setattr("fairtrial.cli.streams.tell", told.append)
        (place / "log").touch()
        (place / "agent.py").write_text("import sys\nopen('log', 'a').write('.')\nprint(1)\n")
        command = ["python3", "agent.py", "log"]
        spec = {**SPEC, "first_n": 1, "task": {"kind": "command", "command": command}}
        (place / "spec.json").write_text(json.dumps(spec))
        turns = watch(Wake.CHANGED, edit(place, "agent.py", "print(2)\n"))
        assert len(turns) == 3
        assert any("log changes with every run" in text for text in told)

    def test_a_pattern_that_is_none_is_refused(
        self, watch: Callable[..., list[Any]], place: Path
    ) -> None:
        del place
        (turn,) = watch(watch=[""])
        assert "'' is no pattern of files" in turn["error"]


class TestWhatIsLookedAt:
    def files(self, place: Path, **given: Any) -> set[str]:
        bench = bench_here()
        request = build_request(Request, {"spec": "spec.json", **given}, place)
        found = content_of(bench, request)
        assert all(folder.is_dir() for folder in found.folders)
        return {path.name for path in (*found.task_files, *found.grader_files)}

    def test_the_spec_the_scripts_and_the_graders(self, place: Path) -> None:
        assert self.files(place) == {"agent.py", "grader.py"}

    def test_files_of_arms_and_what_they_name(self, place: Path) -> None:
        for name in ("base", "cand"):
            (place / f"{name}.py").write_text("print(1)")
            task = {"kind": "command", "command": f"python3 {name}.py"}
            (place / f"{name}.json").write_text(json.dumps(task))
        spec = {name: value for name, value in SPEC.items() if name != "task"}
        (place / "spec.json").write_text(json.dumps(spec))
        found = self.files(place, arms=["base=base.json", "cand=cand.json"])
        assert {"base.json", "cand.json", "base.py", "cand.py"} <= found


def test_it_takes_no_options_of_a_single_run(fairtrial: Command, place: Path) -> None:
    del place
    for word in ("--resume", "--dry-run"):
        done = fairtrial("exp", "run", "spec.json", "--watch", word)
        assert (done.code, "cannot be combined" in done.err) == (ExitCode.USAGE, True)


def test_what_no_change_of_a_file_could_mend_is_refused_at_once(fairtrial: Command) -> None:
    done = fairtrial("exp", "run", "--watch")
    assert (done.code, "no dataset" in done.out) == (ExitCode.USAGE, True)


def test_a_path_to_watch_without_a_watch_is_refused(fairtrial: Command, place: Path) -> None:
    done = fairtrial("exp", "run", "spec.json", "--watch-path", "*.md")
    assert (done.code, "no effect without --watch" in done.err) == (ExitCode.USAGE, True)
    (place / "spec.json").write_text(json.dumps({**SPEC, "watch": ["*.md"]}))
    assert fairtrial("exp", "run", "spec.json").code == 0


def test_the_file_system_wakes_it_and_ctrl_c_ends_it(place: Path) -> None:
    running = process("exp", "run", "spec.json", "--watch", cwd=place, stdin=subprocess.DEVNULL)
    lines: list[str] = []
    assert running.stdout is not None
    reader = threading.Thread(target=lines.extend, args=(running.stdout,))
    reader.start()
    until(lambda: len(lines) == 1 or running.poll() is not None)
    (place / "agent.py").write_text(AGENT.format(solves=8))
    until(lambda: len(lines) == 2 or running.poll() is not None)
    running.send_signal(signal.SIGINT)
    assert running.wait(PATIENCE_S) == 0
    reader.join()
    assert running.stderr is not None
    told = running.stderr.read()
    running.stdout.close()
    running.stderr.close()
    assert "watching 2 files; Ctrl-C ends it" in told
    assert "Traceback" not in told
    assert "run 1  watched" in lines[0]
    assert "50.0% of 8" in lines[0]
    assert "run 2  watched" in lines[1]
    assert "+50.0 points" in lines[1]


def test_on_a_terminal_enter_runs_again_and_q_quits(place: Path) -> None:
    terminal, other = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "fairtrial", "exp", "run", "spec.json", "--watch"],
        cwd=place,
        stdin=other,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    lines: list[str] = []
    assert running.stdout is not None
    reader = threading.Thread(target=lines.extend, args=(running.stdout,))
    reader.start()
    until(lambda: len(lines) == 1 or running.poll() is not None)
    os.write(terminal, b"x\n")
    until(lambda: len(lines) == 2 or running.poll() is not None)
    os.write(terminal, b"q")
    assert running.wait(PATIENCE_S) == 0
    reader.join()
    running.stdout.close()
    os.close(terminal)
    os.close(other)
    assert len(lines) == 2


def test_a_source_tells_of_a_change_in_a_folder(folder: Path) -> None:
    source = FilesAndKeys()
    try:
        done = threading.Event()
        writer = threading.Thread(target=_keep_writing, args=(folder / "file", done))
        writer.start()
        assert source.wait([folder]) is Wake.CHANGED
        done.set()
        writer.join()
    finally:
        source.close()


def _keep_writing(path: Path, done: threading.Event) -> None:
    while not done.wait(0.05):
        path.write_text("x")
