"""`exp metrics`, with real commands."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, process

PRINTS = 'echo starting; echo \'{"ms": %s, "score": %s}\''
A = ("--arm", "base=" + PRINTS % (30, 0.5))
B = ("--arm", "cand=" + PRINTS % (20, 0.4))
ONLY = ("--metric", "ms", "--metric", "score")


def named(report: Any) -> dict[str, Any]:
    """Return a report's metrics by name."""
    return {metric["name"]: metric for metric in report["metrics"]}


def test_numbers_and_what_is_measured_are_compared(fairtrial: Command) -> None:
    done = fairtrial("exp", "metrics", *A, *B, "--higher", "sc*", "--seed", "3", "--json")
    assert done.code == 0
    report = done.json
    metrics = named(report)
    assert list(metrics) == ["ms", "score", "wall_s", "cpu_s", "peak_rss_bytes"]
    assert metrics["ms"]["verdict"] == "better"
    assert metrics["ms"]["estimate"] == pytest.approx(2 / 3)
    assert metrics["ms"]["ci"] is None  # every pair is the same: no interval without width
    assert metrics["ms"]["scale"] == "ratio"
    assert metrics["ms"]["difference"]["estimate"] == -10
    assert "every pair changed by exactly this" in metrics["ms"]["difference"]["reason"]
    assert metrics["wall_s"]["ci"] == metrics["wall_s"]["ratio"]["ci"]
    assert metrics["wall_s"]["difference"]["ci"]["method"] == "hodges-lehmann"
    assert metrics["score"]["verdict"] == "worse"
    assert metrics["score"]["lower_is_better"] is False
    assert metrics["peak_rss_bytes"]["a"]["median"] > 1e5
    assert metrics["wall_s"]["ci"]["level"] == 0.95
    assert (report["n_pairs"], report["n_dropped"], report["seed"]) == (11, 0, 3)
    assert report["status"] == "finished"


def test_show_prints_what_the_run_did(fairtrial: Command) -> None:
    ran = fairtrial("exp", "metrics", *A, *B, "--name", "speed")
    assert ran.code == 0
    assert "cand is better in ms, score." in ran.out
    assert "┃" in ran.out
    assert fairtrial("exp", "show", "speed").out == ran.out
    report = fairtrial("exp", "show", "speed", "--json").json
    assert report["schema"] == "fairtrial.metrics/1"
    one = fairtrial("exp", "show", "speed", "--case", "pair-002").out
    assert "wall_s" in one
    assert '"ms": 30' in one
    assert "speed" in fairtrial("exp", "list").out
    assert fairtrial("exp", "export", "speed", "--to", "jsonl").out.count("\n") == 22


def test_both_sizes_of_a_change_are_told_and_which_one_is_tested(fairtrial: Command) -> None:
    numbers = 'echo "{\\"n\\": $((${FAIRTRIAL_CASE_ID#pair-00} * %s - %s))}"'
    arms = ("--arm", "a=" + numbers % (1, 0), "--arm", "b=" + numbers % (2, 0))
    done = fairtrial("exp", "metrics", *arms, "--pairs", "8", "--metric", "n", "--name", "up")
    lines = [line.split() for line in done.out.splitlines()]
    row = next(n for n, line in enumerate(lines) if line[:1] == ["n"])
    same = ["the", "same", "in", "every", "pair"]
    assert lines[row][3:] == ["+100.0%", *same, "0.0078", "WORSE"]
    assert lines[row + 1] == ["+4.5", "+2", "to", "+7"]
    arms = ("--arm", "a=" + numbers % (1, 1), "--arm", "b=" + numbers % (2, 0))
    done = fairtrial("exp", "metrics", *arms, "--pairs", "8", "--metric", "n")
    assert "no ratio of 'n': not all values are above 0" in done.out
    assert all("%" not in line for line in done.out.splitlines() if line.startswith("n "))


def test_pairs_alternate_and_never_overlap(fairtrial: Command, folder: Path) -> None:
    log = "echo start $FAIRTRIAL_ARM $FAIRTRIAL_CASE_ID >> log; sleep 0.01; echo end >> log"
    arms = ("--arm", f"a={log}", "--arm", f"b={log}")
    assert fairtrial("exp", "metrics", *arms, "--pairs", "6", "--warmup", "2").code == 0
    lines = (folder / "log").read_text().splitlines()
    assert lines[1::2] == ["end"] * 16
    starts = [line.split()[1:] for line in lines[::2]]
    assert starts[:4] == [["a", "warm-up"], ["b", "warm-up"]] * 2
    assert [case for _, case in starts[4:]] == [f"pair-{n:03}" for n in range(1, 7) for _ in "ab"]
    order = [starts[n][0] for n in range(4, 16, 2)]
    assert sorted(order) == ["a"] * 3 + ["b"] * 3


def test_what_takes_longer_is_worse(fairtrial: Command) -> None:
    arms = ("--arm", "a=sleep 0.01", "--arm", "b=sleep 0.5", "--metric", "wall_s")
    done = fairtrial("exp", "metrics", *arms, "--pairs", "6", "--fail-on-worse", "--json")
    assert done.code == 1
    wall = named(done.json)["wall_s"]
    assert wall["verdict"] == "worse"
    assert 1 < wall["estimate"] < 50
    assert wall["b"]["lowest"] >= 0.5


def test_few_pairs_are_no_verdict(fairtrial: Command) -> None:
    done = fairtrial("exp", "metrics", *A, *B, "--pairs", "5")
    assert done.code == 0
    assert "no verdict is possible with 5 pairs, whatever the values" in done.out
    assert "need 8 at least" in done.out
    assert "better" not in done.out
    assert fairtrial("exp", "metrics", *A, *B, *ONLY, "--pairs", "6", "--fail-on-worse").code == 2


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_an_arm_may_be_a_task_in_json_or_a_file(
    fairtrial: Command, folder: Path, suffix: str
) -> None:
    deep = folder / "deep"
    deep.mkdir()
    (deep / "value").write_text('{"n": 5}')
    task = {"kind": "command", "command": ["cat", "value"], "timeout": 5}
    (deep / f"arm.{suffix}").write_text(json.dumps(task))
    (deep / f"spec.{suffix}").write_text(json.dumps({"dataset": "d", "task": task}))
    inline = json.dumps({**task, "cwd": "deep"})
    arms = ("--arm", f"a=deep/arm.{suffix}", "--arm", f"b={inline}")
    report = fairtrial("exp", "metrics", *arms, "--metric", "n", "--json").json
    assert named(report)["n"]["a"]["median"] == named(report)["n"]["b"]["median"] == 5
    arms = ("--arm", f"a=deep/spec.{suffix}", "--arm", "b=cat deep/value")
    assert fairtrial("exp", "metrics", *arms, "--pairs", "1", "--metric", "n").code == 0


def test_an_envelope_tells_its_metrics(fairtrial: Command) -> None:
    told = json.dumps({"output": 1, "metrics": {"steps": 4}})
    arm = json.dumps({"kind": "command", "command": ["echo", told], "envelope": True})
    arms = ("--arm", f"a={arm}", "--arm", f"b={arm}")
    report = fairtrial("exp", "metrics", *arms, "--pairs", "2", "--json").json
    assert named(report)["steps"]["a"]["median"] == 4


def test_what_is_no_number_is_told_and_left_out(fairtrial: Command) -> None:
    odd = 'echo \'{"ms": 1, "p95": NaN, "name": "x", "old": 2, "wall_s": 7}\''
    done = fairtrial("exp", "metrics", "--arm", f"a={odd}", *B, "--pairs", "2")
    assert done.code == 0
    assert "'p95' was no finite number in 2 of 4 runs" in done.out
    assert "'name' was no finite number in 2 of 4 runs" in done.out
    assert "'old' is printed by a only, so it cannot be compared" in done.out
    assert "'score' is printed by cand only" in done.out
    assert "7 s" in done.out  # a command's own number wins


def test_without_json_only_what_is_measured_is_compared(fairtrial: Command) -> None:
    done = fairtrial("exp", "metrics", "--arm", "a=true", "--arm", "b=echo 12", "--pairs", "2")
    assert done.code == 0
    assert "neither command printed a JSON object" in done.out


def test_failed_runs_drop_their_pair(fairtrial: Command) -> None:
    fails = 'case $FAIRTRIAL_CASE_ID in pair-00[24]) echo bad >&2; exit 3 ;; esac; echo "{}"'
    done = fairtrial("exp", "metrics", "--arm", "a=true", "--arm", f"b={fails}", "--pairs", "8")
    assert done.code == 0
    assert "6 pairs, 2 dropped" in done.out
    assert "2 of 8 runs of b failed; the first: exit status 3: bad" in done.out


def test_mostly_failed_pairs_are_no_verdict(fairtrial: Command) -> None:
    fails = '[ "$FAIRTRIAL_CASE_ID" = pair-001 ]'
    done = fairtrial("exp", "metrics", "--arm", "a=true", "--arm", f"b={fails}", "--pairs", "4")
    assert done.code == 4
    assert "too few runs succeeded" in done.out


@pytest.mark.parametrize("command", ["exit 3", "sleep 30", "kill -9 $$"])
def test_an_arm_that_always_fails_ends_the_run_early(fairtrial: Command, command: str) -> None:
    started = time.monotonic()
    arms = ("--arm", "a=true", "--arm", f"b={command}")
    done = fairtrial("exp", "metrics", *arms, "--pairs", "100", "--timeout", "0.1")
    assert done.code == 4
    assert "the first 3 runs of arm b failed" in done.err
    assert time.monotonic() - started < 20
    assert fairtrial("exp", "list", "--json").json["experiments"][0]["status"] == "stopped"


@pytest.mark.parametrize("flag", ["--metric", "--higher"])
def test_an_unknown_metric_is_noticed_after_one_pair(fairtrial: Command, flag: str) -> None:
    done = fairtrial("exp", "metrics", *A, *B, flag, "p99", "--pairs", "50")
    assert done.code == 64
    assert f"{flag}: no metric is called p99" in done.err
    assert "ms, score, wall_s, cpu_s, peak_rss_bytes" in done.err
    assert fairtrial("exp", "list", "--json").json["experiments"][0]["n_recorded"] == 2


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "no arm: two are compared"),
        (A, "one arm only: two are compared"),
        ((*A, *B, "--arm", "third=true"), "3 arms: two are compared"),
        ((*A, *A), "both arms are called 'base'"),
        ((*A, "--arm", "true"), "'true' is not NAME=COMMAND"),
        ((*A, "--arm", "=true"), "is not NAME=COMMAND"),
        ((*A, "--arm", "b="), "is not NAME=COMMAND"),
        ((*A, "--arm", "b={"), "not JSON"),
        ((*A, "--arm", "b={}"), "the task has no 'kind'"),
        ((*A, "--arm", 'b={"kind": "http", "url": "http://x"}'), "only a command can be measured"),
        ((*A, "--arm", "b=no-such-program"), "finds no program 'no-such-program'"),
        ((*A, "--arm", 'b={"kind": "command", "command": "cat", "timeout": -1}'), "above 0"),
        ((*A, *B, "--pairs", "0"), "--pairs: expected int >= 1"),
        ((*A, *B, "--warmup", "-1"), "--warmup: expected int >= 0"),
        ((*A, *B, "--timeout", "0"), "--timeout: expected float > 0"),
        ((*A, *B, "--correction", "sidak"), "sidak"),
    ],
)
def test_a_mistake_is_told_before_anything_runs(
    fairtrial: Command, words: tuple[str, ...], problem: str
) -> None:
    done = fairtrial("exp", "metrics", *words)
    assert (done.code, done.out) == (64, "")
    assert problem in done.err
    assert fairtrial("exp", "list").out.startswith("No experiment yet")


def test_a_file_that_does_not_exist(fairtrial: Command) -> None:
    done = fairtrial("exp", "metrics", *A, "--arm", "b=none.json")
    assert done.code == 66


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_keeps_the_pairs_that_ran(fairtrial: Command, folder: Path) -> None:
    arm = "echo x >> runs; sleep 0.05"
    words = ("--arm", f"a={arm}", "--arm", f"b={arm}", "--pairs", "500", "--json")
    running = process("exp", "metrics", *words, cwd=folder)
    deadline = time.monotonic() + 60
    while not (folder / "runs").exists() or len((folder / "runs").read_bytes()) < 20:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    report = json.loads(out)
    assert report["status"] == "interrupted"
    assert 4 <= report["n_pairs"] < 500
    status = fairtrial("exp", "status").out
    assert "--resume" not in status
    again = fairtrial("exp", "run", "--resume", report["id"])
    assert again.code == 64
    assert "cannot be resumed" in again.err
    assert fairtrial("exp", "run", "--resume").code == 66


def test_a_metric_without_a_name_is_shown_as_such(fairtrial: Command, folder: Path) -> None:
    arms = ("--arm", """a=echo '{"": 1}'""", "--arm", """b=echo '{"": 2}'""")
    words = ("--pairs", "8", "--plot", "p.svg", "--fail-on-worse", "--correction", "none")
    done = fairtrial("exp", "metrics", *arms, *words)
    assert done.code == 1
    assert "\n(empty)  " in done.out
    assert "b is worse in (empty)" in done.out
    assert "(empty)" in (folder / "p.svg").read_text(encoding="utf-8")
