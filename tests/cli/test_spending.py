"""What runs cost: estimates, limits, kept answers, prices."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import EXACT, Command

N = 4


def prompt(model: str | None = "m", **fake: Any) -> str:
    """Return a prompt task of the scripted provider that answers every question right."""
    provider = {"kind": "fake", "rules": [{"reply": "yes"}], "log": "calls.log", **fake}
    return json.dumps(
        {"kind": "prompt", "template": "{{ input }}?", "provider": provider, "model": model}
    )


def priced(cost: float | None) -> str:
    """Return a command task that says what it cost, if anything."""
    answer = {"output": "yes", **({} if cost is None else {"cost_usd": cost})}
    said = json.dumps(answer)
    return json.dumps({"kind": "command", "command": f"echo '{said}'", "envelope": True})


@pytest.fixture
def run(fairtrial: Command, folder: Path) -> Command:
    """Run a task over four cases."""
    cases = [{"id": f"c{n}", "input": f"q{n}", "expected": "yes"} for n in range(N)]
    (folder / "c.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    assert fairtrial("dataset", "add", "d", "c.jsonl").code == 0

    def run(task: str, *words: str) -> Any:
        return fairtrial("exp", "run", "-d", "d", "--task", task, *EXACT, *words)

    return run


def n_calls(folder: Path) -> int:
    log = folder / "calls.log"
    return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0


def test_the_same_question_costs_once(run: Command, fairtrial: Command, folder: Path) -> None:
    first = run(prompt(cost_usd=0.25), "--json").json
    assert (first["cost_usd"], first["reused"], n_calls(folder)) == (1.0, [], N)
    again = run(prompt(cost_usd=0.25), "--json").json
    assert (again["cost_usd"], again["passed"], n_calls(folder)) == (None, N, N)
    (reused,) = again["reused"]
    assert (reused["source"], reused["calls"], reused["cost_usd"]) == ("cache", N, 1.0)
    assert reused["tokens"] == 2 * N
    shown = fairtrial("exp", "show", again["id"]).out
    assert "4 answers from the cache (saved $1.00)" in shown
    case = fairtrial("exp", "show", again["id"], "--case", "c1").out
    assert "1 answer from the cache (saved $0.2500)" in case
    status = fairtrial("exp", "status", again["id"]).out
    assert "4 answers from the cache (saved $1.00)" in status
    anew = run(prompt(cost_usd=0.25), "--no-cache", "--json").json
    assert (anew["cost_usd"], anew["reused"], n_calls(folder)) == (1.0, [], 2 * N)


def test_further_trials_are_further_draws(run: Command, folder: Path) -> None:
    run(prompt(), "--trials", "2")
    assert n_calls(folder) == 2 * N
    run(prompt(), "--trials", "3")
    assert n_calls(folder) == 3 * N


def test_two_runs_for_a_noise_floor_never_share_answers(
    run: Command, fairtrial: Command, folder: Path
) -> None:
    words = ("-d", "d", "--task", prompt(), *EXACT)
    assert fairtrial("exp", "aa", *words).code in (0, 2)
    assert n_calls(folder) == 2 * N
    names = [run(prompt(), "--json").json["id"] for _ in range(2)]
    refused = fairtrial("exp", "aa", *names)
    assert refused.code == 64
    assert "came from the cache" in refused.err


def test_the_cache_is_shown_and_pruned(run: Command, fairtrial: Command) -> None:
    assert fairtrial("cache", "show", "--json").json["n_answers"] == 0
    run(prompt())
    shown = fairtrial("cache", "show")
    assert shown.out.startswith("4 answers kept, ")
    size = fairtrial("cache", "show", "--json").json["size_bytes"]
    kept = fairtrial("cache", "prune", "--older-than", "30d", "--max-size", "1GB", "--json").json
    assert (kept["n_forgotten"], kept["n_answers"], kept["size_bytes"]) == (0, N, size)
    pruned = fairtrial("cache", "prune", "--max-size", "0").out
    assert pruned.startswith("4 answers forgotten, ")
    assert pruned.endswith("; 0 answers kept, 0 B\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing says which answers to forget"),
        (("--older-than", "30"), "--older-than takes a number with a unit"),
        (("--older-than", "-1d"), "--older-than"),
        (("--older-than", "1e9d"), "--older-than takes"),
        (("--older-than", "99999999999999d"), "--older-than takes"),
        (("--max-size", "1 apple"), "--max-size takes"),
        (("--max-size", "nan"), "--max-size takes"),
        (("--max-size", ""), "--max-size takes"),
    ],
)
def test_a_prune_that_makes_no_sense_is_refused(
    fairtrial: Command, words: tuple[str, ...], message: str
) -> None:
    done = fairtrial("cache", "prune", *words)
    assert done.code == 64
    assert message in done.err


@pytest.mark.parametrize("text", ["0", "1.5h", "2W", "90 m", "10s"])
def test_times_are_taken_as_people_write_them(fairtrial: Command, text: str) -> None:
    assert fairtrial("cache", "prune", "--older-than", text).code == 0


@pytest.mark.parametrize("text", ["0", "10", "1.5GB", "2 MiB", "3kb"])
def test_sizes_are_taken_as_people_write_them(fairtrial: Command, text: str) -> None:
    assert fairtrial("cache", "prune", "--max-size", text).code == 0


def test_a_run_that_would_cost_too_much_does_not_start(run: Command, folder: Path) -> None:
    refused = run(prompt(cost_usd=0.25), "--max-cost", "0.5")
    assert refused.code == 77
    assert "expected to cost more than --max-cost $0.50" in refused.err
    assert "about $1.00, from what its provider says a call costs" in refused.err
    assert n_calls(folder) == 0
    assert run(prompt(cost_usd=0.25), "--max-cost", "1").code == 0


def test_a_model_without_a_price_does_not_start(run: Command, folder: Path) -> None:
    refused = run(prompt(model="unheard-of"), "--max-cost", "1")
    assert refused.code == 77
    assert "no price is known for unheard-of" in refused.err
    assert "prices.json" in refused.err
    assert n_calls(folder) == 0
    refused = run(prompt(model=None), "--max-cost", "1")
    assert refused.code == 77
    assert "the model that fake chooses" in refused.err


def test_a_model_without_a_price_is_told_when_there_is_no_limit(run: Command) -> None:
    done = run(prompt(model="unheard-of"))
    assert done.code == 0
    assert "no price is known for unheard-of: what it costs will be unknown" in done.err
    assert "no price" not in run(prompt(model="unheard-of", cost_usd=0.1)).err
    assert "no price" not in run(priced(None)).err


def test_a_price_of_the_users_own_is_a_price(run: Command) -> None:
    home = Path(os.environ["FAIRTRIAL_HOME"])
    home.mkdir(exist_ok=True)
    rates = {"unheard*": {"input": 1000, "output": 2000}}
    (home / "prices.json").write_text(json.dumps(rates), encoding="utf-8")
    plan = run(prompt(model="unheard-of"), "--dry-run", "--json").json["cost"]
    assert plan["most_usd"] > plan["least_usd"] > 0
    assert "length of the prompts" in plan["basis"]
    shown = run(prompt(model="unheard-of"), "--dry-run").out
    assert " to $" in shown
    # The scripted provider has no cost to report, whatever the list says.
    stopped = run(prompt(model="unheard-of"), "--max-cost", "100", "-c", "1")
    assert stopped.code == 77
    assert "what trial 1 of" in stopped.out
    assert "cost is unknown" in stopped.out


def test_a_bad_file_of_prices_is_told_before_anything_runs(
    run: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.json").write_text('{"m": {"input": 1}}', encoding="utf-8")
    monkeypatch.setenv("FAIRTRIAL_PRICES", "mine.json")
    done = run(prompt())
    assert done.code == 64
    assert "mine.json" in done.err
    assert n_calls(folder) == 0


def test_a_limit_stops_a_run_and_a_resume_with_more_finishes_it(
    run: Command, fairtrial: Command
) -> None:
    stopped = run(priced(0.5), "--max-cost", "1.2", "-c", "1", "--json")
    assert stopped.code == 77
    found = stopped.json
    assert (found["status"], found["n_recorded"], found["cost_usd"]) == ("stopped", 2, 1.0)
    assert found["status_reason"] == (
        "--max-cost $1.20: $1.00 is spent, and a trial costs about $0.50"
    )
    assert found["next_steps"][0]["command"] == (
        f"fairtrial exp run --resume {found['id']} --max-cost 2.2"
    )
    assert "at most $1.20" in fairtrial("exp", "status", found["id"]).out
    same = fairtrial("exp", "run", "--resume", found["id"], "--json")
    assert same.code == 77
    assert "$1.00 is spent, and what is left costs about $1.00" in same.json["error"]["why"]
    command = found["next_steps"][0]["command"].removeprefix("fairtrial ").split()
    finished = fairtrial(*command, "--json")
    assert (finished.code, finished.json["status"]) == (0, "finished")
    assert (finished.json["cost_usd"], finished.json["policy"]["max_cost"]) == (2.0, 2.2)


def test_a_task_that_does_not_say_what_it_cost_cannot_keep_a_limit(run: Command) -> None:
    stopped = run(priced(None), "--max-cost", "9", "-c", "1", "--json")
    assert stopped.code == 77
    assert stopped.json["n_recorded"] == 1
    assert stopped.json["status_reason"].endswith("cost is unknown")


def test_an_estimate_comes_from_earlier_runs_of_the_same_task(run: Command) -> None:
    plan = run(priced(0.5), "--dry-run", "--json").json["cost"]
    assert plan["least_usd"] is None
    assert plan["reason"] == "no earlier run of this task said what a trial cost"
    assert "cost             unknown: no earlier run" in run(priced(0.5), "--dry-run").out
    run(priced(0.5))
    again = run(priced(0.5), "--dry-run", "--trials", "2", "--json").json["cost"]
    assert (again["least_usd"], again["most_usd"], again["trial_least_usd"]) == (4.0, 4.0, 0.5)
    assert again["basis"] == "the mean of the newest run of this task, 4 trials"
    other = run(priced(0.25), "--dry-run", "--json").json["cost"]
    assert other["least_usd"] is None


def test_kept_answers_do_not_make_a_run_look_cheap(run: Command) -> None:
    for _ in range(2):
        run(prompt(cost_usd=0.25))
    plan = run(prompt(cost_usd=0.25), "--dry-run", "--json").json["cost"]
    assert plan["least_usd"] == 1.0


@pytest.mark.parametrize("text", ["0", "-1", "nan", "free"])
def test_a_limit_that_makes_no_sense_is_refused(run: Command, text: str) -> None:
    done = run(priced(0.5), "--max-cost", text)
    assert done.code == 64
    assert "--max-cost" in done.err
