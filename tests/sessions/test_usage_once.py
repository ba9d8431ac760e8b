"""Each model call counts once, however often its agent writes it down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.syncing import synced
from tests.sessions.transcripts import OTHER, SESSION, Claude, Codex, as_bytes

from fairtrial.model.session import Relation, Session
from fairtrial.ports.sessions import SessionQuery
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.facts import NOON

THIRD = "77777777-2222-4333-8444-555555555555"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "home", clock=lambda: NOON) as store:
        yield store


def outputs(store: Store) -> dict[str, int | None]:
    """Return the output tokens of each session."""
    found = {one.native_id: one.tokens for one in sessions(store)}
    return {name: None if told is None else told.output for name, told in found.items()}


def sessions(store: Store) -> list[Session]:
    return [one.session for one in store.sessions.newest(SessionQuery())]


def claude_of(session: str, calls: int, seed: int = 1) -> Claude:
    """Return a session of so many model calls of 50 tokens, each in two blocks."""
    claude = Claude(session, seed=seed)
    claude.prompt("Go.")
    for _ in range(calls):
        claude.next_message()
        claude.said("I think.", output=10)
        claude.said("And.", output=50)
    return claude


def test_claude_resumes_in_the_same_file(store: Store, tmp_path: Path) -> None:
    claude = claude_of(SESSION, 2)
    path = claude.write(tmp_path / "t")
    synced(store, tmp_path / "t")
    assert outputs(store) == {SESSION: 100}
    before = len(claude.records)
    claude.prompt("Go on.")
    claude.said("The last call again, as the resume repeats it.", output=50)
    claude.next_message()
    claude.said("More.")
    with path.open("ab") as file:
        file.write(as_bytes(claude.records[before:]))
    synced(store, tmp_path / "t")
    assert outputs(store) == {SESSION: 150}


def test_claude_resumed_into_a_new_file_as_older_releases_did(store: Store, tmp_path: Path) -> None:
    old = claude_of(SESSION, 2)
    old.write(tmp_path / "t")
    new = claude_of(OTHER, 2)  # the same messages under another id
    new.next_message()
    new.said("More.")
    new.write(tmp_path / "t")
    synced(store, tmp_path / "t")
    assert sum(count or 0 for count in outputs(store).values()) == 150


@pytest.mark.parametrize("at_once", [True, False])
def test_a_copy_of_a_transcript_keeps_the_calls(
    store: Store, tmp_path: Path, *, at_once: bool
) -> None:
    claude = claude_of(SESSION, 2)
    claude.write(tmp_path / "t")
    if not at_once:
        synced(store, tmp_path / "t")
    claude.next_message()
    claude.said("More.")
    claude.write(tmp_path / "backup")
    synced(store, tmp_path)
    assert outputs(store) == {SESSION: 150}
    claude.write(tmp_path / "t")
    synced(store, tmp_path)
    assert outputs(store) == {SESSION: 150}


@pytest.mark.parametrize("moved", ["archived_sessions", "sessions/2027/01/01"])
def test_a_transcript_that_its_agent_moves_keeps_its_calls(
    store: Store, tmp_path: Path, moved: str
) -> None:
    claude_of(SESSION, 2).write(tmp_path / "t" / "before")
    synced(store, tmp_path / "t")
    (tmp_path / "t" / moved).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "t" / "before").rename(tmp_path / "t" / moved)
    synced(store, tmp_path / "t")
    assert outputs(store) == {SESSION: 100}


@pytest.mark.parametrize("at_once", [True, False])
def test_claude_forks_of_a_fork(store: Store, tmp_path: Path, *, at_once: bool) -> None:
    for place, session in enumerate((SESSION, OTHER, THIRD)):
        claude = claude_of(session, 2 + place)
        for record in claude.records:
            record["requestSessionId"] = SESSION
        claude.write(tmp_path / "t")
        if not at_once:
            synced(store, tmp_path / "t")
    synced(store, tmp_path / "t")
    assert sum(count or 0 for count in outputs(store).values()) == 200
    if not at_once:
        assert outputs(store) == {SESSION: 100, OTHER: 50, THIRD: 50}


def test_claude_counts_subagents_with_their_session(store: Store, tmp_path: Path) -> None:
    claude_of(SESSION, 2).write(tmp_path / "t")
    for seed in (2, 3):
        agent = claude_of(SESSION, 1, seed=seed)
        for record in agent.records:
            record |= {"isSidechain": True, "agentId": f"a{seed}"}
        agent.write(tmp_path / "t", f"{SESSION}/subagents/agent-a{seed}.jsonl")
    synced(store, tmp_path / "t")
    assert outputs(store) == {SESSION: 200}


def test_claude_compacts_without_counting_again(store: Store, tmp_path: Path) -> None:
    claude = claude_of(SESSION, 2)
    kept = list(claude.records)
    claude.add("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    claude.prompt("This session is being continued…", isCompactSummary=True)
    claude.records += kept[-2:]  # what is kept of the conversation is written again
    claude.next_message()
    claude.said("More.")
    claude.write(tmp_path / "t")
    synced(store, tmp_path / "t")
    assert outputs(store) == {SESSION: 150}
    assert sessions(store)[0].counts.compactions == 1


def spent(codex: Codex, calls: int, before: int = 0) -> None:
    """Add model calls of 50 tokens as Codex counts them: by sums of the thread."""
    for call in range(before + 1, before + calls + 1):
        codex.said(f"Call {call}.")
        total = {"input_tokens": 100 * call, "output_tokens": 50 * call}
        info: Any = {"total_token_usage": total, "last_token_usage": {"output_tokens": 50}}
        codex.add("event_msg", type="token_count", info=info)
        codex.add("event_msg", type="token_count", info=info)  # told again with the rate limits


def test_codex_resumes_with_the_sums_of_before(store: Store, tmp_path: Path) -> None:
    codex = Codex()
    spent(codex, 2)
    path = codex.write(tmp_path / "t")
    synced(store, tmp_path / "t")
    assert outputs(store) == {SESSION: 100}
    before = len(codex.records)
    codex.add("session_meta", id=SESSION, cwd="/home/dev/shop")
    spent(codex, 1, before=2)
    with path.open("ab") as file:
        file.write(as_bytes(codex.records[before:]))
    synced(store, tmp_path / "t")
    assert outputs(store) == {SESSION: 150}


def test_codex_copies_the_history_into_a_subagent(store: Store, tmp_path: Path) -> None:
    parent = Codex(OTHER)
    spent(parent, 2)
    parent.write(tmp_path / "t")
    source = {"subagent": {"thread_spawn": {"parent_thread_id": OTHER}}}
    child = Codex(source=source, subagent_history_start_ordinal=2 + len(parent.records))
    for record in parent.records:
        child.add(record["type"], **record["payload"])
    spent(child, 1, before=2)
    child.write(tmp_path / "t")
    synced(store, tmp_path / "t")
    assert outputs(store) == {OTHER: 100, SESSION: 50}
    assert {one.relation for one in sessions(store)} == {None, Relation.SUBAGENT}


def test_codex_forks_by_reference_and_goes_on_with_the_sums(store: Store, tmp_path: Path) -> None:
    parent = Codex(OTHER)
    spent(parent, 2)
    parent.write(tmp_path / "t")
    base = {"thread_id": OTHER, "end_ordinal_exclusive": len(parent.records)}
    fork = Codex(forked_from_id=OTHER, history_base=base)
    usage = {"input_tokens": 100, "output_tokens": 50}
    fork.said("More.")
    fork.add("token_usage_record", response_id="resp_fork", usage=usage)
    total = {"input_tokens": 300, "output_tokens": 150}
    fork.add("event_msg", type="token_count", info={"total_token_usage": total})
    fork.write(tmp_path / "t")
    synced(store, tmp_path / "t")
    assert outputs(store) == {OTHER: 100, SESSION: 50}


def test_codex_forks_of_older_releases_are_whole_copies(store: Store, tmp_path: Path) -> None:
    # The ids tell when they were made, and so which turns are copies.
    origin, own = "01a22750-0000-7703-87d2-faf1e950b79d", "01a22751-459a-7703-87d2-faf1e950b79d"
    parent = Codex(origin, items=False)
    spent(parent, 2)
    parent.write(tmp_path / "t")
    fork = Codex(own, items=False, forked_from_id=origin)
    for record in parent.records:
        fork.add(record["type"], **record["payload"])
    fork.add("turn_context", model="gpt-5.5", turn_id="01a22751-4600-7703-87d2-faf1e950b79d")
    spent(fork, 1, before=2)
    fork.write(tmp_path / "t")
    synced(store, tmp_path / "t")
    assert outputs(store) == {origin: 100, own: 50}
