"""JUnit XML."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.interchange.results.reading import read

from fairtrial.interchange.results.contract import Asked
from fairtrial.interchange.results.recognising import recognise
from fairtrial.model.errors import UsageError

SUITE = """<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" timestamp="2026-11-29T12:00:00">
<testcase classname="tests.test_a" name="test_one" time="0.5">
  <properties><property name="steps" value="3"/></properties></testcase>
<testcase classname="tests.test_a" name="test_two" time="1,200.5">
  <failure message="assert 1 == 2">long text</failure><system-out>said</system-out></testcase>
<testcase classname="tests.test_a" name="test_three">
  <skipped type="pytest.skip" message="no network"/></testcase>
<testcase classname="tests.test_a" name="test_four"><error message="KeyError: 'x'"/></testcase>
<testcase classname="tests.test_a" name="test_five"><error message="429 Too Many"/></testcase>
</testsuite></testsuites>
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_each_outcome_has_its_verdict(tmp_path: Path) -> None:
    found = read(write(tmp_path / "j.xml", SUITE))
    assert found.tool == "junit"
    named = {trial.id.rpartition("::")[2]: trial for trial in found.trials if trial.id}
    assert {name: trial.passed for name, trial in named.items()} == {
        "test_one": True,
        "test_two": False,
        "test_three": None,
        "test_four": None,
        "test_five": None,
    }
    causes = {name: trial.trouble.cause for name, trial in named.items() if trial.trouble}
    assert causes == {"test_three": "undecidable", "test_four": "task", "test_five": "infra"}
    assert (named["test_one"].duration_s, named["test_one"].metrics) == (0.5, {"steps": 3.0})
    assert (named["test_two"].duration_s, named["test_two"].output) == (1200.5, "said")
    assert named["test_two"].reason == "assert 1 == 2"
    assert named["test_one"].started_at is not None


def test_all_tries_are_trials(tmp_path: Path) -> None:
    text = """<testsuite name="s"><testcase classname="c" name="n">
      <flakyFailure message="first"/><flakyError message="second"/></testcase>
      <testcase classname="c" name="m"><failure message="1"/><rerunFailure message="2"/></testcase>
      <testcase classname="c" name="n"/></testsuite>"""
    found = read(write(tmp_path / "j.xml", text))
    assert [(trial.id, trial.passed) for trial in found.trials] == [
        ("c::n", True),
        ("c::n", False),
        ("c::n", None),
        ("c::m", False),
        ("c::m", False),
        ("c::n", True),
    ]


def test_files_of_a_folder_are_one_run(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / f"TEST-{name}.xml", SUITE.replace("tests.test_a", name))
    write(tmp_path / "pom.xml", "<project/>")
    found = read(tmp_path)
    assert len(found.trials) == 10


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY a "b">]><testsuite name="&a;"/>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd"><testsuite/>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite>&a;</testsuite>',
        "<testsuite>" + "<a>" * 200,
    ],
)
def test_dangerous_xml_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        read(write(tmp_path / "j.xml", text))


def test_a_torn_file_keeps_what_is_whole(tmp_path: Path) -> None:
    found = read(write(tmp_path / "j.xml", SUITE[: SUITE.index("test_three")]))
    assert len(found.trials) == 2
    assert found.notes == {"files that are torn": 1}


def test_other_xml_is_not_taken(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing in this file"):
        recognise(write(tmp_path / "j.xml", "<html><testsuit/></html>"), Asked())


def test_another_encoding(tmp_path: Path) -> None:
    text = SUITE.replace("utf-8", "iso-8859-1").replace("said", "gr\u00fc\u00df")
    (tmp_path / "j.xml").write_bytes(text.encode("iso-8859-1"))
    assert read(tmp_path / "j.xml").of("tests.test_a::test_two").output == "gr\u00fc\u00df"
