"""Filters of sessions, from the text to the sessions they fit."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.store.filters import every_comparison, largest

from fairtrial.model.errors import UsageError
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import Counts, Relation, SessionState, Unread
from fairtrial.ports.sessions import SessionQuery
from fairtrial.query.parsing import parse
from fairtrial.store.opening import Store, open_store
from fairtrial.store.session_filter import SESSION_VOCABULARY, SESSIONS
from fairtrial.testing.store.facts import NOON
from fairtrial.testing.store.sessions import EVENTS, a_reading


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("home"), clock=lambda: NOON) as store:
        sessions = store.sessions
        refs = sessions.save(
            [
                a_reading(sessions, "plain"),
                a_reading(
                    sessions,
                    "other",
                    agent="claude-code",
                    cwd="C:\\work\\bank",
                    branch=None,
                    commit=None,
                    state=SessionState.OPEN,
                    counts=Counts(calls=9, failures=5, denials=3),
                    first_prompt="50% off_",
                    unread=Unread(bad_lines=1),
                    hours=-48,
                    events=EVENTS[:2],
                ),
                a_reading(
                    sessions,
                    "child",
                    parent="plain",
                    relation=Relation.SUBAGENT,
                    events=EVENTS[:1],
                    hours=-1,
                ),
            ]
        )
        sessions.flag(
            {
                refs[0]: [Flag("looping", FlagLevel.WARN, "It loops")],
                refs[1]: [Flag("churn", FlagLevel.INFO, "It churns")],
            }
        )
        yield store


@pytest.mark.parametrize(
    ("text", "fitting"),
    [
        ("agent = codex", "plain child"),
        ("agent != codex", "other"),
        ("agent ~ CLAUDE", "other"),
        ("state = open", "other"),
        ("is:finished", "plain child"),
        ("repo = shop", "plain child other"),
        ("repo = /home/dev/shop", "plain child other"),
        ("repo = op", ""),
        ("repo != shop", ""),
        ("repo = none", ""),
        ("cwd ~ bank", "other"),
        ("cwd = dev", ""),
        ("branch = main", "plain child"),
        ("branch != main", "other"),
        ("branch = none", "other"),
        ("branch != none", "plain child"),
        ("not branch = main", "other"),
        ("commit = ab12cd3", "plain child"),
        ("commit = AB12", "plain child"),
        ("commit = ab12cd34567", "plain child"),
        ("commit != ab12", "other"),
        ("commit = none", "other"),
        ("model = m", "plain"),
        ("model != m", "other child"),
        ("model = none", "other child"),
        ("model ~ M", "plain"),
        ("flag = looping", "plain"),
        ("flag != looping", "other child"),
        ("flag ~ ur", "other"),
        ("flag = none", "child"),
        ("level = info", "other"),
        ("is:flagged", "plain"),
        ("is:noted", "plain other"),
        ("is:clean", "child"),
        ("is:subagent", "child"),
        ("not is:subagent", "plain other"),
        ("not is:fork", "plain other child"),
        ("is:unread", "other"),
        ("failures > 3", "other"),
        ("calls <= 1", "plain child"),
        ("denials >= 3 and agent = claude-code", "other"),
        ("cost > 0.2", "plain"),
        ("not cost > 0.2", "other child"),
        ("cost = none", "other child"),
        ("tokens >= 10", "plain"),
        ("duration = 300", "plain other child"),
        ("started > 2026-11-29", ""),
        ("ended > 1d", "plain child"),
        ("relation = subagent", "child"),
        ("parent = none", "plain other"),
        ("id = plain", "plain"),
        ("id != plain", "other child"),
        ("id ~ lai", "plain"),
        ("prompt ~ '50% off_'", "other"),
        ("prompt ~ '5_% off'", ""),
        ("answer ~ done", "plain other child"),
        ("ärger", "plain other child"),
        ("'fix it'", "plain other child"),
        ("bank", "other"),
        ("nothing", ""),
        ("'%'", ""),
        ("agent = codex and (is:flagged or is:subagent)", "plain child"),
        ("agent in (codex, pi) and not flag = looping", "child"),
    ],
)
def test_a_filter_finds_what_it_says(store: Store, text: str, fitting: str) -> None:
    expression = parse(text, SESSION_VOCABULARY, NOON)
    found = store.sessions.newest(SessionQuery(where=expression))
    assert {one.session.native_id for one in found} == set(fitting.split())


def test_since_cuts_off(store: Store) -> None:
    found = store.sessions.newest(SessionQuery(since=NOON - timedelta(hours=2)))
    assert {one.session.native_id for one in found} == {"plain", "child"}


def test_everything_that_may_be_named_means_something(store: Store) -> None:
    for where in (*every_comparison(SESSION_VOCABULARY), *largest(SESSION_VOCABULARY)):
        store.sessions.newest(SessionQuery(where=where))
    assert set(SESSIONS.fields) == set(SESSION_VOCABULARY.fields)
    assert set(SESSIONS.properties) == set(SESSION_VOCABULARY.properties)


def test_an_unknown_field_is_pointed_at() -> None:
    with pytest.raises(UsageError, match="column 1"):
        parse("flagg = looping", SESSION_VOCABULARY, NOON)


def test_names_cannot_leave_their_place(store: Store) -> None:
    expression = parse('"\') OR 1=1 --"', SESSION_VOCABULARY, NOON)
    assert store.sessions.newest(SessionQuery(where=expression)) == []
