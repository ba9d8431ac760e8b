"""`push`: results of other tools become experiments, here or on a server."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.pushing.bars import rules_of
from fairtrial.app.pushing.destinations import Destination, ThisStore
from fairtrial.app.pushing.run import Settings, push_run
from fairtrial.app.reports.pushed import Pushed, PushReport, Unpushed
from fairtrial.app.requests.push import Request
from fairtrial.interchange.results.contract import Asked
from fairtrial.interchange.results.recognising import Recognised, recognise
from fairtrial.interchange.results.roles import ROLES
from fairtrial.model.errors import FairtrialError, UsageError
from fairtrial.model.events import FilesRead
from fairtrial.schema.decoding import unknown_name
from fairtrial.schema.text_files import text_given

URL: Final = "FAIRTRIAL_URL"
KEY: Final = "FAIRTRIAL_KEY"


def push(bench: Bench, request: Request) -> PushReport:
    """Make an experiment of each run that the files hold.

    Of several files, each that can be read is pushed.

    Raises:
        NotFoundError: a single file is not there, or holds no results.
        UsageError: an option is wrong, or a single file cannot be read.
        ConflictError: a single file's results do not go with what is on record.
        FairtrialError: a server cannot be reached.
    """
    settings = _settings(bench, request)
    url = request.target.url or bench.environ.get(URL) or None
    destination = _destination(bench, request, url)
    found: list[Recognised] = []
    failed: list[Unpushed] = []
    for path in request.files:
        try:
            found += recognise(bench.path(path), settings.asked)
        except FairtrialError as error:
            failed.append(Unpushed(str(path), error))
    pushed: list[Pushed] = []
    alone = len(found) + len(failed) == 1
    for done, one in enumerate(found):
        bench.publish(FilesRead(done, len(found)))
        try:
            pushed.append(push_run(one, settings, destination, bench if url is None else None))
        except FairtrialError as error:
            failed.append(Unpushed(str(one.path), error))
    if alone and failed:
        raise failed[0].error
    return PushReport(pushed, failed, url, request.dry_run)


def _settings(bench: Bench, request: Request) -> Settings:
    columns: dict[str, str] = {}
    for text in request.meaning.columns:
        role, equals, name = text.partition("=")
        if not equals or not name:
            raise UsageError(
                f"{text[:80]!r} gives no column a role",
                where="--column",
                fix="write --column input=question",
            )
        if role not in ROLES:
            raise UsageError(unknown_name(role, ROLES, "role "), where="--column")
        columns[name] = role
    predictions = request.meaning.predictions
    return Settings(
        asked=Asked(columns, None if predictions is None else bench.path(predictions)),
        rules=rules_of(request.meaning.passes),
        name=request.name,
        dataset=request.dataset,
        environment=request.environment,
        environ=bench.environ,
        again=request.again,
    )


def _destination(bench: Bench, request: Request, url: str | None) -> Destination | None:
    """Return where the experiments go; None is nowhere."""
    target = request.target
    if target.key is not None and url is None:
        raise UsageError("a key is for a server", where="--key", fix="name one with --url")
    if url is None:
        return None if request.dry_run else ThisStore(bench, target.project)
    # Its modules take a while, and most pushes stay here.
    from fairtrial.app.pushing.server import Server  # noqa: PLC0415

    given = target.key or bench.environ.get(KEY) or None
    key = None if given is None else text_given(given, Path(bench.cwd), "--key")
    server = Server(url, key, target.project, time.sleep)
    return None if request.dry_run else server
