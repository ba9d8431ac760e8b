"""One run of another tool, from its file to an experiment that stands."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.ci import Ci, ci_here, environment_here
from fairtrial.app.dataset_add import LONGEST_NAME, checked_name
from fairtrial.app.pushing.bars import Bar, Bars, Own, Seen, bars_of
from fairtrial.app.pushing.bodies import short_name, short_text
from fairtrial.app.pushing.destinations import Destination
from fairtrial.app.pushing.sending import Parcel, look_at, send
from fairtrial.app.pushing.spool import Spool
from fairtrial.app.reports.pushed import Pushed
from fairtrial.interchange.results.contract import Asked, FoundRun, Notes
from fairtrial.interchange.results.recognising import Recognised
from fairtrial.model.errors import FairtrialError
from fairtrial.model.json import Json, canonical_json

_COMMIT: Final = range(7, 65)
_LONGEST_BRANCH: Final = 500


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user said about all runs.

    Attributes:
        asked: What they said about the files.
        rules: Bars that they named.
        name: What to call the experiment.
        dataset: The dataset, or a version of it.
        environment: Where it ran.
        environ: The environment of this process.
        again: Make a new experiment in any case.
    """

    asked: Asked
    rules: Mapping[str, Bar] = field(default_factory=dict)
    name: str | None = None
    dataset: str | None = None
    environment: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    again: bool = False

    @property
    def matched(self) -> bool:
        """Whether rows are matched with stored cases."""
        return self.dataset is not None and "@" in self.dataset


def push_run(
    found: Recognised, settings: Settings, destination: Destination | None, local: Bench | None
) -> Pushed:
    """Read a run, and send it.

    Args:
        found: Where it is.
        settings: What the user said.
        destination: Where it goes; None only looks at it.
        local: The bench that takes its sessions; None where they stay out.

    Raises:
        FairtrialError: it holds no trials, cannot be read, or is not taken.
    """
    notes = Notes()
    reading = found.read(settings.asked, notes)
    with closing(Spool(notes)) as spool:
        for trial in reading.trials():
            spool.add(trial)
        run = reading.run()
        if not spool.trials:
            raise FairtrialError(
                "there are no results in it: nothing ran, or nothing could be read",
                where=str(found.path),
                why="; ".join(f"{note.count:,} {note.what}" for note in notes.all()) or None,
            )
        for name in run.graders:
            spool.seen.setdefault(name, Seen())
        if spool.several and not settings.matched:
            notes.add("case ids with several contents: each has its own name", n=spool.several)
        spool.arrange(run.arms)
        own = Own(run.thresholds, run.decides, verdicts=spool.verdicts > 0)
        bars = bars_of(spool.seen, own, settings.rules)
        told = _told(found, run, settings, spool, bars)
        read = partial(_sessions, local, spool, notes)
        parcel = Parcel(told, spool, bars, run, notes, read)
        sent = None
        if destination is None:
            look_at(parcel, notes)
        else:
            sent = send(parcel, destination)
        return Pushed(
            path=str(found.path),
            tool=found.tool,
            trials=spool.trials,
            cases=spool.n_cases,
            arms=spool.all_arms(),
            graders=bars.graders,
            scored={name: seen.scored for name, seen in spool.seen.items()}
            | ({"passed": spool.verdicts} if bars.own else {}),
            notes=notes.all(),
            standing=None if sent is None else sent.standing,
            again=sent is not None and sent.again,
            sessions=() if sent is None else sent.sessions,
        )


def _sessions(local: Bench | None, spool: Spool, notes: Notes) -> Mapping[str, str]:
    if not spool.transcripts:
        return {}
    if local is None:
        notes.add("transcripts of sessions stay on this machine", n=len(spool.transcripts))
        return {}
    # Its modules are for such trials alone.
    from fairtrial.app.pushing.sessions import sessions_of  # noqa: PLC0415

    return sessions_of(local, spool.transcripts, notes)


def _told(
    found: Recognised, run: FoundRun, settings: Settings, spool: Spool, bars: Bars
) -> dict[str, Json]:
    """Return the body that opens the experiment."""
    told: dict[str, Json] = {
        "graders": [dict(grader) for grader in bars.graders],
        "arms": spool.all_arms(),
        "target": short_text(run.target) if run.target else None,
        "version": short_text(run.version) if run.version else None,
        "model": _model(run, spool),
        "metadata": {**run.facts, "tool": found.tool},
        "source": "push",
    }
    if settings.matched:
        told["dataset_version"] = settings.dataset
    content = hashlib.sha256(
        canonical_json(
            [told, settings.name, settings.dataset, run.name, run.dataset, run.ending, spool.digest]
        )
    ).hexdigest()
    name = settings.name or short_name(run.name or found.path.stem or found.tool)
    told["name"] = name
    if not settings.matched:
        dataset = settings.dataset or _dataset(run.dataset or name)
        told["dataset"] = checked_name(dataset)
    told["environment"] = settings.environment or environment_here(settings.environ)
    ci = ci_here(settings.environ) or Ci()
    told["git"] = _git(run, ci)
    told["pull_request"] = ci.pull_request
    if not settings.again:
        told["content"] = content
    told["metadata"]["file"] = short_name(found.path.name)
    return {key: value for key, value in told.items() if value is not None}


def _dataset(name: str) -> str:
    """Return a name that a dataset may have."""
    plain = "".join(c if c.isprintable() and c != "@" else "-" for c in name).strip()
    return short_name(plain or "results", LONGEST_NAME)


def _model(run: FoundRun, spool: Spool) -> str | None:
    if run.model:
        return short_text(run.model)
    return next(iter(spool.models)) if len(spool.models) == 1 else None


def _git(run: FoundRun, ci: Ci) -> dict[str, Json] | None:
    """Return the commit that ran: what the tool says, else on a CI that of the job."""
    commit = run.commit or (ci.commit if run.branch is None else None)
    if commit is None or len(commit) not in _COMMIT or not _is_hex(commit):
        return None
    branch = run.branch if run.commit else ci.branch
    git: dict[str, Json] = {"commit": commit}
    if branch:
        git["branch"] = branch[:_LONGEST_BRANCH]
    if run.dirty is not None:
        git["dirty"] = run.dirty
    return git


def _is_hex(text: str) -> bool:
    return all(c in "0123456789abcdefABCDEF" for c in text)
