"""`eval new`: an eval task of one session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.captured import bring_snapshots
from fairtrial.app.eval_drafting import Drafting, refused, repository_of, wanted_of
from fairtrial.app.reports.eval_drafts import DraftsReport
from fairtrial.app.requests.eval_new import Request
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.suites.drafting import NotUsable, named
from fairtrial.suites.folders import check_name, suite_folder

_LONGEST = 256 * 1024


def eval_new(bench: Bench, request: Request) -> DraftsReport:
    """Make a task of a session, and say what it is.

    Raises:
        UsageError: an option does not fit, the session cannot become a task or is one already, the
            name is taken, or the task cannot be written.
        NotFoundError: there is no repository, no such session, or no such file.
        RefusedError: what the session tells of its files contradicts the commit.
        StoreError: the store cannot be written.
    """
    root = repository_of(bench, request.repo)
    found = bench.store.sessions.find(request.session)
    drafting = Drafting(bench, wanted_of(bench, root, request.checking))
    instruction = _instruction(bench, request.instruction_file)
    bring_snapshots(bench)
    drafting.look()
    name = None if request.name is None else _free(request.name, drafting.taken)
    known = drafting.of_session(found.session.id)
    if known is not None and name is None:
        raise UsageError(
            f"{found.session.id} is the task {known} already",
            fix="give another one a --name, or take that one off with: "
            f"fairtrial eval rm {request.checking.suite}/{known}",
        )
    try:
        task, facts = drafting.begin(found, instruction)
        task = named(task, drafting.taken) if name is None else replace(task, name=name)
        draft = drafting.complete(task, facts)
    except NotUsable as why:
        raise refused(found.session.id, why) from why
    suite = request.checking.suite
    drafted = drafting.keep(draft)
    return DraftsReport(
        project=root,
        suite=suite,
        folder=suite_folder(root, suite),
        dry_run=False,
        drafted=[drafted],
        left_out=[],
    )


def _free(name: str, taken: set[str]) -> str:
    check_name(name, "task")
    if name.casefold() in taken:
        raise UsageError(f"there is a task {name}", where="--name", fix="take another name")
    return name


def _instruction(bench: Bench, given: Path | None) -> str | None:
    if given is None:
        return None
    path = bench.path(given)
    try:
        with path.open("rb") as stream:
            data = stream.read(_LONGEST + 1)
        text = data.decode("utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"there is no {path}", where="--instruction-file") from None
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror or error}", where="--instruction-file"
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8", where="--instruction-file") from None
    if len(data) > _LONGEST:
        raise UsageError(f"{path} is over {_LONGEST:,} bytes", where="--instruction-file")
    if not text.strip():
        raise UsageError(f"{path} is empty", where="--instruction-file")
    return text
