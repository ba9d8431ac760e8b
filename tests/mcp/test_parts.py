"""What the parts of the server do by themselves."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from fairtrial.app.serving_place import announced, served_at
from fairtrial.mcp.asking import OpenQuestions, digest
from fairtrial.mcp.command_lines import command_line
from fairtrial.mcp.cutting import cut
from fairtrial.mcp.links import Link, link_of, links_in
from fairtrial.mcp.offered import TOOLS, Tool, find_tool
from fairtrial.schema.fields import options_of


def tool(name: str) -> Tool:
    found = find_tool(name)
    assert found is not None
    return found


@pytest.mark.parametrize("one", TOOLS, ids=lambda one: one.name)
def test_a_tools_arguments_are_options_of_its_verb(one: Tool) -> None:
    options = {option.name: option for option in options_of(one.verb.request())}
    properties = one.input_schema()["properties"]
    assert set(properties) <= set(options)
    assert one.left_out <= set(options)
    assert not {"yes", "watch", "plot", "output"} & set(properties)
    for name, schema in properties.items():
        assert schema["description"] == options[name].doc
    assert one.asks or not any("Path" in str(options[name].type) for name in properties)


def test_the_command_line_is_what_the_tool_was_called_for() -> None:
    arguments = {
        "dataset": "it's",
        "task": {"kind": "command", "command": "cat"},
        "graders": [{"kind": "exact"}, {"kind": "contains"}],
        "session": False,
        "stop_early": True,
        "spec": "a b.yaml",
        "seed": None,
        "trials": 3,
    }
    words = shlex.split(command_line(tool("exp_run"), arguments))
    assert words[:4] == ["fairtrial", "exp", "run", "a b.yaml"]
    assert words[words.index("--dataset") + 1] == "it's"
    assert words.count("--grader") == 2
    assert {"--no-session", "--stop-early"} <= set(words)
    assert "--seed" not in words
    assert "\\u202e" in command_line(tool("exp_show"), {"experiment": "\u202eabc\nrm"})
    assert "\n" not in command_line(tool("exp_show"), {"experiment": "\u202eabc\nrm"})


@pytest.mark.parametrize(
    "value",
    [
        {"rows": [{"id": n, "text": "x" * 500} for n in range(5_000)]},
        {f"k{n}": {"deep": ["y" * 100] * 10} for n in range(3_000)},
        {"text": "z" * 1_000_000},
        {"nested": json.loads("[" * 200 + "]" * 200)},
    ],
    ids=["many", "wide", "long", "deep"],
)
def test_whatever_there_is_it_is_cut_to_its_budget_and_said(value: Any) -> None:
    found = cut(value, 5_000, str)
    assert len(json.dumps(found.value)) <= 5_000
    assert found.places
    assert len(found.places) < 20


def test_what_fits_stays_whole() -> None:
    value = {"a": [1, None, True, "x"], "b": {"c": 1.5}}
    found = cut(value, 5_000, str)
    assert (found.value, found.places) == (value, ())


def test_links_are_ids_alone() -> None:
    report = {
        "id": "exp_01M8MNCA4JV3B1TR80RBVMNDA1",
        "rows": [{"session": "ses_5rf4je"}, {"output": "see exp_evil) [x](http://evil.example"}],
    }
    links = links_in(report)
    assert [link.kind for link in links] == ["experiment", "session"]
    assert [link_of(link.uri) for link in links] == links
    assert links[1].page("http://127.0.0.1:1") == "http://127.0.0.1:1/sessions/ses_5rf4je"
    odd = Link("experiment", "a/b c?#")
    assert link_of(odd.uri) == odd
    for uri in ("file:///etc/passwd", "fairtrial://key/x", "fairtrial://session/", "x"):
        assert link_of(uri) is None


def test_an_answer_counts_once_and_for_its_call_alone() -> None:
    questions = OpenQuestions()
    one = digest(tool("exp_run"), {"spec": "a.yaml"}, "what it held")
    assert not questions.answers("made up", one)
    state = questions.ask(one)
    assert questions.answers(state, one)
    assert not questions.answers(state, one)
    changed = digest(tool("exp_run"), {"spec": "a.yaml"}, "what it holds now")
    assert not questions.answers(questions.ask(one), changed)


def test_pages_are_linked_to_while_they_are_served(tmp_path: Path) -> None:
    assert served_at(tmp_path) is None
    with announced(tmp_path, "http://127.0.0.1:1"):
        assert served_at(tmp_path) == "http://127.0.0.1:1"
        with announced(tmp_path, "http://127.0.0.1:2"):
            assert served_at(tmp_path) == "http://127.0.0.1:2"
    assert served_at(tmp_path) is None
    for text in ("", "[]", '{"url": 1, "pid": 1}', '{"url": "u", "pid": -1}', "\xff"):
        (tmp_path / "serving.json").write_text(text, encoding="latin-1")
        assert served_at(tmp_path) is None
