"""`proxy`: record the model calls of any program."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.app.reports.proxy import ProxyReport
from fairtrial.app.requests.proxy import Request
from fairtrial.model.errors import StoreError
from fairtrial.model.events import CallRecorded, ProxyStarted, RequestRefused
from fairtrial.model.recorded_call import RecordedCall
from fairtrial.recording.answers import Refusal
from fairtrial.recording.describing import Describer
from fairtrial.recording.log_process import ProcessLog
from fairtrial.recording.proxy import RecordingProxy
from fairtrial.recording.routing import is_loopback, upstreams_of
from fairtrial.recording.serving import Program, serve

_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  # compared with, not listened on


@dataclass
class _Sums:
    """What went through, so far."""

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    n_costed: int = 0

    def add(self, call: RecordedCall) -> None:
        """Add a call."""
        self.calls += 1
        self.failed += not _is_good(call)
        if call.tokens is not None:
            read = (call.tokens.input, call.tokens.cache_read, call.tokens.cache_write)
            self.input_tokens += sum(count or 0 for count in read)
            self.output_tokens += call.tokens.output or 0
        if call.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + call.cost_usd
            self.n_costed += 1


def proxy(bench: Bench, request: Request) -> ProxyReport:
    """Pass calls on and record them until it is asked to stop, or its command ends.

    Raises:
        UsageError: an upstream is no base URL, or the address cannot be had.
        NotFoundError: the command cannot be started.
        StoreError: the store cannot be opened.
    """
    upstreams = upstreams_of(bench.environ, request.anthropic_upstream, request.openai_upstream)
    session = f"proxy_{ULID()}"
    sums = _Sums()

    def recorded(call: RecordedCall) -> None:
        sums.add(call)
        bench.publish(CallRecorded(call))

    def refused(path: str, refusal: Refusal) -> None:
        bench.publish(RequestRefused(path, int(refusal.status), refusal.message))

    # What is wrong with either is told here, before anything runs.
    _ = bench.store.calls, bench.prices
    log = ProcessLog(
        (sys.executable, "-m", "fairtrial.app.proxy_log", session),
        {**bench.environ, "FAIRTRIAL_HOME": str(bench.home)},
        Describer(new_call_id),
        recorded,
    )
    recorder = RecordingProxy(upstreams, log, bench.clock, refused=refused)

    def started() -> None:
        variables = recorder.environ(host=_reached_as(request.host))
        bench.publish(
            ProxyStarted(
                session=session,
                url=variables["ANTHROPIC_BASE_URL"],
                variables=variables,
                anthropic=upstreams.anthropic.url,
                openai=upstreams.openai.url,
                exposed=not is_loopback(request.host),
            )
        )

    status = None
    try:
        address = (request.host, request.port)
        status = serve(recorder, address, bench.control, started, _program(bench, request))
    except StoreError:
        if not log.lost:
            raise
    finally:
        log.close()
    return ProxyReport(
        session=session,
        calls=sums.calls,
        failed=sums.failed,
        input_tokens=sums.input_tokens,
        output_tokens=sums.output_tokens,
        cost_usd=sums.cost_usd,
        n_costed=sums.n_costed,
        lost=log.lost,
        status=status,
    )


def _is_good(call: RecordedCall) -> bool:
    return call.problem is None and call.status is not None and call.status < 400


def new_call_id(moment: datetime) -> str:
    """Return an id for a call that began at a moment."""
    return f"call_{ULID.from_datetime(moment)}"


def _reached_as(host: str) -> str:
    return "127.0.0.1" if host in _EVERYWHERE else host


def _program(bench: Bench, request: Request) -> Program | None:
    if not request.command:
        return None
    command = request.command

    def argv(variables: Mapping[str, str]) -> Sequence[str]:
        if PurePath(command[0]).name != "codex":
            return command
        # Codex does not read OPENAI_BASE_URL.
        return [command[0], "-c", f"openai_base_url={variables['OPENAI_BASE_URL']}", *command[1:]]

    def env(variables: Mapping[str, str]) -> Mapping[str, str]:
        return {**bench.environ, **variables, **not_proxied(bench.environ)}

    return Program(argv, env)


def not_proxied(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables that keep a program from asking the network's proxy for this machine."""
    excepted = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    whole = ",".join(part for part in (excepted, "127.0.0.1", "localhost") if part)
    return {"NO_PROXY": whole, "no_proxy": whole}
