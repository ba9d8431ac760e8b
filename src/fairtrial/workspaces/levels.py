"""Workspaces of every level on this machine."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from fairtrial.model.errors import Undecidable, UsageError
from fairtrial.model.isolation import Level, LevelStatus, Limits, Wanted
from fairtrial.ports import PreparedRepo, RepoWorkspace, Workspace
from fairtrial.workspaces.bwrap.files import BwrapFiles
from fairtrial.workspaces.cgroups import ControlGroups, remove_group
from fairtrial.workspaces.copying import remove_tree
from fairtrial.workspaces.host.files import HostFiles
from fairtrial.workspaces.image.building import EngineImages
from fairtrial.workspaces.image.engines import Engine, find_engine, remove_containers
from fairtrial.workspaces.image.files import ImageFiles
from fairtrial.workspaces.places import Places, dead_owners, left_by
from fairtrial.workspaces.preparing import prepared
from fairtrial.workspaces.trial_files import Findings, Means, TrialFiles

_TRIED = Limits(memory_bytes=1024**3, processes=256)
_INSTALL = "install bubblewrap (apt, dnf, pacman or apk), or ask for level none"


class LocalWorkspaces:
    """The `Workspaces` of this machine.

    Args:
        home: The folder of the store; prepared files and places are kept below it, and no trial
            sees it.
        programs: Runs programs; whoever made it opens and closes it.
        environ: The environment of this process.
        new_id: Gives a name that nobody else has, of letters and digits.
    """

    def __init__(
        self,
        home: Path,
        programs: Workspace,
        environ: Mapping[str, str],
        new_id: Callable[[], str],
    ) -> None:
        self._root = home.absolute() / "workspaces"
        self._programs = programs
        self._environ = environ
        self._places = Places(self._root / "live", new_id)
        self._means = Means(
            self._places,
            programs,
            ControlGroups(),
            environ,
            (home.absolute(), self._root),
            Findings(),
        )
        self._engine: Engine | str | None = None
        self._swept = False

    async def prepare(self, key: str, fill: Callable[[Path], Awaitable[None]]) -> PreparedRepo:
        """See `Workspaces.prepare`; the first call sweeps, too."""
        if not self._swept:
            self._swept = True
            await asyncio.to_thread(self.sweep)
        return await prepared(self._root / "prepared", self._places, self._environ, key, fill)

    def workspace(self, repo: PreparedRepo, wanted: Wanted) -> RepoWorkspace:
        """See `Workspaces.workspace`."""
        return self._workspace(repo, wanted)

    def images(self) -> EngineImages:
        """See `Workspaces.images`."""
        return EngineImages(self._working_engine(), self._places)

    def discard(self, repo: PreparedRepo) -> None:
        """See `Workspaces.discard`."""
        place = repo.layers[0].parent
        if place.is_relative_to(self._root / "live"):
            remove_tree(place)

    async def probe(self) -> tuple[LevelStatus, ...]:
        """See `Workspaces.probe`."""
        none = LevelStatus(Level.NONE, works=True, found="a copy of the files, and no isolation")
        return none, await self._probe_bwrap(), await asyncio.to_thread(self._probe_image)

    def sweep(self) -> tuple[str, ...]:
        """See `Workspaces.sweep`."""
        return sweep(self._root / "live")

    def close(self) -> None:
        """Remove everything of this object's but prepared files; its workspaces have ended."""
        self._places.close()

    def _workspace(self, repo: PreparedRepo, wanted: Wanted) -> TrialFiles:
        level = wanted.level or Level.BWRAP
        if (wanted.image is None) != (level is not Level.IMAGE):
            raise UsageError(
                f"level {level} takes no image"
                if wanted.image
                else "level image needs the name of an image",
                fix="name an image and level image together",
            )
        if level is not Level.IMAGE and (wanted.folders or wanted.workdir):
            raise UsageError(
                f"level {level} has no folders of its own outside the workspace",
                why=", ".join(wanted.folders) or wanted.workdir,
                fix="use level image",
            )
        if level is Level.NONE:
            return HostFiles(self._means, repo, wanted)
        if level is Level.BWRAP:
            problem = self._no_bwrap()
            if problem is not None:
                raise UsageError("level bwrap does not work here", why=problem, fix=_INSTALL)
            return BwrapFiles(self._means, repo, wanted)
        return ImageFiles(self._means, repo, wanted, self._working_engine())

    def _working_engine(self) -> Engine:
        engine = self._find_engine()
        if isinstance(engine, str):
            raise UsageError(
                "level image does not work here", why=engine, fix="install podman or docker"
            )
        return engine

    def _find_engine(self) -> Engine | str:
        if self._engine is None:
            self._engine = find_engine(self._environ)
        return self._engine

    def _no_bwrap(self) -> str | None:
        import shutil  # noqa: PLC0415

        if not sys.platform.startswith("linux"):
            return "it needs Linux"
        if shutil.which("bwrap", path=self._environ.get("PATH")) is None:
            return "bwrap is not on PATH"
        return None

    async def _probe_bwrap(self) -> LevelStatus:
        level = Level.BWRAP
        problem = self._no_bwrap()
        if problem is not None:
            return LevelStatus(level, works=False, found=problem, fix=_INSTALL)
        place = self._places.new()
        (place / "files").mkdir()
        repo = PreparedRepo("probe", (place / "files",), "", place)
        self._means.findings.overlay = self._means.findings.groups = None
        try:
            async with BwrapFiles(self._means, repo, Wanted(level, _TRIED)) as tried:
                held = tried.isolation.held
        except Undecidable as error:
            fix = "allow user namespaces (sysctl kernel.unprivileged_userns_clone, AppArmor)"
            return LevelStatus(level, works=False, found=str(error), fix=fix)
        finally:
            remove_tree(place)
        return LevelStatus(level, works=True, found="works: a sandbox was made", held=held)

    def _probe_image(self) -> LevelStatus:
        engine = self._find_engine()
        if isinstance(engine, str):
            fix = "install podman or docker"
            return LevelStatus(Level.IMAGE, works=False, found=engine, fix=fix)
        return LevelStatus(
            Level.IMAGE,
            works=True,
            found=f"{engine.found}; no container was tried",
            held=engine.limits_held(_TRIED),
        )


def sweep(live: Path) -> tuple[str, ...]:
    """Remove what dead processes have left below a folder of places; return what was removed."""
    removed: list[str] = []
    for owner, folder in dead_owners(live):
        try:
            removed += _sweep_one(owner, folder)
        except (OSError, subprocess.SubprocessError) as problem:
            # Another user's, or an engine that does not answer: the folder stays for a next time.
            removed.append(f"folder {folder}, only in part: {problem}")
    return tuple(removed)


def _sweep_one(owner: str, folder: Path) -> list[str]:
    removed = []
    for group in left_by(folder, "group"):
        if Path(group).exists():
            remove_group(Path(group))
            removed.append(f"control group {group}")
    for engine in left_by(folder, "engine"):
        removed += [f"container {name}" for name in remove_containers(engine, owner)]
    remove_tree(folder)
    return [*removed, f"folder {folder}"]
