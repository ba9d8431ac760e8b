"""The machine's own agent in an image: its program is lent to the container, read-only.

Nothing is installed there, since nothing of the network is reached. A program that carries all it
needs runs in any image of Linux; one that needs a C library runs where the image has the same.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from fairtrial.model.errors import InfraError
from fairtrial.ports import ProcessCall
from fairtrial.ports.workspaces import RepoWorkspace

_ELF: Final = b"\x7fELF"
_64_BITS: Final = 2
_INTERPRETER: Final = 3
"""The kind of a program header that names what loads the program."""
_HEAD: Final = 4096
_MOST: Final = 2000
_LIMIT_S: Final = 60.0
_NO_LOADER: Final = 3
_PROBE: Final = 'test -e "$1" || exit 3; "$2" --version'


@dataclass(frozen=True, slots=True)
class Lent:
    """A program of this machine that a container can be lent.

    Attributes:
        program: Its path.
        loader: The C library's loader that it needs; None when it needs none.
        needs: What of this machine the container has to see: the program, or its package.
    """

    program: str
    loader: str | None
    needs: str


def lent(agent: str, program: str) -> Lent:
    """Return the program itself behind what starts it, such as a script of npm's.

    Raises:
        InfraError: there is none that runs without an interpreter.
    """
    path = Path(program).resolve()
    for file in (path, *_beside(path, agent)):
        head = _head(file)
        if head.startswith(_ELF):
            return Lent(str(file), _loader(head), str(_package(file)))
    raise InfraError(
        f"{agent} at {program} is a script, and the image has nothing that runs it; install the "
        f"native program of {agent}, or run the image's own as `--agent command`",
        kind="setup",
    )


async def lend(place: RepoWorkspace, call: ProcessCall, agent: str, found: Lent) -> ProcessCall:
    """Return a call of an agent as it runs in a container.

    Args:
        place: The workspace, which shows what the program needs.
        call: How the agent runs on this machine.
        agent: Its name.
        found: Its program.

    Raises:
        InfraError: it cannot run in the image.
    """
    words = ("/bin/sh", "-c", _PROBE, "sh", found.loader or "/", found.program)
    probe = ProcessCall(words, b"", {"HOME": str(place.home)}, call.cwd, _LIMIT_S)
    ended = await place.run(probe)
    if ended.usage.exit_status:
        said = ended.usage.stderr_tail.strip() or ended.stdout.decode("utf-8", "replace").strip()
        why = (
            f"it needs {found.loader}, which the image does not have"
            if ended.usage.exit_status == _NO_LOADER
            else f"it does not start there: {said[-300:] or 'it says nothing'}"
        )
        raise InfraError(
            f"{agent} of this machine cannot run in the image: {why}; build the image on one with "
            f"a C library as this machine's, or run the image's own {agent} as `--agent command`",
            kind="setup",
        )
    return replace(call, argv=(found.program, *call.argv[1:]))


def _package(file: Path) -> Path:
    """Return the package of npm that a program is in, else the program alone.

    A whole folder of programs would hide the image's of the same place.
    """
    parts = file.parts
    if "node_modules" not in parts:
        return file
    top = len(parts) - parts[::-1].index("node_modules")
    return Path(*parts[: top + (2 if parts[top].startswith("@") else 1)])


def _beside(script: Path, agent: str) -> Iterator[Path]:
    """Yield the native programs in packages beside a script of npm's, the likeliest first."""
    parts = script.parts
    if "node_modules" not in parts:
        return
    # The innermost: a package's own packages are its platform's.
    top = Path(*parts[: len(parts) - parts[::-1].index("node_modules")])
    package = script.relative_to(top).parts
    scope = top / package[0] if package[0].startswith("@") else top
    names = {agent, agent.partition("-")[0]}
    seen = 0
    for folder in sorted(scope.glob(f"{package[1 if scope != top else 0]}-*")):
        for file in sorted(folder.rglob("bin/*")) + sorted(folder.glob("*")):
            seen += 1
            if seen > _MOST:
                return
            if file.stem in names and file.is_file():
                yield file


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(_HEAD)
    except OSError:
        return b""


def _loader(head: bytes) -> str | None:
    """Return the loader that an ELF program names; None for one that needs none."""
    if head[4] != _64_BITS:
        return None
    order = "<" if head[5] == 1 else ">"
    (offset,) = struct.unpack_from(f"{order}Q", head, 32)
    size, count = struct.unpack_from(f"{order}HH", head, 54)
    for number in range(count):
        at = offset + number * size
        if at + 40 > len(head):
            break
        (kind,) = struct.unpack_from(f"{order}I", head, at)
        if kind == _INTERPRETER:
            (where,) = struct.unpack_from(f"{order}Q", head, at + 8)
            (length,) = struct.unpack_from(f"{order}Q", head, at + 32)
            return head[where : where + length].rstrip(b"\0").decode("utf-8", "replace") or None
    return None
