import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.mcnemar import mcnemar
from fairtrial.stats.paired.tango import tango
from fairtrial.stats.pairwise import Choice, pairwise

WORDS: list[Choice] = ["a", "b", "tie"]
answer = st.sampled_from(WORDS)
OTHER: dict[Choice, Choice] = {"a": "b", "b": "a", "tie": "tie"}


@given(st.lists(st.tuples(answer, answer), min_size=1, max_size=40))
def test_swapping_the_arms_swaps_wins_and_keeps_the_bias(
    answers: list[tuple[Choice, Choice]],
) -> None:
    found = pairwise(answers)
    turned: list[tuple[Choice, Choice]] = [(OTHER[ba], OTHER[ab]) for ab, ba in answers]
    swapped = pairwise(turned)
    assert (swapped.wins, swapped.losses, swapped.ties) == (found.losses, found.wins, found.ties)
    assert (swapped.both_first, swapped.both_second) == (found.both_first, found.both_second)
    assert swapped.consistent == found.consistent
    assert swapped.first_share == pytest.approx(found.first_share)
    assert swapped.score_b == pytest.approx(1 - found.score_b)
    assert found.wins + found.losses + found.ties == found.n == len(answers)
    assert found.test == mcnemar(found.wins, found.losses)
    assert found.net == tango(PairedCounts(0, found.wins, found.losses, found.ties))
    rest = found.n - found.both_first - found.both_second
    assert found.position == tango(PairedCounts(0, found.both_first, found.both_second, rest))
    assert found.position_test == mcnemar(found.both_first, found.both_second)


def test_a_judge_that_loves_the_first_slot_is_found_out() -> None:
    always_first: tuple[Choice, Choice] = ("a", "b")
    found = pairwise([*[always_first] * 9, ("b", "b")])
    assert found.wins == 1
    assert len(found.warnings) == 2
    assert "only 10 % of cases" in found.warnings[0]
    assert "leans to the first slot" in found.describe()
    assert "second slot" in pairwise([("b", "a")] * 9).warnings[1]
    assert pairwise([("b", "b")] * 9).warnings == ()


@pytest.mark.parametrize("answers", [[], [("a", "c")], [("a",)], ["b"]])
def test_bad_answers_are_refused(answers: list[tuple[Choice, Choice]]) -> None:
    with pytest.raises(ArgumentError, match="answers"):
        pairwise(answers)
