"""Keys of the server, by the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.cli.conftest import Command


def test_a_key_is_shown_once_and_kept_nowhere(fairtrial: Command) -> None:
    made = fairtrial("key", "create", "laptop", "--json").json
    assert (made["key"]["name"], made["key"]["scope"]) == ("laptop", "read")
    assert made["token"].startswith("ftk_")
    assert len(made["token"]) == 47
    listed = fairtrial("key", "list", "--json").json
    assert listed["keys"] == [made["key"]]
    for path in Path(os.environ["FAIRTRIAL_HOME"]).rglob("*"):
        assert path.is_dir() or made["token"].encode() not in path.read_bytes()


def test_two_keys_differ_and_the_newest_is_first(fairtrial: Command) -> None:
    tokens = {fairtrial("key", "create", name, "--json").json["token"] for name in ("a", "b")}
    assert len(tokens) == 2
    names = [key["name"] for key in fairtrial("key", "list", "--json").json["keys"]]
    assert names == ["b", "a"]


def test_a_revoked_key_stays_in_the_list_and_its_name_is_free(fairtrial: Command) -> None:
    made = fairtrial("key", "create", "ci", "--scope", "write", "--json").json["key"]
    assert fairtrial("key", "create", "ci").code == 64
    assert fairtrial("key", "revoke", made["id"][:20]).code == 0
    assert fairtrial("key", "revoke", made["id"]).code == 66
    assert fairtrial("key", "list", "--json").json["keys"][0]["revoked_at"] is not None
    assert fairtrial("key", "create", "ci").code == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("create",), 64),
        (("create", ""), 64),
        (("create", "x" * 101), 64),
        (("create", "x", "--scope", "admin"), 64),
        (("revoke", "none"), 66),
        (("revoke",), 64),
    ],
)
def test_what_does_not_fit_is_told(fairtrial: Command, words: tuple[str, ...], code: int) -> None:
    done = fairtrial("key", *words)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("error: ")


def test_lists_as_text(fairtrial: Command) -> None:
    assert "No key yet" in fairtrial("key", "list").out
    fairtrial("key", "create", "laptop")
    out = fairtrial("key", "list").out
    assert "laptop" in out
    assert "ftk_" not in out
