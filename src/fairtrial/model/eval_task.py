"""An eval task: a workspace, an instruction, and a verifier that says whether it was done."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from fairtrial.model.json import Json, content_hash

EVAL_TASK: Final = "eval_task"
"""The key of a case's metadata that holds the digest of its eval task."""

AGENT: Final = "agent"
"""The kind of task that works on eval tasks."""

VERIFIER: Final = "verifier"
"""The grader of every suite: each case's own verifier."""


TESTS: Final = "/tests"
"""Where an image's verifier finds its files, as Harbor's scripts expect."""
LOGS: Final = "/logs"
"""Where such a verifier writes: its reward into `verifier/reward.txt` or `.json` below it."""
SOLUTION: Final = "/solution"
"""Where the files of a solution lie in an image."""
SOLVE: Final = "solve.sh"
"""The program of a solution."""


class TaskStatus(StrEnum):
    """Whether the verdicts of an eval task can be believed."""

    DRAFT = "draft"
    """It was not validated as it is now, or did not pass."""
    VALIDATED = "validated"


@dataclass(frozen=True, slots=True)
class RepoStart:
    """A workspace that begins as a git repository was before a session.

    Attributes:
        repo: Root of the repository, absolute.
        commit: Full id of the commit that was checked out; None for one without commits.
        snapshot: Id of the snapshot that holds the state; None where there is none.
        patch: What differed from the commit, as `git diff --binary` writes it; empty for nothing.
            Not used when there is a snapshot.
        grade: How sure the state is: a value of `fairtrial.model.start_state.Grade`.
        unknown: What could not be known of it, a line each.
    """

    repo: str
    commit: str | None
    snapshot: str | None = None
    patch: str = ""
    grade: str = "exact"
    unknown: tuple[str, ...] = ()

    def content(self) -> dict[str, Json]:
        """Return what makes it the workspace it is: not where it lies, nor how sure it is."""
        return {
            "kind": "repo",
            "commit": self.commit,
            "snapshot": self.snapshot,
            "patch": self.patch,
        }


@dataclass(frozen=True, slots=True)
class FolderStart:
    """A workspace that begins as a folder of the task.

    Attributes:
        files: Digest of each file by its path, with `x` before that of an executable one and `->`
            before the target of a link.
        image: The container image that it needs; None runs at any level.
        dockerfile: Text of the file that the image is built from; None when it is only named.
        workdir: Where the workspace lies in the image; None is the image's own.
        memory_mb: Megabytes of memory that its programs may use in the image; None is no limit.
        cpus: Processors they may use in the image; None is no limit.
        build_limit_s: Seconds that building the image may take; None is the usual.

    With a `dockerfile`, the files are what the image is built from, and the workspace is what it
    holds at `workdir`. With an image alone, they lie over what that holds there.
    """

    files: Mapping[str, str]
    image: str | None = None
    dockerfile: str | None = None
    workdir: str | None = None
    memory_mb: int | None = None
    cpus: float | None = None
    build_limit_s: float | None = None

    @property
    def in_image(self) -> bool:
        """Whether it needs an image, named or built."""
        return self.image is not None or self.dockerfile is not None

    def content(self) -> dict[str, Json]:
        """Return what makes it the workspace it is."""
        return {
            "kind": "folder",
            "files": dict(self.files),
            "image": self.image,
            "dockerfile": self.dockerfile,
            "workdir": self.workdir,
            **_given(
                {
                    "memory_mb": self.memory_mb,
                    "cpus": self.cpus,
                    "build_limit_s": self.build_limit_s,
                }
            ),
        }


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a task, run in its workspace.

    Attributes:
        line: A text for `/bin/sh -c`, as its author wrote it.
        time_limit_s: Seconds it may take.
        env: Variables to set.
    """

    line: str
    time_limit_s: float
    env: Mapping[str, str] = field(default_factory=dict)

    def content(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {"line": self.line, "time_limit_s": self.time_limit_s, "env": dict(self.env)}


@dataclass(frozen=True, slots=True)
class Verifier:
    """What says whether a workspace is as it should be.

    Attributes:
        command: Passes with exit status 0, unless it writes a reward; None for a judge.
        judge: A judge grader as JSON, which is shown the diff; None for a command.
        hidden: Files that only the verifier sees, by their path in the workspace.
        patterns: Globs of files of the workspace that the agent must not see; they are part of
            `hidden`.
        protected: Globs of files that are put back as they were at the start before the verifier
            runs, since changing them would satisfy it; what was added under them is removed.
        place: The folder outside the workspace where the hidden files are put, such as `/tests`;
            only in an image. None is the workspace.
    """

    command: Command | None = None
    judge: Mapping[str, Json] | None = None
    hidden: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    patterns: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    place: str | None = None

    @property
    def hidden_paths(self) -> tuple[str, ...]:
        """Paths in the workspace that the agent must not find there."""
        return () if self.place is not None else tuple(self.hidden)

    def content(self) -> dict[str, Json]:
        """Return it as JSON; a hidden file stands as its hash."""
        hidden = _hashes(self.hidden)
        return {
            "command": None if self.command is None else self.command.content(),
            "judge": None if self.judge is None else dict(self.judge),
            "hidden": hidden,
            "patterns": list(self.patterns),
            "protected": list(self.protected),
            **_given({"place": self.place}),
        }


@dataclass(frozen=True, slots=True)
class Origin:
    """The session that a task was made from.

    Attributes:
        session: Its id in the store.
        agent: The agent whose session it was.
        flags: What was wrong with it.
        ended_at: When it ended (UTC); None when the transcript does not tell.
    """

    session: str
    agent: str
    flags: tuple[str, ...] = ()
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class EvalTask:
    """One eval task, whole.

    Attributes:
        suite: The suite it belongs to.
        name: Its folder's name; unique in the suite.
        instruction: What the agent is told.
        start: How its workspace begins.
        verifier: What says whether it was done.
        setup: Makes the workspace ready before the agent, e.g. installs what it needs.
        agent_limit_s: Seconds the agent may take.
        tags: Labels to select by.
        origin: The session it was made from; None for a task of any other origin.
        reference: A correct change, as a patch; None when there is none.
        near_misses: Patches that the verifier must fail, by name.
        solution: Files of a program that does the task, `solve.sh` among them; it makes the
            reference where there is no patch.
        metadata: Facts that its folder gives and fairtrial only passes on.
    """

    suite: str
    name: str
    instruction: str
    start: RepoStart | FolderStart
    verifier: Verifier
    setup: Command | None = None
    agent_limit_s: float = 1800.0
    tags: tuple[str, ...] = ()
    origin: Origin | None = None
    reference: str | None = None
    near_misses: Mapping[str, str] = field(default_factory=dict)
    solution: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    metadata: Mapping[str, Json] = field(default_factory=dict)

    def content(self) -> dict[str, Json]:
        """Return all that its validation and its verdicts depend on; the ground of its digest."""
        return {
            "instruction": self.instruction,
            "start": self.start.content(),
            "verifier": self.verifier.content(),
            "setup": None if self.setup is None else self.setup.content(),
            "agent_limit_s": self.agent_limit_s,
            "reference": self.reference,
            "near_misses": dict(self.near_misses),
            **_given({"solution": _hashes(self.solution) or None}),
        }

    @property
    def has_reference(self) -> bool:
        """Whether there is a correct change, or a program that makes it."""
        return self.reference is not None or SOLVE in self.solution

    @property
    def digest(self) -> str:
        """The hash that names this version of the task."""
        return content_hash(self.content())

    def workspace_content(self) -> dict[str, Json]:
        """Return what its prepared workspace depends on; the ground of that workspace's name."""
        return {
            "start": self.start.content(),
            "setup": None if self.setup is None else self.setup.content(),
            "hidden": sorted(self.verifier.hidden_paths),
            "patterns": list(self.verifier.patterns),
        }


def _given(told: Mapping[str, Json]) -> dict[str, Json]:
    """Return what is there; what is not leaves the digest as it was."""
    return {name: value for name, value in told.items() if value is not None}


def _hashes(files: Mapping[str, bytes]) -> dict[str, Json]:
    return {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
