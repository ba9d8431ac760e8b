"""The provider that is taken when none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.providers.choice import Choice, Here, choose_provider
from fairtrial.providers.cli_provider import AT_A_TIME

KEY_A, KEY_O = {"ANTHROPIC_API_KEY": "a"}, {"OPENAI_API_KEY": "o"}
CLAUDE, CODEX = ".claude/.credentials.json", ".codex/auth.json"


def choose(
    environ: dict[str, str],
    *,
    programs: tuple[str, ...] = (),
    logins: tuple[str, ...] = (),
    model: str | None = None,
) -> Choice:
    files = {Path("/home/u") / login for login in logins}
    here = Here(
        {"HOME": "/home/u", **environ},
        lambda name: f"/bin/{name}" if name in programs else None,
        lambda path: path in files,
    )
    return choose_provider(here, model)


@pytest.mark.parametrize(
    ("environ", "model", "kind", "chosen"),
    [
        (KEY_A, None, "anthropic", "claude-sonnet-5-5"),
        (KEY_O, None, "openai", "gpt-6-sol"),
        (KEY_A | KEY_O, None, "anthropic", "claude-sonnet-5-5"),
        (KEY_A | KEY_O, "gpt-5.5", "openai", "gpt-5.5"),
        (KEY_A | KEY_O, "o4-mini", "openai", "o4-mini"),
        (KEY_A | KEY_O, "claude-opus-5", "anthropic", "claude-opus-5"),
        (KEY_A, "gpt-5.5", "codex", "gpt-5.5"),
        (KEY_O, "claude-opus-5", "claude-code", "claude-opus-5"),
        (KEY_A, "qwen3", "anthropic", "qwen3"),
        (KEY_A | {"OPENAI_BASE_URL": "http://x", **KEY_O}, "qwen3", "openai", "qwen3"),
        ({"ANTHROPIC_API_KEY": ""}, None, "claude-code", "claude-sonnet-5-5"),
        ({}, None, "claude-code", "claude-sonnet-5-5"),
        ({}, "gpt-6-astra", "codex", "gpt-6-astra"),
    ],
)
def test_a_key_comes_first_and_the_models_name_decides(
    environ: dict[str, str], model: str | None, kind: str, chosen: str
) -> None:
    programs, logins = ("claude", "codex"), (CLAUDE, CODEX)
    choice = choose(environ, programs=programs, logins=logins, model=model)
    assert (choice.spec.kind, choice.model) == (kind, chosen)
    assert choice.sentence.startswith(f"provider: {kind} (")


@pytest.mark.parametrize(
    ("programs", "logins", "kind"),
    [
        (("claude", "codex"), (CODEX,), "codex"),
        (("codex",), (CLAUDE, CODEX), "codex"),
        (("claude",), (CLAUDE, CODEX), "claude-code"),
    ],
)
def test_a_cli_counts_when_it_is_there_and_logged_in(
    programs: tuple[str, ...], logins: tuple[str, ...], kind: str
) -> None:
    assert choose({}, programs=programs, logins=logins).spec.kind == kind


def test_a_folder_of_the_users_own_is_looked_at() -> None:
    environ = {"CLAUDE_CONFIG_DIR": "/home/u/c"}
    choice = choose(environ, programs=("claude",), logins=("c/.credentials.json",))
    assert choice.spec.kind == "claude-code"


def test_a_token_for_programs_is_a_login() -> None:
    environ = {"CLAUDE_CODE_OAUTH_TOKEN": "t"}
    assert choose(environ, programs=("claude", "codex")).spec.kind == "claude-code"


def test_the_sentence_says_why() -> None:
    assert choose(KEY_A).sentence == "provider: anthropic (ANTHROPIC_API_KEY is set)"
    address = {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"}
    assert "OPENAI_API_KEY is set, and OPENAI_BASE_URL" in choose(KEY_O | address).sentence
    assert choose({}, programs=("claude",), logins=(CLAUDE,)).sentence == (
        f"provider: claude-code (logged-in `claude`; costs are API-equivalent, {AT_A_TIME} calls "
        "at a time)"
    )


def test_without_any_all_ways_are_told() -> None:
    with pytest.raises(UsageError) as caught:
        choose({}, programs=("claude",))
    text = str(caught.value)
    for part in (
        "ANTHROPIC_API_KEY is not set",
        "OPENAI_API_KEY is not set",
        "`claude` is not logged in (/home/u/.claude/.credentials.json)",
        "`codex` is not on PATH",
        "set ANTHROPIC_API_KEY, or set OPENAI_API_KEY, or log in with `claude`, or log in with",
        '"provider": NAME',
    ):
        assert part in text


def test_a_named_model_tells_only_the_ways_to_it() -> None:
    with pytest.raises(UsageError, match=r"model 'gpt-5\.5'") as caught:
        choose(KEY_A, model="gpt-5.5")
    assert "ANTHROPIC" not in str(caught.value)
    assert "codex login" in str(caught.value)
