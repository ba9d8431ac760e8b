"""Filters of recorded calls, from the text to the calls they fit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.store.filters import every_comparison, largest

from fairtrial.model.recorded_call import CallBody, CallOwner, CallQuery
from fairtrial.model.trial import TrialKey
from fairtrial.query.parsing import parse
from fairtrial.query.vocabularies.calls import CALL_VOCABULARY
from fairtrial.store.call_filter import CALLS
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.calls import a_call
from fairtrial.testing.store.facts import NOON

_OWNER = CallOwner("exp_01JABC", TrialKey("case-1", "default", "main", 2))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("home"), clock=lambda: NOON) as store:
        calls = [
            a_call(1),
            a_call(
                2,
                session=None,
                agent=None,
                model="gpt",
                api="openai-chat",
                status=429,
                tokens=None,
                cost_usd=None,
                streamed=False,
                first_byte_s=None,
                duration_s=40.0,
            ),
            a_call(3, owner=_OWNER, served_from="call_01J0001", problem="cut", status=None),
        ]
        store.calls.add([(call, CallBody()) for call in calls])
        yield store


@pytest.mark.parametrize(
    ("text", "fitting"),
    [
        ("id = call_01J0002", "2"),
        ("session = 0b5c", "1 3"),
        ("session != 0b5c", "2"),
        ("session = none", "2"),
        ("number > 1", "2 3"),
        ("agent = claude-code", "1 3"),
        ("api = openai-chat", "2"),
        ("method = POST", "1 2 3"),
        ("path ~ messages", "1 2 3"),
        ("upstream ~ anthropic", "1 2 3"),
        ("model = gpt", "2"),
        ("model ~ CLAUDE", "1 3"),
        ("status = 429", "2"),
        ("status >= 400", "2"),
        ("status = none", "3"),
        ("not status >= 400", "1 3"),
        ("problem = cut", "3"),
        ("started > 1d", "1 2 3"),
        ("started < 1d", ""),
        ("first_byte = none", "2"),
        ("duration > 30", "2"),
        ("tokens = 15", "1 3"),
        ("tokens = none", "2"),
        ("tokens.input >= 3", "1 3"),
        ("tokens.cache_write = none", "1 2 3"),
        ("cost > 0.2", "1 3"),
        ("not cost > 0.2", "2"),
        ("experiment = exp_01JABC", "3"),
        ("experiment = exp_01J", "3"),
        ("case = case-1 and condition = default and arm = main and trial = 2", "3"),
        ("served_from != none", "3"),
        ("is:failed", "2 3"),
        ("is:ok", "1"),
        ("is:streamed", "1 3"),
        ("not is:streamed", "2"),
        ("is:live", "1 2"),
        ("is:replayed", "3"),
        ("is:recorded", "3"),
        ("gpt", "2"),
        ("case-1", "3"),
        ("'_'", ""),
    ],
)
def test_a_filter_finds_what_it_says(store: Store, text: str, fitting: str) -> None:
    found = store.calls.newest(CallQuery(), parse(text, CALL_VOCABULARY, NOON))
    assert {str(call.number) for call in found} == set(fitting.split())


def test_everything_that_may_be_named_means_something(store: Store) -> None:
    assert set(CALLS.fields) == set(CALL_VOCABULARY.fields)
    assert set(CALLS.properties) == set(CALL_VOCABULARY.properties)
    for where in (*every_comparison(CALL_VOCABULARY), *largest(CALL_VOCABULARY)):
        store.calls.newest(CallQuery(), where)
