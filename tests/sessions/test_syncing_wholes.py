"""Documents and databases in a sync: what is read again, what is not, and what counts once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sessions.opencode_database import SNAPSHOT, OpenCode
from tests.sessions.readers.test_gemini import answer, call, user
from tests.sessions.readers.test_gemini_documents import written
from tests.sessions.syncing import synced
from tests.sessions.trajectories import Trajectory, observed
from tests.sessions.trajectories import call as asked
from tests.sessions.transcripts import SESSION, Claude, untouched

from fairtrial.model.session import Relation, Session
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import SessionQuery, TranscriptSource
from fairtrial.pricing.prices import Prices
from fairtrial.sessions.finding import NewFile
from fairtrial.sessions.flags.built_in import built_in_rules
from fairtrial.sessions.pricing import CallPrices
from fairtrial.sessions.readers.opencode.reader import OpenCodeReader
from fairtrial.sessions.reading import Ways
from fairtrial.sessions.repositories import Repositories
from fairtrial.sessions.syncing import Syncer
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.facts import NOON

FAILING = "FAILED test_calc.py::test_add - assert 0 == 5\n1 failed, 2 passed in 0.21s"
AGAIN = FAILING.replace("test_add", "test_zero")
CLAIM = "Fixed it. All tests pass now."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "home", clock=lambda: NOON) as store:
        yield store


def sessions(store: Store) -> dict[str, Session]:
    """Return the sessions that are kept, by the agent's own ids."""
    found = store.sessions.newest(SessionQuery())
    return {one.session.native_id: one.session for one in found}


def test_only_the_sessions_that_changed_are_read_again(store: Store, tmp_path: Path) -> None:
    database = OpenCode().prompt("a").said("b").save(tmp_path / "oc" / "opencode.db")
    other = OpenCode("ses_two", at=1_795_953_700_000).prompt("c")
    other.save(database)
    first = synced(store, tmp_path / "oc")
    assert (len(first.sessions), first.troubles) == (2, [])
    assert synced(store, tmp_path / "oc").read == 0
    other.said("d").save(database)
    (again,) = synced(store, tmp_path / "oc").sessions
    found = sessions(store)
    assert found["ses_two"].id == again
    assert (found["ses_two"].final_text, found["ses_one"].final_text) == ("d", "b")
    assert found["ses_one"].start_tree == SNAPSHOT
    assert found["ses_two"].cost_usd == 0.25
    assert found["ses_one"].files == (f"{database}#ses_one",)
    assert [event.number for event in store.sessions.events(again)] == [1, 2, 3, 4]


def test_a_removed_session_of_a_database_stays_away(store: Store, tmp_path: Path) -> None:
    database = OpenCode().prompt("a").save(tmp_path / "oc" / "opencode.db")
    (one,) = synced(store, tmp_path / "oc").sessions
    store.sessions.remove([one])
    OpenCode("ses_two").prompt("b").save(database)
    assert len(synced(store, tmp_path / "oc").sessions) == 1
    assert list(sessions(store)) == ["ses_two"]


def test_a_fork_in_a_database_counts_only_its_own_calls(store: Store, tmp_path: Path) -> None:
    parent = OpenCode().prompt("a").said("b").said("c")
    database = parent.save(tmp_path / "oc" / "opencode.db")
    fork = OpenCode("ses_fork", at=parent.info["time"]["created"] + 900_000)
    fork.messages = list(parent.messages)
    fork.prompt("d").said("e").save(database)
    synced(store, tmp_path / "oc")
    for _ in range(2):
        found = sessions(store)
        assert found["ses_one"].cost_usd == 0.5
        assert found["ses_fork"].cost_usd == 0.25
        assert found["ses_fork"].relation is Relation.FORK
        assert found["ses_fork"].parent_id == found["ses_one"].id
        fork.prompt("f").save(database)  # it is read again, and still counts once
        synced(store, tmp_path / "oc")


def test_a_session_in_a_database_and_in_an_export_is_one(store: Store, tmp_path: Path) -> None:
    opencode = OpenCode().prompt("a").said("b")
    opencode.save(tmp_path / "oc" / "opencode.db")
    opencode.export(tmp_path / "oc" / "export.json")
    synced(store, tmp_path / "oc")
    assert len(store.sessions.newest(SessionQuery())) == 1
    assert sessions(store)["ses_one"].tokens == Tokens(100, 55, 1_000, 0, 5)


def test_a_database_that_cannot_be_read_is_told_and_the_rest_is_read(
    store: Store, tmp_path: Path
) -> None:
    database = OpenCode().prompt("a").save(tmp_path / "oc" / "opencode.db")
    whole = database.read_bytes()
    damaged = tmp_path / "oc" / "opencode-old.db"
    damaged.write_bytes(whole[:4_096] + b"\xff" * (len(whole) - 4_096))
    outcome = synced(store, tmp_path / "oc")
    assert list(sessions(store)) == ["ses_one"]
    assert all("opencode-old.db" in trouble for trouble in outcome.troubles)


def test_a_session_that_could_not_be_read_is_tried_again(store: Store, tmp_path: Path) -> None:
    class Once(OpenCodeReader):
        def source(self, path: str) -> TranscriptSource:
            if path.endswith("#ses_two"):
                raise OSError(5, "the database is locked")
            return super().source(path)

    database = OpenCode().prompt("a").save(tmp_path / "oc" / "opencode.db")
    OpenCode("ses_two").prompt("b").save(database)
    ways = Ways(untouched, store.sessions.pack, CallPrices(Prices()), Repositories())
    syncer = Syncer(store.sessions, ways, (), lambda: NOON)
    found = NewFile(Once(), next(Once().files(database)))
    outcome = syncer.sync([found], lambda *_: None)
    assert (list(sessions(store)), len(outcome.troubles)) == (["ses_one"], 1)
    again = synced(store, tmp_path / "oc")
    assert len(again.sessions) == 1
    assert list(sessions(store)) == ["ses_two", "ses_one"]


def test_a_document_is_read_again_only_when_its_content_changed(
    store: Store, tmp_path: Path
) -> None:
    path = written(tmp_path / "g", user("u1", {"text": "a"}), answer("m1", "b"))
    assert synced(store, tmp_path / "g").read == 1
    assert synced(store, tmp_path / "g").read == 0
    os.utime(path, ns=(2**60, 2**60))
    touched = synced(store, tmp_path / "g")
    assert touched.bytes == 0
    assert len(store.sessions.events(touched.sessions[0])) == 3
    document = json.loads(path.read_text())
    document["messages"].append(answer("m2", "c"))
    path.write_text(json.dumps(document))
    synced(store, tmp_path / "g")
    (found,) = sessions(store).values()
    assert found.final_text == "c"
    assert found.tokens == Tokens(400, 110, 2_000, None, 10)
    assert [event.number for event in store.sessions.events(found.id)] == [1, 2, 3, 4, 5]


def test_half_a_document_is_read_as_far_as_it_goes(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "g", user("u1", {"text": "a"}), answer("m1", "b"))
    whole = path.read_text()
    path.write_text(whole[: whole.index("m1")])
    synced(store, tmp_path / "g")
    (found,) = sessions(store).values()
    assert (found.first_prompt, found.final_text, found.unread.bad_lines) == ("a", None, 1)
    path.write_text(whole)
    synced(store, tmp_path / "g")
    (found,) = sessions(store).values()
    assert (found.final_text, found.unread.bad_lines) == ("b", 0)


def test_the_agents_own_transcript_counts_more_than_a_trajectory_of_it(
    store: Store, tmp_path: Path
) -> None:
    trajectory = Trajectory(agent="claude-code").prompt("Fix add.")
    for _ in range(20):
        trajectory.said("A long story. " * 50)
    trajectory.write(tmp_path)
    synced(store, tmp_path / "jobs")
    assert sessions(store)[SESSION].cost_usd == 10.0
    claude = Claude()
    claude.prompt("Fix add.")
    claude.said("Done.")
    claude.write(tmp_path / "jobs")
    synced(store, tmp_path / "jobs")
    (found,) = sessions(store).values()
    assert (found.agent, found.final_text) == ("claude-code", "Done.")
    assert found.tokens == Tokens(100, 50, 1_000, 200)
    assert len(found.files) == 1


def test_the_parts_of_a_job_are_sessions_of_their_own(store: Store, tmp_path: Path) -> None:
    Trajectory().prompt("a").said("b").write(tmp_path)
    later = Trajectory().prompt("a", is_copied_context=True).said("b", is_copied_context=True)
    later.said("c").write(tmp_path, "trajectory.cont-1.json")
    (tmp_path / "jobs" / "result.json").write_text('{"id": "x", "stats": {}}')
    assert len(synced(store, tmp_path / "jobs").sessions) == 2
    found = sessions(store)
    assert found[f"{SESSION}-cont-1"].parent_id == found[SESSION].id
    assert [one.cost_usd for one in found.values()] == [0.5, 0.5]


def _opencode(folder: Path) -> None:
    path = "/home/dev/shop/calc.py"
    opencode = OpenCode().prompt("Fix add.").ran("pytest -q", FAILING, 1)
    given = {"filePath": path, "oldString": "return 0", "newString": "return a"}
    metadata = {"diff": f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-return 0\n+return a\n"}
    opencode.answer(opencode.tool("edit", given, "Edit applied.", metadata))
    opencode.ran("pytest -q", AGAIN, 1).said(CLAIM).save(folder / "opencode.db")


def _gemini(folder: Path) -> None:
    path = "/r/calc.py"
    code = "\nExit Code: 1"
    shown = {"fileDiff": "@@ -1 +1 @@\n-return 0\n+return a\n", "filePath": path}
    written(
        folder,
        user("u1", {"text": "Fix add."}),
        answer("m1", "", call("c1", "run_shell_command", {"command": "pytest -q"}, FAILING + code)),
        answer("m2", "", call("c2", "replace", {"file_path": path}, "ok", resultDisplay=shown)),
        answer("m3", "", call("c3", "run_shell_command", {"command": "pytest -q"}, AGAIN + code)),
        answer("m4", CLAIM),
        directories=["/r"],
    )


def _trajectory(folder: Path) -> None:
    code = "\nProcess exited with code 1"
    edit = asked("e", "edit", path="/app/calc.py", old_string="return 0", new_string="return a")
    trajectory = Trajectory().prompt("Fix add.").ran("pytest -q", FAILING + code)
    trajectory.said("", edit, observation=observed(("e", "ok")))
    trajectory.ran("pytest -q", AGAIN + code).said(CLAIM).write(folder)


@pytest.mark.parametrize("agent", [_opencode, _gemini, _trajectory])
def test_flags_and_decision_points_are_found(store: Store, tmp_path: Path, agent: object) -> None:
    agent(tmp_path / "x")  # type: ignore[operator]
    synced(store, tmp_path / "x", built_in_rules())
    (found,) = store.sessions.newest(SessionQuery())
    names = {flag.name for flag in found.flags}
    assert names == {"premature-completion", "done-while-failing", "unverified-claim"}
    assert found.session.counts.changed_files == 1
