"""Options of the providers that call an API over HTTP, and where their calls go."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final
from urllib.parse import urlsplit

from msgspec import Meta

from fairtrial.model.errors import UsageError
from fairtrial.ports import Surroundings
from fairtrial.schema.headers import filled_header
from fairtrial.schema.variables import SHORTEST_SECRET, secrets_of

CREDENTIALS: Final = ("authorization", "x-api-key", "api-key", "cookie", "proxy-authorization")
"""Headers that say who calls."""
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class HttpOptions:
    """What all of them take."""

    model: str | None = None
    """The model of calls that name none."""
    base_url: str | None = None
    """Where the API is (default: the variable of the provider, else the official address)."""
    api_key_env: str | None = None
    """The variable that holds the key; the usual one is only read for the official address and for
    the one in the provider's variable."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further request headers; `${NAME}` in a value is fairtrial's own variable NAME, which is
    kept out of the store and messages."""
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    """The most tokens of an answer, whatever a call asks for; a model that thinks spends them on
    thinking too."""
    stream: bool = True
    """Take answers as they are written: a hang is seen sooner, and the first words are timed."""
    timeout_s: Annotated[float, Meta(gt=0, le=86400)] = 600
    """Seconds a whole answer may take."""
    idle_timeout_s: Annotated[float, Meta(gt=0, le=86400)] = 300
    """Seconds without a byte after which a stream counts as hung."""


@dataclass(frozen=True, slots=True)
class Service:
    """An API as its company runs it.

    Attributes:
        kind: The provider's kind.
        official: Its address.
        hosts: Its host, and the end of its other hosts' names.
        base_variable: The variable that names another address.
        key_variable: The variable that usually holds the key.
        sign: Returns the headers that carry a key.
        root: The path that every address of it ends with.
        model: The model where none is named.
    """

    kind: str
    official: str
    hosts: tuple[str, ...]
    base_variable: str
    key_variable: str
    sign: Callable[[str], dict[str, str]]
    root: str
    model: str


@dataclass(frozen=True, slots=True)
class Target:
    """Where calls go.

    Attributes:
        service: The API.
        base_url: Its address, without a slash at the end.
        official: The address is the company's own.
        key_variable: The variable that the key is read from; None reads none.
        key: The key; None sends none.
        headers: Further headers.
        secrets: What must not be shown, each with the name of its variable.
    """

    service: Service
    base_url: str
    official: bool
    key_variable: str | None
    key: str | None = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    secrets: Mapping[str, str] = field(repr=False)

    @property
    def signed(self) -> bool:
        """Whether calls carry a credential."""
        return self.key is not None or any(name.lower() in CREDENTIALS for name in self.headers)

    def hide(self, text: str) -> str:
        """Return a text with its own secrets by the names of their variables, and no others."""
        # Only errors are cleaned, and most calls meet none.
        from fairtrial.redaction.secrets import Redactor  # noqa: PLC0415

        for secret, name in self.secrets.items():
            text = text.replace(secret, f"${{{name}}}")
        return Redactor().body(text.encode("utf-8", "replace")).decode()


def target_of(
    service: Service, options: HttpOptions, surroundings: Surroundings, where: str
) -> Target:
    """Return where the calls of a provider go.

    Raises:
        UsageError: an address or a header cannot be used, or a variable is not set.
    """
    environ = surroundings.environ
    given = options.base_url
    place = f"{where}, option 'base_url'"
    if given is None and environ.get(service.base_variable):
        given, place = environ[service.base_variable], service.base_variable
    base = checked_base(given, service, place) if given is not None else service.official
    host = urlsplit(base).hostname or ""
    official = any(host == name or host.endswith(f".{name}") for name in service.hosts)
    usual = official or options.base_url is None
    variable = options.api_key_env or (service.key_variable if usual else None)
    if variable is not None and not _VARIABLE.fullmatch(variable):
        # Not quoted: it is most likely the key itself.
        raise UsageError(
            "its value is no name of a variable",
            where=f"{where}, option 'api_key_env'",
            fix=f"give the name of the variable that holds the key, such as {service.key_variable};"
            " the key itself stays out of specs",
        )
    key = environ.get(variable, "").strip() if variable is not None else ""
    if any(character in key for character in "\r\n\0"):
        raise UsageError(f"the key in {variable} has more than one line", where=where)
    return Target(
        service,
        base,
        official,
        variable,
        key or None,
        {
            name: filled_header(name, value, environ, f"{where}, header {name!r}")
            for name, value in options.headers.items()
        },
        {
            **secrets_of(options.headers.values(), environ),
            **({key: str(variable)} if len(key) >= SHORTEST_SECRET else {}),
        },
    )


def checked_base(text: str, service: Service, where: str) -> str:
    """Return an address as the calls take it: with the path that all of them start with.

    Raises:
        UsageError: it is none.
    """
    text = text.strip().rstrip("/")
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or any(map(str.isspace, text)):
        raise UsageError(
            f"{text!r} is no base URL", where=where, fix=f"write it like {service.official}"
        )
    if parts.username is not None:
        raise UsageError(
            "a base URL with a password would be stored and shown",
            where=where,
            fix="drop it; name a key's variable in 'api_key_env', or give 'headers'",
        )
    if service.root:
        return text if parts.path else text + service.root
    return text.removesuffix("/v1")
