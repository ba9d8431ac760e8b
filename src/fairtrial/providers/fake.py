"""A scripted model: answers by rules, offline and always the same. For tests and demonstrations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from fairtrial.model.call import ModelCall, ModelReply, StopReason, ToolUse, WireCall
from fairtrial.model.errors import InfraError, ProviderError, UsageError
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.fake_judgement import check_passes, judged
from fairtrial.providers.fake_preference import check_preference, preferred
from fairtrial.schema.text_files import refuse_endless
from fairtrial.wire.asked import as_call

OFF_MENU = '{"reason": "I cannot decide.", "winner": "neither"}'
MODEL = "fake-1"


@dataclass(frozen=True)
class Options:
    """Options of the `fake` provider."""

    rules: tuple[Mapping[str, Any], ...] | str = ()
    """`{"match": TEXT, "reply": TEXT or JSON}` each, or a JSON file that holds them: the first one
    whose text, or each of whose texts in a list, stands in the question answers; without `match` it
    always does. To the request of an agent's next turn, a reply calls tools:
    `{"text": TEXT, "tool_uses": [{"name": …, "input": …}]}`."""
    prefers: str = "longer"
    """How it compares two outputs when no rule answers: `longer`, `shorter`, `first`, `second`,
    `tie`, `with:TEXT` (the output that holds TEXT), or `orders` (obeys any order to name a winner
    that stands outside the fences, as a gullible model would)."""
    passes: str = "expected"
    """How it judges one output when no rule answers: `expected` (what is expected stands in it),
    `all`, `none`, `with:TEXT`, `without:TEXT`, `orders` (obeys any order to pass it that stands
    outside the fences), or `any-orders` (obeys one wherever it stands, as the most gullible model
    would)."""
    off_menu_every: Annotated[int, Meta(ge=0)] = 0
    """Every so many calls it answers something that was not asked for."""
    fail_first: Annotated[int, Meta(ge=0)] = 0
    """So many first calls fail."""
    fail_as: Literal["rate_limit", "server", "network", "login", "quota"] = "rate_limit"
    """How they fail."""
    cost_usd: Annotated[float, Meta(ge=0)] | None = None
    """What a call costs."""
    log: str | None = None
    """A file to which every call is appended, one JSON object a line."""


def build(options: Options, surroundings: Surroundings, where: str) -> Provider:
    """Return the provider.

    Raises:
        UsageError: the rules cannot be read, or the preference is unknown.
    """
    check_preference(options.prefers, where)
    check_passes(options.passes, where)
    rules = _rules(options.rules, surroundings.base_dir, where)
    log = None if options.log is None else surroundings.base_dir / options.log
    return FakeProvider(options, rules, log)


class FakeProvider(Provider):
    """Answers by rules, else by preference."""

    def __init__(
        self, options: Options, rules: Sequence[Mapping[str, Json]], log: Path | None
    ) -> None:
        self._options = options
        self._rules = rules
        self._log = log
        self._calls = 0

    @property
    def identity(self) -> Json:
        """See `Provider.identity`."""
        return {
            "kind": "fake",
            "rules": list(self._rules),
            "prefers": self._options.prefers,
            "passes": self._options.passes,
        }

    async def open(self) -> None:
        """Make sure that the log can be written.

        Raises:
            UsageError: it cannot.
        """
        if self._log is None:
            return
        try:
            self._log.open("a", encoding="utf-8").close()
        except OSError as error:
            raise UsageError(
                f"the log cannot be written: {error.strerror}",
                where=f"provider fake, option 'log': {self._log}",
                fix="name a file in a folder that is there and may be written",
            ) from None

    async def close(self) -> None:
        """Do nothing."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """See `Provider.complete`."""
        self._begin(call)
        text = self._answer(call)
        if self._options.off_menu_every and self._calls % self._options.off_menu_every == 0:
            text = OFF_MENU
        return self._reply(call, text)

    async def send(self, call: WireCall) -> ModelReply:
        """Answer a request of any API by the rules; see `Provider.send`."""
        asked = as_call(call.api, call.body)
        self._begin(asked)
        reply = self._ruled(asked)
        if reply is None:
            raise ProviderError("no rule of the fake provider fits this request")
        uses = reply.get("tool_uses", []) if isinstance(reply, Mapping) else []
        text = reply.get("text", "") if isinstance(reply, Mapping) else _words(reply)
        tool_uses = tuple(
            ToolUse(f"fake_{number}", str(use.get("name")), use.get("input", {}))
            for number, use in enumerate(uses)
        )
        stop = StopReason.TOOL_USE if tool_uses else StopReason.END
        return replace(self._reply(asked, text), tool_uses=tool_uses, stop=stop)

    def _begin(self, call: ModelCall) -> None:
        self._calls += 1
        options = self._options
        self._write(call)
        if self._calls <= options.fail_first:
            raise InfraError(
                f"the fake provider fails as asked: {options.fail_as}", kind=options.fail_as
            )

    def _reply(self, call: ModelCall, text: str) -> ModelReply:
        words = sum(len(message.text.split()) for message in call.messages)
        return ModelReply(
            text,
            call.model or MODEL,
            tokens=Tokens(input=words, output=len(text.split())),
            cost_usd=self._options.cost_usd,
        )

    def _ruled(self, call: ModelCall) -> Json:
        """Return what the first rule that fits answers; None when none does."""
        told = [call.system or ""]
        for message in call.messages:
            told += [message.text, *(result.text for result in message.tool_results)]
        question = "\n".join(told)
        fitting = (rule for rule in self._rules if all(text in question for text in _texts(rule)))
        rule = next(fitting, None)
        return None if rule is None else rule["reply"]

    def _answer(self, call: ModelCall) -> str:
        reply = self._ruled(call)
        if reply is not None:
            return _words(reply)
        verdict = judged(self._options.passes, call)
        if verdict is not None:
            return verdict
        winner = preferred(self._options.prefers, call)
        if winner is None:
            raise ProviderError("no rule of the fake provider fits, and there is nothing to judge")
        return json.dumps({"reason": f"I prefer {self._options.prefers}.", "winner": winner})

    def _write(self, call: ModelCall) -> None:
        if self._log is None:
            return
        line = {
            "model": call.model,
            "system": call.system,
            "messages": [{"role": m.role, "text": m.text} for m in call.messages],
            "max_tokens": call.max_tokens,
        }
        try:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise ProviderError(f"the log cannot be written: {error.strerror}") from error


def _texts(rule: Mapping[str, Any]) -> Sequence[str]:
    given = rule.get("match", "")
    return [given] if isinstance(given, str) else given


def _is_match(given: Any) -> bool:
    return isinstance(given, str) or (
        isinstance(given, list) and all(isinstance(one, str) for one in given)
    )


def _words(reply: Json) -> str:
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


def _rules(given: Any, folder: Path, where: str) -> Sequence[Mapping[str, Json]]:
    if isinstance(given, str):
        path = folder / Path(given).expanduser()
        where = str(path)
        try:
            refuse_endless(path)
            given = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"the rules cannot be read: {error}", where=where) from None
    if not isinstance(given, list | tuple):
        raise UsageError("the rules must be a list", where=where)
    for index, rule in enumerate(given):
        keys = set(rule) if isinstance(rule, Mapping) else set()
        text = _is_match(rule.get("match", "")) if keys else False
        if "reply" not in keys or keys - {"match", "reply"} or not text:
            raise UsageError(
                f'rule {index + 1} must be {{"match": TEXT, "reply": TEXT or JSON}}', where=where
            )
    return given
