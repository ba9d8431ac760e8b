"""Where replayed calls go: to the API that they went to, unless another one is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.chosen_calls import ChosenCall
from fairtrial.model.call import Api
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json

_KINDS: Final = {
    Api.ANTHROPIC_MESSAGES: "anthropic",
    Api.OPENAI_RESPONSES: "openai",
    Api.OPENAI_CHAT: "openai",
}
_USUAL: Final = {
    "anthropic": ("https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "openai": ("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
}


def provider_of(
    bench: Bench, chosen: Sequence[ChosenCall], upstream: str | None
) -> tuple[Json, list[str]]:
    """Return who sends the calls, None for the usual providers, and what to say about it.

    A key goes to the company that it belongs to, and to an address that the user names, in
    `--upstream` or the environment. An address that only the recording names gets none.

    Raises:
        UsageError: the calls went to several places.
    """
    kinds = {_KINDS[one.api] for one in chosen}
    if upstream is None and all(
        _is_usual(bench, _KINDS[one.api], one.call.upstream) for one in chosen
    ):
        return None, []
    if len(kinds) > 1:
        raise UsageError(
            "the calls are of two companies' APIs, with an address of their own",
            fix="replay the calls of each apart",
        )
    (kind,) = kinds
    urls = {upstream} if upstream else {one.call.upstream.rstrip("/") for one in chosen}
    if len(urls) > 1:
        raise UsageError(
            f"the calls went to different places: {', '.join(sorted(map(str, urls)))}",
            fix="name the one to call with --upstream, or replay the calls of each apart",
        )
    (url,) = urls
    official, _, variable = _USUAL[kind]
    provider: dict[str, Json] = {"kind": kind, "base_url": url}
    if str(url).rstrip("/") == official or not bench.environ.get(variable):
        return provider, []
    if upstream is not None:
        return {**provider, "api_key_env": variable}, []
    return provider, [
        f"the key in {variable} is not sent to {url}; to send it there, add: --upstream {url}"
    ]


def _is_usual(bench: Bench, kind: str, url: str) -> bool:
    """Return whether a provider that is told nothing would call this address."""
    official, variable, _ = _USUAL[kind]
    usual = bench.environ.get(variable) or official
    return _bare(usual) == _bare(url)


def _bare(url: str) -> str:
    return url.rstrip("/").removesuffix("/v1")
