"""Where a request goes: which upstream a path belongs to, and who may ask."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, urlsplit

from fairtrial.model.errors import UsageError
from fairtrial.wire.outbound import proxy_for

ANTHROPIC = "https://api.anthropic.com"
OPENAI = "https://api.openai.com/v1"
OWNED = "/t/"
"""A path that starts so names the trial that makes the call."""
SERVED = (
    "/v1/messages, /v1/complete (Anthropic); /v1/responses, /v1/chat/completions, /v1/completions, "
    "/v1/embeddings (OpenAI); /v1/models, /v1/files (Anthropic with an anthropic-version header)"
)

_ANTHROPIC_PATHS = frozenset({"messages", "complete", "skills"})
_OPENAI_PATHS = frozenset(
    {
        "responses",
        "chat",
        "completions",
        "embeddings",
        "conversations",
        "moderations",
        "images",
        "audio",
        "batches",
        "uploads",
        "vector_stores",
    }
)
_SHARED_PATHS = frozenset({"models", "files"})
_LOOPBACK_NAMES = frozenset({"localhost", "ip6-localhost"})
_CONTAINER_NAMES = frozenset({"host.docker.internal", "host.containers.internal"})
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """An upstream.

    Attributes:
        url: Its base URL, without a slash at its end.
        tls: It is spoken to over TLS.
        host: Name or address to connect to.
        port: TCP port.
        authority: The value of the Host header.
        prefix: Path that stands before the API's own.
        via: The proxy on the way; None goes there directly.
    """

    url: str
    tls: bool
    host: str
    port: int
    authority: str
    prefix: str
    via: str | None = None


def origin_of(url: str, where: str) -> Origin:
    """Return the upstream that a base URL names.

    Args:
        url: The URL.
        where: The option or variable it stands in, for the error.

    Raises:
        UsageError: it is no http or https URL, or holds credentials, a query or a fragment.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise UsageError(f"{url!r} is no URL: {error}", where=where) from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise UsageError(
            f"{url!r} is no base URL",
            where=where,
            fix="give one that starts with http:// or https://",
        )
    if parts.username or parts.query or parts.fragment:
        raise UsageError(
            "a base URL holds no credentials, query or fragment",
            where=where,
            fix="the client sends its own key, which the proxy passes on",
        )
    base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    return Origin(
        base, parts.scheme == "https", parts.hostname, port, _authority(parts), _path(parts)
    )


def _path(parts: SplitResult) -> str:
    return parts.path.rstrip("/")


def _authority(parts: SplitResult) -> str:
    return parts.netloc.removesuffix(f":{_PORTS[parts.scheme]}")


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The two APIs that are passed on."""

    anthropic: Origin
    openai: Origin

    def route(self, path: str, *, speaks_anthropic: bool) -> tuple[Origin, str] | None:
        """Return where a path goes, and the path there; None when it belongs to no API.

        Args:
            path: The path and query that the client asked for.
            speaks_anthropic: It sent an `anthropic-version` header.
        """
        if not path.startswith("/v1/"):
            return None
        word = path[4:].split("?", 1)[0].split("/", 1)[0]
        shared = word in _SHARED_PATHS
        if word in _ANTHROPIC_PATHS or (shared and speaks_anthropic):
            return self.anthropic, self.anthropic.prefix + path
        if word in _OPENAI_PATHS or shared:
            # OpenAI's base URL ends with /v1, Anthropic's does not.
            return self.openai, self.openai.prefix + path.removeprefix("/v1")
        return None


def upstreams_of(
    environ: Mapping[str, str], anthropic: str | None = None, openai: str | None = None
) -> Upstreams:
    """Return the upstreams that options name, else the environment, else the public ones.

    Raises:
        UsageError: a URL is no base URL.
    """
    variables = {"ANTHROPIC_BASE_URL": ANTHROPIC, "OPENAI_BASE_URL": OPENAI}

    def chosen(given: str | None, option: str, variable: str) -> Origin:
        if given is not None:
            origin = origin_of(given, option)
        else:
            origin = origin_of(environ.get(variable) or variables[variable], variable)
        return replace(origin, via=proxy_for(origin.url, environ))

    return Upstreams(
        chosen(anthropic, "--anthropic-upstream", "ANTHROPIC_BASE_URL"),
        chosen(openai, "--openai-upstream", "OPENAI_BASE_URL"),
    )


def split_token(path: str) -> tuple[str | None, str]:
    """Return the token that a path starts with, and the rest of the path."""
    if not path.startswith(OWNED):
        return None, path
    token, slash, rest = path[len(OWNED) :].partition("/")
    return token, slash + rest


def is_loopback(host: str) -> bool:
    """Return whether a name or address is this machine's own, reached from nowhere else."""
    if host.lower().rstrip(".") in _LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def host_is_ours(authority: str, bound: str) -> bool:
    """Return whether a Host header names this proxy, not a site that points its name at it.

    A page in a browser can make its own name resolve to 127.0.0.1, and then read what is answered
    here; its name betrays it. Addresses cannot be used so.

    Args:
        authority: The header.
        bound: The host that the proxy listens on.
    """
    host = _host(authority)
    if host is None:
        return False
    if is_loopback(host) or host.lower() == bound.lower():
        return True
    return not is_loopback(bound) and (_is_address(host) or host.lower() in _CONTAINER_NAMES)


def origin_is_ours(origin: str, bound: str) -> bool:
    """Return whether the page that sends a request from a browser is one of this machine's."""
    scheme, _, authority = origin.partition("://")
    return scheme not in _PORTS or host_is_ours(authority, bound)


def _host(authority: str) -> str | None:
    try:
        return urlsplit(f"//{authority}").hostname
    except ValueError:
        return None
