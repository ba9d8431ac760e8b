"""Events of sessions that would not fit into memory, as rules see them."""

from __future__ import annotations

from fairtrial.model.session import Call, Operation, Result, ResultStatus, SessionEvent, Thought
from fairtrial.store.session_events import Unpacker, pack_events


def brief(*events: SessionEvent) -> list[SessionEvent]:
    return list(Unpacker(brief=True).events(pack_events(events).data, "here"))


def call(given: object, operation: Operation = Operation.OTHER) -> Call:
    return Call(1, None, "main", "c1", "Fetch", operation, given)


def test_the_end_of_an_output_stays() -> None:
    text = "start" + "x" * 10_000 + "3 failed"
    (found,) = brief(Result(1, None, "main", "c1", ResultStatus.FAIL, 1, text))
    assert isinstance(found, Result)
    assert found.text.startswith("start")
    assert found.text.endswith("3 failed")
    assert len(found.text) < 1_000


def test_calls_that_differ_stay_different() -> None:
    first, same, other = brief(
        call({"parts": ["a" * 5_000]}),
        call({"parts": ["a" * 5_000]}),
        call({"parts": ["a" * 5_000 + "b"]}),
    )
    assert first == same
    assert first != other
    assert len(repr(other)) < 1_000


def test_edits_and_short_calls_stay_whole() -> None:
    edit = call({"new_string": "a" * 5_000}, Operation.EDIT)
    short = call({"url": "https://a.test", "deep": {"n": 1}})
    assert brief(edit, short) == [edit, short]


def test_thoughts_are_left_out() -> None:
    (found,) = brief(Thought(7, None, "main", "hm " * 1_000))
    assert found == Thought(7, None, "main", "")
