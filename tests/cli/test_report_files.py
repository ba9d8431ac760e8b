"""Reports that are kept as files: documents of a comparison, and pictures."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.cli.conftest import CAT, EXACT, Command

WORSE = json.dumps({"kind": "command", "command": ["echo", "7"]})
COMPARE = ("exp", "compare", "good", "bad")


@pytest.fixture
def pair(fairtrial: Command, numbers: str) -> Command:
    """A command, in a folder whose store has a good experiment and a bad one."""
    for name, task in (("good", CAT), ("bad", WORSE)):
        ran = fairtrial("exp", "run", "-d", numbers, "--task", task, *EXACT, "--name", name)
        assert ran.code == 0
    return fairtrial


def test_a_document_keeps_the_decision_and_the_report(pair: Command, folder: Path) -> None:
    told = pair(*COMPARE, "--gate", "--to", "markdown", "-o", "comment.md")
    assert told.code == 1
    assert told.out.rstrip().endswith("comment.md")
    assert "Decision: hold" in told.out
    comment = (folder / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith("<!-- fairtrial:bad -->\n### Hold: ")
    found = pair(*COMPARE, "--gate", "--to", "junit", "-o", "r.xml", "--plot", "p.svg", "--json")
    assert found.code == found.json["exit_code"] == 1
    assert found.json["schema"] == "fairtrial.comparison/1"
    assert found.json["files"] == [
        {"format": "junit", "path": str(folder / "r.xml"), "text": None},
        {"format": "svg", "path": str(folder / "p.svg"), "text": None},
    ]
    suite = ET.parse(folder / "r.xml").getroot()[0]  # noqa: S314  # our own
    assert suite.attrib["tests"] == "20"


@pytest.mark.parametrize("form", ["markdown", "junit", "html", "jsonl", "csv"])
def test_an_export_of_two_experiments_is_their_comparison(
    pair: Command, folder: Path, form: str
) -> None:
    beside = pair(*COMPARE, "--to", form)
    done = pair("exp", "export", "good", "bad", "--to", form)
    assert (done.code, done.out) == (0, beside.out)
    told = pair("exp", "export", "good", "bad", "--to", form, "-o", "out.txt")
    assert (told.code, told.out) == (0, f"wrote {folder / 'out.txt'}\n")
    assert (folder / "out.txt").read_bytes().decode() == beside.out
    found = pair("exp", "export", "good", "bad", "--to", form, "--json").json
    assert (found["schema"], found["text"]) == ("fairtrial.document/1", beside.out)


def test_an_exported_comparison_has_a_marker_of_its_own(pair: Command) -> None:
    words = ("exp", "export", "good", "bad", "--marker", "night", "--to")
    assert pair(*words, "markdown").out.startswith("<!-- fairtrial:night -->\n")
    assert "no effect without --to markdown" in pair(*words, "html").err
    alone = pair("exp", "export", "good", "--marker", "night", "--to", "markdown")
    assert alone.code == 64
    assert "no effect without a second experiment" in alone.err


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs the streams in /dev")
def test_a_stream_is_written_to_and_never_replaced(pair: Command, folder: Path) -> None:
    plain = pair(*COMPARE, "--to", "jsonl").out
    reader, writer = os.pipe()
    assert pair(*COMPARE, "--to", "jsonl", "-o", f"/dev/fd/{writer}").code == 0
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as stream:
        assert stream.read() == plain
    (folder / "link").symlink_to("target")
    assert pair(*COMPARE, "--to", "jsonl", "-o", "link").code == 0
    assert (folder / "link").is_symlink()
    assert (folder / "target").read_text(encoding="utf-8") == plain
    (folder / "loop").symlink_to("loop")
    assert pair(*COMPARE, "--to", "jsonl", "-o", "loop").code in (0, 64)
    if Path("/dev/full").is_char_device():
        full = pair(*COMPARE, "--to", "html", "-o", "/dev/full")
        assert full.code == 64
        assert "No space left" in full.err
        assert Path("/dev/full").is_char_device()


def test_a_picture_that_cannot_be_written_names_its_option(pair: Command, folder: Path) -> None:
    (folder / "p.svg").mkdir()
    told = pair(*COMPARE, "--plot", "p.svg")
    assert told.code == 64
    assert "fix: give another --plot" in told.err


def test_without_a_file_the_document_is_what_is_printed(pair: Command) -> None:
    told = pair(*COMPARE, "--gate", "--to", "jsonl")
    assert told.code == 1
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert len(rows) == 20
    assert pair(*COMPARE, "--gate", "--to", "jsonl", "-o", "-").out == told.out
    (file,) = pair(*COMPARE, "--gate", "--to", "jsonl", "--json").json["files"]
    assert file == {"format": "jsonl", "path": None, "text": told.out}
    assert pair(*COMPARE, "--to", "markdown", "--marker", "pr 7").out.startswith(
        "<!-- fairtrial:pr-7 -->\n"
    )


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("-o", "x.md"), "--output needs a format"),
        (("--to", "html", "--marker", "x"), "--marker has no effect without --to markdown"),
        (("--plot", "x.gif"), "no picture can be written as .gif"),
        (("--plot", "nowhere/x.svg"), "there is no folder"),
        (("--to", "html", "-o", "x.svg", "--plot", "x.svg"), "--output and --plot are both"),
        (("--to", "word"), "word"),
    ],
)
def test_what_cannot_be_written_is_said_first(
    pair: Command, folder: Path, words: tuple[str, ...], what: str
) -> None:
    told = pair(*COMPARE, *words)
    assert told.code == 64
    assert what in told.err
    assert not list(folder.glob("x.*"))


@pytest.mark.parametrize(
    "words",
    [
        COMPARE,
        ("exp", "show", "good"),
        ("exp", "power", "--effect", "0.1", "--trials", "2"),
        ("exp", "aa", "-d", "numbers", "--task", CAT, *EXACT),
        ("exp", "metrics", "--arm", "a=true", "--arm", "b=true", "--pairs", "3"),
        ("exp", "regrade", "good", "-g", "contains", "--name", "again"),
        ("exp", "gate", "good", "--rules", "rules.json"),
    ],
    ids=lambda words: words[1],
)
def test_every_report_has_its_picture(pair: Command, folder: Path, words: tuple[str, ...]) -> None:
    (folder / "rules.json").write_text('[{"pass_rate": {"at_least": 0.0}}]')
    told = pair(*words, "--plot", "picture.svg")
    assert told.code == 0, told.err
    assert told.out.rstrip().endswith("picture.svg")
    root = ET.parse(folder / "picture.svg").getroot()  # noqa: S314  # our own
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_a_measured_noise_floor_is_part_of_every_export(pair: Command, folder: Path) -> None:
    assert pair("exp", "aa", "-d", "numbers", "--task", CAT, *EXACT).code == 0
    told = pair(*COMPARE, "--to", "markdown", "-o", "c.md", "--plot", "c.svg")
    assert told.code == 0
    comment = (folder / "c.md").read_text(encoding="utf-8")
    assert "- Unchanged, two runs of this size differ " in comment
    assert ", as exp aa measured (" in comment


def test_pictures_of_one_experiment_name_the_noise_floor_of_what_it_ran(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    (folder / "agent.py").write_text(
        "import json, sys\n"
        "case = json.load(sys.stdin)\n"
        'flips = case["input"] % 2 and case["trial"] % 2\n'
        'print(json.dumps({"output": "no" if flips else str(case["input"])}))\n'
    )
    task = {"kind": "command", "command": ["python3", "agent.py"], "envelope": True}
    words = ("-d", numbers, "--task", json.dumps(task), *EXACT, "--trials", "2")
    assert fairtrial("exp", "run", *words, "--name", "run").code == 0
    show = ("exp", "show", "run", "--plot", "p.svg")
    assert fairtrial(*show).code == 0
    assert "exp aa" not in (folder / "p.svg").read_text(encoding="utf-8")
    source = fairtrial("exp", "aa", *words, "--name", "aa", "--json").json["experiments"][0]
    for command in (show, ("exp", "regrade", "run", "--plot", "p.svg")):
        assert fairtrial(*command).code == 0
        text = " ".join((folder / "p.svg").read_text(encoding="utf-8").split())
        assert "differ by" in text, command
        assert source in text
        assert "shaded" in text


def test_measurements_are_drawn_from_the_store_too(fairtrial: Command, folder: Path) -> None:
    measured = ("--arm", "a=true", "--arm", "b=true", "--pairs", "2")
    assert fairtrial("exp", "metrics", *measured).code == 0
    assert fairtrial("exp", "show", "a-vs-b", "--plot", "m.svg").code == 0
    assert "b against a" in (folder / "m.svg").read_text(encoding="utf-8")


def test_a_case_has_no_picture(pair: Command) -> None:
    told = pair("exp", "show", "good", "--case", "c0001", "--plot", "x.svg")
    assert told.code == 64
    assert "a single case has no picture" in told.err


def test_png_says_what_it_needs(
    fairtrial: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    told = fairtrial("exp", "power", "--plot", "x.png")
    assert told.code == 64
    assert "pip install 'fairtrial[png]'" in told.err
    assert not (folder / "x.png").exists()


def test_png_is_written(fairtrial: Command, folder: Path) -> None:
    pytest.importorskip("resvg_py")
    assert fairtrial("exp", "power", "--plot", "x.png").code == 0
    assert (folder / "x.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
