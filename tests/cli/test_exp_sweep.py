"""`exp sweep`: the race, the held-out comparison, guards, adoption, and how it goes on."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import EXACT, Command, Outcome, process
from tests.cli.test_interrupts import recorded, until

from fairtrial.model.errors import ExitCode, StoreError
from fairtrial.model.experiment import Experiment
from fairtrial.store.experiments import SqlExperimentStore

# Which cases a configuration solves is fixed by its skill, out of ten, and its salt; PAUSE gives a
# test the time to end the program meanwhile.
AGENTS = """
import os, time, zlib

def answer(n, skill, salt=""):
    time.sleep(float(os.environ.get("PAUSE", "0")))
    if n >= 1000 and skill == 9 and os.path.exists("forgets"):
        return "forgotten"
    return str(n) if zlib.crc32(f"{salt}{n}".encode()) % 10 < skill else "wrong"
"""


def task(skill: int, salt: str = "") -> str:
    arguments = {"skill": skill, "salt": salt}
    told = {"kind": "python", "function": "agents:answer", "arguments": arguments}
    return json.dumps(told)


CONFIGURATIONS = (
    f"base={task(5)}",
    f"worse={task(2)}",
    f"best={task(9)}",
    f"same={task(5, 's')}",
)


def cases(path: Path, numbers: range, split_at: int | None = None) -> None:
    lines = []
    for n in numbers:
        case: dict[str, Any] = {"id": f"c{n:04}", "input": n, "expected": str(n)}
        if split_at is not None:
            case["split"] = "train" if n < split_at else "test"
        lines.append(json.dumps(case))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def sweep(fairtrial: Command, folder: Path) -> Command:
    """Race over 110 bugs, 60 of them in the train split."""
    (folder / "agents.py").write_text(AGENTS)
    cases(folder / "bugs.jsonl", range(110), split_at=60)
    cases(folder / "faq.jsonl", range(1000, 1040))
    assert fairtrial("dataset", "add", "bugs", "bugs.jsonl").code == 0
    assert fairtrial("dataset", "add", "faq", "faq.jsonl").code == 0

    def start(*words: str) -> Outcome:
        named = () if "-d" in words or "--resume" in words else ("-d", "bugs", *EXACT)
        seeded = () if "--resume" in words else ("--seed", "1")
        return fairtrial("exp", "sweep", *words, *named, *seeded)

    return start


class TestTheWholeSweep:
    def test_the_winner_is_compared_on_cases_that_nobody_raced_on(
        self, sweep: Command, fairtrial: Command
    ) -> None:
        done = sweep(*CONFIGURATIONS, "--json")
        assert done.code == 0, done.err
        told = done.json
        assert (told["winner"], told["adopted"], told["phase"]) == ("best", "best", "over")
        raced = fairtrial("exp", "export", told["race"]["experiment"], "--to", "jsonl").out
        held_out = fairtrial("exp", "export", told["experiments"][1]["id"], "--to", "jsonl").out
        ran = [
            {json.loads(line)["case_id"] for line in text.splitlines() if "case_id" in line}
            for text in (raced, held_out)
        ]
        assert not ran[0] & ran[1]
        assert len(ran[1]) == told["effect"]["n"] == 50
        assert told["effect"] == told["held_out"]["delta"]

    def test_the_race_score_is_called_flattered_and_never_the_effect(self, sweep: Command) -> None:
        out = sweep(*CONFIGURATIONS).out
        assert "best won the race over 2 rounds" in out
        assert "flattered by the choice" in out
        assert "base (start)" in out
        race, effect = out.split("Effect: best against base, held out")
        assert "out" in race
        assert "B − A" not in race
        assert "50 cases that nobody raced on (split test)" in effect
        assert "Adopt best: it beats the start by" in effect

    def test_a_stored_race_shows_its_rounds(self, sweep: Command, fairtrial: Command) -> None:
        told = sweep(*CONFIGURATIONS, "--json").json
        shown = fairtrial("exp", "show", told["id"])
        assert "Configuration" in shown.out
        assert "Round 2, 60 cases" in shown.out
        design = fairtrial("exp", "show", told["id"], "--json").json["design"]
        assert design["facts"]["rounds"] == told["race"]["rounds"]

    def test_nothing_is_compared_on_the_cases_that_chose_the_winner(
        self, sweep: Command, fairtrial: Command
    ) -> None:
        race = sweep(*CONFIGURATIONS, "--json").json["id"]
        arms = (f"{race}:base", f"{race}:best")
        done = fairtrial("exp", "compare", *arms)
        assert "No verdict on best against base: a race chose who stays" in done.out
        assert "compare on cases that nobody raced on" in done.out
        gated = fairtrial("exp", "compare", *arms, "--gate", "--json")
        assert gated.code != ExitCode.OK
        assert any("a race" in why for why in gated.json["decision"]["reasons"])
        listed = fairtrial("exp", "list", "--json").json["experiments"]
        flips = {one["name"]: one["vs_baseline"] for one in listed}
        assert "which chose who stays" in flips["bugs"]["reason"]
        assert flips["bugs held-out"]["reason"] is None
        assert "vs baseline –  base ran in a race" in fairtrial("exp", "show", race).out
        left_out = fairtrial("exp", "plateau", *arms, "--json").json["rounds"][1]["left_out"]
        assert "ran in a race" in left_out

    def test_a_budget_shortens_the_race(self, sweep: Command) -> None:
        told = sweep(*CONFIGURATIONS, "--budget", "48", "--json").json
        assert [one["cases"] for one in told["race"]["rounds"]] == [6, 18]

    def test_where_the_start_wins_nothing_is_held_out(self, sweep: Command) -> None:
        done = sweep(f"base={task(9)}", f"worse={task(2)}")
        assert done.code == ExitCode.NEGATIVE
        assert "the start itself won" in done.out
        assert "Keep base: the start, base, won the race" in done.out
        assert "Effect" not in done.out

    def test_a_winner_that_is_not_better_held_out_is_not_adopted(self, sweep: Command) -> None:
        done = sweep(f"base={task(5)}", f"lucky={task(5, 'q4')}", "--guard", "faq", "--json")
        assert done.code == ExitCode.NEGATIVE
        assert (done.json["winner"], done.json["adopted"]) == ("lucky", None)
        assert done.json["guards"] == []

    def test_without_splits_three_in_ten_cases_are_drawn_and_held_out(
        self, sweep: Command, fairtrial: Command, folder: Path
    ) -> None:
        cases(folder / "plain.jsonl", range(100))
        fairtrial("dataset", "add", "plain", "plain.jsonl")
        words = ("-d", "plain", *EXACT, *CONFIGURATIONS, "--json")
        told = [sweep(*words).json for _ in range(2)]
        assert told[0]["effect"]["n"] == 30
        assert told[0]["splits"] == {
            "race": "70 % of the cases",
            "held_out": "the other 30 %",
        }
        assert told[0]["effect"]["estimate"] == told[1]["effect"]["estimate"]

    def test_what_was_tried_is_counted(self, sweep: Command) -> None:
        told = sweep(*CONFIGURATIONS, "--json").json["tried"]
        assert told["configurations"] == 4
        assert told["optimism"] > 0


DOWN = json.dumps({"kind": "http", "url": "http://127.0.0.1:1/"})
CRASH = json.dumps({"kind": "command", "command": "exit 3"})
OTHER_CRASH = json.dumps({"kind": "command", "command": "exit 4"})
LIMITS = ("--retries", "0", "--stop-after-infra", "0")


def test_a_race_of_many_stays_a_table(sweep: Command) -> None:
    many = [f"{'c' * 60}{n}={task(n % 4, str(n))}" for n in range(17)]
    out = sweep(f"base={task(5)}", *many, "--budget", "100").out
    assert "and 2 more, which were out earlier" in out
    table = out.split("Configuration")[1].split("Rates in a race")[0]
    assert "█" not in table
    assert "c" * 41 not in table


class TestWithoutVerdicts:
    @pytest.mark.parametrize(
        ("words", "unmeasured"),
        [
            ((f"base={task(5)}", f"down={DOWN}"), ["down"]),
            ((f"base={CRASH}", f"crash={OTHER_CRASH}"), ["base", "crash"]),
            ((f"base={task(5)}", f"best={task(9)}", "-g", CRASH.replace("3", "2")), None),
        ],
    )
    def test_a_start_that_raced_against_nobody_did_not_win(
        self, sweep: Command, words: tuple[str, ...], unmeasured: list[str] | None
    ) -> None:
        given = (*words, "-d", "bugs", *(() if "-g" in words else EXACT), *LIMITS)
        done = sweep(*given)
        assert done.code == ExitCode.NO_VERDICT, done.out
        assert "No verdict on any of them: no race case has a verdict" in done.out
        assert "nothing was raced" in done.out
        evidence = sweep(*given, "--json").json["decision"]["evidence"]
        assert evidence["without_verdict"] == (unmeasured or ["base", "best"])

    def test_one_that_lacks_verdicts_is_told_and_the_others_race_on(self, sweep: Command) -> None:
        done = sweep(f"base={task(5)}", f"down={DOWN}", f"best={task(9)}", *LIMITS, "--json")
        assert done.code == 0, done.out
        first = done.json["race"]["rounds"][0]
        assert (first["rates"]["down"], first["decided"]["down"]) == (None, 0)
        assert first["decided"]["base"] == first["cases"]
        kept = sweep(f"base={task(9)}", f"down={DOWN}", f"worse={task(2)}", *LIMITS)
        assert kept.code == ExitCode.NEGATIVE
        assert f"down has no verdict on {first['cases']} of its {first['cases']} cases" in kept.out
        assert "Keep base" in kept.out


class TestGuards:
    def test_a_guard_that_keeps_what_was_solved_lets_the_winner_pass(self, sweep: Command) -> None:
        done = sweep(*CONFIGURATIONS, "--guard", "faq")
        assert done.code == 0
        assert "✓ faq@1" in done.out
        assert "What was solved is kept." in done.out

    def test_a_guard_that_holds_blocks_adoption(self, sweep: Command, folder: Path) -> None:
        (folder / "forgets").touch()
        done = sweep(*CONFIGURATIONS, "--guard", "faq")
        assert done.code == ExitCode.NEGATIVE
        assert "✗ faq@1: too much of what was solved breaks" in done.out
        assert "Keep base: guard faq@1:" in done.out
        assert "Adopt" not in done.out

    def test_prior_is_every_dataset_that_a_sweep_adopted_on(
        self, sweep: Command, fairtrial: Command, folder: Path
    ) -> None:
        nothing = sweep(*CONFIGURATIONS, "--guard", "prior", "--json")
        assert (nothing.code, nothing.json["guards_planned"]) == (0, [])
        cases(folder / "other.jsonl", range(500, 600))
        fairtrial("dataset", "add", "other", "other.jsonl")
        words = ("-d", "other", *EXACT, *CONFIGURATIONS, "--guard", "prior", "--json")
        done = sweep(*words)
        assert done.json["guards_planned"] == ["bugs@1"]
        # Of a dataset with splits, only the test split guards.
        assert done.json["guards"][0]["delta"]["n"] == 50

    def test_how_much_may_break_is_a_choice(self, sweep: Command, folder: Path) -> None:
        (folder / "forgets").touch()
        lenient = ("--guard-tau", "1", "--guard-lambda", "0.000001")
        done = sweep(*CONFIGURATIONS, "--guard", "faq", *lenient, "--json")
        told = done.json["guards"][0]["decision"]
        assert told["evidence"]["breaks"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no configuration"),
        ((CONFIGURATIONS[0],), "one configuration only"),
        ((CONFIGURATIONS[0], CONFIGURATIONS[0]), "two configurations are called 'base'"),
        ((f"a={task(5)}", f"b={task(5)}"), "a and b are the same task"),
        ((*CONFIGURATIONS, "--split", "dev"), "no case in the split 'dev'"),
        ((*CONFIGURATIONS, "--split", "test"), "both run on 'test'"),
        ((*CONFIGURATIONS, "--budget", "3"), "must be at least 8"),
        ((*CONFIGURATIONS, "--budget", "4000"), "there are 60"),
        ((*CONFIGURATIONS, "--guard-tau", "0.2"), "no effect without --guard"),
        ((*CONFIGURATIONS, "-d", "faq", *EXACT, "--split", "x"), "faq@1 has no splits"),
        (("a=x.txt", CONFIGURATIONS[0]), "neither JSON nor a file"),
        ((*CONFIGURATIONS, "--split", ""), "no case in the split ''"),
        ((*CONFIGURATIONS, "--held-out", ""), "no case in the split ''"),
        ((*CONFIGURATIONS, "--guard", "bugs"), "it cannot guard itself"),
        ((*CONFIGURATIONS, "--guard", "bugs@1"), "it cannot guard itself"),
        ((f"{'x' * 201}={task(5)}", CONFIGURATIONS[2]), "200 characters at most"),
    ],
)
def test_what_cannot_be_raced_is_refused(
    sweep: Command, words: tuple[str, ...], message: str
) -> None:
    done = sweep(*words)
    assert done.code == ExitCode.USAGE
    assert message in done.err


def test_configurations_have_the_names_of_their_files(sweep: Command, folder: Path) -> None:
    for name, skill in (("base", 5), ("best", 9)):
        (folder / f"{name}.json").write_text(task(skill))
    told = sweep("base.json", "best.json", "--json").json
    assert [one["name"] for one in told["configurations"]] == ["base", "best"]


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return round(value, 12) if isinstance(value, float) else value


class TestGoingOn:
    def final(self, told: Any) -> Any:
        """Return what a sweep came to, without its ids and times.

        Rows are added up in the order in which they were recorded, which moves the last digit.
        """
        return rounded(self._all(told))

    def _all(self, told: Any) -> Any:
        return [
            told["race"]["rounds"],
            told["winner"],
            told["adopted"],
            told["effect"],
            [{**one, "experiment": None} for one in told["guards"]],
            told["decision"],
        ]

    @pytest.mark.parametrize(
        ("trials", "phases"),
        [
            (7, {"race"}),
            (100, {"race"}),
            (160, {"race", "held-out"}),
            (215, {"held-out"}),
            (300, {"guard"}),
        ],
    )
    def test_killed_anywhere_it_ends_like_an_undisturbed_one(
        self, sweep: Command, fairtrial: Command, folder: Path, trials: int, phases: set[str]
    ) -> None:
        whole = sweep(*CONFIGURATIONS, "--guard", "faq", "--json").json
        before = recorded()
        words = ("exp", "sweep", *CONFIGURATIONS, "-d", "bugs", *EXACT, "--guard", "faq")
        env = {**os.environ, "PAUSE": "0.02"}
        killed = process(*words, "--seed", "1", "-c", "2", cwd=folder, env=env)
        until(lambda: recorded() >= before + trials or killed.poll() is not None)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert killed.returncode == -signal.SIGKILL
        status = fairtrial("exp", "status", "--json").json
        assert {one["phase"] for one in status["sweeps"]} <= phases
        assert "exp sweep --resume" in status["sweeps"][0]["resume"]
        resumed = sweep("--resume", "--json")
        assert resumed.code == 0, resumed.err
        assert self.final(resumed.json) == self.final(whole)
        assert recorded() == 2 * before
        assert fairtrial("exp", "status", "--json").json["sweeps"] == []

    def test_ctrl_c_ends_it_in_any_phase_with_the_command_that_goes_on(
        self, sweep: Command, folder: Path
    ) -> None:
        words = ("exp", "sweep", *CONFIGURATIONS, "-d", "bugs", *EXACT, "--seed", "1", "-c", "2")
        env = {**os.environ, "PAUSE": "0.02"}
        running = process(*words, cwd=folder, env=env)
        until(lambda: recorded() >= 200 or running.poll() is not None)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate()
        assert running.returncode == ExitCode.INTERRUPTED, err
        assert "The held-out comparison is interrupted" in out
        assert "go on:  fairtrial exp sweep --resume exp_" in out
        assert sweep("--resume").code == 0

    def test_the_same_configurations_find_their_unfinished_sweep(
        self, sweep: Command, fairtrial: Command
    ) -> None:
        words = (*CONFIGURATIONS, "-d", "bugs", *EXACT, "--resume", "--json")
        assert sweep(*words).code == ExitCode.NOT_FOUND
        del fairtrial

    @pytest.mark.parametrize(
        "words",
        [
            ("--seed", "99"),
            ("--budget", "20"),
            ("--guard", "faq"),
            ("--trials", "2"),
            ("--split", "test"),
            ("--held-out", "train"),
            ("--guard-tau", "0.5"),
            ("--name", "other"),
        ],
    )
    def test_a_resume_refuses_what_it_would_ignore(
        self, sweep: Command, words: tuple[str, ...]
    ) -> None:
        done = sweep("--resume", *words)
        assert done.code == ExitCode.USAGE
        assert f"{words[0]} cannot change what is resumed" in done.err

    def test_one_that_is_over_is_told_again(self, sweep: Command) -> None:
        whole = sweep(*CONFIGURATIONS, "--guard", "faq", "--json").json
        for experiment in whole["experiments"]:
            again = sweep("--resume", experiment["id"], "--json")
            assert (again.code, self.final(again.json)) == (0, self.final(whole))

    def test_another_sweep_is_not_continued(self, sweep: Command) -> None:
        whole = sweep(*CONFIGURATIONS, "--json").json
        done = sweep(*CONFIGURATIONS[:2], "-d", "bugs", *EXACT, "--resume", whole["id"])
        assert (done.code, "another sweep" in done.err) == (ExitCode.USAGE, True)

    def test_an_experiment_of_no_sweep_is_refused(self, sweep: Command, fairtrial: Command) -> None:
        run = ("exp", "run", "-d", "faq", *EXACT, "--task", task(5), "--json")
        alone = fairtrial(*run).json["id"]
        done = sweep("--resume", alone)
        assert (done.code, "belongs to no sweep" in done.err) == (ExitCode.USAGE, True)

    @pytest.mark.parametrize(("opening", "phase"), [(1, "race"), (2, "held-out"), (3, "guard")])
    def test_one_that_fails_between_its_phases_goes_on_with_the_next(
        self,
        sweep: Command,
        fairtrial: Command,
        monkeypatch: pytest.MonkeyPatch,
        opening: int,
        phase: str,
    ) -> None:
        whole = sweep(*CONFIGURATIONS, "--guard", "faq", "--json").json
        opened = 0

        def fail(self: SqlExperimentStore, experiment: Experiment, positions: Any) -> None:
            nonlocal opened
            opened += 1
            if opened == opening:
                raise StoreError("the disk is full")
            original(self, experiment, positions)

        original = SqlExperimentStore.open_experiment
        with monkeypatch.context() as patched:
            patched.setattr(SqlExperimentStore, "open_experiment", fail)
            failed = sweep(*CONFIGURATIONS, "--guard", "faq")
        assert (failed.code, "the disk is full" in failed.err) == (ExitCode.NO_VERDICT, True)
        assert "go on with: fairtrial exp sweep --resume exp_" in failed.err
        shown = fairtrial("exp", "status").out
        assert f"phase {opening} of at most 3: {phase}, not begun" in shown
        resumed = sweep("--resume", "--json")
        assert self.final(resumed.json) == self.final(whole)
