"""The table of verbs. Nothing behind a verb is imported before it is called.

A verb `exp run` has its request in `app/requests/exp_run.py` (`Request` and `EXAMPLES`), its
function in `app/exp_run.py` (`exp_run(bench, request) -> report`), and its text in
`cli/render/exp_run.py`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Verb:
    """One command.

    Attributes:
        path: Its words, e.g. `("exp", "run")`.
        summary: One line of help.
        runs_trials: It takes a while, tells events, and can be asked to stop.
        judges: It may ask models outside of a run, and tells how far it is; what is interrupted
            costs only what was not answered yet.
        runs_graders: It runs any graders, or anchors, outside of a run, and what they print is no
            report.
        serves: It works until it is stopped and tells what happens meanwhile.
        reads: It may read many files, and tells how far it is.
        asks: It may ask the user whether to go on, where there is a terminal.
        package: Where its function is; one that stands above `app` is not in it.
    """

    path: tuple[str, ...]
    summary: str
    runs_trials: bool = False
    judges: bool = False
    runs_graders: bool = False
    serves: bool = False
    reads: bool = False
    asks: bool = False
    package: str = "app"

    @property
    def name(self) -> str:
        """Its words with spaces."""
        return " ".join(self.path)

    @property
    def module(self) -> str:
        """Its words as one identifier."""
        return "_".join(self.path)

    def request(self) -> type[Any]:
        """Return the class of its request."""
        request: type[Any] = self._requests().Request
        return request

    def examples(self) -> tuple[str, ...]:
        """Return command lines that show its use."""
        examples: tuple[str, ...] = self._requests().EXAMPLES
        return examples

    def function(self) -> Callable[..., Any]:
        """Return the function behind it: `function(bench, request) -> report`."""
        module = importlib.import_module(f"fairtrial.{self.package}.{self.module}")
        function: Callable[..., Any] = getattr(module, self.module)
        return function

    def _requests(self) -> Any:
        return importlib.import_module(f"fairtrial.app.requests.{self.module}")


GROUPS = {
    "exp": "Run experiments and read them",
    "eval": "Turn failed sessions into evals, check them and run agents on them",
    "grader": "Find out what graders and judges are worth",
    "dataset": "Keep the cases that experiments run on",
    "cache": "Keep the answers of models, so that the same question costs once",
    "key": "Keep the keys that other machines reach the server with",
    "calls": "Read the model calls that the proxy recorded",
    "sessions": "Read the sessions of coding agents, and find those that went wrong",
    "harness": "See what steers your agents in a repository, and what an edit of it changes",
}
"""The first word of verbs that have two, and what they are about."""

VERBS = (
    Verb(("exp", "run"), "Run a task over a dataset and grade every output", runs_trials=True),
    Verb(
        ("exp", "ab"),
        "Try an edit of AGENTS.md, a rule or a skill on decisions that your agent got wrong",
        runs_trials=True,
    ),
    Verb(
        ("exp", "replay"),
        "Replay recorded model calls with another model, system prompt or field, and compare",
        runs_trials=True,
    ),
    Verb(
        ("exp", "metrics"),
        "Measure two commands in pairs: seconds, memory, and any number that they print",
        runs_trials=True,
    ),
    Verb(
        ("exp", "regrade"),
        "Grade stored outputs again with new or changed graders, and show which verdicts flipped",
        runs_trials=True,
    ),
    Verb(("exp", "power"), "Plan a comparison: how many cases and trials an effect needs"),
    Verb(
        ("exp", "aa"),
        "Run one configuration twice, or compare two runs of it, and keep its noise floor",
        runs_trials=True,
    ),
    Verb(
        ("exp", "sweep"),
        "Race configurations of a task, then compare the winner with the start on held-out cases",
        runs_trials=True,
    ),
    Verb(
        ("exp", "plateau"),
        "Should an improvement loop stop? The evidence over its rounds, and the version to ship",
    ),
    Verb(
        ("exp", "session"),
        "Group runs into a session: begin one, note a thought, read its timeline",
    ),
    Verb(
        ("exp", "baseline"),
        "Set, show or clear what this project's experiments are compared with",
    ),
    Verb(
        ("exp", "compare"),
        "Compare two experiments case by case: what B fixed and broke, by how much, how surely",
        judges=True,
    ),
    Verb(("exp", "gate"), "Hold an experiment against the rules of a release gate: ship or hold"),
    Verb(("exp", "show"), "Show an experiment: pass rate, graders, failures"),
    Verb(("exp", "list"), "List experiments, newest first"),
    Verb(("exp", "status"), "Show progress, ETA and cost of runs, and how to resume them"),
    Verb(
        ("exp", "export"),
        "Write an experiment, or the comparison of two, as junit, jsonl, csv, markdown or html",
    ),
    Verb(("exp", "labels"), "Write what people said of an experiment's rows, as labels"),
    Verb(("exp", "schema"), "Print the JSON Schema of the spec file, for editors"),
    Verb(
        ("eval", "run"),
        "Let a coding agent work on eval tasks, and verify what it did",
        runs_trials=True,
        asks=True,
    ),
    Verb(("eval", "report"), "Show a run of eval tasks again, or write it as markdown or html"),
    Verb(("eval", "init"), "Draft eval tasks from sessions that went wrong, one a session"),
    Verb(("eval", "new"), "Make an eval task of one session, flagged or not"),
    Verb(
        ("eval", "import"),
        "Load eval tasks from their folders, after an edit or on another machine",
    ),
    Verb(
        ("eval", "export"),
        "Write eval tasks as folders of another tool, which fairtrial can load again",
    ),
    Verb(
        ("eval", "list"),
        "List the eval tasks of this project: validated or draft, what they begin with, what is "
        "there",
    ),
    Verb(
        ("eval", "show"),
        "Show an eval task: what it begins with, what it asks, what verifies it, its validation",
    ),
    Verb(
        ("eval", "rm"),
        "Take eval tasks off their suites; their folders stay, and can be loaded again",
    ),
    Verb(
        ("eval", "validate"),
        "Check that the verdicts of eval tasks can be believed",
        judges=True,
        runs_graders=True,
    ),
    Verb(
        ("grader", "calibrate"),
        "Hold a grader against people's labels: what it recognises, how surely, where it differs",
        judges=True,
        runs_graders=True,
    ),
    Verb(
        ("grader", "check"),
        "Try to fool a grader: outputs that order it to pass them, empty, foreign and endless ones",
        judges=True,
        runs_graders=True,
    ),
    Verb(
        ("dataset", "add"), "Store cases from files or from sessions as a new version of a dataset"
    ),
    Verb(("dataset", "list"), "List datasets, or the versions of one"),
    Verb(("dataset", "show"), "Show a dataset version and its first cases"),
    Verb(("dataset", "export"), "Write a dataset version to a file"),
    Verb(
        ("dataset", "diff"),
        "Show what changed between two dataset versions: added, removed and changed cases",
    ),
    Verb(
        ("cache", "show"), "Show how many answers of models are kept, and how much room they take"
    ),
    Verb(
        ("cache", "prune"),
        "Forget kept answers of models: long unused ones, or the longest unused beyond a size",
    ),
    Verb(("push",), "Make experiments of results that another tool wrote", reads=True),
    Verb(
        ("proxy",),
        "Record the model calls of any program: a proxy for the Anthropic and OpenAI APIs",
        serves=True,
    ),
    Verb(
        ("serve",),
        "Serve the API on this machine, and receive sessions by OpenTelemetry",
        serves=True,
        package="http",
    ),
    Verb(
        ("mcp",),
        "Let a coding agent use fairtrial: an MCP server on standard input and output, or by HTTP",
        serves=True,
        package="http",
    ),
    Verb(("key", "create"), "Make a key that other machines reach the server with"),
    Verb(("key", "list"), "List the keys of the server"),
    Verb(("key", "revoke"), "Revoke a key: nothing is answered to it any more"),
    Verb(("calls", "list"), "List recorded model calls, newest first"),
    Verb(
        ("calls", "show"), "Show a recorded model call: the conversation, the answer, what it took"
    ),
    Verb(
        ("sessions", "sync"),
        "Read the sessions that coding agents recorded since the last time",
        reads=True,
    ),
    Verb(("sessions", "list"), "List captured sessions, the last ended first"),
    Verb(
        ("sessions", "show"),
        "Show a session: what it took, and its transcript with the flags at their turns",
    ),
    Verb(
        ("sessions", "flags"),
        "List the rules that flag sessions, and how many sessions each is on",
        reads=True,
    ),
    Verb(
        ("sessions", "decisions"),
        "List the steps at which agents chose badly, or well where they could have chosen badly",
        reads=True,
        runs_graders=True,
    ),
    Verb(
        ("sessions", "stats"),
        "Sum sessions up by week and agent: how many, how many flagged and with what, tokens, cost",
    ),
    Verb(("sessions", "export"), "Write a session as jsonl or markdown"),
    Verb(
        ("sessions", "checkout"),
        "Write the repository as it was before a session into a new folder",
    ),
    Verb(("sessions", "rm"), "Remove captured sessions for good, with all that is kept of them"),
    Verb(
        ("harness", "show"), "List what steers agents in a repository, and what each is told of it"
    ),
    Verb(("harness", "diff"), "Show what an edit of AGENTS.md, a rule or a skill changes"),
    Verb(("harness", "save"), "Keep a harness as one file, to try it or return to it later"),
    Verb(
        ("prune",), "Remove what is old for good: sessions, calls, outputs, kept answers, snapshots"
    ),
    Verb(("completion",), "Print what makes a shell complete commands, options, names and filters"),
    Verb(
        ("init",),
        "Let Claude Code and Codex tell fairtrial of their sessions, by hooks in their settings",
        asks=True,
    ),
    Verb(("demo",), "Run a small real experiment, offline, in a temporary store", runs_trials=True),
    Verb(("doctor",), "Check the installation, the store, the disk and the agents found on PATH"),
)


def find_verb(words: tuple[str, ...]) -> Verb | None:
    """Return the verb that the first words of a command line name."""
    return next((verb for verb in VERBS if words[: len(verb.path)] == verb.path), None)
