"""The contract of an `AnswerCache`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from fairtrial.model.json import Json
from fairtrial.model.recorded_call import KeptAnswer
from fairtrial.ports import AnswerCache
from fairtrial.testing.store.facts import NOON

_DAY = 86_400.0
_NOISE = "".join(f"{n * n:x}" for n in range(20_000))


class Moment:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        """Return the time it is set to."""
        return self.at


def an_answer(key: str = "k", reply: Json = "yes") -> KeptAnswer:
    """Return an answer under a key."""
    return KeptAnswer(key, "fake", "fake-1", reply)


class AnswerCacheContract:
    """Subclass it in a test module, name the class `Test…`, and override `answers`.

    The cache reads its time from the fixture `moment`.
    """

    @pytest.fixture
    def moment(self) -> Moment:
        """Give the clock of the cache."""
        return Moment()

    @pytest.fixture
    def answers(self, moment: Moment) -> Iterator[AnswerCache]:
        """Give an empty cache."""
        raise NotImplementedError

    def test_what_was_never_kept_is_none(self, answers: AnswerCache) -> None:
        assert answers.get("k") is None
        assert answers.size() == (0, 0)

    @pytest.mark.parametrize("reply", ["", None, {"text": "ö\ud800", "n": [1.5, None]}, _NOISE])
    def test_an_answer_comes_back_as_it_was(self, answers: AnswerCache, reply: Json) -> None:
        answers.keep(an_answer(reply=reply), NOON)
        assert answers.get("k") == an_answer(reply=reply)

    def test_the_first_answer_stays(self, answers: AnswerCache) -> None:
        answers.keep(an_answer(reply="first"), NOON)
        answers.keep(an_answer(reply="second"), NOON)
        assert answers.get("k") == an_answer(reply="first")
        assert answers.size()[0] == 1

    def test_what_was_not_used_for_long_is_forgotten(
        self, answers: AnswerCache, moment: Moment
    ) -> None:
        for key in "abc":
            answers.keep(an_answer(key, _NOISE + key), NOON)
        before = answers.size()[1]
        moment.at = NOON + timedelta(days=2)
        assert answers.get("b") is not None
        forgotten, freed = answers.prune(NOON + timedelta(days=3), 2 * _DAY, None)
        assert (forgotten, freed) == (2, before - answers.size()[1])
        assert answers.get("a") is None
        assert answers.get("b") == an_answer("b", _NOISE + "b")
        assert answers.prune(NOON + timedelta(days=3), 2 * _DAY, None) == (0, 0)

    def test_beyond_a_size_the_longest_unused_go_first(
        self, answers: AnswerCache, moment: Moment
    ) -> None:
        for hours, key in enumerate("abcd"):
            answers.keep(an_answer(key, _NOISE + key), NOON + timedelta(hours=hours))
        moment.at = NOON + timedelta(days=1)
        assert answers.get("a") is not None
        size = answers.size()[1]
        assert answers.prune(moment.at, None, size // 2 + 1)[0] == 2
        assert [key for key in "abcd" if answers.get(key)] == ["a", "d"]
        assert answers.prune(moment.at, None, 0)[0] == 2
        assert answers.size() == (0, 0)

    def test_what_was_forgotten_can_be_kept_again(self, answers: AnswerCache) -> None:
        answers.keep(an_answer(reply=_NOISE), NOON)
        answers.prune(NOON, None, 0)
        answers.keep(an_answer(reply=_NOISE), NOON)
        assert answers.get("k") == an_answer(reply=_NOISE)

    def test_without_a_limit_nothing_is_forgotten(self, answers: AnswerCache) -> None:
        answers.keep(an_answer(), NOON)
        assert answers.prune(NOON + timedelta(days=999), None, None) == (0, 0)
        assert answers.get("k") is not None
