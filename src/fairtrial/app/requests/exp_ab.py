"""Options of `exp ab`. A spec file holds the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from fairtrial.app.caching_options import Caching
from fairtrial.app.decision_options import DecisionSelection
from fairtrial.app.requests.exp_compare import Gate
from fairtrial.app.requests.exp_run import NEWEST, Limits, Name, Trials
from fairtrial.schema.fields import JSON_OR_FILE, group, option

_Named = Annotated[str, Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class Request:
    """Try an edit of AGENTS.md, a rule or a skill on decisions that your agent got wrong.

    The decision points of your recent sessions are put to the model again, with the harness before
    the edit (A) and after it (B): those where the agent chose badly, and as many where it chose
    well. A next turn is asked for, no tool is run, and each turn is judged for its behavior. So you
    see which wrong decisions B mends, and which right ones it breaks.

    Without --a and --b the uncommitted edits of the repository are tried against HEAD; when there
    are none, the last commit that changed the harness against the version before it.
    """

    SPEC_OF_ITS_OWN: ClassVar[bool] = True
    """Its spec files hold its own options, not those of a run."""

    spec: Path | None = option(None, positional=True)
    """A JSON, YAML or TOML file with these options; those of the command line override it"""
    a: str | None = option(None, metavar="FILE|DIR|git:REV|BUNDLE|none")
    """Baseline harness (default: HEAD when the edits of the working tree are B, else the
    repository's files as they are; without edits, the version before the last commit that changed
    the harness)"""
    b: str | None = option(None, metavar="FILE|DIR|git:REV|BUNDLE|none")
    """Candidate harness; a file replaces the file of the same path in A (default: your uncommitted
    edits, else your last commit that changed the harness)"""
    selection: DecisionSelection = group(DecisionSelection)
    provider: str | Mapping[str, Any] | None = option(None, metavar=JSON_OR_FILE)
    """Who answers the next turn and judges it: anthropic or openai with a key, or claude-code or
    codex on your subscription, two calls at a time, at costs as the API would charge (default: the
    key that is set, else the login that is there)"""
    model: _Named | None = option(None, metavar="MODEL")
    """Model of the next turns (default: the one that each decision was made with)"""
    judge_model: _Named | None = option(None, metavar="MODEL")
    """Model of the judge (default: the one of --model, else the one that most decisions were made
    with)"""
    base_url: str | None = option(None, metavar="URL")
    """Base URL of the API (default: ANTHROPIC_BASE_URL or OPENAI_BASE_URL, else the usual one)"""
    trials: Trials = option(1, metavar="N")
    """Next turns a case and arm"""
    limits: Limits = group(Limits)
    max_cost: Annotated[float, Meta(gt=0)] | None = option(None, metavar="USD")
    """Do not start when more than this is expected or a model has no known price, and start no
    turn that would pass it (default: no limit)"""
    caching: Caching = group(Caching)
    name: Name | None = option(None, metavar="NAME")
    """Name of the experiment and its dataset (default: ab-REPOSITORY)"""
    ship: Gate = group(Gate)
    allow_protected_edit: tuple[str, ...] = option((), metavar="PATH:LINE")
    """Allow the edit to delete, reword or relax this protected line of A; no other option does"""
    resume: str | None = option(None, metavar="EXPERIMENT", bare=NEWEST)
    """Continue an interrupted one: finished turns are kept, only the rest run (no value: the newest
    unfinished one that is the same)"""
    dry_run: bool = option(default=False)
    """Show the edit, the decision points and what it may cost; call no model, and need no key"""
    watch: bool = option(default=False)
    """Run again whenever the files of B change, one line a run; Ctrl-C ends it"""


EXAMPLES = (
    "fairtrial exp ab",
    "fairtrial exp ab --dry-run",
    "fairtrial exp ab --b ./drafts/AGENTS.md --behavior unverified-claim",
    "fairtrial exp ab --a git:main --b . --since 30d --trials 3 --gate",
    "fairtrial exp ab --watch --provider claude-code --max-cost 5",
)
