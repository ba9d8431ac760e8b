"""A command line that is killed after its commits to the store, each in turn, and then resumed.

A program of its own: `dying.py NAME STEP WORDS…` runs the command line once undisturbed, which
loads all that it needs, and then in a fork for every STEP-th commit that it can be killed after,
the last ones in any case. Each has a copy of the store. It prints one JSON object for each: what
the run of that name came to.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fairtrial.cli.main import main
from fairtrial.store.database import Database
from fairtrial.store.experiments import SqlExperimentStore

LAST = 3
"""Those after the last trial: it is closed, and what it found is kept."""


class Commits:
    """Counts the commits of this process, and kills it right after one of them.

    Nothing can catch that. Every trial gets a commit of its own, so that a run may die after any.
    """

    def __init__(self) -> None:
        self.done = 0
        self.last: int | None = None
        record = SqlExperimentStore.record

        def one_by_one(store: SqlExperimentStore, name: str, trials: Any, now: Any) -> None:
            for trial in trials:
                record(store, name, [trial], now)

        for owner, name, method in (
            (Database, "write", self._counted(Database.write)),
            (Database, "write_fast", self._counted(Database.write_fast)),
            (SqlExperimentStore, "record", one_by_one),
        ):
            setattr(owner, name, method)

    def _counted(self, transaction: Callable[..., Any]) -> Callable[..., Any]:
        @contextlib.contextmanager
        def write(database: Database, **options: Any) -> Iterator[Any]:
            with transaction(database, **options) as connection:
                yield connection
            self.done += 1
            if self.done == self.last:
                os.kill(os.getpid(), signal.SIGKILL)

        return write


def told(words: list[str], out: Path) -> int:
    """Run a command line whose output goes to a file; return its exit code."""
    kept = [os.dup(number) for number in (1, 2)]
    with out.open("w") as stream, out.with_suffix(".err").open("w") as errors:
        os.dup2(stream.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        try:
            return main(words)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, there in zip(kept, (1, 2), strict=True):
                os.dup2(number, there)
                os.close(number)


def finished(words: list[str], name: str, place: Path) -> dict[str, Any]:
    """Run a command line to its end; return what the experiment of that name came to."""
    code = told(words, place / "run")
    shown = told(["exp", "show", name, "--json"], place / "shown")
    return {
        "codes": [code, shown],
        "report": (place / "run").read_text(),
        "errors": (place / "run.err").read_text(),
        "show": (place / "shown").read_text(),
    }


def forked(action: Callable[[], object]) -> int:
    """Do something in a fork; return the number of the signal that killed it, 0 for none."""
    child = os.fork()
    if not child:
        try:
            action()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def killed(name: str, words: list[str], place: Path, commits: Commits) -> dict[str, Any]:
    """Return what a run came to that was killed as `commits` says, and resumed."""
    if forked(lambda: told(words, place / "run")) != signal.SIGKILL:
        message = f"not killed: {(place / 'run.err').read_text()}"
        raise RuntimeError(message)
    end, resume = place / "end", ["exp", "run", "--resume", name, "--json"]
    commits.last = None
    forked(lambda: end.write_text(json.dumps(finished(resume, name, place))))
    found: dict[str, Any] = json.loads(end.read_text())
    return found


def every_end(
    home: Path, name: str, step: int, words: list[str], commits: Commits
) -> Iterator[dict[str, Any]]:
    """Yield what the undisturbed run came to, then those killed after 1, 2, … commits."""
    whole = 0
    after: list[int | None] = [None]
    for last in after:
        place = home.with_name(f"killed-{last or 0}")
        shutil.copytree(home, place)
        os.environ["FAIRTRIAL_HOME"] = str(place)
        commits.done, commits.last = 0, last
        if last is None:
            found = finished(words, name, place)
            whole = commits.done
            after += sorted({*range(1, whole - LAST, step), *range(whole - LAST, whole + 1)})
        else:
            found = killed(name, words, place, commits)
        shutil.rmtree(place)
        yield {"commits": last or whole, **found}


if __name__ == "__main__":
    store = Path(os.environ["FAIRTRIAL_HOME"])
    for one in every_end(store, sys.argv[1], int(sys.argv[2]), sys.argv[3:], Commits()):
        sys.stdout.write(json.dumps(one) + "\n")
        sys.stdout.flush()
