"""`exp ab --watch`: a line for each run, until `q` or Ctrl-C."""

from __future__ import annotations

import json
from datetime import datetime

from fairtrial.app.ab_watching import AbWatch, WatchedAb, sentence
from fairtrial.app.bench import Bench
from fairtrial.app.requests.exp_ab import Request
from fairtrial.cli import streams
from fairtrial.cli.harmless import harmless
from fairtrial.cli.watching import FilesAndKeys, Source, Wake, one_run, until_ended, was_stopped
from fairtrial.engine.control import Control
from fairtrial.model.errors import ExitCode


def watched_ab(
    bench: Bench, request: Request, *, as_json: bool, source: Source | None = None
) -> int:
    """Try B whenever its files change, print a line each time, and return the exit code.

    Args:
        bench: The workbench.
        request: What was asked.
        as_json: Print an object a line instead of text.
        source: What tells of changes; None is the file system, and the keys of a terminal.

    Raises:
        UsageError: options that go with one run only.
    """
    watch = AbWatch(request)
    waker: Source = FilesAndKeys() if source is None else source
    return until_ended(waker, lambda: _loop(bench, watch, waker, as_json=as_json))


def _loop(bench: Bench, watch: AbWatch, source: Source, *, as_json: bool) -> int:
    again = True
    while True:
        while watch.due(bench) or again:
            again = False
            control = Control()
            with one_run(bench, control) as own:
                run = watch.run(own)
            _print(run, as_json=as_json)
            if was_stopped(control):
                return ExitCode.INTERRUPTED
        wake = source.wait(watch.folders(bench))
        if wake is Wake.QUIT:
            return ExitCode.OK
        again = wake is Wake.AGAIN


def _print(run: WatchedAb, *, as_json: bool) -> None:
    if as_json:
        text = json.dumps(run.json(), ensure_ascii=False, allow_nan=False)
        streams.write_document(lambda out: out.write(text + "\n"))
        return
    told = str(run.error) if run.report is None else sentence(run.report)
    name = "" if run.report is None else f"{run.report.run.state.experiment.id}  "
    words = harmless(" ".join(told.split()))
    streams.write_text(f"{datetime.now().astimezone():%H:%M:%S}  run {run.number}  {name}{words}\n")
