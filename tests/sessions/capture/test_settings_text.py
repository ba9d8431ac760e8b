"""Hooks and `notify` in the text of settings: in, and out again, with nothing else touched."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.sessions.capture.hook_entries import (
    EVENTS,
    has_hooks,
    with_hooks,
    without_hooks,
)
from fairtrial.sessions.capture.json_settings import SettingsError
from fairtrial.sessions.capture.notify_setting import with_notify, without_notify

COMMAND = "python -m fairtrial hook --agent claude-code"
WORDS = ("/a b/python", "-m", "fairtrial", "hook", "--agent", "codex", "--home", 'ü"\\')

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
groups = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=5)}), max_size=3)},
    optional={"matcher": st.text(max_size=5)},
)
hooks = st.dictionaries(
    st.sampled_from([*EVENTS["claude-code"], "Other"]), st.lists(groups | values, max_size=3)
)
settings_files = st.dictionaries(
    st.text(max_size=5).filter(lambda k: k != "hooks"), values
).flatmap(lambda rest: st.just(rest) | hooks.map(lambda found: {**rest, "hooks": found}))


@given(settings_files, st.sampled_from([None, 1, 2, 4, "\t"]), st.booleans())
def test_out_again_is_what_it_was(before: dict[str, Any], indent: Any, known: bool) -> None:  # noqa: FBT001
    text = json.dumps(before, indent=indent)
    added = with_hooks(text, "claude-code", COMMAND)
    assert has_hooks(added)
    assert with_hooks(added, "claude-code", COMMAND) == added
    after = json.loads(without_hooks(added, text if known else None))
    if known:
        assert after == before
        assert list(after) == list(before)
    else:  # an empty list of hooks that was there before is not told from one of ours
        full = {event: found for event, found in before.get("hooks", {}).items() if found}
        assert {event: found for event, found in after.get("hooks", {}).items() if found} == full


@pytest.mark.parametrize(
    "text",
    [
        '{\r\n  "a": 1\r\n}\r\n',
        '\ufeff{\n\t"a": 1\n}',
        '{"a": 1}',
        '{\n   "a": [\n      1\n   ]\n}\n\n',
    ],
)
def test_the_layout_stays(text: str) -> None:
    assert without_hooks(with_hooks(text, "codex", COMMAND), text) == text


def test_an_empty_file_gets_hooks() -> None:
    assert json.loads(with_hooks("", "codex", COMMAND))["hooks"].keys() == EVENTS["codex"].keys()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1\n",
        "\ufeffa = 1\n",
        "a = 1\r\n[t]\r\nb = 2\r\n",
        '[t]\nx = """\nnotify = []\n"""\n',
    ],
)
def test_notify_goes_in_and_out_again(text: str) -> None:
    added = with_notify(text, WORDS)
    assert added is not None
    body = added.removeprefix("\ufeff").replace("\r\n", "\n")
    assert tomllib.loads(body)["notify"] == list(WORDS)
    assert with_notify(added, WORDS) == added
    assert without_notify(added) == text
    other = with_notify(added, (*WORDS, "more"))
    assert other is not None
    assert without_notify(other) == text


def test_a_notify_that_was_written_otherwise_since_is_not_guessed_at() -> None:
    added = with_notify("", WORDS)
    assert added is not None
    with pytest.raises(SettingsError, match="by hand"):
        without_notify(added.replace(", ", ",\n  "))
    assert without_notify('notify = ["mine"]\n') == 'notify = ["mine"]\n'
