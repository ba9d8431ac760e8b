"""The contract of a `SessionStore`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from fairtrial.model.errors import NotFoundError
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    ChangeKind,
    Compaction,
    Counts,
    FileChange,
    Operation,
    Prompt,
    Relation,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    SessionState,
    Source,
    Thought,
    TranscriptFacts,
    TurnEnd,
    TurnEndReason,
    Unread,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import (
    FileMark,
    FileReading,
    PricedUsage,
    SessionQuery,
    SessionStore,
)
from fairtrial.query.parsing import parse
from fairtrial.query.vocabularies.sessions import SESSION_VOCABULARY
from fairtrial.testing.store.facts import NOON

_CHANGE = FileChange("/r/a.py", ChangeKind.UPDATE, "@@ -1 +1 @@\n-a\n+b\n", "a\n")
_INPUT = {"command": "pytest", "n": [1, None, 0.5]}

EVENTS: tuple[SessionEvent, ...] = (
    Prompt(0, NOON, MAIN, "Fix it", Source.HUMAN),
    Thought(0, NOON, MAIN, "Hm"),
    Said(0, NOON, MAIN, "I läuft 🎉"),
    Call(0, NOON, MAIN, "c1", "Bash", Operation.SHELL, _INPUT, "pytest", ("/r/a.py",)),
    Result(0, NOON, MAIN, "c1", ResultStatus.FAIL, 1, "no", (_CHANGE,), 0.5),
    ApiTrouble(0, None, MAIN, final=False, status=529, text="busy"),
    Compaction(0, NOON, MAIN, "auto", "So far"),
    Usage(0, NOON, MAIN, "msg_1", "m", Tokens(1, 2, 3, 4, 5)),
    TurnEnd(0, NOON, MAIN, TurnEndReason.COMPLETED),
)
"""One event of each kind."""


def a_reading(  # noqa: PLR0913  # a reading has many parts, and each test changes another
    store: SessionStore,
    native_id: str = "n1",
    *,
    path: str | None = None,
    thread: str = MAIN,
    events: tuple[SessionEvent, ...] = EVENTS,
    anew: bool = True,
    hours: float = 0,
    offset: int = 100,
    cost_usd: float | None = 0.25,
    **facts: object,
) -> FileReading:
    """Return what a file brought, with the given facts changed."""
    usual = TranscriptFacts(
        agent="codex",
        native_id=native_id,
        thread=thread,
        agent_version="1.0",
        cwd="/home/dev/shop",
        branch="main",
        commit="ab12cd3",
        started_at=NOON + timedelta(hours=hours),
        ended_at=NOON + timedelta(hours=hours, minutes=5),
        state=SessionState.COMPLETED,
        counts=Counts(turns=1, calls=1, failures=1, changed_files=1),
        changed=("/r/a.py",),
        first_prompt="Fix it",
        final_text="Done",
    )
    usages = [event for event in events if isinstance(event, Usage)]
    return FileReading(
        mark=FileMark(path or f"/t/{native_id}.jsonl", 7, 100, 5, offset, b"tail", 1),
        facts=replace(usual, **facts),  # type: ignore[arg-type]
        state=b"state",
        chunks=[store.pack(events)] if events else [],
        usages=[PricedUsage(usage, cost_usd) for usage in usages],
        prompts="Fix it ÄRGER",
        repo="/home/dev/shop",
        anew=anew,
    )


class SessionStoreContract:
    """Subclass it in a test module, name the class `Test…`, and override `sessions`."""

    @pytest.fixture
    def sessions(self) -> Iterator[SessionStore]:
        """Give the sessions of an empty store, whose clock stands at `NOON`."""
        raise NotImplementedError

    def test_a_session_comes_back_whole(self, sessions: SessionStore) -> None:
        unread = Unread(3, {"hologram": 1}, {"user.x": 2}, 1, 1)
        (ref,) = sessions.save([a_reading(sessions, unread=unread)])
        found = sessions.find(ref).session
        assert found.id == ref
        assert (found.agent, found.native_id, found.agent_version) == ("codex", "n1", "1.0")
        assert (found.cwd, found.repo, found.branch) == ("/home/dev/shop", "/home/dev/shop", "main")
        assert (found.files, found.models) == (("/t/n1.jsonl",), ("m",))
        assert found.started_at == NOON
        assert found.state is SessionState.COMPLETED
        assert found.counts == Counts(turns=1, calls=1, failures=1, changed_files=1)
        assert (found.tokens, found.cost_usd) == (Tokens(1, 2, 3, 4, 5), 0.25)
        assert (found.first_prompt, found.final_text) == ("Fix it", "Done")
        assert found.unread == unread
        assert [entry[2] for entry in sessions.unread()] == [unread]

    def test_events_come_back_numbered(self, sessions: SessionStore) -> None:
        (ref,) = sessions.save([a_reading(sessions)])
        events = sessions.events(ref)
        assert [event.number for event in events] == list(range(1, 10))
        assert [replace(event, number=0) for event in events] == list(EVENTS)

    def test_the_same_agents_id_gives_the_same_id(self, sessions: SessionStore) -> None:
        first = sessions.save([a_reading(sessions)])
        assert sessions.save([a_reading(sessions)]) == first
        other = sessions.save([a_reading(sessions, agent="claude-code")])
        assert other != first

    def test_a_new_part_is_added(self, sessions: SessionStore) -> None:
        (ref,) = sessions.save([a_reading(sessions, events=EVENTS[:2])])
        sessions.save([a_reading(sessions, events=EVENTS[2:], anew=False, offset=200)])
        assert len(sessions.events(ref)) == len(EVENTS)
        assert sessions.marks()["/t/n1.jsonl"].offset == 200

    def test_a_file_read_anew_replaces_what_was_kept_of_it(self, sessions: SessionStore) -> None:
        sessions.save([a_reading(sessions)])
        (ref,) = sessions.save([a_reading(sessions, events=EVENTS[:1])])
        assert len(sessions.events(ref)) == 1
        assert sessions.find(ref).session.tokens is None

    def test_threads_stand_between_each_other_by_time(self, sessions: SessionStore) -> None:
        def said(text: str, seconds: int, thread: str = MAIN) -> SessionEvent:
            return Said(0, NOON + timedelta(seconds=seconds), thread, text)

        main = (said("1", 1), said("4", 9), said("5", 3))
        other = (said("2", 2, "x"), said("3", 5, "x"))
        refs = sessions.save(
            [
                a_reading(sessions, path="/t/x.jsonl", thread="x", events=other, changed=("b",)),
                a_reading(sessions, events=main),
            ]
        )
        assert len(set(refs)) == 1
        events = sessions.events(refs[0])
        assert "".join(event.text for event in events if isinstance(event, Said)) == "12345"
        found = sessions.find(refs[0]).session
        assert found.files == ("/t/n1.jsonl", "/t/x.jsonl")
        assert (found.counts.turns, found.counts.calls, found.counts.changed_files) == (1, 2, 2)

    def test_of_two_files_of_one_thread_the_longer_counts(self, sessions: SessionStore) -> None:
        short = a_reading(sessions, events=EVENTS[:2], offset=50)
        long = a_reading(sessions, path="/archive/n1.jsonl", offset=100)
        for order in ([short, long], [long, short]):
            (ref,) = set(sessions.save(order))
            assert sessions.find(ref).session.files == ("/archive/n1.jsonl",)
            assert len(sessions.events(ref)) == len(EVENTS)

    def test_tokens_of_a_call_count_once(self, sessions: SessionStore) -> None:
        (parent,) = sessions.save([a_reading(sessions)])
        (fork,) = sessions.save([a_reading(sessions, "n2", parent="n1", relation=Relation.FORK)])
        assert sessions.find(parent).session.tokens == Tokens(1, 2, 3, 4, 5)
        forked = sessions.find(fork).session
        assert (forked.tokens, forked.parent_id) == (None, parent)
        assert sessions.children(parent) == [fork]

    def test_the_newest_tokens_of_a_call_count(self, sessions: SessionStore) -> None:
        sessions.save([a_reading(sessions)])
        later = Usage(0, NOON, MAIN, "msg_1", "m", Tokens(1, 20))
        (ref,) = sessions.save([a_reading(sessions, events=(later,), anew=False)])
        assert sessions.find(ref).session.tokens == Tokens(1, 20)
        usages = [event for event in sessions.events(ref) if isinstance(event, Usage)]
        assert [usage.tokens for usage in usages] == [Tokens(1, 20)]

    def test_an_unknown_price_makes_the_cost_unknown(self, sessions: SessionStore) -> None:
        (ref,) = sessions.save([a_reading(sessions, cost_usd=None)])
        assert sessions.find(ref).session.cost_usd is None

    def test_sessions_are_found_by_many_names(self, sessions: SessionStore) -> None:
        readings = [a_reading(sessions, f"native-{n}", hours=n) for n in range(3)]
        refs = sessions.save(readings)
        for name in (refs[1], refs[1][:12], refs[1][4:14].upper(), "native-1", "latest#-1"):
            assert sessions.find(name).session.id == refs[1]
        assert sessions.find("latest").session.id == refs[2]
        for name in ("nothing", "latest#-9", "latest#1", "latest#x", "native"):
            with pytest.raises(NotFoundError):
                sessions.find(name)
        with pytest.raises(NotFoundError):
            sessions.events("ses_none")

    def test_pages_follow_each_other(self, sessions: SessionStore) -> None:
        refs = sessions.save([a_reading(sessions, f"n{n}", hours=n // 2) for n in range(5)])
        seen: list[str] = []
        before: str | None = None
        while page := sessions.newest(SessionQuery(limit=2, before=before)):
            seen += [found.session.id for found in page]
            before = seen[-1]
        assert seen == list(reversed(refs))
        assert list(sessions.ids(SessionQuery(), None)) == seen
        assert list(sessions.ids(SessionQuery(), NOON + timedelta(minutes=30))) == seen[-2:]

    def test_flags_are_replaced(self, sessions: SessionStore) -> None:
        (ref,) = sessions.save([a_reading(sessions)])
        flags = [
            Flag("looping", FlagLevel.WARN, "It loops", (2, 3), {"times": 4}),
            Flag("churn", FlagLevel.INFO, "It churns"),
        ]
        sessions.flag({ref: flags})
        assert sessions.find(ref).flags == tuple(flags)
        assert sessions.flag_counts() == {"looping": 1, "churn": 1}
        for text in ("is:flagged", "is:noted", "flag = churn", "level = warn", "not is:clean"):
            query = SessionQuery(where=parse(text, SESSION_VOCABULARY, NOON))
            assert sessions.flag_counts(query) == {"looping": 1, "churn": 1}, text
            (tally,) = sessions.tallies(query)
            assert tally.flags == {"looping": 1, "churn": 1}, text
        assert sessions.flagged([ref]) == 1
        sessions.take_off(["looping"])
        assert sessions.find(ref).flags == (flags[1],)
        assert sessions.flagged([ref]) == 0
        sessions.flag({ref: []})
        assert sessions.find(ref).flags == ()
        with pytest.raises(NotFoundError):
            sessions.flag({"ses_none": flags})

    def test_sums_are_by_week_and_agent(self, sessions: SessionStore) -> None:
        refs = sessions.save(
            [
                a_reading(sessions, "n1"),
                a_reading(sessions, "n2", hours=1, events=EVENTS[:1]),
                a_reading(sessions, "n3", hours=24 * 8, events=EVENTS[:1]),
            ]
        )
        sessions.flag({refs[0]: [Flag("looping", FlagLevel.WARN, "It loops")]})
        first, second = sessions.tallies(SessionQuery())
        assert (first.sessions, first.flagged, first.flags) == (2, 1, {"looping": 1})
        assert (first.tokens, first.cost_usd, first.costed) == (10, 0.25, 1)
        assert (second.sessions, second.flags, second.costed) == (1, {}, 0)
        assert first.week < second.week

    def test_a_removed_session_stays_removed(self, sessions: SessionStore) -> None:
        (ref,) = sessions.save([a_reading(sessions)])
        sessions.flag({ref: [Flag("looping", FlagLevel.WARN, "It loops")]})
        assert sessions.remove([ref]) > 0
        with pytest.raises(NotFoundError):
            sessions.find(ref)
        with pytest.raises(NotFoundError):
            sessions.state("/t/n1.jsonl")
        assert sessions.flag_counts() == {}
        assert sessions.marks()["/t/n1.jsonl"].offset == -1
        assert sessions.save([a_reading(sessions, path="/elsewhere/n1.jsonl")]) == []
        assert sessions.newest(SessionQuery()) == []
        sessions.allow_removed()
        assert sessions.save([a_reading(sessions)]) == [ref]

    def test_a_file_of_no_session_is_a_stray(self, sessions: SessionStore) -> None:
        nothing = {"events": (), "cost_usd": None}
        sessions.save([a_reading(sessions, "", path="/t/garbage", **nothing)])  # type: ignore[arg-type]
        sessions.save([a_reading(sessions, "", path="/t/empty", offset=0, **nothing)])  # type: ignore[arg-type]
        sessions.save([a_reading(sessions), a_reading(sessions, path="/t/copy", offset=9)])
        sessions.remove(sessions.save([a_reading(sessions, "n2")]))
        assert sessions.strays() == ["/t/garbage"]

    def test_what_was_made_of_a_transcript_counts_less_than_it(
        self, sessions: SessionStore
    ) -> None:
        made = a_reading(sessions, path="/t/made", offset=900, derived=True, final_text="?")
        (ref,) = sessions.save([made])
        assert sessions.find(ref).session.files == ("/t/made",)
        sessions.save([a_reading(sessions, start_tree="ab12")])
        found = sessions.find(ref).session
        assert (found.files, found.final_text) == (("/t/n1.jsonl",), "Done")
        assert found.start_tree == "ab12"

    def test_a_reading_goes_on_from_its_state(self, sessions: SessionStore) -> None:
        sessions.save([a_reading(sessions)])
        assert sessions.state("/t/n1.jsonl") == b"state"
        with pytest.raises(NotFoundError):
            sessions.state("/t/other.jsonl")

    def test_long_texts_may_be_cut(self, sessions: SessionStore) -> None:
        long = Result(0, NOON, MAIN, "c1", ResultStatus.OK, 0, "x" * 50_000, (_CHANGE,))
        (ref,) = sessions.save([a_reading(sessions, events=(long,))])
        assert sessions.sizes([ref])[ref] > 50_000
        (brief,) = sessions.events(ref, brief=True)
        assert isinstance(brief, Result)
        assert len(brief.text) < 5_000
        assert brief.changes[0].before is None
