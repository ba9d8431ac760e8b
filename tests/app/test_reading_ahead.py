"""Files that other processes read bring the same, row by row, as those that this one reads."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.sessions.opencode_database import OpenCode
from tests.sessions.transcripts import Claude, Codex, as_bytes

from fairtrial.app import reading_ahead as module
from fairtrial.app.bench import Bench
from fairtrial.app.requests.sessions_sync import Request
from fairtrial.app.session_syncing import syncer
from fairtrial.app.sessions_sync import read_transcripts
from fairtrial.ports.sessions import Clean, FileReading, SessionQuery
from fairtrial.ports.transcript_files import FoundFile
from fairtrial.sessions.finding import NewFile, changed
from fairtrial.sessions.helping import Read, Setup, frame
from fairtrial.sessions.reading_ahead import ReadingAhead, processes_for
from fairtrial.sessions.recognising import recognised
from fairtrial.sessions.registry import flag_rules, readers
from fairtrial.sessions.syncing import Outcome, Syncer
from fairtrial.store.glance import known_files

PROGRAM = (sys.executable, "-P", "-m", "fairtrial.app.reading_process")
DYING = """
import os
from fairtrial.app import reading_process
from fairtrial.sessions.helping import Helper, {order}
done, told = Helper.done, []
def dying(self, order):
    told.extend([order] if isinstance(order, {order}) else [])
    if len(told) == {number}:
        os._exit(9)
    return done(self, order)
Helper.done = dying
reading_process.main()
"""
MB = 1024 * 1024


def session_id(number: int) -> str:
    return f"{number:08}-2222-4333-8444-555555555555"


def asked(number: int) -> Claude:
    claude = Claude(session_id(number), seed=number)
    claude.prompt("Fix add.")
    return claude


def write(folder: Path) -> None:
    """Write sessions of several agents, and what is odd in some."""
    for number in range(30):
        claude = Claude(session_id(number), seed=number)
        claude.prompt(f"Fix part {number}. My key is AKIA{number:016}.")
        for turn in range(number % 5 + 1):
            claude.ran(f"c{turn}", "pytest -q", f"{number} failed", code=1)
        claude.next_message()
        claude.said("Done, all tests pass.")
        path = claude.write(folder)
        if number == 3:  # a subagent: two files of one session
            claude.write(folder, f"{session_id(number)}/subagents/agent-abc.jsonl")
        if number == 5:  # a copy
            shutil.copy(path, path.with_name("copy.jsonl"))
        if number == 7:  # repeats the calls of another one
            other = Claude(session_id(70), seed=number)
            other.records = [{**record, "sessionId": session_id(70)} for record in claude.records]
            other.write(folder)
        if number == 9:
            path.write_bytes(
                path.read_bytes() + b'\0\xff\n{"type": "user", "mess\n{"type": 1e999}\n'
            )
    Codex(session_id(50)).write(folder)
    (folder / "odd.jsonl").write_bytes(b"\xff\xfe{}\n")
    database = folder / "opencode.db"
    for name in ("ses_one", "ses_two"):
        OpenCode(name).prompt("Add a test.").ran("pytest -q", "1 failed", 1).said("Ok.").save(
            database
        )


def found(bench: Bench, folder: Path) -> list[NewFile]:
    known = known_files(bench.home / "fairtrial.db") or {}
    return changed(recognised(readers(), folder), known)


def sync(bench: Bench, folder: Path, program: Sequence[str] | None) -> Outcome:
    """Read what is new, in two other processes if there is a program for them."""
    troubles: list[str] = []
    syncing, files = syncer(bench, troubles.append), found(bench, folder)
    if program is None:
        return syncing.sync(files, lambda *_: None)
    ahead = ReadingAhead(program, os.environ, 2)
    try:
        ahead.set_up(bench.home, ())
        return syncing.sync(files, lambda *_: None, ahead=ahead)
    finally:
        ahead.close()


def bench_at(home: Path) -> Bench:
    home.mkdir(exist_ok=True)
    return Bench(home, home, {})


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Bench, Bench]]:
    alone, beside = bench_at(tmp_path / "alone"), bench_at(tmp_path / "beside")
    yield alone, beside
    alone.close()
    beside.close()


def rows(bench: Bench) -> dict[str, list[Any]]:
    """Return all rows of all tables of sessions."""
    with closing(sqlite3.connect(bench.home / "fairtrial.db")) as connection:
        chosen = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'session%'"
        connection.row_factory = sqlite3.Row
        names = [row["name"] for row in connection.execute(chosen)]
        return {
            name: [
                _plain(dict(row))
                for row in connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2")  # noqa: S608
            ]
            for name in names
        }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose reader's state is decoded: sets in it have no order."""
    if row.get("state") and isinstance(row["state"], bytes):
        row["state"] = _unordered(msgspec.msgpack.decode(row["state"]))
    return row


def _unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unordered(part) for name, part in value.items()}
    if isinstance(value, list):
        return sorted((_unordered(part) for part in value), key=repr)
    return value


def test_the_stores_are_the_same(pair: tuple[Bench, Bench], tmp_path: Path) -> None:
    alone, beside = pair
    write(tmp_path / "home")
    first = sync(alone, tmp_path / "home", None)
    second = sync(beside, tmp_path / "home", PROGRAM)
    assert first == second
    assert first.troubles == []
    told = rows(alone)
    assert len(told["session"]) == 34
    assert len(told["session_flag"]) > 20
    assert len(told["session_usage"]) > 90
    assert told == rows(beside)


def test_what_was_added_is_the_same(pair: tuple[Bench, Bench], tmp_path: Path) -> None:
    alone, beside = pair
    write(tmp_path / "home")
    for bench in pair:
        sync(bench, tmp_path / "home", None)
    for number in range(0, 30, 3):
        more = Claude(session_id(number), seed=100 + number)
        more.prompt("And the docs.")
        more.next_message()
        more.said("Done too.")
        project = tmp_path / "home" / "projects" / "-home-dev-shop"
        with (project / f"{session_id(number)}.jsonl").open("ab") as file:
            file.write(as_bytes(more.records))
    first = sync(alone, tmp_path / "home", None)
    second = sync(beside, tmp_path / "home", PROGRAM)
    assert first == second
    assert first.read == 10
    assert rows(alone) == rows(beside)


@pytest.mark.parametrize(("order", "number"), [("Read", 1), ("Read", 5), ("Look", 1), ("Look", 3)])
def test_what_a_process_that_dies_leaves_is_read_here(
    pair: tuple[Bench, Bench], tmp_path: Path, order: str, number: int
) -> None:
    alone, beside = pair
    write(tmp_path / "home")
    first = sync(alone, tmp_path / "home", None)
    dying = (sys.executable, "-c", DYING.format(order=order, number=number))
    second = sync(beside, tmp_path / "home", dying)
    assert rows(alone) == rows(beside)
    assert second.sessions == first.sessions
    assert second.troubles
    assert {trouble.partition(" with 9; ")[1] for trouble in second.troubles} == {" with 9; "}


def test_processes_that_cannot_start_cost_nothing(
    pair: tuple[Bench, Bench], tmp_path: Path
) -> None:
    alone, beside = pair
    write(tmp_path / "home")
    sync(alone, tmp_path / "home", None)
    outcome = sync(beside, tmp_path / "home", (str(tmp_path / "missing"),))
    assert rows(alone) == rows(beside)
    assert all("could be started" in trouble for trouble in outcome.troubles)
    assert len(outcome.troubles) == 2


def test_a_mistake_in_a_reader_is_told_as_if_it_was_read_here(
    pair: tuple[Bench, Bench], tmp_path: Path
) -> None:
    _, beside = pair
    path = asked(1).write(tmp_path / "home")

    class Broken:
        agent, version = "no-such-agent", 1

        def source(self, path: str) -> Any:
            return readers(["claude-code"])[0].source(path)

        def start(self, path: Path, _clean: Clean) -> Any:
            raise ValueError(path.name)

    (file,) = found(beside, tmp_path / "home")
    broken = NewFile(Broken(), file.found)  # type: ignore[arg-type]
    ahead = ReadingAhead(PROGRAM, os.environ, 1)
    try:
        ahead.set_up(beside.home, ())
        outcome = syncer(beside, print).sync([broken], lambda *_: None, ahead=ahead)
    finally:
        ahead.close()
    assert len(outcome.troubles) == 1
    assert outcome.troubles[0].startswith(f"{path}: not read, for a mistake in fairtrial")


def in_parts(bench: Bench, folder: Path, part: int) -> Outcome:
    """Read what is new, so many bytes of a file at once."""
    whole = syncer(bench, print)
    rules = flag_rules()
    parted = Syncer(bench.store.sessions, whole.ways, rules, bench.clock.now, part)
    return parted.sync(found(bench, folder), lambda *_: None)


def without_chunks(bench: Bench) -> dict[str, list[Any]]:
    told = rows(bench)
    del told["session_chunk"]
    return told


@pytest.mark.parametrize("part", [1, 2_000, 5_000])
def test_parts_of_a_file_bring_what_the_whole_brings(
    pair: tuple[Bench, Bench], tmp_path: Path, part: int
) -> None:
    whole, parted = pair
    folder = tmp_path / "home"
    write(folder)
    for path in (*folder.rglob("copy.jsonl"), *folder.rglob("agent-abc.jsonl")):
        path.unlink()  # of copies the longest is kept, whichever is read first
    first, second = sync(whole, folder, None), in_parts(parted, folder, part)
    assert (second.read, second.bytes, second.troubles) == (first.read, first.bytes, [])
    assert set(second.sessions) == set(first.sessions)
    assert events(whole) == events(parted)
    assert without_chunks(whole) == without_chunks(parted)
    assert found(parted, folder) == []


def events(bench: Bench) -> list[Any]:
    store = bench.store.sessions
    return [store.events(ref) for ref in store.ids(SessionQuery(), None)]


def test_a_long_copy_is_read_whole_after_a_short_one(
    pair: tuple[Bench, Bench], tmp_path: Path
) -> None:
    whole, parted = pair
    folder = tmp_path / "home"
    claude = asked(1)
    for turn in range(20):
        claude.ran(f"c{turn}", "pytest -q", "1 failed", code=1)
    short = claude.write(folder, "a.jsonl")
    claude.said("Done.")
    in_parts(parted, folder, 1_000_000)
    claude.write(folder)
    short.with_name("odd.jsonl").write_bytes(b'{"type": "mode"}\n')
    sync(whole, folder, None)
    in_parts(parted, folder, 1_000)
    assert events(whole) == events(parted)
    assert len(events(parted)[0]) > 40


def test_what_was_left_in_the_middle_goes_on_there(
    pair: tuple[Bench, Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parted = pair
    folder = tmp_path / "home"
    claude = asked(1)
    for turn in range(20):
        claude.ran(f"c{turn}", "pytest -q", "1 failed", code=1)
    claude.write(folder)
    store, saved = parted.store.sessions, 0
    save = store.save

    def killed(readings: Sequence[FileReading]) -> Sequence[str]:
        nonlocal saved
        saved += 1
        if saved == 3:
            raise KeyboardInterrupt
        return save(readings)

    monkeypatch.setattr(store, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        in_parts(parted, folder, 2_000)
    monkeypatch.undo()
    (left,) = found(parted, folder)
    outcome = in_parts(parted, folder, 2_000)
    assert 0 < outcome.bytes < left.found.size - 3_000
    sync(whole, folder, None)
    assert events(whole) == events(parted)
    assert without_chunks(whole) == without_chunks(parted)


def test_a_process_ends_with_the_one_that_it_reads_for() -> None:
    with subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_process_whose_answers_nobody_takes_ends_silently(tmp_path: Path) -> None:
    path = asked(1).write(tmp_path / "home")
    file = FoundFile(str(path), 0, path.stat().st_size, 0)
    pipe = subprocess.PIPE
    with subprocess.Popen(PROGRAM, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(frame(Setup(sys.path, str(tmp_path), [])))
        process.stdin.write(frame(Read(1, "claude-code", file, None)))
        process.stdin.flush()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""


def test_closing_ends_what_is_under_way(pair: tuple[Bench, Bench], tmp_path: Path) -> None:
    _, beside = pair
    write(tmp_path / "home")
    ahead = ReadingAhead(PROGRAM, os.environ, 2)
    ahead.set_up(beside.home, ())

    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt(f"{done} of {of}")

    with pytest.raises(KeyboardInterrupt):
        syncer(beside, print).sync(found(beside, tmp_path / "home"), interrupt, ahead=ahead)
    ahead.close()
    # What was saved until then is there, and the rest is read the next time.
    sync(beside, tmp_path / "home", None)
    assert found(beside, tmp_path / "home") == []


@pytest.mark.parametrize(
    ("sizes", "cores", "expected"),
    [
        ([], 8, 0),
        ([500 * MB], 8, 0),
        ([500 * MB, MB], 8, 0),
        ([500 * MB] * 4, 8, 0),
        ([MB] * 200, 1, 0),
        ([MB] * 10, 2, 0),
        ([MB] * 200, 2, 2),
        ([8 * MB] * 4, 16, 3),
        ([MB] * 2_000, 64, 8),
    ],
)
def test_as_many_processes_as_are_worth_it(sizes: list[int], cores: int, expected: int) -> None:
    assert processes_for(sizes, cores) == expected


def test_a_sync_of_much_starts_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    class Counted(ReadingAhead):
        def __init__(self, *args: Any) -> None:
            started.append(args[2])
            super().__init__(*args)

    monkeypatch.setattr(module, "ReadingAhead", Counted)
    monkeypatch.setattr(module, "_cores", lambda: 2)
    for number in range(3):
        claude = Claude(session_id(number), seed=number)
        claude.prompt("Read much.")
        claude.plain(type="mode", text="x" * 9 * MB)
        claude.said("Done.")
        claude.write(tmp_path / "home")
    bench = bench_at(tmp_path / "bench")
    report = read_transcripts(bench, Request(path=(tmp_path / "home",)))
    bench.close()
    assert (started, report.read, report.troubles) == ([2], 3, [])
    assert capfd.readouterr().err == ""
