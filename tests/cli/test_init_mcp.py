"""`init --mcp`: the MCP server into agents' settings with consent, and out again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.cli.test_init import home

__all__ = ["home"]

CLAUDE = '{\n\t"numStartups": 3,\n\t"projects": {"/ü": {}}\n}'
TOML = '# mine\r\nmodel = "x"\r\n\r\n[mcp_servers.other]\r\ncommand = "o" # yes\r\n'
OWN = ["-P", "-E", "-m", "fairtrial", "mcp"]


@pytest.fixture
def claude(home: Path) -> Path:
    (home / ".claude").mkdir()
    return home / ".claude.json"


@pytest.fixture
def codex(home: Path) -> Path:
    (home / ".codex").mkdir()
    return home / ".codex/config.toml"


def json_server(file: Path) -> Any:
    return json.loads(file.read_text())["mcpServers"]["fairtrial"]


def toml_server(file: Path) -> Any:
    return tomllib.loads(file.read_bytes().decode())["mcp_servers"]["fairtrial"]


def test_the_server_goes_in_and_out_again(fairtrial: Command, claude: Path, codex: Path) -> None:
    claude.write_text(CLAUDE)
    codex.write_bytes(TOML.encode())
    done = fairtrial("init", "--mcp", "--yes")
    assert done.code == 0, done.err
    assert "claude mcp list" in done.out
    assert "codex mcp list" in done.out
    data = os.environ["FAIRTRIAL_HOME"]
    assert json_server(claude) == {
        "type": "stdio",
        "command": sys.executable,
        "args": OWN,
        "env": {"FAIRTRIAL_HOME": data},
    }
    server = toml_server(codex)
    assert (server["command"], server["args"]) == (sys.executable, OWN)
    assert server["env"] == {"FAIRTRIAL_HOME": data}
    assert "FAIRTRIAL_STORE" in server["env_vars"]
    assert server["tool_timeout_sec"] >= 3600
    assert codex.read_bytes().startswith(TOML.encode())

    before = claude.read_bytes(), codex.read_bytes()
    again = fairtrial("init", "--mcp", "--yes", "--json").json
    assert again["mcp"] is True
    assert [change["action"] for change in again["changes"]] == ["none", "none"]
    assert (claude.read_bytes(), codex.read_bytes()) == before

    assert fairtrial("init", "--mcp", "--undo", "--yes").code == 0
    assert claude.read_text() == CLAUDE
    assert codex.read_bytes().decode() == TOML


def test_what_was_edited_since_stays(fairtrial: Command, claude: Path, codex: Path) -> None:
    claude.write_text(CLAUDE)
    codex.write_bytes(TOML.encode())
    fairtrial("init", "--mcp", "--yes")
    settings = json.loads(claude.read_text())
    settings["numStartups"] = 4
    settings["mcpServers"]["fairtrial"]["args"] += ["--allow", "exp_run"]
    settings["mcpServers"]["fairtrial"]["command"] = "/gone/python"
    settings["mcpServers"]["fairtrial"]["timeout"] = 1
    settings["mcpServers"]["fairtrial"]["env"]["A"] = "1"
    claude.write_text(json.dumps(settings, indent=2))
    text = codex.read_bytes().decode().replace('"mcp"]', '"mcp", "--allow", "exp_run"]')
    text = text.replace(json.dumps(sys.executable), '"/gone/python"').replace("3600", "60")
    codex.write_bytes((text + "\r\n[mcp_servers.fairtrial.x]\r\ny = 1\r\n").encode())

    assert fairtrial("init", "--mcp", "--yes").code == 0  # Python is elsewhere now
    entry = json_server(claude)
    assert (entry["command"], entry["timeout"], entry["env"]["A"]) == (sys.executable, 1, "1")
    assert entry["args"] == [*OWN, "--allow", "exp_run"]
    server = toml_server(codex)
    assert (server["command"], server["args"]) == (sys.executable, [*OWN, "--allow", "exp_run"])
    assert (server["tool_timeout_sec"], server["x"]) == (60, {"y": 1})
    assert b"# yes" in codex.read_bytes()

    assert fairtrial("init", "--mcp", "--undo", "--yes").code == 0
    assert json.loads(claude.read_text()) == {**json.loads(CLAUDE), "numStartups": 4}
    assert "fairtrial" not in codex.read_text()
    assert tomllib.loads(codex.read_bytes().decode()) == tomllib.loads(TOML)


def test_hooks_and_the_server_do_not_touch_each_other(fairtrial: Command, codex: Path) -> None:
    codex.write_text("model = 1\n")
    fairtrial("init", "--yes")
    hooked = codex.read_text()
    fairtrial("init", "--mcp", "--yes")
    assert fairtrial("init", "--undo", "--yes").code == 0
    assert "notify" not in codex.read_text()
    assert toml_server(codex)["args"] == OWN
    assert fairtrial("init", "--mcp", "--undo", "--yes").code == 0
    assert codex.read_text() == "model = 1\n"

    fairtrial("init", "--yes")
    fairtrial("init", "--mcp", "--yes")
    assert fairtrial("init", "--mcp", "--undo", "--yes").code == 0
    assert codex.read_text() == hooked


def test_a_server_of_that_name_that_is_the_users_own_stays(
    fairtrial: Command, claude: Path, codex: Path
) -> None:
    claude.write_text('{"mcpServers": {"fairtrial": {"command": "fairtrial", "args": ["mcp"]}}}')
    codex.write_text('mcp_servers.fairtrial.url = "http://127.0.0.1:7412/mcp"\n')
    before = claude.read_bytes(), codex.read_bytes()
    for words in ((), ("--undo",)):
        done = fairtrial("init", "--mcp", "--yes", *words)
        assert done.code == 0
        assert (claude.read_bytes(), codex.read_bytes()) == before
    assert fairtrial("init", "--mcp", "--yes").out.count("is yours and stays") == 2


def test_a_repository_names_the_server_that_each_has(
    fairtrial: Command, claude: Path, codex: Path, folder: Path
) -> None:
    del claude, codex
    done = fairtrial("init", "--mcp", "--project", "--yes")
    assert (done.code, "no repository" in done.err) == (66, True)
    subprocess.run(["git", "init", "-q", "."], check=True)
    done = fairtrial("init", "--mcp", "--project", "--yes")
    assert done.code == 0, done.err
    assert "that it trusts" in done.out
    entry = json_server(folder / ".mcp.json")
    assert (entry["command"], entry["args"], entry["env"]) == ("fairtrial", ["mcp"], {})
    server = toml_server(folder / ".codex/config.toml")
    assert (server["command"], server["args"]) == ("fairtrial", ["mcp"])
    assert "env" not in server
    (folder / ".mcp.json").write_text((folder / ".mcp.json").read_text() + "\n")
    assert fairtrial("init", "--mcp", "--project", "--undo", "--yes").code == 0
    assert not (folder / ".mcp.json").exists()
    assert not (folder / ".codex/config.toml").exists()


def test_the_folder_that_claude_code_is_told_holds_its_servers(
    fairtrial: Command, claude: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "other"))
    assert fairtrial("init", "--mcp", "--agent", "claude-code", "--yes").code == 0
    assert json_server(tmp_path / "other/.claude.json")["args"] == OWN
    assert not claude.exists()


def test_nothing_is_written_unasked(fairtrial: Command, claude: Path) -> None:
    claude.write_text(CLAUDE)
    shown = fairtrial("init", "--mcp", "--dry-run")
    assert '"mcpServers": {' in shown.out
    assert fairtrial("init", "--mcp").code == 77
    assert claude.read_text() == CLAUDE


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (".claude.json", "{", "it is no JSON"),
        (".claude.json", '{"mcpServers": []}', '"mcpServers" is no object'),
        (".claude.json", '{"mcpServers": {}, "mcpServers": {}}', "stands twice"),
        (".codex/config.toml", "[", "it is no TOML"),
        (".codex/config.toml", "mcp_servers = 1", "its mcp_servers are no table"),
        (".codex/config.toml", 'mcp_servers = { a = { url = "b" } }', "written in one line"),
    ],
)
def test_a_broken_file_stays_as_it_is(
    fairtrial: Command, claude: Path, codex: Path, name: str, text: str, message: str
) -> None:
    claude.write_text("{}")
    codex.write_text("")
    (claude.parent / name).write_text(text)
    done = fairtrial("init", "--mcp", "--yes")
    assert (done.code, message in done.err) == (64, True), done.err
    assert (claude.read_text(), codex.read_text())[name != ".claude.json"] == text


def test_doctor_tells_who_has_the_server(fairtrial: Command, claude: Path, codex: Path) -> None:
    def checks() -> dict[str, Any]:
        found = fairtrial("doctor", "--json").json["checks"]
        return {one["name"]: one for one in found if one["name"].startswith("mcp of ")}

    assert [one["ok"] for one in checks().values()] == [None, None]
    fairtrial("init", "--mcp", "--yes")
    assert {name: one["ok"] for name, one in checks().items()} == {
        "mcp of claude-code": True,
        "mcp of codex": True,
    }
    claude.write_text(claude.read_text().replace(sys.executable, "/nowhere/python"))
    codex.write_text("[")
    found = checks()
    assert "not there any more" in found["mcp of claude-code"]["found"]
    assert found["mcp of codex"]["ok"] is False


def test_where_no_agent_is_found_it_says_how_to_name_one(fairtrial: Command, home: Path) -> None:
    done = fairtrial("init", "--mcp", "--yes")
    assert (done.code, "init --mcp --agent" in done.err) == (66, True)
    assert not list(home.glob(".c*"))
