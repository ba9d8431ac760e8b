"""`exp session`: the project's logbook of notes and runs."""

from __future__ import annotations

from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.app.ledger import tried_by
from fairtrial.app.logbooks import open_logbook, since_the_last
from fairtrial.app.pass_rates import pass_rate_of
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.document import document
from fairtrial.app.reports.logbook import LogbookReport, Noted, Ran
from fairtrial.app.requests.exp_session import Request
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.logbook import Logbook

_BEGIN = "begin one: fairtrial exp session new --name NAME"


def exp_session(bench: Bench, request: Request) -> LogbookReport | AccompaniedReport:
    """Begin a session, add a note to the open one, or read one.

    Raises:
        UsageError: an option does not go with the action, or a file cannot be written.
        NotFoundError: there is no such session.
        StoreError: the store cannot be read or written.
    """
    _check(request)
    project = str(project_of(bench.cwd))
    if request.action == "new":
        now = bench.clock.now()
        name = request.name or f"{now.astimezone():%Y-%m-%d}"
        return LogbookReport("new", bench.store.logbooks.open(project, name, now))
    if request.action == "note":
        book = _open(bench)
        bench.store.logbooks.note(book.id, " ".join(request.text).strip(), bench.clock.now())
        return LogbookReport("note", book)
    book = _open(bench) if request.name is None else _named(bench, project, request.name)
    report = _summary(bench, book)
    if request.to is None:
        return report
    # Only a document needs it.
    from fairtrial.app.reports.logbook_markdown import write  # noqa: PLC0415

    path = bench.output(request.output)
    made = document("markdown", lambda stream: write(report, stream), path)
    return AccompaniedReport(report, (made,))


def _check(request: Request) -> None:
    if request.action == "note":
        if not " ".join(request.text).strip():
            raise UsageError("an empty note", fix='fairtrial exp session note "what you think"')
        if request.name is not None:
            raise UsageError("--name has no effect with note", fix="a note goes to the open one")
    elif request.text:
        fix = f"name it: fairtrial exp session {request.action} --name {request.text[0]}"
        raise UsageError(f"{request.action} takes no text", fix=fix)
    if request.action != "summary" and request.to is not None:
        raise UsageError(f"--to has no effect with {request.action}", fix="leave it out")
    if request.to is None and request.output is not None:
        raise UsageError("--output needs a format", fix="add --to markdown")


def _open(bench: Bench) -> Logbook:
    book = open_logbook(bench)
    if book is None:
        raise NotFoundError("this project has no open session", fix=_BEGIN)
    return book


def _named(bench: Bench, project: str, name: str) -> Logbook:
    book = bench.store.logbooks.named(project, name)
    if book is None:
        raise NotFoundError(f"this project has no session {name!r}", fix=_BEGIN)
    return book


def _summary(bench: Bench, book: Logbook) -> LogbookReport:
    entries: list[Noted | Ran] = []
    before: list[str] = []
    newest: dict[str, ExperimentState] = {}
    for entry in bench.store.logbooks.entries(book.id):
        if entry.experiment is None:
            entries.append(Noted(entry.at, entry.note or ""))
            continue
        state = _found(bench, entry.experiment)
        if state is None:
            entries.append(Noted(entry.at, f"{entry.experiment} is not in this store"))
            continue
        experiment = state.experiment
        rate = pass_rate_of(bench.store.experiments, experiment, experiment.arms[-1])
        delta = since_the_last(bench, before, state)
        entries.append(Ran(entry.at, len(before) + 1, state, rate, delta))
        before.append(experiment.id)
        newest[experiment.dataset] = state
    tried = tuple(tried_by(bench, state, None) for state in newest.values())
    return LogbookReport("summary", book, tuple(entries), tried)


def _found(bench: Bench, ref: str) -> ExperimentState | None:
    try:
        return bench.store.experiments.find(ref)
    except NotFoundError:
        return None
