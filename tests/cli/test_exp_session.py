"""`exp session`: a timeline of notes and runs, and what changed since the run before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import CAT, EXACT, Command, Outcome

from fairtrial.model.errors import ExitCode

WRONG = json.dumps({"kind": "command", "command": ["echo", "wrong"]})


@pytest.fixture
def run(fairtrial: Command, numbers: str) -> Command:
    def start(name: str, task: str, *words: str) -> Outcome:
        options = ("-d", numbers, *EXACT, "--first-n", "8", "--seed", "1")
        return fairtrial("exp", "run", "--task", task, "--name", name, *options, *words)

    return start


def test_a_run_joins_the_open_session_and_says_what_changed(
    fairtrial: Command, run: Command
) -> None:
    begun = fairtrial("exp", "session", "new", "--name", "shorter prompt")
    assert "Session shorter prompt begins" in begun.out
    first = run("bad", WRONG)
    assert "Session shorter prompt, run 1: nothing to compare with yet" in first.out
    second = run("good", CAT)
    assert "Session shorter prompt, run 2 vs bad (exp_" in second.out
    assert "+100.0 points (+" in second.out
    assert " to +100.0), 8 fixed, 0 broken of 8: better" in second.out
    told = run("worse", WRONG, "--json").json["in_session"]
    assert (told["run"], told["delta"]["verdict"], told["delta"]["broken"]) == (3, "worse", 8)


def test_the_timeline_has_notes_and_runs_in_their_order(
    fairtrial: Command, run: Command, folder: Path
) -> None:
    fairtrial("exp", "session", "new", "--name", "prompt")
    fairtrial("exp", "session", "note", "guess: <b>cat</b>", "is right")
    run("bad", WRONG)
    run("good", CAT)
    assert "Noted in session prompt." in fairtrial("exp", "session", "note", "it was").out
    out = fairtrial("exp", "session", "summary").out
    shown = ("guess: <b>cat</b> is right", "run 1  bad", "0.0%", "run 2  good", "vs bad", "it was")
    places = [out.index(text) for text in shown]
    assert places == sorted(places)
    assert "2 configurations were tried on numbers" in out
    told = fairtrial("exp", "session", "summary", "--json").json
    kinds = ["note" if entry["run"] is None else entry["run"]["name"] for entry in told["entries"]]
    assert kinds == ["note", "bad", "good", "note"]
    assert told["tried"][0]["configurations"] == 2
    fairtrial("exp", "session", "summary", "--to", "markdown", "-o", "notes.md")
    text = (folder / "notes.md").read_text()
    assert text.startswith("# <code>prompt</code>\n")
    assert "```text\nguess: <b>cat</b> is right\n```" in text
    assert "**run 2** <code>good</code>" in text


def test_a_run_can_stay_out_of_it(fairtrial: Command, run: Command) -> None:
    fairtrial("exp", "session", "new", "--name", "prompt")
    done = run("quiet", CAT, "--no-session", "--json")
    assert done.json["in_session"] is None
    assert fairtrial("exp", "session", "summary", "--json").json["entries"] == []


def test_without_an_open_session_nothing_is_said(fairtrial: Command, run: Command) -> None:
    assert run("alone", CAT, "--json").json["in_session"] is None
    for action in (("note", "x"), ("summary",)):
        done = fairtrial("exp", "session", *action)
        assert (done.code, "begin one" in done.err) == (ExitCode.NOT_FOUND, True)


def test_a_new_session_closes_the_one_before_which_can_still_be_read(
    fairtrial: Command, run: Command
) -> None:
    fairtrial("exp", "session", "new", "--name", "first")
    run("bad", WRONG)
    fairtrial("exp", "session", "new")
    assert run("good", CAT, "--json").json["in_session"]["delta"] is None
    first = fairtrial("exp", "session", "summary", "--name", "first", "--json").json
    assert [entry["run"]["name"] for entry in first["entries"]] == ["bad"]
    assert first["closed_at"] is not None
    gone = fairtrial("exp", "session", "summary", "--name", "none")
    assert (gone.code, "no session 'none'" in gone.err) == (ExitCode.NOT_FOUND, True)


def test_each_project_has_its_own(
    fairtrial: Command, run: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fairtrial("exp", "session", "new", "--name", "here")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run("there", CAT, "--json").json["in_session"] is None


def test_a_run_with_other_graders_is_not_compared(fairtrial: Command, run: Command) -> None:
    fairtrial("exp", "session", "new", "--name", "here")
    run("one", CAT)
    done = run("two", CAT, "-g", "number")
    assert "run 2 vs one" in done.out
    assert "not compared: other graders: number is in two and not in one" in done.out


def test_a_run_that_is_continued_stands_in_it_once(fairtrial: Command, run: Command) -> None:
    fairtrial("exp", "session", "new", "--name", "here")
    down = json.dumps({"kind": "http", "url": "http://127.0.0.1:1"})
    done = run("down", down, "--retries", "0", "--stop-after-infra", "2", "-c", "1")
    assert done.code == ExitCode.NO_VERDICT
    fairtrial("exp", "run", "--resume", "down")
    entries = fairtrial("exp", "session", "summary", "--json").json["entries"]
    assert [(e["run"]["status"], e["run"]["delta"]) for e in entries] == [("stopped", None)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("note",), "an empty note"),
        (("note", "  "), "an empty note"),
        (("note", "x", "--name", "y"), "--name has no effect with note"),
        (("new", "prompt"), "new takes no text"),
        (("summary", "x"), "summary takes no text"),
        (("new", "--to", "markdown"), "--to has no effect with new"),
        (("summary", "-o", "x.md"), "--output needs a format"),
        (("end",), "end"),
    ],
)
def test_what_makes_no_sense_is_refused(
    fairtrial: Command, words: tuple[str, ...], message: str
) -> None:
    done = fairtrial("exp", "session", *words)
    assert done.code == ExitCode.USAGE
    assert message in done.err


def test_a_dash_in_a_note_stays_a_dash(fairtrial: Command, run: Command) -> None:
    del run
    fairtrial("exp", "session", "new")
    assert fairtrial("exp", "session", "note", "first", "-", "then").code == 0
    entries = fairtrial("exp", "session", "summary", "--json").json["entries"]
    assert entries[0]["note"] == "first - then"
    wrong = fairtrial("exp", "session", "-")
    assert 'Invalid value "-" for ACTION' in wrong.err


@pytest.mark.parametrize("verb", [("exp", "session", "new"), ("exp", "run")])
def test_an_empty_name_is_no_name(fairtrial: Command, verb: tuple[str, ...]) -> None:
    done = fairtrial(*verb, "--name", "")
    assert (done.code, "--name" in done.err) == (64, True)


def test_what_is_hidden_in_a_note_is_shown_in_markdown(fairtrial: Command, run: Command) -> None:
    del run
    fairtrial("exp", "session", "new")
    fairtrial("exp", "session", "note", "\x1b[31mred\x07 ``` x\n```\n# no heading")
    out = fairtrial("exp", "session", "summary", "--to", "markdown").out
    assert "\x1b" not in out
    assert "````text\n\\x1b[31mred\\x07 ``` x\n```\n# no heading\n````" in out
