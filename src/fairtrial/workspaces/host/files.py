"""Level `none`: a copy of the files, and programs with all rights of their user."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from fairtrial.model.errors import TaskError
from fairtrial.model.isolation import Guarantee, Held, Level
from fairtrial.ports import PreparedRepo, ProcessCall, ProcessResult
from fairtrial.workspaces.flattening import copied_layer, copy_of
from fairtrial.workspaces.trial_files import TrialFiles, check_words

_OPEN = (
    Held(Guarantee.FILES, holds=False, how="level none: programs have all rights of their user"),
    Held(Guarantee.NETWORK, holds=False, how="level none: the network is that of the machine"),
    Held(
        Guarantee.PROCESSES,
        holds=False,
        how="level none: those of others are seen, though none outlives its call",
    ),
)


class HostFiles(TrialFiles):
    """The workspace of level `none`."""

    level = Level.NONE

    @property
    def path(self) -> PurePosixPath:
        """See `RepoWorkspace.path`."""
        return PurePosixPath(self.folder)

    @property
    def home(self) -> PurePosixPath:
        """See `RepoWorkspace.home`."""
        return PurePosixPath(self.place / "home")

    @property
    def folder(self) -> Path:
        """See `TrialFiles.folder`."""
        return self.place / "files"

    async def snapshot(self) -> PreparedRepo:
        """See `RepoWorkspace.snapshot`."""
        return await copied_layer(self._means.places, self._repo, self.folder)

    async def _make(self) -> tuple[Held, ...]:
        how = await copy_of(self._means, self._repo, self.folder)
        return (Held(Guarantee.COPY, holds=True, how=how), *_OPEN, *await self._limit())

    async def _run(self, call: ProcessCall, number: int) -> ProcessResult:
        own = {"HOME": str(self.home), "TMPDIR": str(self.place / "tmp")}
        call = replace(call, cwd=self.folder / call.cwd, env={**call.env, **own})
        if not self._group.folders:
            return await self._means.programs.run(call)
        check_words(call)
        order = {
            "cgroups": [str(folder) for folder in self._group.folders],
            "cwd": str(call.cwd),
            "argv": call.argv,
            "env": dict(call.env),
        }
        result, notes = await self._start("plain", order, call, number)
        if notes.get("problem"):
            raise TaskError(f"program {call.argv[0]!r} could not be started: {notes['problem']}")
        return result
