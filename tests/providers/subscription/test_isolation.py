"""What a CLI is given, what it may see, and what is left of it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.providers.subscription.lab import LOGINS, PROGRAMS, Lab, question
from tests.providers.subscription.test_claude_result import failed, printed

from fairtrial.model.call import Api, Message, ModelCall, Tool, ToolUse, WireCall
from fairtrial.model.errors import InfraError, ProviderError, UsageError
from fairtrial.ports import Provider
from fairtrial.providers.cli_folders import PREFIX, ThrowawayFolders, sweep
from fairtrial.testing.workspace import until

KINDS = tuple(PROGRAMS)
REQUEST = WireCall(
    Api.ANTHROPIC_MESSAGES, {"messages": [{"role": "user", "content": "What is it?"}]}
)
CODEX_DONE = json.dumps({"type": "turn.completed", "usage": {}})
# Tells as its answer what it was given.
TELLS = f"""
import json, os, sys
config = os.environ.get("CLAUDE_CONFIG_DIR") or os.environ["CODEX_HOME"]
files = {{}}
for folder, _, names in os.walk(config):
    for name in names:
        path = os.path.join(folder, name)
        mode = oct(os.stat(path).st_mode & 0o777)
        files[os.path.relpath(path, config)] = [mode, open(path).read()]
told = json.dumps({{
    "argv": sys.argv[1:], "stdin": sys.stdin.read(), "env": dict(os.environ), "files": files,
    "cwd": os.getcwd(), "listed": os.listdir("."), "mode": oct(os.stat(config).st_mode & 0o777),
    "root": oct(os.stat(os.path.dirname(os.path.dirname(config))).st_mode & 0o777),
}})
if "CODEX_HOME" in os.environ:
    item = {{"type": "agent_message", "text": told}}
    print(json.dumps({{"type": "item.completed", "item": item}}))
    print({CODEX_DONE!r})
else:
    print(json.dumps({{"type": "result", "is_error": False, "result": told, "num_turns": 1}}))
"""
HANGS = """
import os, signal, subprocess, sys
config = os.environ.get("CLAUDE_CONFIG_DIR") or os.environ["CODEX_HOME"]
child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
with open(sys.argv[0] + ".pids", "a") as file:
    file.write(f"{os.getpid()} {child.pid}\\n")
signal.pause()
"""


def told(lab: Lab, kind: str, call: ModelCall, **options: Any) -> Any:
    provider = lab.provider(kind, lab.stand_in(TELLS), **options)
    return json.loads(lab.ask(provider, call).text)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pids(program: Path) -> list[int]:
    """Return the processes of all calls that hang."""
    file = Path(f"{program}.pids")
    return [int(word) for word in file.read_text().split()] if file.exists() else []


@pytest.mark.parametrize("kind", KINDS)
def test_it_gets_a_copy_of_the_login_and_nothing_else_of_the_user(lab: Lab, kind: str) -> None:
    login = lab.log_in(kind, "the login")
    (login.parent / "settings.json").write_text("{}")
    lab.environ |= {"SECRET": "x", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
    given = told(lab, kind, question("What is it?", system="Be brief."))
    name = LOGINS[kind].file
    assert given["files"][name] == ["0o600", "the login"]
    prompt = {"claude-code": "system-prompt.txt", "codex": "instructions.md"}[kind]
    assert set(given["files"]) == {name, prompt}
    assert given["files"][prompt][1] == "Be brief."
    assert (given["stdin"], given["listed"]) == ("What is it?", [])
    assert (given["mode"], given["root"]) == ("0o700", "0o700")
    assert not {"SECRET", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"} & set(given["env"])
    own = Path(given["cwd"]).parent
    assert all(Path(given["env"][name]).parent == own for name in ("HOME", "TMPDIR"))
    assert not any("What is it?" in word or "Be brief." in word for word in given["argv"])
    assert lab.left() == []
    assert login.read_text() == "the login"


@pytest.mark.parametrize(
    ("kind", "key", "address"),
    [
        ("claude-code", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("codex", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ],
)
def test_a_key_stands_in_for_a_login_that_is_not_there(
    lab: Lab, kind: str, key: str, address: str
) -> None:
    lab.environ |= {key: "k", address: "http://gateway.example/v1"}
    given = told(lab, kind, question())
    assert given["env"][key] == "k"
    assert LOGINS[kind].file not in given["files"]
    assert "http://gateway.example" in json.dumps([given["argv"], given["env"]])


def test_a_token_stands_in_for_it_too_and_goes_only_where_it_belongs(lab: Lab) -> None:
    lab.environ |= {"CLAUDE_CODE_OAUTH_TOKEN": "t", "ANTHROPIC_API_KEY": "k"}
    lab.environ["ANTHROPIC_BASE_URL"] = "http://gateway.example"
    given = told(lab, "claude-code", question())
    assert "CLAUDE_CODE_OAUTH_TOKEN" in given["env"]
    assert not {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"} & set(given["env"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_login_goes_to_the_proxy_of_a_recording_and_to_no_other_machine(
    lab: Lab, kind: str
) -> None:
    lab.log_in(kind)
    lab.environ |= {"ANTHROPIC_BASE_URL": "http://e.example", "OPENAI_BASE_URL": "http://e.example"}
    url = "http://127.0.0.1:9/t/one"
    given = told(lab, kind, question(url=f"{url}/v1"))
    assert url in json.dumps([given["argv"], given["env"]])
    assert "127.0.0.1" in given["env"]["NO_PROXY"]
    assert "e.example" not in json.dumps(given)
    elsewhere = question(url="http://127.0.0.1.example/v1")
    caught = lab.refused(lab.provider(kind, lab.stand_in(TELLS)), elsewhere)
    assert isinstance(caught, ProviderError)
    assert "no other machine" in str(caught)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_the_program_prints_is_not_passed_on(lab: Lab, kind: str) -> None:
    value = "sk-0123456789abcdef"
    lab.environ[LOGINS[kind].api_key] = value
    program = lab.printing("", status=1, stderr=f"Incorrect API key provided: {value}\n")
    assert value not in str(lab.refused(lab.provider(kind, program), question()))
    assert value in lab.environ.values()
    call = question(f"Say {value}.")
    answer = lab.ask(lab.provider(kind, lab.stand_in(TELLS)), call).text
    assert value not in answer


@pytest.mark.parametrize("kind", KINDS)
def test_without_login_and_key_nothing_is_run(lab: Lab, kind: str) -> None:
    caught = lab.refused(lab.provider(kind, lab.stand_in(TELLS)), question())
    assert isinstance(caught, InfraError)
    assert (caught.kind, "not logged in: run `" in str(caught)) == ("login", True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_folder_elsewhere_is_heeded(lab: Lab, kind: str) -> None:
    lab.environ[LOGINS[kind].home_variable] = str(lab.folder / "elsewhere")
    login = lab.log_in(kind, "other")
    assert login.parent.name == "elsewhere"
    assert told(lab, kind, question())["files"][login.name][1] == "other"


def test_the_codex_home_is_not_under_its_tmpdir(lab: Lab) -> None:
    lab.log_in("codex")
    env = told(lab, "codex", question())["env"]
    assert Path(env["TMPDIR"]) not in Path(env["CODEX_HOME"]).parents


@pytest.mark.parametrize("kind", KINDS)
def test_model_effort_and_schema_are_passed(lab: Lab, kind: str) -> None:
    lab.log_in(kind)
    schema = {"type": "object"}
    given = told(lab, kind, question(response_schema=schema), model="m-1", effort="low")
    words = json.dumps(given["argv"]).replace('\\"', '"')
    assert '"m-1"' in words
    assert '"low"' in words
    assert json.dumps(schema) in given["argv"] + [text for _, text in given["files"].values()]
    named = told(lab, kind, question(model="m-2"), model="m-1")
    assert "m-2" in named["argv"]
    assert "m-1" not in named["argv"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (question(tools=(Tool("t"),)), "takes no tools"),
        (
            ModelCall(
                (Message("assistant", tool_uses=(ToolUse("1", "t", {}),)), Message("user", "x"))
            ),
            "takes no tools",
        ),
        (question(temperature=0.0), "cannot pass on temperature"),
        (question(params={"top_p": 1, "seed": 2}), "cannot pass on seed, top_p"),
        (ModelCall((Message("assistant", "x"),)), "needs a user's message at the end"),
        (ModelCall(()), "needs a user's message at the end"),
        (question(" \n"), "takes no empty message"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_it_cannot_do_is_refused(lab: Lab, kind: str, call: ModelCall, message: str) -> None:
    lab.log_in(kind)
    caught = lab.refused(lab.provider(kind, lab.stand_in(TELLS)), call)
    assert isinstance(caught, ProviderError)
    assert message in str(caught)


def test_a_schema_too_long_for_an_argument_is_refused(lab: Lab) -> None:
    lab.log_in("claude-code")
    call = question(response_schema={"description": "x" * 100_001})
    caught = lab.refused(lab.provider("claude-code", lab.stand_in(TELLS)), call)
    assert isinstance(caught, ProviderError)


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_that_is_not_there_is_told_of_before_a_run(lab: Lab, kind: str) -> None:
    with pytest.raises(UsageError, match="there is no program") as caught:
        lab.provider(kind, Path("/none/such"))
    assert "npm install -g" in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_its_identity_says_what_is_ignored(lab: Lab, kind: str) -> None:
    identity: Any = lab.provider(kind, lab.stand_in("")).identity
    assert identity["ignores"] == ["max_tokens"]
    assert identity != lab.provider(kind, lab.stand_in(""), effort="low").identity


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_hangs_is_ended_with_all_it_started(lab: Lab, kind: str) -> None:
    lab.log_in(kind)
    program = lab.stand_in(HANGS)
    caught = lab.refused(lab.provider(kind, program, timeout_s=1.0), question())
    assert isinstance(caught, InfraError)
    assert (caught.kind, "within 1 s" in str(caught)) == ("network", True)
    assert len(pids(program)) == 2
    assert not any(map(alive, pids(program)))
    assert lab.left() == []


def test_two_run_at_a_time_whatever_the_number_of_graders(lab: Lab) -> None:
    lab.log_in("claude-code")
    program = lab.stand_in(HANGS)
    providers = [lab.provider("claude-code", program) for _ in range(2)]

    async def cancelled_when_busy(first: Provider) -> int:
        await providers[1].open()
        calls = [
            asyncio.ensure_future(provider.complete(question()))
            for provider in (first, providers[1])
            for _ in range(2)
        ]
        await until(lambda: len(pids(program)) == 4)
        most = len(lab.places())
        while calls:  # each that ends lets the next one in
            calls[0].cancel()
            await asyncio.wait(calls[:1])
            del calls[0]
            wanted = min(2, len(calls))
            await until(lambda wanted=wanted: len(lab.places()) == wanted)  # type: ignore[misc]
            most = max(most, len(lab.places()))
        await providers[1].close()
        await providers[1]._surroundings.workspace.close()  # type: ignore[attr-defined]
        return most

    assert lab.session(providers[0], cancelled_when_busy) == 2
    assert not any(map(alive, pids(program)))
    assert lab.left() == []


def test_what_a_killed_process_leaves_is_removed_by_the_next(lab: Lab) -> None:
    login = lab.log_in("claude-code")
    source = (
        "import sys, signal\nfrom pathlib import Path\n"
        "from fairtrial.providers.cli_folders import ThrowawayFolders\n"
        "folders = ThrowawayFolders(Path(sys.argv[1]))\nfolders.open()\n"
        "with folders.place(Path(sys.argv[2]), 'login'):\n    print('ready', flush=True)\n"
        "    signal.pause()\n"
    )
    argv = [sys.executable, "-c", source, str(lab.tmp), str(login)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        sweep(lab.tmp)
        assert len(lab.places()) == 1  # it lives
        process.send_signal(signal.SIGKILL)
    other = lab.tmp / f"{PREFIX}of-somebody"
    other.mkdir()
    assert len(lab.places()) == 1
    folders = ThrowawayFolders(lab.tmp)
    folders.open()
    assert len(lab.places()) == 0
    folders.close()
    folders.close()
    assert lab.left() == [other]  # it says not whose it is


RENEWS = f"""
import os, sys, time
sys.stdin.read()
path = os.path.join(os.environ["CLAUDE_CONFIG_DIR"], ".credentials.json")
login = open(path).read()
if login == "new":
    print({printed(result="renewed before")!r})
    sys.exit()
try:
    os.mkdir(sys.argv[0] + ".first")
except FileExistsError:  # its old login was used up by the first one
    print({failed("Failed to authenticate. API Error: 401 used up", 401)!r})
    sys.exit(1)
with open(path, "w") as file:
    file.write("new")
while not os.path.exists(sys.argv[0] + ".go"):
    time.sleep(0.01)
print({printed(result="renewed here")!r})
"""


def test_a_login_that_it_renews_is_the_users_from_then_on(lab: Lab) -> None:
    login = lab.log_in("claude-code", "old")
    real = lab.folder / "dotfiles"
    login.rename(real)
    login.symlink_to(real)
    program = lab.stand_in(RENEWS)
    Path(f"{program}.go").touch()
    assert lab.ask(lab.provider("claude-code", program), question()).text == "renewed here"
    assert login.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("new", 0o600)
    assert sorted(path.name for path in real.parent.iterdir() if "new" in path.name) == []


def test_one_that_goes_on_with_a_request_renews_it_too(lab: Lab) -> None:
    login = lab.log_in("claude-code", "old")
    program = lab.stand_in(RENEWS)
    Path(f"{program}.go").touch()
    provider = lab.provider("claude-code", program)
    assert lab.session(provider, lambda it: it.send(REQUEST)).text == "renewed here"
    assert login.read_text() == "new"


def test_one_whose_login_was_renewed_by_another_is_run_again(lab: Lab) -> None:
    login = lab.log_in("claude-code", "old")
    program = lab.stand_in(RENEWS)
    go = Path(f"{program}.go")

    async def both(provider: Provider) -> list[str]:
        first = asyncio.ensure_future(provider.complete(question()))
        await until(Path(f"{program}.first").exists)
        second = asyncio.ensure_future(provider.complete(question()))
        await until(lambda: len(lab.places()) == 2)
        await until(lambda: len(lab.places()) == 1)
        await asyncio.to_thread(go.touch)
        return [(await call).text for call in (first, second)]

    assert lab.session(lab.provider("claude-code", program), both) == [
        "renewed here",
        "renewed before",
    ]
    assert login.read_text() == "new"


def test_a_login_that_the_user_changed_meanwhile_is_left_alone(lab: Lab) -> None:
    login = lab.log_in("claude-code", "old")
    folders = ThrowawayFolders(lab.tmp)
    folders.open()
    with folders.place(login, "login") as place:
        (place.config / "login").write_text("renewed")
        login.write_text("logged in anew")
    folders.close()
    assert login.read_text() == "logged in anew"


def test_a_login_that_cannot_be_written_stays(lab: Lab) -> None:
    login = lab.log_in("claude-code", "old")
    folders = ThrowawayFolders(lab.tmp)
    folders.open()
    taken = login.with_name(f"{login.name}.{os.getpid()}.new")
    taken.mkdir()
    with folders.place(login, "login") as place:
        (place.config / "login").write_text("renewed")
    folders.close()
    assert login.read_text() == "old"
