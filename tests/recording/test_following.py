"""Which recorded call answers the next request of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from fairtrial.model.recorded_call import RecordedCall
from fairtrial.recording.following import NO_MORE, NO_RECORDING, PAST_UNTIL, Following, last_try

START = datetime(2026, 5, 1, tzinfo=UTC)


def call(
    number: int,
    canonical: str | None = None,
    at: float | None = None,
    took: float = 0.5,
    **other: object,
) -> RecordedCall:
    """Return a call that begins `at` seconds after the start; by default one after the other."""
    facts = {
        "id": f"call_{number}_{at}",
        "session": "s",
        "number": number,
        "api": "anthropic-messages",
        "method": "POST",
        "path": "/v1/messages",
        "upstream": "http://127.0.0.1",
        "model": "m",
        "status": 200,
        "problem": None,
        "streamed": False,
        "started_at": START + timedelta(seconds=number if at is None else at),
        "first_byte_s": 0.1,
        "duration_s": took,
        "canonical": canonical or f"h{number}",
    }
    return RecordedCall(**{**facts, **other})  # type: ignore[arg-type]


def served(following: Following, asked: Sequence[str]) -> list[int | None]:
    """Ask one request after the other; return the numbers of the calls that answered."""
    numbers: list[int | None] = []
    for canonical in asked:
        number = following.number()
        found = following.match(canonical)
        if found is None:
            following.diverge(number, following.at_end() or "changed")
            numbers.append(None)
        else:
            following.serve(found)
            numbers.append(found.number)
    return numbers


class TestOneAfterTheOther:
    CALLS = (call(1), call(2), call(3))

    def test_the_same_requests_get_the_same_answers(self) -> None:
        following = Following(self.CALLS)
        assert served(following, ["h1", "h2", "h3"]) == [1, 2, 3]
        assert (following.served, following.diverged_at) == (3, None)

    def test_nothing_is_served_after_the_first_changed_call(self) -> None:
        following = Following(self.CALLS)
        assert served(following, ["h1", "other", "h2", "h3"]) == [1, None, None, None]
        assert (following.diverged_at, following.why) == (2, "changed")

    def test_no_call_is_skipped(self) -> None:
        following = Following(self.CALLS)
        assert served(following, ["h2"]) == [None]
        assert following.diverged_at == 1

    def test_one_more_request_than_recorded(self) -> None:
        following = Following(self.CALLS[:1])
        assert served(following, ["h1", "h2"]) == [1, None]
        assert (following.diverged_at, following.why) == (2, NO_MORE)

    def test_until(self) -> None:
        following = Following(self.CALLS, until=2)
        assert served(following, ["h1", "h2", "h3"]) == [1, 2, None]
        assert (following.diverged_at, following.why) == (3, PAST_UNTIL)

    def test_until_nothing(self) -> None:
        following = Following(self.CALLS, until=0)
        assert served(following, ["h1"]) == [None]
        assert following.why == PAST_UNTIL

    def test_no_recording(self) -> None:
        following = Following(())
        assert served(following, ["h1"]) == [None]
        assert following.why == NO_RECORDING

    def test_the_same_request_three_times_gets_three_answers_in_order(self) -> None:
        following = Following([call(n, "same") for n in (1, 2, 3)])
        assert served(following, ["same"] * 4) == [1, 2, 3, None]


class TestSideBySide:
    """Calls 2, 3 and 4 were under way together."""

    CALLS = (
        call(1, at=0),
        call(2, at=1, took=3),
        call(3, at=1.1, took=1),
        call(4, at=2, took=1),
        call(5, at=5),
    )

    @pytest.mark.parametrize("order", [(2, 3, 4), (4, 3, 2), (3, 4, 2)])
    def test_they_come_in_any_order(self, order: tuple[int, ...]) -> None:
        following = Following(self.CALLS)
        numbers = [1, *order, 5]
        assert served(following, [f"h{n}" for n in numbers]) == numbers

    def test_one_may_come_late(self) -> None:
        following = Following(self.CALLS)
        numbers = [1, 3, 4, 5, 2]
        assert served(following, [f"h{n}" for n in numbers]) == numbers
        assert following.diverged_at is None

    def test_none_of_them_may_be_left_out(self) -> None:
        following = Following(self.CALLS)
        assert served(following, ["h1", "h5"]) == [1, None]


class TestFailedCalls:
    def test_an_error_is_served_and_so_is_what_followed(self) -> None:
        calls = (call(1, "same", status=529), call(2, "same"))
        assert served(Following(calls), ["same", "same"]) == [1, 2]

    def test_a_call_without_a_whole_answer_gives_way_to_the_one_that_repeats_it(self) -> None:
        calls = (call(1, "same", problem="cut"), call(2, "same"), call(3))
        following = Following(calls)
        assert served(following, ["same", "h3"]) == [2, 3]
        assert following.diverged_at is None


class TestLastTry:
    def test_earlier_tries_and_later_reruns_are_no_part_of_it(self) -> None:
        tries = [call(1, at=0), call(2, at=1), call(1, at=10), call(2, at=11), call(1, at=20)]
        since = START + timedelta(seconds=9)
        assert [one.started_at for one in last_try(tries, since)] == [
            START + timedelta(seconds=10),
            START + timedelta(seconds=11),
        ]

    def test_what_asks_no_model_is_left_out(self) -> None:
        calls = [call(1), call(2, api=None), call(3)]
        assert [one.number for one in last_try(calls, START)] == [1, 3]

    def test_calls_that_end_out_of_order_keep_their_numbers(self) -> None:
        assert [one.number for one in last_try([call(2), call(1)], START)] == [1, 2]
