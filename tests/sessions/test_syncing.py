"""What a sync reads, and what it does not read again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import pytest
import zstandard
from tests.sessions.transcripts import OTHER, SESSION, Claude, Codex, as_bytes, untouched

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import Relation, Said, Session, SessionEvent
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import Clean, SessionQuery, Transcript
from fairtrial.ports.transcript_files import FoundFile, Place
from fairtrial.pricing.prices import Prices
from fairtrial.redaction.secrets import Redactor
from fairtrial.sessions.finding import NewFile, changed, found_files, places_of
from fairtrial.sessions.pricing import CallPrices
from fairtrial.sessions.readers.claude_code.reader import ClaudeCodeReader
from fairtrial.sessions.reading import Ways
from fairtrial.sessions.recognising import recognised
from fairtrial.sessions.registry import readers
from fairtrial.sessions.repositories import Repositories
from fairtrial.sessions.syncing import Outcome, Syncer
from fairtrial.store.glance import known_files
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.facts import NOON


class Talkative:
    """A rule that flags each session with the number of its events."""

    name = "talkative"
    summary = "always"

    def check(
        self, session: Session, events: Sequence[SessionEvent], now: datetime
    ) -> Iterable[Flag]:
        assert session.native_id
        assert now == NOON
        yield Flag(self.name, FlagLevel.INFO, f"{len(events)} events", (len(events),))


class Broken(Talkative):
    """A rule that fails."""

    name = "broken"

    def check(
        self, session: Session, events: Sequence[SessionEvent], now: datetime
    ) -> Iterable[Flag]:
        raise ValueError(f"no {session.agent} {len(events)} {now}")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "home", clock=lambda: NOON) as store:
        yield store


def sync(store: Store, folder: Path, *rules: Talkative) -> Outcome:
    """Read what is new under a folder."""
    known = readers()
    places = [
        Place("claude-code", folder / "projects"),
        Place("codex", folder / "sessions"),
        Place("codex", folder / "archived_sessions"),
    ]
    new = changed(found_files(known, places), known_files(store.home / "fairtrial.db") or {})
    ways = Ways(Redactor().body, store.sessions.pack, CallPrices(Prices()), Repositories())
    return Syncer(store.sessions, ways, rules, lambda: NOON).sync(new, lambda *_: None)


def a_session(**fields: str) -> Claude:
    claude = Claude(**fields)  # type: ignore[arg-type]
    claude.prompt("Fix add.")
    claude.ran("c1", "pytest -q", "1 failed", code=1)
    claude.next_message()
    claude.said("Done.")
    return claude


def test_a_second_sync_reads_nothing(store: Store, tmp_path: Path) -> None:
    a_session().write(tmp_path)
    Codex().write(tmp_path)
    first = sync(store, tmp_path)
    assert (first.read, len(first.sessions)) == (2, 2)
    second = sync(store, tmp_path)
    assert (second.read, second.bytes, second.sessions) == (0, 0, [])


def test_only_the_new_part_of_a_file_is_read(store: Store, tmp_path: Path) -> None:
    claude = a_session()
    path = claude.write(tmp_path)
    sync(store, tmp_path)
    before = path.stat().st_size
    claude.prompt("And the docs.")
    claude.next_message()
    claude.said("Done too.")
    with path.open("ab") as file:
        file.write(as_bytes(claude.records[-2:]))
    outcome = sync(store, tmp_path)
    assert outcome.bytes == path.stat().st_size - before
    (found,) = store.sessions.newest(SessionQuery())
    assert found.session.counts.turns == 2
    assert found.session.final_text == "Done too."
    # Three model calls, each counted once.
    assert found.session.tokens == Tokens(300, 150, 3_000, 600)
    events = store.sessions.events(found.session.id)
    assert [event.number for event in events] == list(range(1, len(events) + 1))


def test_half_a_line_waits_for_the_rest(store: Store, tmp_path: Path) -> None:
    claude = a_session()
    path = claude.write(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    sync(store, tmp_path)
    with path.open("ab") as file:
        file.write(whole[-40:])
    sync(store, tmp_path)
    (found,) = store.sessions.newest(SessionQuery())
    assert found.session.final_text == "Done."
    assert found.session.unread.bad_lines == 0


def test_a_file_that_was_written_anew_is_read_anew(store: Store, tmp_path: Path) -> None:
    path = a_session().write(tmp_path)
    sync(store, tmp_path)
    claude = Claude(seed=2)
    claude.prompt("Another text, as long as the old one and then some. " * 50)
    path.write_bytes(as_bytes(claude.records))
    sync(store, tmp_path)
    (found,) = store.sessions.newest(SessionQuery())
    assert found.session.counts.calls == 0
    assert len(store.sessions.events(found.session.id)) == 1


def test_a_subagent_belongs_to_its_session(store: Store, tmp_path: Path) -> None:
    a_session().write(tmp_path)
    agent = Claude(seed=2)
    agent.prompt("Find it.", isSidechain=True, agentId="a1")
    agent.ran("s1", "grep x", "x")
    agent.write(tmp_path, f"{SESSION}/subagents/agent-a1.jsonl")
    sync(store, tmp_path)
    (found,) = store.sessions.newest(SessionQuery())
    assert len(found.session.files) == 2
    assert found.session.first_prompt == "Fix add."
    assert found.session.counts.calls == 2
    assert {event.thread for event in store.sessions.events(found.session.id)} == {"main", "a1"}


def test_a_fork_does_not_count_its_parents_tokens_again(store: Store, tmp_path: Path) -> None:
    parent = a_session()
    parent.write(tmp_path)
    fork = a_session(session=OTHER)
    for record in fork.records:
        if record["type"] == "assistant":
            record["requestSessionId"] = SESSION
    fork.records += Claude(session=OTHER, seed=9).records
    fork.next_message()
    fork.said("Only here.")
    fork.write(tmp_path)
    sync(store, tmp_path)
    found = {one.session.native_id: one.session for one in store.sessions.newest(SessionQuery())}
    assert found[SESSION].tokens == Tokens(200, 100, 2_000, 400)
    assert found[OTHER].tokens == Tokens(100, 50, 1_000, 200)
    assert found[OTHER].relation is Relation.FORK
    assert found[OTHER].parent_id == found[SESSION].id


def test_a_rollout_that_was_packed_and_moved_is_the_same_session(
    store: Store, tmp_path: Path
) -> None:
    codex = Codex()
    codex.prompt("Go")
    codex.said("Done")
    path = codex.write(tmp_path)
    sync(store, tmp_path)
    archive = tmp_path / "archived_sessions"
    archive.mkdir()
    (archive / f"{path.name}.zst").write_bytes(zstandard.compress(path.read_bytes()))
    path.unlink()
    sync(store, tmp_path)
    (found,) = store.sessions.newest(SessionQuery())
    assert found.session.counts.turns == 1
    said = [e for e in store.sessions.events(found.session.id) if isinstance(e, Said)]
    assert len(said) == 1
    assert sync(store, tmp_path).read == 0


def test_secrets_are_not_kept(store: Store, tmp_path: Path) -> None:
    secret = "sk-" + "ant-api03-" + "aB3_" * 20
    claude = Claude()
    claude.prompt(f"My key is {secret}")
    claude.ran("c1", f"curl -H 'x-api-key: {secret}'", f"{secret}\n")
    claude.write(tmp_path)
    sync(store, tmp_path)
    (found,) = store.sessions.newest(SessionQuery())
    assert "[redacted:anthropic-key]" in (found.session.first_prompt or "")
    text = repr(store.sessions.events(found.session.id)) + repr(found)
    assert secret not in text
    assert secret.encode() not in (store.home / "fairtrial.db").read_bytes()


def test_rules_look_at_whole_sessions(store: Store, tmp_path: Path) -> None:
    claude = a_session()
    path = claude.write(tmp_path)
    sync(store, tmp_path, Talkative())
    (found,) = store.sessions.newest(SessionQuery())
    assert [flag.evidence for flag in found.flags] == [(6,)]
    claude.prompt("More")
    with path.open("ab") as file:
        file.write(as_bytes(claude.records[-1:]))
    sync(store, tmp_path, Talkative())
    (found,) = store.sessions.newest(SessionQuery())
    assert [flag.evidence for flag in found.flags] == [(7,)]


def test_a_rule_that_fails_harms_no_session(store: Store, tmp_path: Path) -> None:
    a_session().write(tmp_path)
    outcome = sync(store, tmp_path, Broken(), Talkative())
    assert "the flag rule broken failed" in outcome.troubles[0]
    (found,) = store.sessions.newest(SessionQuery())
    assert [flag.name for flag in found.flags] == ["talkative"]


@pytest.mark.skipif(os.getuid() == 0, reason="needs a user who may not read every file")
def test_a_file_that_cannot_be_read_is_told(store: Store, tmp_path: Path) -> None:
    path = a_session().write(tmp_path)
    path.chmod(0)
    Codex().write(tmp_path)
    outcome = sync(store, tmp_path)
    assert "Permission denied" in outcome.troubles[0]
    assert outcome.read == 1


def test_a_file_that_vanishes_is_told(store: Store, tmp_path: Path) -> None:
    known = readers()
    path = a_session().write(tmp_path)
    (new,) = found_files(known, [Place("claude-code", tmp_path)])
    path.unlink()
    ways = Ways(untouched, store.sessions.pack, CallPrices(Prices()), Repositories())
    syncer = Syncer(store.sessions, ways, (), lambda: NOON)
    outcome = syncer.sync([new], lambda *_: None)
    assert "No such file" in outcome.troubles[0]


def test_a_mistake_of_a_reader_costs_one_file(store: Store, tmp_path: Path) -> None:
    class Mistaken(ClaudeCodeReader):
        def start(self, path: Path, clean: Clean) -> Transcript:
            raise KeyError(f"{path} {clean}")

    path = a_session().write(tmp_path)
    Codex().write(tmp_path)
    told = path.stat()
    found = FoundFile(str(path), told.st_ino, told.st_size, told.st_mtime_ns)
    others = found_files(readers(), [Place("codex", tmp_path / "sessions")])
    ways = Ways(untouched, store.sessions.pack, CallPrices(Prices()), Repositories())
    syncer = Syncer(store.sessions, ways, (), lambda: NOON)
    outcome = syncer.sync([NewFile(Mistaken(), found), *others], lambda *_: None)
    assert "a mistake in fairtrial: KeyError" in outcome.troubles[0]
    assert len(outcome.sessions) == 1


def test_garbage_brings_nothing_and_harms_nothing(store: Store, tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-x"
    project.mkdir(parents=True)
    (project / "garbage.jsonl").write_bytes(bytes(range(256)) * 40)
    (project / "empty.jsonl").write_bytes(b"")
    (project / "list.jsonl").write_bytes(b"[1]\n3\nnull\n")
    a_session().write(tmp_path)
    outcome = sync(store, tmp_path)
    assert outcome.troubles == []
    assert len(store.sessions.newest(SessionQuery())) == 1
    assert sync(store, tmp_path).read == 0
    # It may have been the start of a session after all.
    with (project / "empty.jsonl").open("ab") as file:
        file.write(as_bytes(a_session(session=OTHER).records))
    sync(store, tmp_path)
    assert len(store.sessions.newest(SessionQuery())) == 2


def test_whose_a_file_is_is_seen_by_what_it_holds(tmp_path: Path) -> None:
    claude = tmp_path / "a.jsonl"
    claude.write_bytes(b'{"type":"mode","sessionId":"x"}\n' + as_bytes(a_session().records))
    codex = tmp_path / "b.jsonl"
    codex.write_bytes(as_bytes(Codex().records))
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "case-1", "input": "x"}) + "\n")
    found = {file.found.path: file.reader.agent for file in recognised(readers(), tmp_path)}
    assert found == {str(claude): "claude-code", str(codex): "codex"}


def test_places_follow_the_environment(tmp_path: Path) -> None:
    usual = [str(p.folder.relative_to(tmp_path)) for p in places_of(readers(), {}, tmp_path)]
    assert usual == [
        ".claude/projects",
        ".config/claude/projects",
        ".codex/sessions",
        ".codex/archived_sessions",
        ".local/share/opencode",
        ".gemini/tmp",
        ".pi/agent/sessions",
    ]
    environ = {
        "CLAUDE_CONFIG_DIR": "/c",
        "CODEX_HOME": "/x",
        "GEMINI_CLI_HOME": "/g",
        "XDG_DATA_HOME": "/d",
        "OPENCODE_DB": "/o/own.db",
        "PI_CODING_AGENT_DIR": "/p",
    }
    moved = [str(place.folder) for place in places_of(readers(), environ, tmp_path)]
    assert moved == [
        "/c/projects",
        "/x/sessions",
        "/x/archived_sessions",
        "/d/opencode",
        "/o/own.db",
        "/g/.gemini/tmp",
        "/p/sessions",
    ]


def test_a_file_whose_name_is_no_text_is_told_and_costs_no_other(
    store: Store, tmp_path: Path
) -> None:
    path = a_session().write(tmp_path)
    odd = Path(os.fsdecode(os.fsencode(path.parent) + b"/\xff.jsonl"))
    try:
        odd.write_bytes(path.read_bytes())
    except OSError:
        pytest.skip("needs a file system whose names are bytes")
    outcome = sync(store, tmp_path)
    assert outcome.read == 1
    (trouble,) = outcome.troubles
    assert trouble.endswith("\\udcff.jsonl: not read, its name is no UTF-8; rename it")
