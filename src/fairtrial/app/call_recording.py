"""The proxy that a run's model calls go through, when they are recorded or served again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.proxy import new_call_id, not_proxied
from fairtrial.engine.plan import Plan
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import RecordedCall
from fairtrial.model.task import TaskSpec
from fairtrial.model.trial import TrialKey
from fairtrial.ports import TrialFilter
from fairtrial.recording.call_log import CallLog
from fairtrial.recording.describing import Describer
from fairtrial.recording.following import last_try
from fairtrial.recording.proxy import RecordingProxy
from fairtrial.recording.replaying import Replay
from fairtrial.recording.routing import Upstreams, upstreams_of
from fairtrial.recording.trial_calls import TrialCalls
from fairtrial.schema.variables import substitute

ANTHROPIC: Final = "ANTHROPIC_BASE_URL"
OPENAI: Final = "OPENAI_BASE_URL"
_PROVIDERS: Final = {"anthropic": ANTHROPIC, "openai": OPENAI}


def recorder_of(bench: Bench, plan: Plan, experiment_id: str) -> TrialCalls:
    """Return what records the calls of an experiment's trials, and serves recorded ones.

    Raises:
        UsageError: two tasks call the same API at different addresses.
    """
    log = CallLog(bench.store.calls, Describer(new_call_id, bench.prices), experiment_id)
    source = plan.calls.get("replay")
    replay = None
    if source is not None:
        recording = _recording(bench, source["experiment"], source["arm"])
        replay = Replay(recording, bench.store.calls.body, source["until"])
    try:
        proxy = RecordingProxy(
            upstreams(bench, plan),
            log,
            bench.clock,
            answer_from=None if replay is None else replay.answer,
        )
    except UsageError:
        log.close()
        raise
    return TrialCalls(proxy, log, experiment_id, not_proxied(bench.environ), replay)


def _recording(
    bench: Bench, experiment_id: str, arm: str
) -> Callable[[TrialKey], Sequence[RecordedCall]]:
    """Return what finds the calls of a trial's recorded counterpart."""
    store = bench.store

    def recording(key: TrialKey) -> Sequence[RecordedCall]:
        counterpart = key._replace(arm=arm)
        trials = store.experiments.trials(experiment_id, TrialFilter(arm=arm, case_id=key.case_id))
        began = next((trial.started_at for trial in trials if trial.key == counterpart), None)
        if began is None:
            return ()
        return last_try(store.calls.of_trial(experiment_id, counterpart), began)

    return recording


def upstreams(bench: Bench, plan: Plan) -> Upstreams:
    """Return where the calls of a plan's tasks go beyond the proxy.

    Raises:
        UsageError: two tasks call the same API at different addresses, or one is no base URL.
    """
    usual = upstreams_of(bench.environ)
    defaults = {ANTHROPIC: usual.anthropic.url, OPENAI: usual.openai.url}
    found: dict[str, dict[str, str]] = {ANTHROPIC: {}, OPENAI: {}}
    for arm in plan.arms:
        for variable, address in _addresses(arm.task, bench.environ, defaults):
            found[variable].setdefault(address, arm.name)
    for variable, addresses in found.items():
        if len(addresses) > 1:
            (one, first), (other, second) = list(addresses.items())[:2]
            raise UsageError(
                "the tasks' model calls go to two addresses of one API, and one proxy records them",
                where=f"arms {first} and {second}",
                why=f"{variable} is {one}, and {other}",
                fix="give both arms one address",
            )
    chosen = {name: next(iter(addresses), None) for name, addresses in found.items()}
    return upstreams_of(bench.environ, chosen[ANTHROPIC], chosen[OPENAI])


def _addresses(
    task: TaskSpec, environ: Mapping[str, str], defaults: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the variables of the APIs that a task is known to call, with the address."""
    variables = task.options.get("env") or {}
    for variable in (ANTHROPIC, OPENAI):
        if variable in variables:
            yield variable, substitute(variables[variable], environ, f"env, {variable}")
    provider: Json = task.options.get("provider")
    if not isinstance(provider, Mapping) or provider.get("kind") not in _PROVIDERS:
        return
    variable = _PROVIDERS[provider["kind"]]
    given = str(provider.get("base_url") or "").strip().rstrip("/")
    if not given:
        yield variable, defaults[variable]
    elif variable == ANTHROPIC:
        yield variable, given.removesuffix("/v1")
    else:
        yield variable, _with_root(given)


def _with_root(url: str) -> str:
    """Return the address of an OpenAI provider with the path that it adds when there is none."""
    _, _, rest = url.partition("://")
    return url if "/" in rest else f"{url}/v1"
