"""`fairtrial.record_session`, as a program uses it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import fairtrial
from fairtrial.app.bench import bench_here
from fairtrial.app.reports.sessions import session_json
from fairtrial.cli.main import main
from fairtrial.interchange.session_exports.jsonl import event_facts

SECRET = "sk-ant-" + "a1" * 10


def stored(ref: str = "latest") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a session of the store, and its events."""
    bench = bench_here()
    try:
        store = bench.store.sessions
        found = store.find(ref)
        events = [event_facts(event) for event in store.events(found.session.id)]
        return session_json(found), events
    finally:
        bench.close()


def journals() -> list[Path]:
    return sorted(Path(os.environ["FAIRTRIAL_HOME"]).glob("recorded/*"))


def test_what_a_program_does_is_a_flagged_session(folder: Path) -> None:
    with fairtrial.record_session(agent="my-bot", agent_version="3") as session:
        session.prompt(f"Fix add, with {SECRET}")
        session.think("Tests first.")
        with session.tool("bash", {"command": "pytest -q"}) as run:
            run.output, run.exit_code = "1 failed", 1
        session.call("write_file", {"path": "a.py", "content": "A = 1\n"}, id="w")
        session.result("w", "written")
        session.usage("claude-sonnet-5-5", input_tokens=100, output_tokens=10)
        session.say("All tests pass now.")
        assert len(journals()) == 1
        assert SECRET not in journals()[0].read_text()
    assert session.stored
    assert journals() == []
    found, events = stored(session.native_id)
    assert (found["agent"], found["agent_version"]) == ("my-bot", "3")
    assert found["cwd"] == str(folder)
    assert found["first_prompt"] == "Fix add, with [redacted:anthropic-key]"
    assert found["state"] == "completed"
    assert (found["counts"]["failures"], found["counts"]["changed_files"]) == (1, 1)
    assert (found["tokens"]["input"], found["tokens"]["output"]) == (100, 10)
    assert found["cost_usd"] > 0
    assert "premature-completion" in {flag["name"] for flag in found["flags"]}
    kinds = [event["kind"] for event in events]
    assert kinds == [
        *("prompt", "thought", "call", "result", "call", "result", "usage", "said", "turn_end")
    ]
    assert (events[2]["operation"], events[2]["command"]) == ("shell", "pytest -q")
    assert (events[3]["exit_code"], events[3]["status"]) == (1, "fail")


def broken_program() -> None:
    with fairtrial.record_session() as session:
        session.prompt("Find it")
        with session.tool("find_order", {"id": 1}):
            raise ValueError("no such order")


def test_an_exception_is_recorded_and_goes_on(folder: Path) -> None:
    del folder
    with pytest.raises(ValueError, match="no such order"):
        broken_program()
    found, events = stored()
    assert found["state"] == "interrupted"
    assert events[2]["status"] == "fail"
    assert events[2]["text"] == "ValueError: no such order"


def test_async_programs_and_several_at_once(folder: Path) -> None:
    del folder

    async def bot(number: int) -> str:
        async with fairtrial.record_session(agent="bot") as session:
            session.prompt(f"Question {number}")
            await asyncio.sleep(0)
            session.say(f"Answer {number}")
        return session.native_id

    async def bots() -> list[str]:
        return await asyncio.gather(*(bot(number) for number in range(3)))

    names = asyncio.run(bots())
    assert [stored(name)[0]["final_text"] for name in names] == ["Answer 0", "Answer 1", "Answer 2"]


def test_threads_may_share_a_session(folder: Path) -> None:
    del folder
    with fairtrial.record_session() as session:
        session.prompt("Count")

        def talk() -> None:
            for _ in range(20):
                session.say("x" * 9_000)

        threads = [threading.Thread(target=talk) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found, events = stored()
    assert sum(event["kind"] == "said" for event in events) == 80
    assert found["unread"]["bad_lines"] == 0


CRASH = """
import os, signal, fairtrial
session = fairtrial.record_session(agent="crashing", session_id="crash-1").__enter__()
session.prompt("Do it")
session.say("I begin.")
print("ready", flush=True)
input()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_recorded_until_a_crash_is_kept(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", CRASH],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    assert program.stdout is not None
    assert program.stdin is not None
    assert program.stdout.readline() == "ready\n"
    assert main(["sessions", "sync", "--json"]) == 0  # while it runs: read, and left there
    assert json.loads(capfd.readouterr().out)["sessions"]
    assert len(journals()) == 1
    program.communicate("\n", timeout=60)
    with journals()[0].open("ab") as file:
        file.write(b'{"type":"said","te')
    assert main(["sessions", "sync"]) == 0
    assert journals() == []
    found, events = stored("crash-1")
    assert [event.get("text") for event in events] == ["Do it", "I begin."]
    assert found["agent"] == "crashing"


def test_a_removed_session_takes_its_journal_along(folder: Path) -> None:
    del folder
    session = fairtrial.record_session(session_id="gone")
    with session:
        session.prompt("Forget me, please.")
        assert main(["sessions", "sync"]) == 0
        assert main(["sessions", "rm", "gone"]) == 0
        assert journals() == []
        session.say("More.")
    for path in Path(os.environ["FAIRTRIAL_HOME"]).rglob("*"):
        assert path.is_dir() or b"Forget me" not in path.read_bytes()


def test_a_store_that_cannot_be_written_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del folder
    monkeypatch.setenv("FAIRTRIAL_STORE", "nonsense")
    with fairtrial.record_session(session_id="later") as session:
        session.prompt("Hello")
    assert not session.stored
    monkeypatch.delenv("FAIRTRIAL_STORE")
    assert main(["sessions", "sync"]) == 0
    assert stored("later")[0]["first_prompt"] == "Hello"
    assert journals() == []


def test_what_json_cannot_hold_is_recorded_as_text(folder: Path) -> None:
    del folder
    with fairtrial.record_session() as session:
        session.prompt("half a pair \ud800")
        call = session.call("look", {"at": {1, 2}, "half": "\ud800"})
        session.result(call, object())
        session.result(call, float("nan"))
    found, events = stored()
    assert found["first_prompt"] == "half a pair ?"
    assert len(events) == 5
    assert found["unread"]["bad_lines"] == 0


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "x" * 201, 5])
def test_an_id_that_is_no_name_is_refused(folder: Path, name: Any) -> None:
    del folder
    with pytest.raises(ValueError, match="a session_id is a name"):
        fairtrial.record_session(session_id=name)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\ud800", "\u202e", "x" * 201, 5, None])
def test_an_agent_is_called_by_one_line(folder: Path, name: Any) -> None:
    del folder
    with pytest.raises(ValueError, match="one printable line"):
        fairtrial.record_session(agent=name)


def test_outside_of_its_block_nothing_is_recorded(folder: Path) -> None:
    del folder
    with pytest.raises(RuntimeError, match="within its block"):
        fairtrial.record_session().prompt("x")


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = (
        "import sys; before = set(sys.modules); import fairtrial; "
        "print(sorted(m for m in set(sys.modules) - before if m.startswith('fairtrial')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['fairtrial']\n"
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = fairtrial.nothing_such
