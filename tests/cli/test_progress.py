"""The line that shows how a run stands."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest
from tests.cli.conftest import EXACT

from fairtrial.analysis.progress import Progress
from fairtrial.cli.progress import StatusLine
from fairtrial.model.events import Judged, JudgingStarted
from fairtrial.model.verdict import Verdict

SCRIPT = (
    'sleep 0.05; case $(cat) in *"input\\":3,"*) exit 3;; '
    '*"input\\":4,"*) echo \'{"infra": "network", "error": "gone"}\';; '
    '*) echo \'{"output": "0", "cost_usd": 0.5}\';; esac'
)


@pytest.mark.usefixtures("numbers")
def test_a_terminal_shows_a_live_line() -> None:
    task = json.dumps({"kind": "command", "command": SCRIPT, "envelope": True})
    words = ("exp", "run", "-d", "numbers", "--task", task, *EXACT, "--retries", "0", "-c", "1")
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "fairtrial", *words, "--json"],
        env={**os.environ, "TERM": "xterm", "COLUMNS": "160"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    shown = _read_all(ours)
    out, _ = running.communicate(timeout=60)
    assert json.loads(out)["causes"] == {"infra": 1, "task": 1}
    assert "\x1b[2K" in shown
    last = shown.rpartition("numbers  ")[2]
    assert "20/20" in last
    assert "passed 5.3% [" in last
    assert "1 undecided (1 infra)" in last
    assert "$9.00" in last
    assert " left" in shown


def _read_all(descriptor: int) -> str:
    """Return all that is written to a terminal until the last writer closes it."""
    parts = []
    try:
        while part := os.read(descriptor, 65536):
            parts.append(part)
    except OSError:  # Linux tells the end of a terminal by EIO
        pass
    finally:
        os.close(descriptor)
    return b"".join(parts).decode()


def test_judging_has_a_line_of_its_own() -> None:
    progress = Progress()
    line = StatusLine(progress, live=False)
    progress.see(JudgingStarted("clarity", 48))
    assert line.text() == f"clarity  {'─' * 20} 0/48 judged"
    for _ in range(12):
        progress.see(Judged(0.125))
    text = line.text()
    assert text.startswith(f"clarity  {'━' * 5}{'─' * 15} 12/48 judged  ")
    assert text.endswith(" left  $1.50")


def test_the_line_tells_what_graders_cost_and_what_was_not_asked_again() -> None:
    progress = Progress(planned=4, cost_usd=0.5, grading_cost_usd=0.25, saved_usd=2.0)
    progress.reused["cache"] = 3
    text = StatusLine(progress, live=False).text()
    assert "$0.5000  grading $0.2500  3 answers from the cache  saved $2.00" in text


def test_the_time_left_counts_from_the_start_of_the_run_not_from_the_first_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("fairtrial.cli.progress.time.monotonic", lambda: now)
    progress = Progress()
    line = StatusLine(progress, live=False)
    now = 200.0
    progress.experiment_id, progress.planned = "exp_1", 40
    line.begin()
    now = 230.0
    progress.verdicts[Verdict.PASSED] = 10
    assert "1 min 30 s left" in line.text()


def test_a_narrow_terminal_shows_the_time_left_and_the_cost() -> None:
    progress = Progress(name="ab-shop", planned=12, cost_usd=0.0125, n_cases=2)
    progress.verdicts[Verdict.PASSED] = progress.verdicts[Verdict.FAILED] = 2
    text = StatusLine(progress, live=True).text()
    assert text.index(" left") < text.index("$0.0125") < 80
    assert text.index("$0.0125") < text.index("passed")
