"""The verifier is not satisfied by a change to itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fairtrial.model.isolation import Level, Wanted
from fairtrial.suites.validation.findings import Check, Checked, Finding
from fairtrial.suites.validation.tampers import Tamper, tampers
from fairtrial.suites.validation.trying import Trying


async def check_tampering(trying: Trying, root: Path) -> Checked:
    """Try each change that could satisfy the verifier.

    What git ignores is no part of an agent's change, and so cannot tamper.

    Args:
        trying: Tries the verifier.
        root: A copy of the workspace.
    """
    task = trying.task
    command = task.verifier.command
    if command is None:
        return Checked(Check.TAMPERING, skipped="a judge verifies, who is not in the workspace")
    names = await asyncio.to_thread(_names, root)
    derived = await asyncio.to_thread(
        tampers, command.line, root, names, task.verifier.hidden_paths
    )
    if not derived:
        skipped = "the verifier's command names nothing of the workspace that could be changed"
        return Checked(Check.TAMPERING, skipped=skipped)
    found = await asyncio.gather(*(_one(trying, tamper) for tamper in derived))
    problems = tuple(finding for finding in found if finding is not None)
    facts = {"tried": [tamper.what for tamper in derived], "passed": len(problems)}
    return Checked(Check.TAMPERING, problems, facts=facts)


async def _one(trying: Trying, tamper: Tamper) -> Finding | None:
    patch = await _patch(trying, tamper)
    if not patch.strip():
        return None
    tried = await trying.once(patch)
    if not tried.passed:
        return None
    globs = ", ".join(f'"{glob}"' for glob in tamper.globs)
    return Finding(
        f"the verifier passes when {tamper.what}",
        f"add {globs} to protected in [verifier] of task.toml, or put the file into hidden/",
    )


async def _patch(trying: Trying, tamper: Tamper) -> bytes:
    async with trying.gate:
        repo = await trying.evals.prepared(trying.task.digest, {})
        async with trying.evals.workspace(repo, Wanted(Level.NONE)) as place:
            # At level none the files lie on this machine.
            await asyncio.to_thread(_write, Path(place.path), tamper)
            return await place.diff()


def _write(root: Path, tamper: Tamper) -> None:
    for name, content in tamper.files.items():
        path = root / name
        if content is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)  # keeps the mode of a file that is there
        if name in tamper.programs:
            path.chmod(0o755)


def _names(root: Path) -> list[str]:
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and not {".git", "node_modules"}.intersection(path.relative_to(root).parts[:-1])
    )
