"""Which proxy a request goes through."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from yarl import URL


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """Return the proxy that the usual variables name for a URL.

    Not aiohttp's `trust_env`: that also reads `~/.netrc`, for every request.
    """
    target = URL(url)
    variables = {name.lower(): value for name, value in environ.items() if value}
    bypass = {"no": variables.get("no_proxy", "")}
    if proxy_bypass_environment(target.host_port_subcomponent, bypass):
        return None
    return variables.get(f"{target.scheme}_proxy") or variables.get("all_proxy")
