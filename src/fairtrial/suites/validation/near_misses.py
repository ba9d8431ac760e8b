"""Each near miss fails: a verifier that passes a known wrong change passes others like it."""

from __future__ import annotations

import asyncio

from fairtrial.suites.validation.findings import Check, Checked, Finding
from fairtrial.suites.validation.trying import Trying


async def check_near_misses(trying: Trying) -> Checked:
    """Try each near miss once."""
    misses = trying.task.near_misses
    if not misses:
        return Checked(Check.NEAR_MISSES, skipped="the task has none")
    patches = {name: text.encode("utf-8", "surrogateescape") for name, text in misses.items()}
    found = await asyncio.gather(*(_one(trying, name, patch) for name, patch in patches.items()))
    problems = tuple(finding for bad, finding in found if bad and finding)
    warnings = tuple(finding for bad, finding in found if not bad and finding)
    tried = len(patches) - len(warnings)
    facts = {"tried": tried, "passed": len(problems)}
    return Checked(Check.NEAR_MISSES, problems, warnings, facts=facts)


async def _one(trying: Trying, name: str, patch: bytes) -> tuple[bool, Finding | None]:
    file = f"near_misses/{name}.patch"
    if not patch.strip():
        return False, Finding(f"{file} is empty, so it shows nothing", "remove it")
    trouble = await trying.trouble(patch)
    if trouble is not None:
        fix = "make it against the workspace as the agent finds it, or remove it"
        return False, Finding(f"{file} shows nothing: {trouble}", fix)
    tried = await trying.once(patch)
    if tried.value is None:
        return False, Finding(f"{file} shows nothing: {tried.reason}")
    if not tried.passed:
        return False, None
    return True, Finding(
        f"the verifier passes the near miss {file}",
        "let it check what that change lacks; if the change is correct after all, remove the file",
    )
