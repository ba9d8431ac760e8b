"""Images: what they are, built from a Dockerfile, and their files copied out."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import signal
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from fairtrial.model.errors import InfraError, UsageError
from fairtrial.ports.workspaces import ImageFacts
from fairtrial.workspaces.copying import remove_tree
from fairtrial.workspaces.image.engines import LABEL, Engine
from fairtrial.workspaces.places import Places

NAME: Final = "fairtrial-task"
_FROM: Final = re.compile(r"(?im)^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?")
_COPY_LIMIT_S: Final = 600.0
_PATIENCE_S: Final = 5.0
_LAST_LINES: Final = 4
_LONGEST_TEXT: Final = 400


class EngineImages:
    """The images of one engine.

    Args:
        engine: podman or docker.
        places: Names what is made, so that a sweep finds it.
    """

    def __init__(self, engine: Engine, places: Places) -> None:
        self._engine = engine
        self._places = places

    async def facts(self, image: str) -> ImageFacts:
        """See `Images.facts`."""
        known = await asyncio.to_thread(self._engine.image_id, image, pull=False)
        words = ("image", "inspect", "--format", "{{json .Config}}", image)
        code, said = await self._ask(words, _COPY_LIMIT_S)
        if code != 0:
            raise UsageError(f"the image {image!r} cannot be looked at", why=_end_of(said))
        try:
            config = json.loads(said)
        except ValueError:
            config = None
        workdir = config.get("WorkingDir") if isinstance(config, dict) else None
        return ImageFacts(image, known, str(workdir or "/"))

    async def build(self, context: Path, dockerfile: str, limit_s: float) -> str:
        """See `Images.build`."""
        name = f"{NAME}:{await asyncio.to_thread(_hash_of, context, dockerfile)}"
        code, _ = await self._ask(("image", "inspect", name), _COPY_LIMIT_S)
        if code == 0:
            return name
        for base in bases_of(dockerfile):
            # An engine would fetch it while it builds, and nobody has asked for that.
            await asyncio.to_thread(self._engine.image_id, base, pull=False)
        place = self._places.new()
        try:
            file = place / "Dockerfile"
            file.write_text(dockerfile, encoding="utf-8")
            words = ("build", "--tag", name, "--file", str(file), str(context))
            code, said = await self._ask(words, limit_s)
        finally:
            await asyncio.to_thread(remove_tree, place)
        if code is None:
            raise InfraError(f"the image was not built within {limit_s:g} s", kind="setup")
        if code != 0:
            raise InfraError(f"the Dockerfile does not build: {_end_of(said)}", kind="setup")
        return name

    async def copy_out(self, image: str, folder: str, target: Path) -> None:
        """See `Images.copy_out`."""
        place = self._places.new()
        self._places.note("engine", self._engine.path)
        name, label = self._places.name_of(place), f"{LABEL}={self._places.owner}"
        own = ("--network", "none", "--pull", "never", "--entrypoint", "")
        try:
            words = ("create", "--name", name, "--label", label, *own, image, "true")
            code, said = await self._ask(words, _COPY_LIMIT_S)
            if code != 0:
                raise InfraError(f"the image cannot be opened: {_end_of(said)}", kind="setup")
            copying = ("cp", f"{name}:{folder.rstrip('/')}/.", str(target))
            code, said = await self._ask(copying, _COPY_LIMIT_S)
            if code != 0 and not _is_missing(said):
                raise InfraError(
                    f"the files of {folder} cannot be copied out of the image: {_end_of(said)}",
                    kind="setup",
                )
        finally:
            await asyncio.shield(asyncio.to_thread(self._engine.remove, name))
            await asyncio.to_thread(remove_tree, place)

    async def _ask(self, words: Sequence[str], limit_s: float) -> tuple[int | None, bytes]:
        """Return the exit status, None over the limit, and what was printed."""
        try:
            process = await asyncio.create_subprocess_exec(
                self._engine.path,
                *words,
                env=dict(self._engine.env),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as problem:
            raise InfraError(f"{self._engine.path} does not run: {problem}", kind="setup") from None
        try:
            said, _ = await asyncio.wait_for(process.communicate(), limit_s)
        except TimeoutError:
            return None, b""
        finally:
            if process.returncode is None:
                await asyncio.shield(_end(process))
        return process.returncode, said


def bases_of(dockerfile: str) -> tuple[str, ...]:
    """Return the images that a Dockerfile begins with, as far as its text alone tells."""
    found: dict[str, None] = {}
    stages = {"scratch"}
    for base, stage in _FROM.findall(dockerfile):
        if base.lower() not in stages and "$" not in base:
            found[base] = None
        if stage:
            stages.add(stage.lower())
    return tuple(found)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End an engine's client and all that it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE_S)
        except TimeoutError:
            continue
        return


def _hash_of(context: Path, dockerfile: str) -> str:
    """Return the hash of all that an image is built from."""
    told = hashlib.sha256(dockerfile.encode("utf-8", "surrogateescape"))
    for path in _files(context):
        mode = path.lstat().st_mode
        told.update(os.fsencode(f"\0{path.relative_to(context).as_posix()}\0"))
        if stat.S_ISLNK(mode):
            told.update(b"->" + os.fsencode(path.readlink()))
        elif stat.S_ISREG(mode):
            told.update(b"x" if mode & stat.S_IXUSR else b"-")
            told.update(hashlib.sha256(path.read_bytes()).digest())
    return told.hexdigest()[:32]


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        links = [name for name in folders if Path(place, name).is_symlink()]
        yield from sorted(Path(place, name) for name in (*files, *links))


def _is_missing(said: bytes) -> bool:
    words = said.decode(errors="replace").lower()
    return "no such file" in words or "could not find the file" in words


def _end_of(said: bytes) -> str:
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-_LAST_LINES:])[-_LONGEST_TEXT:] or "it said nothing"
