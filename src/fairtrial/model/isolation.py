"""How far a trial is kept apart from the rest of the machine: what was asked, and what held."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum

from fairtrial.model.json import Json


class Level(StrEnum):
    """What stands between a trial's programs and the machine, the weakest first."""

    NONE = "none"
    """A copy of the files and nothing else: programs have all rights of their user."""
    BWRAP = "bwrap"
    """Namespaces of the trial's own, by bubblewrap: the machine's programs, none of its files."""
    IMAGE = "image"
    """A container of podman or docker: the programs of an image."""


class Guarantee(StrEnum):
    """One thing that a level may promise."""

    COPY = "copy"
    """Files are the trial's own: a change is seen by no other trial. Holds at every level; how it
    is done differs (an overlay, or a copy)."""
    FILES = "files"
    """Files of the user and of other trials cannot be read, and the system's cannot be changed."""
    NETWORK = "network"
    """Nothing can be reached but one port of 127.0.0.1, if one was asked for."""
    PROCESSES = "processes"
    """Processes of others are neither seen nor reached, and none outlives its call."""
    MEMORY = "memory"
    """All processes together stay within the limit of memory that was asked for."""
    PROCESS_COUNT = "process_count"
    """There are never more processes than was asked for."""
    CPUS = "cpus"
    """All processes together use no more processors than was asked for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the programs of a trial may use, all of them together; None is no limit.

    Attributes:
        memory_bytes: Memory, swap included where the system counts it.
        processes: Processes and threads at a time.
        cpus: Processors, as a number that need not be whole; held at level `image` alone.
    """

    memory_bytes: int | None = None
    processes: int | None = None
    cpus: float | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a trial's workspace is asked to be.

    Attributes:
        level: The level; None is `bwrap`, and an error where that does not work, since `none` is
            never chosen for a user.
        limits: What its programs may use.
        port: The one port of 127.0.0.1 that they reach, under the same number; None for none. At
            level `none` they reach whatever their user does.
        image: The image of level `image`.
        pull: Whether an image that is not on this machine may be fetched.
        workdir: At level `image`: where the files lie in the container; None is `/workspace`.
        folders: At level `image`: further folders, absolute, that are the trial's own and empty at
            the start; `RepoWorkspace.copy_in`, `read` and `files` know them, too.
        visible: Folders outside the system's that programs at level `bwrap` may read, such as a
            virtual environment. Folders of `PATH` need not be named. At level `image`, they, and
            files too, lie at the same place in the container.
        overlay: At level `bwrap`: lay the files over the prepared ones where that works, which
            costs next to nothing; but a program that renames a prepared *folder* by itself, as
            `git mv` does, then fails. False copies them, and everything works as in any folder.
    """

    level: Level | None = None
    limits: Limits = Limits()
    port: int | None = None
    image: str | None = None
    pull: bool = False
    workdir: str | None = None
    folders: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    overlay: bool = True


@dataclass(frozen=True, slots=True)
class Held:
    """One guarantee, as it really was.

    Attributes:
        what: The guarantee.
        holds: Whether it held. A limit that was not asked for is not listed.
        how: What enforced it; when it did not hold, why not.
    """

    what: Guarantee
    holds: bool
    how: str


@dataclass(frozen=True, slots=True)
class Isolation:
    """What really stood between a trial and the machine; recorded in the trial.

    Attributes:
        level: The level it ran at.
        held: Every guarantee of the level and every limit asked for, held or not.
        hits: The limits that its programs ran into, in words.
        image: The image, with the digest of its content, at level `image`.
    """

    level: Level
    held: tuple[Held, ...] = ()
    hits: tuple[str, ...] = ()
    image: str | None = None

    def holds(self, what: Guarantee) -> bool:
        """Return whether a guarantee held."""
        return any(held.what is what and held.holds for held in self.held)

    def content(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {
            "level": self.level.value,
            "held": [asdict(held) for held in self.held],
            "hits": list(self.hits),
            "image": self.image,
        }


@dataclass(frozen=True, slots=True)
class LevelStatus:
    """Whether a level works on this machine, as a probe found it.

    Attributes:
        level: The level.
        works: Whether a workspace of it can be made here.
        found: What was found, in words.
        fix: What to do when it does not work.
        held: What it would guarantee here, with limits asked for.
    """

    level: Level
    works: bool
    found: str
    fix: str | None = None
    held: tuple[Held, ...] = field(default=())
