"""What a CLI printed, as it is to be taken: its words, its counts, the trouble it tells of."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from fairtrial.model.errors import InfraError, ProviderError
from fairtrial.model.wording import excerpt

_SPENT: Final = re.compile(
    r"usage limit|hit your [\w-]+ limit|hit your limit|out of (?:extra usage|credits)"
    r"|credit balance is too low|insufficient_quota|exceeded your current quota",
    re.IGNORECASE,
)
_NOT_SPENT: Final = "not your usage limit"
_RESETS_AT: Final = re.compile(r"limit reached\|(\d{9,11})\b")
_LOGIN: Final = re.compile(
    r"not logged in|please run /login|failed to authenticate|invalid api key"
    r"|(?:refresh|access) token|sign in again|log(?:ged)? (?:out|in)\b.*again|oauth/token",
    re.IGNORECASE,
)
_BUSY: Final = re.compile(r"rate.?limit|too many requests|temporarily limiting", re.IGNORECASE)
_SERVER: Final = re.compile(
    r"overloaded|high demand|at capacity|internal server error|server-side issue|bad gateway"
    r"|service unavailable|stream (?:closed|disconnected|ended|error)|idle timeout",
    re.IGNORECASE,
)
_NETWORK: Final = re.compile(
    r"connection|connect to|network|timed? ?out|error sending request|routing discovery failed"
    r"|ECONN\w+|ENOTFOUND|EAI_AGAIN|socket|certificate",
    re.IGNORECASE,
)
_OTHER_RELEASE: Final = re.compile(r"unknown option|unexpected argument", re.IGNORECASE)
_STATUS: Final = re.compile(r"(?:status|API Error:?)[: ]+\(?(\d{3})\b")

_FIXES: Final = {
    "rate_limit": "lower --concurrency, or go on later with --resume",
    "server": "try again later",
    "network": "check the connection, and the address if one is set",
}
_LOGINS: Final = {
    "claude-code": "log in with `claude`, or check ANTHROPIC_API_KEY if it is set",
    "codex": "log in with `codex login`, or check OPENAI_API_KEY if it is set",
}


def trouble(kind: str, words: str, status: int | None = None) -> InfraError | ProviderError:
    """Return the trouble that a CLI tells of.

    Args:
        kind: The provider, for the message.
        words: What the CLI said.
        status: The HTTP status that it met, when it says it apart.
    """
    if status is None and (found := _STATUS.search(words)):
        status = int(found[1])
    said = f"{kind}: {_without_secrets(excerpt(words))}"
    if _OTHER_RELEASE.search(words):
        return ProviderError(f"{said}; install the newest release of the program")
    if _SPENT.search(words) and _NOT_SPENT not in words:
        return InfraError(_with_reset(said, words), kind="quota")
    infra = _by_status(status) or (_by_words(words) if status is None else None)
    if infra is None:
        return ProviderError(said)
    fix = _FIXES[infra] if infra != "login" else _LOGINS.get(kind, "log in again")
    return InfraError(f"{said}; {fix}", kind=infra)


def _without_secrets(text: str) -> str:
    # Only trouble is cleaned, and most calls meet none.
    from fairtrial.redaction.secrets import Redactor  # noqa: PLC0415

    return Redactor().body(text.encode("utf-8", "replace")).decode()


def whole_characters(text: str) -> str:
    """Return a text without halves of characters, which JSON can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


def part_of(whole: int | None, part: int | None) -> int | None:
    """Return a count that is a part of another; None when it cannot be."""
    return None if whole is None or part is None or part > whole else part


def _by_status(status: int | None) -> str | None:
    if status in (401, 403, 407):
        return "login"
    if status == 429:
        return "rate_limit"
    if status == 408 or (status is not None and status >= 500):
        return "server"
    return None


def _by_words(words: str) -> str | None:
    kinds = {"login": _LOGIN, "rate_limit": _BUSY, "server": _SERVER, "network": _NETWORK}
    return next((kind for kind, pattern in kinds.items() if pattern.search(words)), None)


def _with_reset(said: str, words: str) -> str:
    """Add when the limit is lifted, where the CLI says it as seconds since 1970."""
    found = _RESETS_AT.search(words)
    if found is None:
        return said
    return f"{said} (resets {datetime.fromtimestamp(int(found[1]), UTC):%Y-%m-%d %H:%M} UTC)"
