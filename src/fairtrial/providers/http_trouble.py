"""What the trouble of a model API is: the world's, the call's, or the model's refusal."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fairtrial.model.errors import InfraError, ProviderError
from fairtrial.wire.failures import ApiError
from fairtrial.wire.retry_after import seconds_to_wait

_QUOTA: Final = frozenset(
    {
        "insufficient_quota",
        "billing_error",
        "billing_not_active",
        "billing_hard_limit_reached",
        "credit_balance_too_low",
        "payment_required",
    }
)
_QUOTA_WORDS: Final = re.compile(
    r"credit balance is too low|exceeded your current quota|usage limits?\. you will regain"
    r"|reached your specified api usage limits|insufficient (credits|balance|funds)",
    re.IGNORECASE,
)
_CONTEXT: Final = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded"}
)
_CONTEXT_WORDS: Final = re.compile(
    r"prompt is too long|maximum context length|context (window|length|size)"
    r"|exceed context limit|input is too long",
    re.IGNORECASE,
)
_REFUSALS: Final = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "bio_policy",
        "misalignment_policy_violation",
        "image_content_policy_violation",
    }
)
_LOGIN: Final = frozenset(
    {
        "authentication_error",
        "permission_error",
        "invalid_api_key",
        "invalid_organization",
        "account_deactivated",
    }
)
_RATE: Final = frozenset({"rate_limit_error", "rate_limit_exceeded", "tokens", "requests"})
_REFUSED_CALLS: Final = frozenset(
    {
        "invalid_request_error",
        "invalid_prompt",
        "not_found_error",
        "request_too_large",
        "model_not_found",
        "data_residency_mismatch",
    }
)

_SHORT_WAIT_S: Final = 300.0
"""A longer wait is no longer one that a run sits out."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a message names of a call.

    Attributes:
        kind: The provider's kind.
        address: Where it went.
        model: The model that was asked for.
        key_variable: Where its key comes from; None when it carries none.
        base_variable: The variable that names another address.
    """

    kind: str
    address: str
    model: str
    key_variable: str | None
    base_variable: str

    def infra(self, reason: str, kind: str, wait_s: float | None = None) -> InfraError:
        """Return the world's trouble."""
        return InfraError(f"{self.kind}: {reason}", kind=kind, retry_after=wait_s)

    def refused(self, reason: str) -> ProviderError:
        """Return a refusal of the call itself."""
        return ProviderError(f"{self.kind}: {reason}")


def is_refusal(error: ApiError) -> bool:
    """Return whether a filter declined to answer: that is an answer, not trouble."""
    return bool(error.names & _REFUSALS)


def trouble_of(
    error: ApiError, status: int | None, headers: Mapping[str, str], about: Circumstances
) -> InfraError | ProviderError:
    """Return what an error means.

    Args:
        error: What the API says.
        status: The HTTP status; None for an error in a stream that began well.
        headers: The response's headers, by names in any case.
        about: What to name.
    """
    said = f"{_status(status)}{error.message}"
    cause = _cause(error, status)
    if cause == "call":
        return about.refused(f"the call is refused: {said}; {_call_fix(status, about)}")
    if cause == "context":
        fix = "shorten it, lower 'max_tokens', or take a model with a larger window"
        return about.refused(
            f"the call does not fit into the context window of {about.model}: {said}; {fix}"
        )
    wait_s = seconds_to_wait(
        headers.get("Retry-After"), headers.get("Date"), milliseconds=headers.get("retry-after-ms")
    )
    kind, what, fix = {
        "quota": (
            "quota",
            "the account has no quota or credit left",
            "add credit or raise its limit, or use another key",
        ),
        "login": ("login", "the key is refused", _login_fix(about)),
        "proxy": ("login", "the HTTP proxy wants a login", "check HTTPS_PROXY and HTTP_PROXY"),
        "rate_limit": ("rate_limit", "rate limit", "lower --concurrency"),
        "server": ("server", "server error", "try again later"),
    }[cause]
    if cause not in ("rate_limit", "server"):
        return about.infra(f"{what}: {said}; {fix}", kind)
    if wait_s is not None and wait_s > _SHORT_WAIT_S:
        fix = f"it asks to wait {_in_words(wait_s)}: go on then with --resume"
    return about.infra(f"{what}: {said}; {fix}", kind, wait_s)


def _in_words(seconds: float) -> str:
    hours, minutes = divmod(math.ceil(seconds / 60.0), 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min"


def _cause(error: ApiError, status: int | None) -> str:
    names, words = error.names, error.message
    early = status is None
    causes = {
        "quota": status == 402 or bool(names & _QUOTA) or _QUOTA_WORDS.search(words),
        "context": bool(names & _CONTEXT)
        or ((early or status in (400, 413)) and _CONTEXT_WORDS.search(words)),
        "login": status in (401, 403) or (early and names & _LOGIN),
        "proxy": status == 407,
        "rate_limit": status == 429 or (early and names & _RATE),
        "call": _is_of_the_call(status, error),
    }
    return next((cause for cause, holds in causes.items() if holds), "server")


def unknown_model(about: Circumstances, message: str, nearest: str | None) -> ProviderError:
    """Return the refusal of a model that is not there.

    Args:
        about: What to name.
        message: What the API says.
        nearest: The model of the server whose name is nearest.
    """
    fix = f"did you mean {nearest}?" if nearest else "check the name, and what the key may use"
    return about.refused(f"there is no model {about.model!r} at {about.address}: {message}; {fix}")


def _is_of_the_call(status: int | None, error: ApiError) -> bool:
    if status is None:
        return bool(error.names & _REFUSED_CALLS)
    return 300 <= status < 500 and status not in (408, 409, 425)


def _login_fix(about: Circumstances) -> str:
    if about.key_variable is None:
        return "no key was sent: name the variable that holds one in 'api_key_env'"
    return f"check the key in {about.key_variable}, and that it may use {about.model}"


def _call_fix(status: int | None, about: Circumstances) -> str:
    if status is not None and status < 400:
        return f"it was redirected: name the final address in 'base_url', not {about.address}"
    if status == 404:
        return f"check 'base_url' ({about.address})"
    return f"correct what it names, or take a model other than {about.model}"


def _status(status: int | None) -> str:
    return "" if status is None else f"HTTP {status}: "
