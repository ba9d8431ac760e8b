"""The provider that is taken when none is named, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairtrial.model.call import ProviderSpec
from fairtrial.model.errors import UsageError
from fairtrial.providers.login import CLAUDE, CODEX, Login

CLAUDE_MODEL: Final = "claude-sonnet-5-5"
GPT_MODEL: Final = "gpt-6-sol"
_FAMILIES: Final = {
    "Claude": re.compile(r"claude-"),
    "GPT": re.compile(r"gpt-|o\d|codex-|chatgpt-"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A provider that was chosen.

    Attributes:
        spec: The provider.
        model: The model that was named, else the provider's usual one.
        sentence: What was chosen and why, on one line.
    """

    spec: ProviderSpec
    model: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Here:
    """What the choice depends on.

    Attributes:
        environ: The environment of this process.
        which: Returns the path of a program on PATH, or None.
        exists: Tells whether a file is there; none is opened.
    """

    environ: Mapping[str, str]
    which: Callable[[str], str | None]
    exists: Callable[[Path], bool] = Path.is_file


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to reach a family of models."""

    kind: str
    family: str
    model: str
    reason: Callable[[Here], str | None]
    to_do: str


def choose_provider(here: Here, model: str | None = None) -> Choice:
    """Return the provider for calls that name none.

    An API key comes first, then a login of `claude`, then one of `codex`; a model's name leaves
    only those that have it.

    Args:
        here: What there is to choose from.
        model: The model that was named.

    Raises:
        UsageError: there is none; the message says all ways to get one.
    """
    family = _family(model)
    ways = [way for way in _WAYS if family in (None, way.family)]
    if model and family is None and here.environ.get("OPENAI_BASE_URL"):
        # A server of the user's own has models that no family knows.
        ways = [way for way in _WAYS if way.kind == "openai"]
    for way in ways:
        reason = way.reason(here)
        if reason is not None:
            sentence = f"provider: {way.kind} ({reason})"
            return Choice(ProviderSpec(way.kind), model or way.model, sentence)
    wanted = f"model {model!r}" if model else "a model"
    fix = ", or ".join(way.to_do for way in ways)
    raise UsageError(
        f"no provider is given, and there is no way to call {wanted}",
        why=", ".join(line for way in ways for line in _lacking(here, way.kind)),
        fix=f'{fix}; or name one: "provider": NAME',
    )


def _family(model: str | None) -> str | None:
    return next((name for name, form in _FAMILIES.items() if model and form.match(model)), None)


def _lacking(here: Here, kind: str) -> Iterator[str]:
    match kind:
        case "anthropic":
            yield "ANTHROPIC_API_KEY is not set"
        case "openai":
            yield "OPENAI_API_KEY is not set"
        case _:
            name, login = _CLIS[kind]
            if here.which(name) is None:
                yield f"`{name}` is not on PATH"
            elif not (login.found(here.environ, here.exists) or _has_token(here, login)):
                yield f"`{name}` is not logged in ({login.path(here.environ) or 'no HOME'})"


def _has_token(here: Here, login: Login) -> bool:
    return bool(login.token and here.environ.get(login.token))


_CLIS: Final[Mapping[str, tuple[str, Login]]] = {
    "claude-code": ("claude", CLAUDE),
    "codex": ("codex", CODEX),
}


def _key(name: str, address: str) -> Callable[[Here], str | None]:
    def reason(here: Here) -> str | None:
        if not here.environ.get(name):
            return None
        return f"{name} is set, and {address}" if here.environ.get(address) else f"{name} is set"

    return reason


def _login(kind: str) -> Callable[[Here], str | None]:
    def reason(here: Here) -> str | None:
        if any(_lacking(here, kind)):
            return None
        return f"logged-in `{_CLIS[kind][0]}`; costs are API-equivalent, 2 calls at a time"

    return reason


_WAYS: Final = (
    _Way(
        "anthropic",
        "Claude",
        CLAUDE_MODEL,
        _key("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        "set ANTHROPIC_API_KEY",
    ),
    _Way(
        "openai",
        "GPT",
        GPT_MODEL,
        _key("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        "set OPENAI_API_KEY",
    ),
    _Way("claude-code", "Claude", CLAUDE_MODEL, _login("claude-code"), "log in with `claude`"),
    _Way("codex", "GPT", GPT_MODEL, _login("codex"), "log in with `codex login`"),
)
