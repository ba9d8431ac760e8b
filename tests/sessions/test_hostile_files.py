"""What may lie in a folder of transcripts, and what may happen to a file between two syncs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sessions.opencode_database import OpenCode
from tests.sessions.syncing import synced
from tests.sessions.transcripts import OTHER, SESSION, Claude, Codex, as_bytes

from fairtrial.model.session import Session
from fairtrial.ports.sessions import SessionQuery
from fairtrial.ports.transcript_files import Place
from fairtrial.sessions.finding import found_files
from fairtrial.sessions.registry import readers
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.facts import NOON


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "home", clock=lambda: NOON) as store:
        yield store


def a_session(session: str = SESSION, text: str = "Fix add.") -> Claude:
    claude = Claude(session)
    claude.prompt(text)
    claude.said("Done.")
    return claude


def only(store: Store) -> Session:
    (found,) = store.sessions.newest(SessionQuery())
    return found.session


def test_what_is_no_file_is_passed_over(store: Store, tmp_path: Path) -> None:
    root = tmp_path / "t"
    folder = a_session().write(root).parent
    names = ["rollout-x.jsonl", "session-x.json", "trajectory.json", "opencode.db"]
    for name in names:
        (folder / f"a{name}").mkdir()
        (folder / name).mkdir()
        os.mkfifo(folder / f"f-{name}")
        os.mknod(folder / f"s-{name}", stat.S_IFSOCK | 0o600)
        (folder / f"l-{name}").symlink_to(folder / f"l-{name}")
        (folder / f"d-{name}").symlink_to(folder / "nowhere")
    (folder / "circle").symlink_to(root)
    outcome = synced(store, root)
    assert (len(outcome.sessions), outcome.troubles) == (1, [])
    places = [Place(reader.agent, folder) for reader in readers()]
    found = {file.found.path for file in found_files(readers(), places)}
    assert found == {str(folder / f"{SESSION}.jsonl")}


def test_a_link_to_a_transcript_is_the_same_session(store: Store, tmp_path: Path) -> None:
    path = a_session().write(tmp_path / "t")
    (path.parent / "link.jsonl").symlink_to(path)
    synced(store, tmp_path / "t")
    assert only(store).counts.turns == 1


def test_a_file_that_shrinks_is_read_anew(store: Store, tmp_path: Path) -> None:
    claude = a_session()
    claude.prompt("More")
    path = claude.write(tmp_path / "t")
    synced(store, tmp_path / "t")
    assert only(store).counts.turns == 2
    path.write_bytes(as_bytes(claude.records[:1]))
    synced(store, tmp_path / "t")
    assert (only(store).counts.turns, only(store).final_text) == (1, None)


def test_a_file_in_the_place_of_another_is_read_anew(store: Store, tmp_path: Path) -> None:
    path = a_session().write(tmp_path / "t")
    synced(store, tmp_path / "t")
    new = tmp_path / "new"
    new.write_bytes(as_bytes(a_session(OTHER, "Another one, longer than it.").records))
    new.replace(path)
    synced(store, tmp_path / "t")
    assert only(store).first_prompt == "Another one, longer than it."
    assert only(store).counts.turns == 1


def test_a_file_that_grows_while_it_is_read_is_read_once(store: Store, tmp_path: Path) -> None:
    claude = a_session()
    path = claude.write(tmp_path / "t")
    first = as_bytes(claude.records)
    claude.prompt("More")
    whole = as_bytes(claude.records)
    for end in range(len(first), len(whole) + 1, 40):
        path.write_bytes(whole[:end])
        synced(store, tmp_path / "t")
    path.write_bytes(whole)
    synced(store, tmp_path / "t")
    found = only(store)
    assert (found.counts.turns, found.unread.bad_lines, found.unread.records) == (2, 0, 3)


def test_a_line_without_end_is_counted_and_the_rest_is_read(store: Store, tmp_path: Path) -> None:
    claude = a_session()
    path = claude.write(tmp_path / "t")
    records = [as_bytes([record]) for record in claude.records]
    with path.open("wb") as file:
        file.write(records[0])
        file.write(b'{"type":"user","x":"' + b"x" * 50_000_000 + b'"}\n')
        file.write(records[1])
    synced(store, tmp_path / "t")
    found = only(store)
    assert (found.unread.clipped_lines, found.final_text) == (1, "Done.")


def test_numbers_of_tokens_may_be_anything(store: Store, tmp_path: Path) -> None:
    claude = a_session()
    path = claude.write(tmp_path / "t")
    details = {"thinking_tokens": 2**70, "more": [2**70, -1]}
    mad = {"input_tokens": 10**23, "output_tokens": -5, "output_tokens_details": details}
    for record in claude.records:
        if "usage" in record["message"]:
            record["message"]["usage"] |= mad
    path.write_bytes(as_bytes(claude.records))
    assert synced(store, tmp_path / "t").troubles == []
    found = only(store)
    assert (found.final_text, found.unread.bad_lines) == ("Done.", 0)
    assert found.tokens is None or (found.tokens.input or 0) < 10**23


def test_clocks_may_jump(store: Store, tmp_path: Path) -> None:
    codex = Codex()
    codex.prompt("a")
    codex.said("b")
    for record, at in zip(
        codex.records, ["2099-01-01T00:00:00Z", "1971-01-01", "never", None], strict=False
    ):
        record["timestamp"] = at
    codex.write(tmp_path / "t")
    synced(store, tmp_path / "t")
    found = only(store)
    assert found.started_at is not None
    assert found.ended_at is not None
    assert (found.started_at.year, found.ended_at.year) == (1971, 2099)
    assert len(store.sessions.events(found.id)) == 2


@pytest.mark.skipif(os.getuid() == 0, reason="needs a user who may not read every file")
def test_a_database_that_may_not_be_read_is_told(store: Store, tmp_path: Path) -> None:
    database = OpenCode().prompt("a").save(tmp_path / "t" / "opencode.db")
    synced(store, tmp_path / "t")
    database.chmod(0)
    places = [Place("opencode", tmp_path / "t")]
    assert [file.found.path for file in found_files(readers(), places)] == [str(database)]
