"""A provider that calls a model API over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from fairtrial.model.call import Api, ModelCall, ModelReply, WireCall
from fairtrial.model.errors import InfraError, ProviderError
from fairtrial.model.json import Json
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.http_exchange import HttpExchange, Post
from fairtrial.providers.http_network import Limits
from fairtrial.providers.http_options import CREDENTIALS, HttpOptions, Target, checked_base
from fairtrial.providers.http_trouble import Circumstances
from fairtrial.wire.apis import PATHS

_NOT_FORWARDED: Final = frozenset(
    {
        *CREDENTIALS,
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
    }
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a provider speaks.

    Attributes:
        own: The API of calls that name none.
        apis: All that it can send, each with what builds its requests.
        headers: Headers of every request.
        models_path: Where the models are listed, after the base URL.
    """

    own: Api
    apis: Mapping[Api, Callable[[ModelCall, str, bool], dict[str, Json]]]
    headers: Mapping[str, str]
    models_path: str


class HttpProvider(Provider):
    """Calls a model API."""

    def __init__(
        self, options: HttpOptions, target: Target, dialect: Dialect, surroundings: Surroundings
    ) -> None:
        self._options = options
        self._target = target
        self._dialect = dialect
        self._prices = surroundings.prices
        clock = surroundings.clock
        self._exchange = HttpExchange(
            Limits(options.timeout_s, options.idle_timeout_s),
            surroundings.environ,
            None if clock is None else clock.monotonic,
        )

    @property
    def identity(self) -> Json:
        """See `Provider.identity`; no credential, and not how an answer travels."""
        return {
            "kind": self._target.service.kind,
            "api": str(self._dialect.own),
            "base_url": self._target.base_url,
            "model": self._usual_model,
            "max_tokens": self._options.max_tokens,
            "headers": {
                name.lower(): value
                for name, value in sorted(self._options.headers.items())
                if name.lower() not in CREDENTIALS
            },
        }

    async def open(self) -> None:
        """See `Provider.open`."""
        await self._exchange.open()

    async def complete(self, call: ModelCall) -> ModelReply:
        """See `Provider.complete`."""
        model = call.model or self._usual_model
        kind = self._target.service.kind
        if model is None:
            raise ProviderError(
                f"{kind}: no model is named, and {self._target.base_url} has no usual one;"
                " give 'model'"
            )
        if self._options.max_tokens is not None:
            call = replace(call, max_tokens=self._options.max_tokens)
        api = self._dialect.own
        body = self._dialect.apis[api](call, model, self._options.stream)
        return await self._send(api, body, {}, call.base_url)

    async def send(self, call: WireCall) -> ModelReply:
        """See `Provider.send`; credentials among the headers are not sent."""
        if call.api not in self._dialect.apis:
            spoken = ", ".join(self._dialect.apis)
            raise ProviderError(
                f"the {self._target.service.kind} provider does not speak {call.api}, only {spoken}"
            )
        headers = {
            name: value
            for name, value in call.headers.items()
            if name.lower() not in _NOT_FORWARDED
        }
        return await self._send(call.api, call.body, headers, call.base_url)

    async def close(self) -> None:
        """See `Provider.close`."""
        await self._exchange.close()

    @property
    def _usual_model(self) -> str | None:
        usual = self._target.service.model if self._target.official else None
        return self._options.model or usual

    async def _send(
        self, api: Api, body: Mapping[str, Json], headers: Mapping[str, str], base_url: str | None
    ) -> ModelReply:
        target = self._target
        service = target.service
        base = target.base_url if base_url is None else checked_base(base_url, service, "the call")
        model = body.get("model")
        about = Circumstances(
            service.kind,
            base,
            model if isinstance(model, str) else "",
            target.key_variable if target.key is not None else None,
            service.base_variable,
        )
        # An address of the call's own is a proxy: it may know the answer, or who refuses does.
        needs_key = target.official or self._options.api_key_env is not None
        if not target.signed and needs_key and base_url is None:
            raise about.infra(
                f"{target.key_variable} is not set; set it to a key of {target.base_url}, or give"
                " 'base_url' for a server that needs none",
                "login",
            )
        post = Post(
            api,
            base + PATHS[api],
            base + self._dialect.models_path,
            _merged(
                self._dialect.headers,
                service.sign(target.key) if target.key is not None else {},
                headers,
                target.headers,
            ),
            body,
            about,
        )
        try:
            reply = await self._exchange.send(post)
        except (InfraError, ProviderError) as error:
            error.args = (target.hide(str(error)),)
            raise
        named = replace(reply, model=reply.model or about.model)
        return replace(named, cost_usd=self._cost(named, about.model))

    def _cost(self, reply: ModelReply, asked: str) -> float | None:
        if self._prices is None:
            return None
        # An answer may name a dated release that no list has; the name asked for then prices it.
        name = reply.model if self._prices.knows(reply.model) else asked
        return self._prices.cost_usd(name, reply.tokens)


def _merged(*layers: Mapping[str, str]) -> dict[str, str]:
    """Return headers of which the later win, whatever the case of their names."""
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        for name, value in layer.items():
            merged[name.lower()] = (name, value)
    return dict(merged.values())
