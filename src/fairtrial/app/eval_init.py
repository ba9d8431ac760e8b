"""`eval init`: eval tasks of sessions that went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fairtrial.app.bench import Bench
from fairtrial.app.captured import bring_snapshots
from fairtrial.app.eval_drafting import Drafting, refused, repository_of, sessions_of, wanted_of
from fairtrial.app.reports.eval_drafts import DraftedTask, DraftsReport, LeftOut
from fairtrial.app.requests.eval_init import Request
from fairtrial.app.session_filters import session_query
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.ports.sessions import FlaggedSession
from fairtrial.query.expression import And
from fairtrial.suites.drafting import Draft, NotUsable, named
from fairtrial.suites.folders import TASKS, suite_folder

_WENT_WRONG = "is:flagged or state = ended-by-limit"
_PAGE = 50


def eval_init(bench: Bench, request: Request) -> DraftsReport:
    """Draft tasks, and say which sessions were left out.

    Raises:
        UsageError: nothing says what to make tasks of, an option does not fit, a named session
            cannot become a task, or the suite cannot be written.
        NotFoundError: there is no repository, no such session, or none that went wrong.
        RefusedError: what a named session tells of its files contradicts the commit.
        StoreError: the store cannot be written.
    """
    refs = tuple(dict.fromkeys((*request.ids, *request.named)))
    if not request.sessions and not refs:
        raise UsageError(
            "nothing says what to make tasks of", fix="add --sessions, or name sessions"
        )
    root = repository_of(bench, request.repo)
    drafting = Drafting(bench, wanted_of(bench, root, request.checking))
    bring_snapshots(bench)
    drafting.look()
    chosen = _Chosen(drafting, request)
    more = False
    if refs:
        sessions = [bench.store.sessions.find(ref) for ref in refs]
        # All of them before the first is written.
        drafts = list(chosen.each(iter(sessions), named_by_user=True))
        done = [chosen.kept(draft) for draft in drafts]
    else:
        candidates = sessions_of(_went_wrong(bench, request), root, bench.home)
        done = [chosen.kept(draft) for draft in chosen.each(candidates)]
        more = next(candidates, None) is not None
    if not done and not chosen.left_out:
        raise _none(request, str(root))
    return DraftsReport(
        project=root,
        suite=request.checking.suite,
        folder=suite_folder(root, request.checking.suite),
        dry_run=request.dry_run,
        drafted=done,
        left_out=chosen.left_out,
        more=more,
    )


class _Chosen:
    """Turns sessions into drafts, and keeps why others are none."""

    def __init__(self, drafting: Drafting, request: Request) -> None:
        self._drafting = drafting
        self._request = request
        self.left_out: list[LeftOut] = []

    def each(
        self, sessions: Iterator[FlaggedSession], *, named_by_user: bool = False
    ) -> Iterator[Draft]:
        """Yield drafts up to the limit; sessions that the user names have none.

        Raises:
            UsageError: one that the user names cannot become a task.
            RefusedError: what it tells of its files contradicts the commit.
        """
        left = None if named_by_user else self._request.limit
        while left != 0:
            found = next(sessions, None)
            if found is None:
                return
            try:
                draft = self._draft(found)
            except NotUsable as why:
                if named_by_user:
                    raise refused(found.session.id, why) from why
                self.left_out.append(LeftOut(found.session.id, str(why)))
                continue
            if draft is not None:
                left = None if left is None else left - 1
                yield draft

    def kept(self, draft: Draft) -> DraftedTask:
        """Write a draft, unless nothing is to be written."""
        if self._request.dry_run:
            wanted = self._drafting.wanted
            folder = suite_folder(wanted.root, wanted.suite) / TASKS / draft.task.name
            return DraftedTask(draft.task, folder, draft.notes)
        return self._drafting.keep(draft)

    def _draft(self, found: FlaggedSession) -> Draft | None:
        drafting, session = self._drafting, found.session.id
        known = drafting.of_session(session)
        if known is not None:
            self.left_out.append(LeftOut(session, f"it is the task {known} already", known))
            return None
        task, facts = drafting.begin(found)
        same = drafting.same_as(task)
        if same is not None:
            reason = f"the task {same} has the same prompt and the same start"
            self.left_out.append(LeftOut(session, reason, same))
            return None
        return drafting.complete(named(task, drafting.taken), facts)


def _went_wrong(bench: Bench, request: Request) -> Iterator[FlaggedSession]:
    """Yield the sessions that went wrong, the last ended first."""
    query = session_query(bench, _WENT_WRONG, request.since, _PAGE)
    if request.where is not None and query.where is not None:
        further = session_query(bench, request.where).where
        if further is not None:
            query = replace(query, where=And((query.where, further)))
    before: str | None = None
    while True:
        page = bench.store.sessions.newest(replace(query, before=before))
        yield from page
        if len(page) < _PAGE:
            return
        before = page[-1].session.id


def _none(request: Request, root: str) -> NotFoundError:
    also = "" if request.where is None else " and fits the filter"
    return NotFoundError(
        f"no session of {root} that ended since {request.since} went wrong{also}",
        why="sessions with a flag of level warn count, and those that a limit ended",
        fix="read new ones with `fairtrial sessions sync`, look further back with --since 60d, "
        "or name a session after --sessions",
    )
