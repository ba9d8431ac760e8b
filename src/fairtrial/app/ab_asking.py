"""Who answers the next turns of decision points, and who judges them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from fairtrial.app.ab_cases import AbCase, Asked, PassedOver
from fairtrial.app.bench import Bench
from fairtrial.app.reports.decisions import DecisionLine
from fairtrial.app.requests.exp_ab import Request
from fairtrial.model.call import Api
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.model.next_turn import Fidelity
from fairtrial.pricing.windows import context_window
from fairtrial.providers.choice import CLAUDE_MODEL, GPT_MODEL
from fairtrial.providers.registry import provider_spec
from fairtrial.providers.settling import settled_provider
from fairtrial.sessions.requests.rebuilding import APIS

SPEAKS: Final[Mapping[str, Api]] = {
    "anthropic": Api.ANTHROPIC_MESSAGES,
    "claude-code": Api.ANTHROPIC_MESSAGES,
    "openai": Api.OPENAI_RESPONSES,
    "codex": Api.OPENAI_RESPONSES,
}
"""The API whose requests each provider answers; a scripted one answers any."""
_USUAL: Final = {Api.ANTHROPIC_MESSAGES: CLAUDE_MODEL, Api.OPENAI_RESPONSES: GPT_MODEL}
_RESUME: Final = ("claude-code", "codex")
"""Providers that resume a session, which no request of it says."""
_TAKES_ADDRESS: Final = ("anthropic", "openai")


@dataclass(frozen=True, slots=True)
class Answering:
    """Who is asked.

    Attributes:
        providers: Who answers requests of each API, as a spec.
        model: The model that was named; None keeps each recorded one.
        judge: Provider and model of the judge, as far as they were named, as options of a grader.
        notes: What was chosen, one line each.
        named: The kind of the provider that was named; None leaves it to keys and logins.
    """

    providers: Mapping[Api, Mapping[str, Json]]
    model: str | None
    judge: Mapping[str, Json]
    notes: tuple[str, ...]
    named: str | None = None

    def asked(self) -> Asked:
        """Return what requests are made with where a session does not tell."""
        api = next(iter(self.providers), Api.ANTHROPIC_MESSAGES)
        return Asked(self.model, self.model or _USUAL[api], api)

    def judge_of(self, cases: Sequence[AbCase]) -> dict[str, Json]:
        """Return provider and model of the judge: what is not named, as most cases are asked.

        A server of the user's own takes no model by itself, and what is asked has a price.
        """
        asked = [case.turn.call for case in cases if case.turn.call.api in self.providers]
        apis = Counter(call.api for call in asked)
        told = dict(self.judge)
        if "provider" not in told and apis:
            told["provider"] = dict(self.providers[apis.most_common(1)[0][0]])
        models = Counter(
            str(call.body["model"])
            for call in asked
            if call.body.get("model") and self.providers[call.api] == told["provider"]
        )
        return {**({"model": models.most_common(1)[0][0]} if models else {}), **told}

    def fitting(self, cases: Sequence[AbCase]) -> tuple[list[AbCase], list[PassedOver]]:
        """Return the cases that the model can read, and those that are longer than its window."""
        kept: list[AbCase] = []
        over: dict[str, list[str]] = {}
        for case in cases:
            model = self.model or str(case.turn.call.body.get("model"))
            window = context_window(model)
            if window is None or case.read_tokens <= window:
                kept.append(case)
            else:
                why = f"their context is longer than the {window:,} tokens that {model} reads"
                over.setdefault(why, []).append(case.case.id)
        return kept, [PassedOver(why, ids) for why, ids in over.items()]

    def answered(self, cases: Sequence[AbCase]) -> tuple[list[AbCase], list[PassedOver]]:
        """Return the cases that can be asked about, and those whose API nobody here speaks."""
        mine = [self._as_asked(case) for case in cases if case.turn.call.api in self.providers]
        rest = [case for case in cases if case.turn.call.api not in self.providers]
        why = [
            PassedOver(
                self._unspoken(api), [case.case.id for case in rest if case.turn.call.api is api]
            )
            for api in dict.fromkeys(case.turn.call.api for case in rest)
        ]
        return mine, why

    def _as_asked(self, case: AbCase) -> AbCase:
        """Return the case with the grade of the request that the provider really sends."""
        kind = str(self.providers[case.turn.call.api]["kind"])
        if kind not in _RESUME or case.fidelity is not Fidelity.EXACT:
            return case
        why = f"{kind} resumes the session, and adds a line that says so"
        told = {"fidelity": Fidelity.CONVERSATION.value, "fidelity_why": why}
        return replace(
            case,
            turn=replace(case.turn, fidelity=Fidelity.CONVERSATION, why=why),
            case=replace(case.case, metadata={**case.case.metadata, **told}),
        )

    def _unspoken(self, api: Api) -> str:
        kinds = [name for name, own in SPEAKS.items() if own is api]
        if self.named is not None:
            return (
                f"{self.named} does not answer for their agent; {' or '.join(kinds)} does, and"
                " without --provider each agent's own is asked"
            )
        return f"no key and no login is there to ask their agent's model: {' or '.join(kinds)}"


def answering(bench: Bench, request: Request, lines: Sequence[DecisionLine]) -> Answering:
    """Return who is asked: who was named, else for each agent what a key or a login allows.

    Raises:
        UsageError: the provider is unknown, takes no address, or none can be used.
    """
    if request.provider is not None:
        given = _with_address(provider_spec(request.provider, "--provider").content(), request)
        kind = str(given["kind"])
        apis = [SPEAKS[kind]] if kind in SPEAKS else list(_USUAL)
        providers = dict.fromkeys(apis, given)
        return Answering(providers, request.model, _judge(request, given), (), kind)
    found: dict[Api, Mapping[str, Json]] = {}
    notes, troubles = [], []
    for api in dict.fromkeys(_api(line) for line in lines):
        usual = request.model or _USUAL[api]
        try:
            spec, _, note = settled_provider(None, usual, bench.environ, "--provider")
        except UsageError as error:
            troubles.append(error)
            continue
        if SPEAKS.get(str(spec["kind"]), api) is api:
            found[api] = _with_address(spec, request)
            notes += [] if note is None else [note.partition(", model ")[0]]
    if not found:
        return _unasked(request, troubles)
    judge = _judge(request, _speaker(bench, request))
    return Answering(found, request.model, judge, tuple(notes))


def _speaker(bench: Bench, request: Request) -> Mapping[str, Json] | None:
    """Return the provider of the judge's model where one is named and can be asked."""
    if request.judge_model is None:
        return None
    try:
        spec, _, _ = settled_provider(None, request.judge_model, bench.environ, "--judge-model")
    except UsageError:
        return None
    return _with_address(spec, request)


def _unasked(request: Request, troubles: Sequence[UsageError]) -> Answering:
    """Return who would be asked, for a dry run, where nobody can be.

    Raises:
        UsageError: it is no dry run; the message says all ways to be answered.
    """
    why = ", ".join(dict.fromkeys(str(one.why) for one in troubles))
    if not request.dry_run:
        ways = ", or ".join(one.fix.partition("; or name one")[0] for one in troubles if one.fix)
        raise UsageError(
            "nobody can be asked for a next turn",
            why=why,
            fix=f"{ways}; or name one: --provider NAME",
        )
    providers = {api: {"kind": _kind(api)} for api in _USUAL}
    return Answering(
        providers, request.model, _judge(request, None), (f"nobody can be asked yet: {why}",)
    )


def _api(line: DecisionLine) -> Api:
    return APIS.get(line.session.agent, Api.ANTHROPIC_MESSAGES)


def _kind(api: Api) -> str:
    return next(kind for kind, spoken in SPEAKS.items() if spoken is api)


def _with_address(spec: Mapping[str, Json], request: Request) -> dict[str, Json]:
    if request.base_url is None:
        return dict(spec)
    if spec["kind"] not in _TAKES_ADDRESS:
        raise UsageError(
            f"{spec['kind']} has no address of its own",
            where="--base-url",
            fix=f"leave it out, or name an API: --provider {' or '.join(_TAKES_ADDRESS)}",
        )
    return {**spec, "base_url": request.base_url}


def _judge(request: Request, provider: Mapping[str, Any] | None) -> dict[str, Json]:
    model = request.judge_model or request.model
    told: dict[str, Json] = {} if provider is None else {"provider": dict(provider)}
    return told if model is None else {**told, "model": model}
