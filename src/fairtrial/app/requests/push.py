"""Options of `push`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Meaning:
    """How what stands in the files is to be understood."""

    passes: tuple[str, ...] = option((), flag="--pass", metavar="RULE")
    """From which value on a score passes, e.g. 'accuracy>=0.8', or 'toxicity<=0.2' where less is
    better; only scores that are named so decide then (default: the tool's own verdict, else all
    scores from 0 to 1, from 0.5 on)"""
    columns: tuple[str, ...] = option((), flag="--column", metavar="ROLE=NAME")
    """Key or column of plain rows (.jsonl, .csv) that holds something, e.g. input=frage; roles are
    id, input, expected, output, score, passed, reason, error, arm, trial and more"""
    predictions: Path | None = option(None, metavar="FILE")
    """The patches that a report of SWE-bench is about (default: looked for beside it)"""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the experiments go."""

    url: str | None = option(None, metavar="URL")
    """A fairtrial server to send them to, e.g. http://build-machine:7411 (default: FAIRTRIAL_URL,
    else the store of this machine)"""
    key: str | None = option(None, metavar="KEY|@FILE")
    """A key of that server that may write (default: FAIRTRIAL_KEY)"""
    project: str | None = option(None, metavar="PROJECT")
    """The project they belong to: its id or name (default: that of the folder)"""


@dataclass(frozen=True, slots=True)
class Request:
    """Make experiments of results that another tool wrote.

    Reads logs of Inspect AI (.eval, .json), results of promptfoo (.json), job folders of Harbor,
    JUnit XML, exports of OpenAI Evals, reports of SWE-bench, and plain rows (.jsonl, .csv). The
    tool is told by the content. Each run becomes one experiment with a dataset of its cases; all
    trials are kept, and what has no score is never taken for zero. The same results pushed again
    are the experiment that is there.
    """

    files: Annotated[tuple[Path, ...], Meta(min_length=1)] = option(positional=True)
    """Files and folders of results"""
    name: Annotated[str, Meta(min_length=1, max_length=200)] | None = option(None, metavar="NAME")
    """What to call the experiment (default: as the tool does, else as the file)"""
    dataset: str | None = option(None, metavar="NAME")
    """The dataset that the cases become a version of, or NAME@VERSION for stored cases that rows
    are matched with by id or input (default: as the tool calls it, else the experiment's name)"""
    environment: Literal["dev", "staging", "prod", "ci"] | None = option(None, metavar="NAME")
    """Where it ran: dev, staging, prod or ci (default: FAIRTRIAL_ENVIRONMENT, else ci on a CI, else
    dev)"""
    meaning: Meaning = group(Meaning)
    again: bool = option(default=False)
    """Make a new experiment even where these results are one already"""
    dry_run: bool = option(default=False)
    """Say what would be pushed, and write nothing"""
    target: Target = group(Target)


EXAMPLES = (
    "fairtrial push logs/2026-11-29T12-00-00_math.eval",
    "fairtrial push results.json --name candidate --dataset faq",
    "fairtrial push junit.xml --dry-run",
    "fairtrial push scores.csv --column input=question --pass 'accuracy>=0.8'",
    "fairtrial push jobs/2026-11-29__12-00-00 --url http://build-machine:7411",
)
