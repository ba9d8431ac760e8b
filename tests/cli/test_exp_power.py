"""`exp power`, and what a dry run says of its size."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import CAT, EXACT, Command

FLAKY = json.dumps(
    {"kind": "command", "command": 'n=$(cat); [ $((n % 2 * FAIRTRIAL_TRIAL)) = 2 ] || echo "$n"'}
)


def test_an_effect_needs_so_many_cases(fairtrial: Command) -> None:
    done = fairtrial("exp", "power", "--effect", "0.05")
    assert done.code == 0
    assert "To see 5 percentage points with 1 trial a case and arm: 787 cases" in done.out
    assert "1,574 trials in all" in done.out
    assert "flips 25% of the time (a guess" in done.out
    assert "[5.0 pp]" in done.out
    report = fairtrial("exp", "power", "--effect", "0.05", "--trials", "3", "--json").json
    assert report["cases_needed"] < 300 < report["cases_needed_if_concentrated"]
    chosen = [row for row in report["table"] if row["chosen"]]
    assert [(row["cases"], row["trials"]) for row in chosen] == [(report["cases_needed"], 3)]


def test_so_many_cases_see_an_effect(fairtrial: Command) -> None:
    done = fairtrial("exp", "power", "--cases", "100", "--trials", "3", "--flip-rate", "0.4")
    assert "100 cases with 3 trials a case and arm see 10.3 percentage points or more" in done.out
    both = fairtrial("exp", "power", "--cases", "100", "--effect", "0.1", "--json").json
    assert both["smallest_effect"] == pytest.approx(0.1414, abs=1e-3)
    assert 0.3 < both["power_reached"] < 0.8


def test_more_power_and_less_alpha_cost_cases(fairtrial: Command) -> None:
    def needed(*words: str) -> int:
        report = fairtrial("exp", "power", "--effect", "0.1", *words, "--json").json
        cases: int = report["cases_needed"]
        return cases

    assert needed("--power", "0.9") > needed() < needed("--alpha", "0.01")


def test_noise_comes_from_an_experiment(fairtrial: Command, numbers: str) -> None:
    run = ("exp", "run", "-d", numbers, *EXACT)
    fairtrial(*run, "--task", FLAKY, "--trials", "3", "--name", "flaky")
    report = fairtrial("exp", "power", "--effect", "0.1", "--from", "flaky", "--json").json
    # Every other case passes in two of three trials: 2 * 1/3 for a half of the cases.
    assert report["noise"]["flip_rate"] == pytest.approx(1 / 3)
    assert report["noise"]["source"] == "experiment"
    plan = fairtrial(*run, "--task", CAT, "--dry-run")
    assert "33.3% of verdicts flip without any change (from flaky (exp_" in plan.out


def test_without_any_noise_a_gain_sits_in_few_cases(fairtrial: Command) -> None:
    done = fairtrial("exp", "power", "--effect", "0.1", "--flip-rate", "0")
    assert done.code == 0
    assert "73 cases" in done.out
    assert "without any noise a gain can only sit in cases that are fixed for good" in done.out


def test_no_flip_seen_is_planned_with_the_highest_rate_that_fits(
    fairtrial: Command, numbers: str
) -> None:
    fairtrial("exp", "run", "-d", numbers, *EXACT, "--task", CAT, "--trials", "2", "--name", "calm")
    report = fairtrial("exp", "power", "--effect", "0.1", "--from", "calm", "--json").json
    assert report["noise"]["at_most"]
    assert report["noise"]["flip_rate"] == pytest.approx(1 - 0.05 ** (1 / 20))
    assert report["cases_needed"] == report["cases_needed_if_concentrated"] > 73
    told = fairtrial("exp", "power", "--effect", "0.1", "--from", "calm").out
    assert "flips at most 13.9% of the time" in told
    assert "as it may be less, a gain is taken to sit in a few cases" in told


def test_one_trial_a_case_shows_no_noise(fairtrial: Command, numbers: str) -> None:
    fairtrial("exp", "run", "-d", numbers, *EXACT, "--task", CAT, "--name", "once")
    done = fairtrial("exp", "power", "--from", "once")
    assert done.code == 64
    assert "one trial a case cannot show how much a case varies" in done.err
    plan = fairtrial("exp", "run", "-d", numbers, *EXACT, "--task", CAT, "--dry-run", "--json").json
    assert plan["smallest_effect"]["flip_rate"] == 0.25
    assert plan["smallest_effect"]["effect"] == pytest.approx(0.33, abs=0.01)


def test_too_few_cases_see_nothing(fairtrial: Command, numbers: str) -> None:
    assert "cannot be counted on to see anything" in fairtrial("exp", "power", "--cases", "2").out
    run = ("exp", "run", "-d", numbers, *EXACT, "--task", CAT, "--first-n", "2", "--dry-run")
    assert "Too few cases" in fairtrial(*run).out


def test_a_tiny_effect_needs_more_than_anyone_has(fairtrial: Command) -> None:
    done = fairtrial("exp", "power", "--effect", "0.0005")
    assert "more than 1,000,000 cases are needed" in done.out


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("--effect", "5"), 64, "--effect: expected float < 1.0"),
        (("--effect", "0"), 64, "--effect: expected float > 0"),
        (("--cases", "1"), 64, "--cases: expected int >= 2"),
        (("--trials", "0"), 64, "--trials: expected int >= 1"),
        (("--power", "1"), 64, "--power"),
        (("--flip-rate", "0.9"), 64, "--flip-rate"),
        (("--flip-rate", "0.1", "--from", "x"), 64, "the noise is given twice"),
        (("--from", "x"), 66, "there is no experiment x"),
    ],
)
def test_mistakes(fairtrial: Command, words: tuple[str, ...], code: int, problem: str) -> None:
    done = fairtrial("exp", "power", *words)
    assert done.code == code
    assert problem in done.err


def test_measured_commands_have_no_pass_rate(fairtrial: Command) -> None:
    arms = ("--arm", "a=true", "--arm", "b=true")
    fairtrial("exp", "metrics", *arms, "--pairs", "2", "--name", "speed")
    done = fairtrial("exp", "power", "--from", "speed")
    assert done.code == 64
    assert "measures commands and has no pass rate" in done.err
