"""The contract of a `CallStore`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from fairtrial.model.errors import NotFoundError, StoreError
from fairtrial.model.recorded_call import CallBody, CallOwner, CallQuery, RecordedCall
from fairtrial.model.task import Tokens
from fairtrial.model.trial import TrialKey
from fairtrial.ports import CallStore
from fairtrial.testing.store.facts import NOON

_BODY = CallBody(
    request_headers=(("anthropic-version", "2023-06-01"), ("x-twice", "1"), ("x-twice", "2")),
    request=b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}',
    response_headers=(("content-type", "text/event-stream"),),
    response=b"event: message_start\ndata: {}\n\n",
)
_KEY = TrialKey("case-1", "default", "main", 1)
_DAY = 86_400.0


def a_call(number: int = 1, **changes: object) -> RecordedCall:
    """Return a call whose id and time grow with `number`, with the given fields changed."""
    usual = RecordedCall(
        id=f"call_01J{number:04d}{'0' * 19}",
        session="0b5c",
        number=number,
        api="anthropic-messages",
        method="POST",
        path="/v1/messages?beta=true",
        upstream="https://api.anthropic.com",
        model="claude-x",
        status=200,
        problem=None,
        streamed=True,
        started_at=NOON + timedelta(seconds=number),
        first_byte_s=0.25,
        duration_s=1.5,
        tokens=Tokens(input=3, output=5, cache_read=7),
        cost_usd=0.25,
        canonical="ab" * 32,
        agent="claude-code",
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def a_conversation(turns: int, turn: int) -> bytes:
    """Return the request of an agent at one of its turns: the one before, with more at the end."""
    messages = [
        {"role": ("user", "assistant")[n % 2], "content": f"{n} " + f"line {n * n} of it\n" * 50}
        for n in range(2 * turn + 1)
    ]
    tools = [{"name": f"tool-{n}", "description": f"{n} does {n}. " * 100} for n in range(turns)]
    return json.dumps({"model": "m", "tools": tools, "messages": messages}).encode()


class CallStoreContract:
    """Subclass it in a test module, name the class `Test…`, and override `calls`."""

    @pytest.fixture
    def calls(self) -> Iterator[CallStore]:
        """Give the calls of an empty store."""
        raise NotImplementedError

    @pytest.mark.parametrize(
        "call",
        [
            a_call(),
            a_call(
                session=None,
                api=None,
                model=None,
                status=None,
                problem="cut",
                streamed=False,
                first_byte_s=None,
                tokens=None,
                cost_usd=None,
                canonical=None,
                agent=None,
            ),
            a_call(tokens=Tokens(), served_from="call_x", owner=CallOwner("exp_1", _KEY)),
        ],
        ids=["whole", "nothing known", "served again"],
    )
    def test_a_call_comes_back_as_it_was(self, calls: CallStore, call: RecordedCall) -> None:
        calls.add([(call, _BODY)])
        assert calls.find(call.id) == call
        assert calls.newest(CallQuery()) == [call]
        assert calls.body(call.id) == _BODY

    @pytest.mark.parametrize(
        "content",
        [b"", b"\xff\x00", b"\x28\xb5\x2f\xfd no frame", b"{}" * 9_000, bytes(range(256)) * 4_000],
        ids=["empty", "no text", "like a compressed one", "seams", "large"],
    )
    def test_bodies_come_back_byte_for_byte(self, calls: CallStore, content: bytes) -> None:
        calls.add([(a_call(), CallBody(request=content, response=content[::-1]))])
        assert calls.body(a_call().id) == CallBody(request=content, response=content[::-1])

    def test_a_conversation_comes_back_call_by_call(self, calls: CallStore) -> None:
        bodies = {n: CallBody(request=a_conversation(5, n)) for n in range(1, 6)}
        calls.add([(a_call(1), bodies[1]), (a_call(2), bodies[2])])
        calls.add([(a_call(n), bodies[n]) for n in (3, 4, 5)])
        assert {n: calls.body(a_call(n).id) for n in bodies} == bodies

    def test_no_id_is_there_twice(self, calls: CallStore) -> None:
        calls.add([(a_call(), _BODY)])
        with pytest.raises(StoreError, match="already"):
            calls.add([(a_call(2), _BODY), (a_call(), _BODY)])
        assert calls.newest(CallQuery()) == [a_call()]

    def test_adding_none_is_no_error(self, calls: CallStore) -> None:
        calls.add([])
        assert calls.newest(CallQuery()) == []

    def test_it_is_found_by_id_prefix_and_place(self, calls: CallStore) -> None:
        calls.add([(a_call(n), _BODY) for n in (1, 2, 3)])
        calls.add([(replace(a_call(4), session="another", number=1), _BODY)])
        for ref in ("call_01J0002", "01j0002", "0b5c#2", "0b#2", "0b5c#-2"):
            assert calls.find(ref) == a_call(2), ref
        assert calls.find("0b5c#-1") == a_call(3)
        assert calls.find("latest#1").id == a_call(4).id

    @pytest.mark.parametrize(
        ("ref", "why"),
        [
            ("call_9", "no call"),
            ("01J", "no call"),
            ("01J000", "fits several calls"),
            ("0b#1", "fits several sessions"),
            ("none#1", "no call is of a session"),
            ("#1", "no call is of a session"),
            ("0b5c#3", "has no call 3"),
            ("0b5c#0", "has no call 0"),
            ("0b5c#-3", "has no call -3"),
            ("0b5c#x", "no number of a call"),
            (f"0b5c#{10**22}", f"has no call {10**22}"),
            (f"0b5c#-{10**22}", f"has no call -{10**22}"),
        ],
    )
    def test_what_names_none_says_so(self, calls: CallStore, ref: str, why: str) -> None:
        calls.add([(a_call(n), _BODY) for n in (1, 2)])
        calls.add([(a_call(3, session="0b6d"), _BODY)])
        with pytest.raises(NotFoundError, match=why):
            calls.find(ref)

    def test_an_empty_store_has_no_latest_and_no_body(self, calls: CallStore) -> None:
        calls.add([(a_call(session=None), _BODY)])
        with pytest.raises(NotFoundError, match="no call belongs to a session"):
            calls.find("latest#1")
        with pytest.raises(NotFoundError):
            calls.body("call_none")

    def test_a_list_is_newest_first_and_goes_on_where_it_ended(self, calls: CallStore) -> None:
        calls.add([(a_call(n), _BODY) for n in (2, 1, 4, 3)])
        first = calls.newest(CallQuery(limit=3))
        assert [call.number for call in first] == [4, 3, 2]
        assert calls.newest(CallQuery(before=first[-1].id)) == [a_call(1)]

    @pytest.mark.parametrize(
        ("query", "numbers"),
        [
            (CallQuery(session="0b5c"), [6, 5, 4, 2]),
            (CallQuery(model="m"), [2]),
            (CallQuery(failed=True), [5, 4]),
            (CallQuery(failed=False), [6, 3, 2]),
            (CallQuery(experiment_id="exp_1"), [6, 3]),
            (CallQuery(experiment_id="exp_1", key=_KEY), [3]),
            (CallQuery(session="0b5c", failed=True, model="claude-x"), [5, 4]),
        ],
    )
    def test_a_list_is_narrowed(
        self, calls: CallStore, query: CallQuery, numbers: list[int]
    ) -> None:
        found = [
            a_call(2, model="m"),
            a_call(3, session=None, owner=CallOwner("exp_1", _KEY)),
            a_call(4, status=529),
            a_call(5, problem="cut"),
            a_call(6, owner=CallOwner("exp_1", _KEY._replace(trial=2))),
        ]
        calls.add([(call, _BODY) for call in found])
        assert [call.number for call in calls.newest(query)] == numbers

    def test_a_trials_calls_are_in_order(self, calls: CallStore) -> None:
        owner = CallOwner("exp_1", _KEY)
        others = [CallOwner("exp_2", _KEY), CallOwner("exp_1", _KEY._replace(arm="b"))]
        calls.add([(a_call(n, owner=owner, session=f"s{n}"), _BODY) for n in (3, 1, 2)])
        calls.add([(a_call(4 + n, owner=other), _BODY) for n, other in enumerate(others)])
        found = calls.of_trial("exp_1", _KEY)
        assert [call.number for call in found] == [1, 2, 3]
        assert calls.of_trial("exp_1", _KEY._replace(case_id="none")) == []

    def test_a_sessions_next_number_is_one_more(self, calls: CallStore) -> None:
        assert calls.next_number("0b5c") == 1
        calls.add([(a_call(n), _BODY) for n in (1, 2)])
        assert (calls.next_number("0b5c"), calls.next_number("0b")) == (3, 1)

    def test_old_calls_are_forgotten_and_the_others_stay_whole(self, calls: CallStore) -> None:
        shared = CallBody(request=a_conversation(9, 3), response=bytes(range(256)) * 1_000)
        old = NOON - timedelta(days=3)
        calls.add(
            [
                (a_call(1, started_at=old), shared),
                (a_call(2, started_at=old, owner=CallOwner("exp_1", _KEY)), shared),
                (a_call(3), CallBody(request=a_conversation(9, 4))),
            ]
        )
        assert calls.prune(NOON, 2 * _DAY)[0] == 1
        assert [call.number for call in calls.newest(CallQuery())] == [3, 2]
        assert calls.body(a_call(2).id) == shared
        forgotten, freed = calls.prune(NOON, 2 * _DAY, recordings=True)
        assert (forgotten, freed > 0) == (1, True)
        assert calls.body(a_call(3).id).request == a_conversation(9, 4)
        assert calls.prune(NOON, 2 * _DAY) == (0, 0)
        calls.add([(a_call(4), shared)])
        assert calls.body(a_call(4).id) == shared
