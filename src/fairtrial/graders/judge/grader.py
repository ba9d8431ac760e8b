"""A model judges the output by a rubric: a score from 0 to 1, or one of some choices."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from fairtrial.graders.asking.asking import REASON_LENGTH, Asking, Bill
from fairtrial.graders.judge.combining import Sample, combined
from fairtrial.graders.judge.options import Menu, Options, menu_of
from fairtrial.graders.judge.prompt import VERSION, Answer, question, read_answer
from fairtrial.model.call import ModelCall
from fairtrial.model.errors import GraderError, InfraError, ProviderError, UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json, canonical_json
from fairtrial.model.wording import excerpt
from fairtrial.ports import Clock, Provider, Surroundings
from fairtrial.providers.registry import build_provider, provider_spec
from fairtrial.providers.settling import settled_provider
from fairtrial.schema.decoding import unknown_name
from fairtrial.schema.text_files import text_given, text_kept

__all__ = ["DEFAULT_THRESHOLD", "Judge", "Options", "build", "settle"]

DEFAULT_THRESHOLD = 0.5

_TURNS = 100
"""How often one output may be graded, and how many samples a judge may give: draws are counted by
them, so that no two questions share one."""
_MEMBER = ("provider", "model")
_ENDS_IT = ("login", "quota")


@dataclass(frozen=True, slots=True)
class Member:
    """One judge of a panel: who runs it, and which model."""

    label: str
    provider: Provider
    model: str | None


@dataclass(slots=True)
class Judge:
    """Asks one or several models about each output.

    Attributes:
        spec: What the user wrote.
        options: Its options.
        rubric: The rubric's text.
        menu: What it may answer.
        members: The judges.
        clock: Time, for the waits before another try; None makes none.
    """

    spec: GraderSpec
    options: Options
    rubric: str
    menu: Menu
    members: tuple[Member, ...]
    clock: Clock | None
    _stopped: InfraError | None = field(default=None, init=False)

    async def open(self) -> None:
        """Open the providers."""
        for provider in self._providers():
            await provider.open()

    async def grade(self, subject: Subject) -> Grade:
        """Ask every judge as often as wanted, all at once, and combine what they say.

        Raises:
            GraderError: the answers come to no value.
            InfraError: they do not since a login was refused or a quota is spent; from then on
                nobody is asked any more.
        """
        if self._stopped is not None:
            raise InfraError(f"not asked: {self._stopped}", kind=self._stopped.kind)
        call = question(self.rubric, self.menu, self.options.include, subject)
        call = replace(
            call, max_tokens=self.options.max_tokens, temperature=self.options.temperature
        )
        first = ((subject.trial - 1) * _TURNS + subject.turn) * _TURNS
        samples = await asyncio.gather(
            *(
                self._sample(member, replace(call, model=member.model, draw=first + n), n + 1)
                for member in self.members
                for n in range(self.options.samples)
            )
        )
        costs = [sample.cost_usd for sample in samples]
        cost = None if None in costs else math.fsum(c for c in costs if c is not None)
        detail: Json = {"answers": [sample.content() for sample in samples]}
        try:
            value, reason = combined(samples, self._how(), self._side)
        except GraderError as error:
            if self._stopped is not None:
                raise self._stopped from None
            raise GraderError(str(error), cost_usd=cost, detail=detail) from None
        return Grade(value, reason, cost, detail)

    async def close(self) -> None:
        """Close the providers."""
        for provider in self._providers():
            await provider.close()

    async def _sample(self, member: Member, call: ModelCall, number: int) -> Sample:
        options, bill = self.options, Bill()
        retries = 0 if self.clock is None else options.retries
        asking = Asking(member.provider, self.clock, retries, options.timeout)
        answer, problem = None, None
        try:
            answer = await asking.answer(
                call,
                lambda reply: read_answer(reply, self.menu, options.max_tokens),
                self.menu.form,
                bill,
            )
            answer = replace(answer, reason=excerpt(answer.reason, REASON_LENGTH))
        except (GraderError, ProviderError, InfraError) as error:
            problem = str(error)
            if isinstance(error, InfraError) and error.kind in _ENDS_IT:
                self._stopped = error
        return Sample(member.label, number, answer, problem, bill.calls, bill.cached, bill.cost_usd)

    def _how(self) -> Literal["majority", "mean"]:
        usual: Literal["majority", "mean"] = "mean" if self.menu.choices is None else "majority"
        return self.options.combine or usual

    def _side(self, answer: Answer) -> object:
        """Return what agreeing answers share: their value, or for scores on which side of the bar.

        The bar is the grader's own, after `not`, so that the mean of those who agree is on the
        same side as each of them.
        """
        if self.menu.choices is not None:
            return answer.value
        threshold = DEFAULT_THRESHOLD if self.spec.threshold is None else self.spec.threshold
        value = round(1.0 - answer.value, 12) if self.spec.negate else answer.value
        return value >= threshold

    def _providers(self) -> tuple[Provider, ...]:
        return tuple({id(member.provider): member.provider for member in self.members}.values())


def settle(
    options: Options, base_dir: Path, environ: Mapping[str, str], where: str
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the options that a plan fixes, and what to tell about them.

    The rubric is read, the provider and the model are chosen, and the version of the question is
    named: all that could change an answer is then in the spec.

    Raises:
        UsageError: the rubric cannot be read, or no provider can be used.
    """
    fixed: dict[str, Json] = {
        "rubric": text_kept(_rubric(options, base_dir, where)),
        "version": VERSION,
    }
    notes = []
    settled = []
    for member in _members(options, where):
        provider, model, note = settled_provider(
            member["provider"], member["model"], environ, where
        )
        settled.append({"provider": provider, "model": model})
        notes += [note] if note else []
    if options.judges:
        return {**fixed, "judges": settled}, tuple(notes)
    return {**fixed, **settled[0]}, tuple(notes)


def build(spec: GraderSpec, options: Options, surroundings: Surroundings, where: str) -> Judge:
    """Return the grader.

    Raises:
        UsageError: an option makes no sense, a file cannot be read, or the question has changed
            since the spec was stored.
    """
    if options.version not in (None, VERSION):
        raise UsageError(
            f"its question is version {options.version}, and this fairtrial asks version {VERSION}",
            where=where,
            why="answers to two questions cannot stand in one experiment",
            fix="start a new run, or grade the outputs again: fairtrial exp regrade EXPERIMENT",
        )
    menu = menu_of(options, where)
    if "output" not in options.include:
        raise UsageError("'include' leaves out the output, which is what is judged", where=where)
    rubric = _rubric(options, surroundings.base_dir, where)
    built: dict[bytes, Provider] = {}
    members = []
    for member in _members(options, where):
        provider = provider_spec(member["provider"], where)
        key = canonical_json(provider.content())
        if key not in built:  # one provider for all of its models keeps to its limits
            built[key] = build_provider(provider, surroundings, where)
        label = f"{provider.kind} {member['model']}" if member["model"] else provider.kind
        members.append(Member(label, built[key], member["model"]))
    return Judge(spec, options, rubric, menu, tuple(members), surroundings.clock)


def _rubric(options: Options, folder: Path, where: str) -> str:
    text = text_given(options.rubric, folder, f"{where}, option 'rubric'")
    if not text.strip():
        raise UsageError("its 'rubric' is empty", where=where)
    return text


def _members(options: Options, where: str) -> list[dict[str, Json]]:
    """Return provider and model of each judge.

    Raises:
        UsageError: both one judge and several are given, or one has another key.
    """
    if not options.judges:
        return [{"provider": options.provider, "model": options.model}]
    if options.provider is not None or options.model is not None:
        raise UsageError(
            "'judges' replaces 'provider' and 'model'", where=where, fix="give one or the other"
        )
    for number, judge in enumerate(options.judges, start=1):
        unknown = [unknown_name(key, _MEMBER) for key in judge if key not in _MEMBER]
        model = judge.get("model")
        if unknown or not isinstance(model, str | None):
            what = unknown[0] if unknown else "'model' must be a text"
            raise UsageError(f"judge {number}: {what}", where=where)
    return [{key: judge.get(key) for key in _MEMBER} for judge in options.judges]
