"""`init`: hooks into agents' settings with consent, and out again."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Command

MINE = """{
\t"model": "opus",
\t"hooks": {
\t\t"Stop": [
\t\t\t{
\t\t\t\t"hooks": [
\t\t\t\t\t{
\t\t\t\t\t\t"type": "command",
\t\t\t\t\t\t"command": "say fertig ü"
\t\t\t\t\t}
\t\t\t\t]
\t\t\t}
\t\t],
\t\t"Notification": []
\t},
\t"env": {
\t\t"A": "1"
\t}
}"""
TOML = '# mine\nmodel = "x"\n\n[tools]\nweb = true # yes\n'


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return Path(os.environ["HOME"])


@pytest.fixture
def claude(home: Path) -> Path:
    (home / ".claude").mkdir()
    return home / ".claude/settings.json"


@pytest.fixture
def codex(home: Path) -> Path:
    (home / ".codex").mkdir()
    return home / ".codex"


def test_hooks_go_in_and_out_again(fairtrial: Command, claude: Path) -> None:
    claude.write_text(MINE)
    claude.chmod(0o640)
    done = fairtrial("init", "--yes")
    assert done.code == 0, done.err
    settings = json.loads(claude.read_text())
    assert list(settings) == ["model", "hooks", "env"]
    assert list(settings["hooks"])[:2] == ["Stop", "Notification"]
    assert settings["hooks"]["Stop"][0]["hooks"][0]["command"] == "say fertig ü"
    command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    assert command.startswith(f"{sys.executable} -P -E -m fairtrial hook --agent claude-code")
    assert claude.read_text().startswith('{\n\t"model": "opus",\n\t"hooks": {\n\t\t"Stop": [')
    assert claude.stat().st_mode & 0o777 == 0o640

    written = claude.read_bytes()
    again = fairtrial("init", "--yes", "--json").json
    assert [change["action"] for change in again["changes"]] == ["none"]
    assert claude.read_bytes() == written

    assert fairtrial("init", "--undo", "--yes").code == 0
    assert claude.read_text() == MINE


def test_what_was_edited_since_stays(fairtrial: Command, claude: Path) -> None:
    claude.write_text(MINE)
    fairtrial("init", "--yes")
    settings = json.loads(claude.read_text())
    settings["model"] = "sonnet"
    settings["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "mine too"}]})
    settings["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "third"})
    claude.write_text(json.dumps(settings, indent=4))
    assert fairtrial("init", "--undo", "--yes").code == 0
    left = json.loads(claude.read_text())
    assert "fairtrial" not in claude.read_text()
    assert left["model"] == "sonnet"
    assert left["hooks"] == {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say fertig ü"}]},
            {"hooks": [{"type": "command", "command": "mine too"}]},
        ],
        "Notification": [],
        "SessionStart": [{"hooks": [{"type": "command", "command": "third"}]}],
    }
    assert claude.read_text().startswith('{\n    "model"')


def test_an_edit_between_two_inits_is_not_lost(fairtrial: Command, claude: Path) -> None:
    claude.write_text(MINE)
    fairtrial("init", "--yes")
    edited = claude.read_text().replace("opus", "sonnet").replace(" -E ", " -E -B ")
    claude.write_text(edited)
    assert fairtrial("init", "--yes").code == 0
    assert "-E -B" not in claude.read_text()
    assert fairtrial("init", "--undo", "--yes").code == 0
    assert claude.read_text() == MINE.replace("opus", "sonnet")


def test_a_file_that_init_made_goes_again(fairtrial: Command, claude: Path, codex: Path) -> None:
    fairtrial("init", "--yes")
    assert claude.exists()
    assert (codex / "hooks.json").exists()
    claude.write_text(claude.read_text() + "\n")  # touched, but nothing else is in it
    assert fairtrial("init", "--undo", "--yes").code == 0
    assert not claude.exists()
    assert list(codex.iterdir()) == []


def test_an_undo_of_nothing_says_so(fairtrial: Command, claude: Path) -> None:
    for words in (("--undo",), ("--undo", "--yes"), ("--undo", "--dry-run")):
        done = fairtrial("init", *words)
        assert (done.code, "Nothing to undo" in done.out) == (0, True)
    assert not claude.exists()


def test_codex_is_told_by_hooks_and_by_notify(fairtrial: Command, codex: Path) -> None:
    config = codex / "config.toml"
    config.write_text(TOML)
    assert fairtrial("init", "--agent", "codex", "--yes").code == 0
    first, rest = config.read_text().split("\n", 1)
    assert rest == TOML
    assert first.startswith("notify = [")
    config.write_text(config.read_text().replace('"x"', '"y"') + "[more]\n")
    assert fairtrial("init", "--undo", "--yes").code == 0
    assert config.read_text() == TOML.replace('"x"', '"y"') + "[more]\n"
    assert not (codex / "hooks.json").exists()


def test_a_notify_of_the_users_stays(fairtrial: Command, codex: Path) -> None:
    config = codex / "config.toml"
    config.write_text('notify = ["mine"]\n')
    report = fairtrial("init", "--yes", "--json").json
    assert [change["action"] for change in report["changes"]] == ["create", "none"]
    assert "is yours and stays" in report["changes"][1]["note"]
    assert config.read_text() == 'notify = ["mine"]\n'


def test_without_a_terminal_consent_is_needed(fairtrial: Command, claude: Path) -> None:
    claude.write_text(MINE)
    done = fairtrial("init")
    assert done.code == 77
    assert str(claude) in done.err
    assert "--dry-run" in done.err
    shown = fairtrial("init", "--dry-run")
    assert shown.code == 0
    assert '+\t\t"SessionStart": [' in shown.out.replace("\\t", "\t")
    assert "Nothing was changed" in shown.out
    assert claude.read_text() == MINE
    assert not (claude.parent.parent / "fairtrial/capture").exists()


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 77), ("", 77), ("\x04", 77)])
def test_on_a_terminal_it_asks(claude: Path, answer: str, code: int) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "fairtrial", "init"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as running:
        os.close(theirs)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(ours, 1024)
        os.write(ours, answer.encode() + (b"" if answer == "\x04" else b"\n"))
        try:
            while os.read(ours, 1024):
                pass
        except OSError:  # the other side is closed
            pass
        assert running.wait() == code
    os.close(ours)
    assert b"SessionStart" in shown
    assert claude.exists() == (code == 0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "it is no JSON"),
        ("[]", "it is no JSON object"),
        ('{"hooks": []}', '"hooks" is no object'),
        ('{"hooks": {"Stop": {}}}', '"hooks.Stop" is no list'),
        ('{"a": 1, "a": 2}', "stands twice"),
        ("[" * 100_000, "no JSON"),
        ("// a comment\n{}", "it is no JSON"),
    ],
)
def test_broken_settings_are_left_alone(
    fairtrial: Command, claude: Path, codex: Path, content: str, said: str
) -> None:
    claude.write_text(content)
    done = fairtrial("init", "--yes")
    assert done.code == 64
    assert said in done.err or "nested too deeply" in done.err
    assert str(claude) in done.err
    assert claude.read_text() == content
    assert list(codex.iterdir()) == []


def test_broken_toml_leaves_all_alone(fairtrial: Command, claude: Path, codex: Path) -> None:
    (codex / "config.toml").write_text("a = = 1")
    done = fairtrial("init", "--yes")
    assert done.code == 64
    assert "it is no TOML" in done.err
    assert not claude.exists()
    assert [path.name for path in codex.iterdir()] == ["config.toml"]


def test_odd_hooks_of_others_stay(fairtrial: Command, claude: Path) -> None:
    odd = '{"hooks": {"Stop": [1, {"hooks": null}, {}, {"hooks": [2, {"command": 3}]}]}}'
    claude.write_text(odd)
    assert fairtrial("init", "--yes").code == 0
    text = claude.read_text()
    assert json.loads(text)["hooks"]["Stop"][:4] == json.loads(odd)["hooks"]["Stop"]
    claude.write_text(text + "\n")
    assert fairtrial("init", "--undo", "--yes").code == 0
    assert json.loads(claude.read_text()) == json.loads(odd)


def test_a_read_only_file_is_refused(fairtrial: Command, claude: Path) -> None:
    claude.write_text(MINE)
    claude.chmod(0o444)
    done = fairtrial("init", "--yes")
    assert done.code == 64
    assert "is read-only" in done.err
    assert claude.read_text() == MINE


def test_a_link_stays_a_link(fairtrial: Command, claude: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.json"
    kept.write_text(MINE)
    claude.symlink_to(kept)
    assert fairtrial("init", "--yes").code == 0
    assert claude.is_symlink()
    assert "fairtrial hook" in kept.read_text()
    assert fairtrial("init", "--undo", "--yes").code == 0
    assert claude.is_symlink()
    assert kept.read_text() == MINE


def test_a_link_that_leads_nowhere(fairtrial: Command, claude: Path) -> None:
    claude.symlink_to("nowhere")
    done = fairtrial("init", "--yes")
    assert (done.code, "leads nowhere" in done.err) == (64, True)


def test_a_folder_in_the_place_of_a_file(fairtrial: Command, claude: Path) -> None:
    claude.mkdir()
    done = fairtrial("init", "--yes")
    assert (done.code, "cannot be read" in done.err) == (64, True)


def test_a_home_without_agents(fairtrial: Command, home: Path) -> None:
    done = fairtrial("init", "--yes")
    assert done.code == 66
    assert "--agent claude-code" in done.err
    assert fairtrial("init", "--agent", "claude-code", "--yes").code == 0
    assert (home / ".claude/settings.json").exists()
    assert fairtrial("init", "--agent", "gemini").code == 64


def test_the_folders_that_variables_name(
    fairtrial: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    (home / "elsewhere").mkdir()
    assert fairtrial("init", "--yes").code == 0
    assert (home / "elsewhere/settings.json").exists()
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert fairtrial("init", "--undo", "--yes").code == 0  # remembered
    assert not (home / "elsewhere/settings.json").exists()


def test_the_settings_of_a_repository(fairtrial: Command, claude: Path, folder: Path) -> None:
    assert fairtrial("init", "--project", "--yes").code == 66
    (folder / ".git").mkdir()
    assert fairtrial("init", "--project", "--yes").code == 0
    settings = folder / ".claude/settings.json"
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert str(folder) not in command
    assert sys.executable not in command
    alone = subprocess.run(
        ["/bin/sh", "-c", command], env={"PATH": "/nowhere"}, capture_output=True, check=False
    )
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, b"", b"")
    assert not claude.exists()
    assert fairtrial("init", "--undo", "--project", "--yes").code == 0
    assert not settings.exists()


def test_keys_in_settings_are_not_shown(fairtrial: Command, claude: Path) -> None:
    key = "sk-ant-" + "api03-" + "a1B2c3D4e5F6g7H8" * 5
    claude.write_text(json.dumps({"env": {"ANTHROPIC_API_KEY": key}}, indent=2))
    for words in (["--dry-run"], ["--dry-run", "--json"], ["--yes"]):
        done = fairtrial("init", *words)
        assert done.code == 0
        assert key not in done.out + done.err
    assert key in claude.read_text()


def test_doctor_tells_of_hooks(fairtrial: Command, claude: Path) -> None:
    def check() -> dict[str, object]:
        checks = fairtrial("doctor", "--json").json["checks"]
        (found,) = [one for one in checks if one["name"] == "capture of claude-code"]
        return dict(found)

    assert check()["ok"] is None
    fairtrial("init", "--yes")
    assert check()["ok"] is True
    assert "no event yet" in str(check()["found"])
    claude.write_text(claude.read_text().replace(sys.executable, "/nowhere/python"))
    assert "not there any more" in str(check()["found"])
    fairtrial("init", "--yes")
    claude.write_text(
        claude.read_text().replace('"hooks": {', '"disableAllHooks": true, "hooks": {', 1)
    )
    assert "switched off" in str(check()["found"])
    claude.write_text("{")
    assert check()["ok"] is False
