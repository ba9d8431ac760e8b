"""Options of `eval run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.app.agent_options import AgentChoice
from fairtrial.app.requests.exp_run import NEWEST, Limits, Name, NotNegative, Trials
from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Arms:
    """What is compared within the run."""

    arms: tuple[str, ...] = option((), flag="--arm", metavar="NAME=FILE|DIR|JSON")
    """One arm, in place of --harness; give two or more, the baseline first. FILE or DIR is the
    harness of the arm; JSON ({...}, or a .json file) holds options of the agent that it sets over
    the common ones, e.g. '{"model": "MODEL", "harness": "new/AGENTS.md"}'"""
    stop_early: bool = option(default=False)
    """With two arms: look at the tasks finished so far and stop once the evidence suffices"""
    looks: Annotated[int, Meta(ge=2, le=20)] | None = option(None, metavar="N")
    """With --stop-early: planned looks over all tasks, the last one included (default: 4)"""
    stop_on_regression: bool = option(default=False)
    """Stop, with exit status 1, once a task that passed in every trial of --baseline fails, and
    fails again in two reruns"""
    baseline: str | None = option(None, metavar="EXPERIMENT[:ARM]")
    """With --stop-on-regression: the stored run that this one is held to"""


@dataclass(frozen=True, slots=True)
class Request:
    """Let a coding agent work on eval tasks, and verify what it did.

    A suite is run as an experiment on its dataset `evals/SUITE`, one case a task, so that every
    `exp` command works on the result. Each trial has a fresh workspace; the verifier runs in
    another one, with the agent's change and the hidden tests. What it is expected to cost is said
    first, and nothing that may cost money starts without your consent.
    """

    tasks: tuple[str, ...] = option((), positional=True, metavar="SUITE|TASK")
    """A suite, or tasks of one: SUITE, SUITE/TASK or TASK"""
    tags: tuple[str, ...] = option((), flag="--tag", metavar="TAG")
    """Only tasks with this tag, or another one given"""
    agent: AgentChoice = group(AgentChoice)
    trials: Trials = option(3, short="-n", metavar="N")
    """Trials a task and arm"""
    design: Arms = group(Arms)
    name: Name | None = option(None, metavar="NAME")
    """Name of the experiment (default: the suite's)"""
    seed: NotNegative | None = option(None, metavar="N")
    """Seed of the order of the trials (default: drawn, and recorded)"""
    limits: Limits = group(Limits)
    max_cost: Annotated[float, Meta(gt=0)] | None = option(None, metavar="USD")
    """What the run may cost: it does not start when more is expected, and no trial starts that
    would pass it (default: no limit)"""
    yes: bool = option(default=False, short="-y")
    """Consent to what it costs; without a terminal to ask on this is needed"""
    resume: str | None = option(None, metavar="EXPERIMENT", bare=NEWEST)
    """Continue an interrupted run: finished trials are kept, only the rest run (no value: the
    newest unfinished one; with tasks and an agent, the newest of the same)"""
    retry_errors: bool = option(default=False)
    """With --resume EXPERIMENT: run its trials again whose agent failed by itself, too"""
    series: Name | None = option(None, metavar="NAME")
    """Tag the run as the next round of an improvement loop (see `exp plateau`)"""
    session: bool = option(default=True)
    """In an open session (see `exp session`), add the run to its timeline"""
    dry_run: bool = option(default=False)
    """Say what would run and what it may cost, and run nothing"""


EXAMPLES = (
    "fairtrial eval run failures --dry-run",
    "fairtrial eval run failures --yes",
    "fairtrial eval run fix-add --agent codex --model gpt-5.5 --trials 5",
    "fairtrial eval run failures --arm before=AGENTS.md --arm after=new/AGENTS.md",
    "fairtrial eval run failures --command 'python3 /opt/agent/run.py' --level bwrap",
    "fairtrial eval run --resume --yes",
)
