"""`exp aa`: one configuration, run twice."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from tests.cli.conftest import CAT, EXACT, Command, process

from fairtrial.app.bench import bench_here
from fairtrial.app.noise_floors import config_key, noise_floor_of
from fairtrial.model.errors import ExitCode

# Passes when the case number and the arm's trial add up so: the same in every test run.
FLAKY = """
import json, sys
case = json.load(sys.stdin)
number, arm = case["input"], case["arm"]
print(json.dumps({"output": str(number) if number < 10 or (number + (arm == "a2")) % 2 else "no"}))
"""


@pytest.fixture
def spec(fairtrial: Command, numbers: str, folder: Path) -> str:
    (folder / "agent.py").write_text(FLAKY)
    task = {"kind": "command", "command": ["python3", "agent.py"], "envelope": True}
    spec = {"dataset": numbers, "task": task, "graders": ["exact"], "seed": 1}
    (folder / "spec.json").write_text(json.dumps({**spec, "name": "flaky", "gate": []}))
    del fairtrial
    return "spec.json"


def test_two_interleaved_runs_give_a_noise_floor(fairtrial: Command, spec: str) -> None:
    done = fairtrial("exp", "aa", spec, "--json")
    assert done.code == 0, done.err
    floor = done.json["noise_floor"]
    assert (floor["cases"], floor["trials"], floor["flip_rate"]) == (20, 1, 0.5)
    assert (floor["first"], floor["second"], floor["drifts"]) == (0.75, 0.75, False)
    assert done.json["experiment"]["arms"] == ["a1", "a2"]
    assert done.json["experiment"]["n_recorded"] == 40
    text = fairtrial("exp", "aa", "flaky-aa").out
    assert "the verdict of a case flips between two trials 50.0% of the time" in text
    assert "no sign of drift" in text
    assert "Smallest difference that a comparison shows 8 times in 10" in text


def test_the_floor_is_kept_for_what_was_run(fairtrial: Command, spec: str) -> None:
    first = fairtrial("exp", "aa", spec, "--json").json
    fairtrial("exp", "run", spec, "--trials", "2", "--first-n", "3", "--name", "later")
    fairtrial("exp", "run", spec, "--name", "other", "-g", "number")
    bench = bench_here()
    try:
        later, other = (bench.store.experiments.find(n).experiment for n in ("later", "other"))
        kept = noise_floor_of(bench, config_key(later))
        assert kept is not None
        assert kept.floor.flip_rate == first["noise_floor"]["flip_rate"]
        assert list(kept.experiments) == first["experiments"]
        assert noise_floor_of(bench, config_key(other)) is None
    finally:
        bench.close()


def test_the_floor_is_that_of_the_graders_file(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    (folder / "grade.sh").write_text("exit 0\n")
    spec = {
        "dataset": numbers,
        "task": {"kind": "command", "command": "cat"},
        "graders": [{"kind": "command", "command": ["sh", "grade.sh"]}],
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    fairtrial("exp", "aa", "spec.json")
    fairtrial("exp", "run", "spec.json", "--name", "same")
    assert "exp aa" in fairtrial("exp", "run", "spec.json", "--dry-run").out.replace("\n", " ")
    (folder / "grade.sh").write_text("exit 1\n")
    assert "exp aa" not in fairtrial("exp", "run", "spec.json", "--dry-run").out
    for name in ("edited", "again"):
        fairtrial("exp", "run", "spec.json", "--name", name)
    floors = [
        fairtrial("exp", "compare", *names, "--json").json["noise_floor"] is not None
        for names in (("same", "edited"), ("edited", "again"))
    ]
    assert floors == [True, False]


def test_a_plan_of_the_same_configuration_uses_the_floor_and_says_so(
    fairtrial: Command, spec: str
) -> None:
    assert "exp aa" not in fairtrial("exp", "run", spec, "--dry-run").out
    ran = fairtrial("exp", "aa", spec, "--json").json["experiments"][0]
    plan = fairtrial("exp", "run", spec, "--trials", "3", "--dry-run", "--json").json
    assert plan["smallest_effect"]["flip_rate"] == 0.5
    assert ran in json.dumps(plan["smallest_effect"])
    assert "exp aa" in fairtrial("exp", "run", spec, "--dry-run").out.replace("\n", " ")


def test_the_floor_of_both_runs_plans_the_next_size(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    # The second run is calmer than the first: either alone would mislead.
    agent = FLAKY.replace('number + (arm == "a2")) % 2', 'arm == "a2" or case["trial"]) % 2')
    (folder / "half.py").write_text(agent)
    task = json.dumps({"kind": "command", "command": ["python3", "half.py"], "envelope": True})
    run = ("-d", numbers, "--task", task, *EXACT, "--trials", "2", "--name", "calmer")
    floor = fairtrial("exp", "aa", *run, "--json").json["noise_floor"]
    assert floor["flip_rate"] == pytest.approx(0.25)
    planned = fairtrial("exp", "power", "--effect", "0.1", "--from", "calmer", "--json").json
    assert planned["noise"]["flip_rate"] == floor["flip_rate"]
    assert "the noise floor that exp aa measured" in planned["noise"]["text"]


def test_a_comparison_says_how_far_luck_alone_goes(fairtrial: Command, spec: str) -> None:
    for name, seed in (("one", "1"), ("two", "2")):
        fairtrial("exp", "run", spec, "--name", name, "--seed", seed, "--trials", "2")
    assert fairtrial("exp", "compare", "one", "two", "--json").json["noise_floor"] is None
    ran = fairtrial("exp", "aa", spec, "--json").json["experiments"]
    floor = fairtrial("exp", "compare", "one", "two", "--json").json["noise_floor"]
    assert (floor["experiments"], floor["flip_rate"]) == (ran, 0.5)
    # Variance 0.25 within, twice, over 20 cases and 2 trials.
    assert floor["sd"] == pytest.approx((2 * 0.25 / 40) ** 0.5)
    text = fairtrial("exp", "compare", "one", "two").out
    assert "differ by 11.2 points (one sd); this difference is 0.0 sd" in text.replace("\n", " ")


def test_an_aa_run_has_a_name_of_its_own_and_is_no_baseline(
    fairtrial: Command, spec: str, numbers: str
) -> None:
    def name_of(*words: str) -> str:
        ran = fairtrial("exp", "aa", *words, "--json").json
        return str(ran["experiment"]["name"])

    task = json.loads(Path(spec).read_text(encoding="utf-8"))["task"]
    plain = ("-d", f"{numbers}@1", "--task", json.dumps(task), *EXACT)
    earlier = fairtrial("exp", "run", *plain, "--json").json["id"]
    assert name_of(*plain) == "numbers-aa"
    assert name_of(spec) == "flaky-aa"
    assert name_of(spec, "--name", "flaky") == "flaky"
    fairtrial("exp", "run", *plain, "--name", "mended")
    compared = fairtrial("exp", "compare", "numbers", "mended", "--json")
    assert compared.code == 0, compared.err
    assert fairtrial("exp", "compare", "mended", "--json").json["a"]["id"] == earlier


def test_two_stored_runs_are_compared_without_running_anything(
    fairtrial: Command, numbers: str
) -> None:
    for name in ("one", "two"):
        words = ("-d", numbers, "--task", CAT, "--name", name, "--trials", "2")
        fairtrial("exp", "run", *words, *EXACT)
    report = fairtrial("exp", "aa", "one", "two", "--json").json
    assert report["experiment"] is None
    assert (report["noise_floor"]["flip_rate"], report["noise_floor"]["trials"]) == (0.0, 2)
    assert len(report["experiments"]) == 2


def test_no_flip_seen_is_told_with_what_it_leaves_possible(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    words = ("-d", numbers, "--task", CAT, *EXACT)
    # Two trials of each of 20 cases agreed: at most 1 - 0.05^(1/20) of them flip.
    told = fairtrial("exp", "aa", *words).out.replace("\n", " ")
    assert "no verdict flipped between two trials, in 20 cases: 95 % sure that one flips" in told
    assert "at most 13.9% of the time" in told
    assert "differ by at most 8.3 points (one sd; no flip was seen, 95 % sure)" in told
    assert "differ by 0.0 points" not in told
    for name in ("one", "two"):
        fairtrial("exp", "run", *words, "--name", name, "--trials", "2")
    compared = fairtrial("exp", "compare", "one", "two", "--plot", "c.svg").out.replace("\n", " ")
    assert "unchanged, two runs of this size differ by at most 5.9 points" in compared
    assert "at least 95 % of unchanged runs" in (folder / "c.svg").read_text(encoding="utf-8")
    fairtrial("exp", "show", "one", "--plot", "s.svg")
    assert "where at least 95 %" in (folder / "s.svg").read_text(encoding="utf-8")
    floor = fairtrial("exp", "compare", "one", "two", "--json").json["noise_floor"]
    assert (floor["sd"], floor["flip_rate"]) == (None, 0.0)
    assert floor["flip_rate_at_most"] == pytest.approx(1 - 0.05 ** (1 / 20))
    assert floor["sd_at_most"] == pytest.approx((floor["flip_rate_at_most"] / 40) ** 0.5)
    for source in ("numbers-aa", "one"):
        planned = fairtrial("exp", "power", "--cases", "50", "--from", source, "--plot", "p.svg")
        assert "flips at most 13.9% of the time" in planned.out, source
        assert "no flip was seen" in planned.out, source
        assert "flips at most 13.9 %" in (folder / "p.svg").read_text(encoding="utf-8"), source
    plan = fairtrial("exp", "run", *words, "--dry-run").out.replace("\n", " ")
    assert "no flip was seen, and 95 % sure it is no more than this" in plan


def test_two_arms_of_one_experiment_are_two_runs(fairtrial: Command, spec: str) -> None:
    ran = fairtrial("exp", "aa", spec, "--json").json
    for words in (
        ("flaky-aa:a1", "flaky-aa:a2"),
        ("flaky-aa",),
        (f"{ran['experiments'][0]}:a1", "flaky-aa:a2"),
    ):
        again = fairtrial("exp", "aa", *words, "--json").json
        assert again["noise_floor"] == ran["noise_floor"], words
        assert again["experiments"] == ran["experiments"]
    fairtrial("exp", "run", spec, "--name", "third")
    assert fairtrial("exp", "aa", "flaky-aa:a2", "third").code == 0


def test_a_moved_environment_is_told(fairtrial: Command, numbers: str, folder: Path) -> None:
    script = f'n=$(cat); [ -e {folder}/down ] && echo no || echo "$n"'
    task = json.dumps({"kind": "command", "command": script})
    words = ("-d", numbers, "--task", task)
    fairtrial("exp", "run", *words, *EXACT, "--name", "before")
    (folder / "down").touch()
    fairtrial("exp", "run", *words, *EXACT, "--name", "after")
    done = fairtrial("exp", "aa", "before", "after")
    assert done.code == 0
    assert "something around the agent moved" in done.out
    assert fairtrial("exp", "aa", "before", "after", "--json").json["noise_floor"]["drifts"]


def test_runs_of_different_things_are_refused(fairtrial: Command, numbers: str, spec: str) -> None:
    fairtrial("exp", "run", "-d", numbers, "--task", CAT, *EXACT, "--name", "cat")
    fairtrial("exp", "run", spec, "--name", "flaky")
    done = fairtrial("exp", "aa", "cat", "flaky")
    assert done.code == ExitCode.USAGE
    assert "they differ in: task" in done.err
    assert "fairtrial exp compare exp_" in done.err


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("cat",), ExitCode.USAGE, "a second one is needed"),
        (("cat", "cat"), ExitCode.USAGE, "are the same run"),
        (("cat:main",), ExitCode.USAGE, "a second one is needed"),
        (("cat:other", "cat"), ExitCode.USAGE, "cat has no arm other"),
        (("cat", "nobody"), ExitCode.NOT_FOUND, "there is no experiment nobody"),
        (("cat", "cat", "--trials", "3"), ExitCode.USAGE, "take no other option, got trials"),
        (("none.json",), ExitCode.NOT_FOUND, "no such file"),
        ((), ExitCode.USAGE, "no dataset"),
        (("--resume",), ExitCode.NOT_FOUND, "no unfinished A/A experiment"),
        (("--resume", "cat"), ExitCode.USAGE, "is no A/A experiment"),
    ],
)
def test_mistakes_are_told(
    fairtrial: Command, numbers: str, words: tuple[str, ...], code: int, what: str
) -> None:
    fairtrial("exp", "run", "-d", numbers, "--task", CAT, *EXACT, "--name", "cat", "--first-n", "2")
    done = fairtrial("exp", "aa", *words)
    assert done.code == code
    assert what in done.err


def test_a_run_that_judges_nothing_leaves_no_floor(fairtrial: Command, numbers: str) -> None:
    down = '{"kind":"http","url":"http://127.0.0.1:1"}'
    words = ("-d", numbers, "--task", down, "--retries", "0", "--stop-after-infra", "2")
    done = fairtrial("exp", "aa", *words, *EXACT)
    assert done.code == ExitCode.NO_VERDICT
    assert "No noise floor: the run is not finished" in done.out
    assert "fairtrial exp aa --resume exp_" in done.out


def test_an_interrupted_one_is_resumed_to_its_end(fairtrial: Command, numbers: str) -> None:
    task = json.dumps({"kind": "command", "command": "sleep 0.2; cat"})
    words = ("exp", "aa", "-d", numbers, "--task", task, *EXACT, "--name", "slow")
    running = process(*words)
    while fairtrial("exp", "show", "slow", "--json").json.get("n_recorded", 0) < 4:
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == ExitCode.INTERRUPTED
    done = fairtrial("exp", "aa", "--resume", "--json")
    assert done.code == 0, done.out
    assert done.json["experiment"]["n_recorded"] == 40
    assert done.json["noise_floor"]["flip_rate"] == 0.0


def test_one_that_exp_run_finished_says_how_its_floor_is_kept(
    fairtrial: Command, numbers: str
) -> None:
    task = json.dumps({"kind": "command", "command": "sleep 0.2; cat"})
    running = process("exp", "aa", "-d", numbers, "--task", task, *EXACT, "--name", "slow")
    while fairtrial("exp", "show", "slow", "--json").json.get("n_recorded", 0) < 4:
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    resumed = fairtrial("exp", "run", "--resume", "slow")
    assert resumed.code == 0, resumed
    told = next(x for x in resumed.out.splitlines() if "see its noise floor, and keep it" in x)
    command = told.split(":  ")[1].split()
    assert command[:3] == ["fairtrial", "exp", "aa"]
    assert fairtrial(*command[1:], "--json").json["noise_floor"]["flip_rate"] == 0.0


def test_a_run_beside_a_spec_is_not_ignored(fairtrial: Command, spec: str) -> None:
    fairtrial("exp", "run", spec, "--name", "other")
    done = fairtrial("exp", "aa", spec, "other")
    assert done.code == ExitCode.USAGE
    assert "a spec is run twice, and other would not be looked at" in done.err


def test_runs_that_always_crash_have_no_noise_floor(fairtrial: Command, numbers: str) -> None:
    crash = json.dumps({"kind": "command", "command": "exit 3"})
    done = fairtrial("exp", "aa", "-d", numbers, "--task", crash, *EXACT, "--name", "crash")
    assert done.code == ExitCode.NO_VERDICT
    assert "No noise floor: no grader judged any output" in done.out
    assert fairtrial("exp", "aa", "crash").code == ExitCode.TOO_FEW
