"""The reference passes every time: else the task cannot be done, or a right answer is bad luck."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from fairtrial.model.errors import TaskError
from fairtrial.model.eval_task import EvalTask
from fairtrial.model.isolation import Level
from fairtrial.suites.validation.findings import Check, Checked, Finding
from fairtrial.suites.validation.nothing_done import NOT_FOUND
from fairtrial.suites.validation.trying import Tried, Trying

_NETWORK: Final = re.compile(
    r"name resolution|getaddrinfo|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|"
    r"could not resolve|no such host|network is unreachable|failed to establish a new connection|"
    r"nodename nor servname|dns error|failed to lookup address",
    re.IGNORECASE,
)
"""What programs say when there is no network."""
_FILE: Final = re.compile(r"^diff --git a/(.+?) b/(.+)$", re.MULTILINE)


async def try_reference(trying: Trying) -> tuple[Checked, list[Tried]]:
    """Try the reference, and return what is wrong with it, and what the verifier said."""
    try:
        patch = await trying.reference()
    except TaskError as error:
        problem = Finding(f"the solution makes no reference: {error}", "repair it")
        return Checked(Check.REFERENCE, (problem,)), []
    if patch is None or not patch.strip():
        what = "there is no reference.patch" if patch is None else "the reference changes nothing"
        problem = Finding(
            f"{what}, so nothing shows that the task can be done",
            "add a correct change as reference.patch, which `git apply` takes",
        )
        return Checked(Check.REFERENCE, (problem,)), []
    trouble = await trying.trouble(patch)
    if trouble is not None:
        problem = Finding(
            f"reference.patch: {trouble}",
            "make it against the workspace as the agent finds it",
        )
        return Checked(Check.REFERENCE, (problem,)), []
    tries = await trying.often(patch)
    return _checked(trying.task, tries), tries


def _checked(task: EvalTask, tries: Sequence[Tried]) -> Checked:
    passed = sum(tried.passed for tried in tries)
    facts = {"tries": len(tries), "passed": passed}
    failed = next((tried for tried in tries if not tried.passed), None)
    if failed is None:
        return Checked(Check.REFERENCE, facts=facts)
    problem = Finding(
        f"the reference passes {passed:,} of {len(tries):,} times: {failed.reason}",
        _fix(task, failed, passed),
    )
    return Checked(Check.REFERENCE, (problem,), facts=facts)


def _fix(task: EvalTask, failed: Tried, passed: int) -> str:
    if passed:
        return "make the verifier say the same each time, or repair the reference"
    if failed.exit_status in NOT_FOUND:
        return "a program of the verifier is not found: let the setup install it, or show it"
    isolation = failed.detail.get("isolation")
    level = isolation.get("level") if isinstance(isolation, dict) else None
    if level != Level.NONE and _NETWORK.search(failed.printed):
        return (
            f"it seems to use the network, and at level {level} there is none: use it in the setup"
        )
    lost = sorted(path for path in paths_in(task.reference or "") if _is_dropped(path, task))
    if lost:
        return f"its changes to protected or hidden files do not count: {', '.join(lost[:3])}"
    return "repair the reference, or the verifier"


def paths_in(patch: str) -> Iterable[str]:
    """Return the files that a patch changes; names that git quotes are left out."""
    return {after for _, after in _FILE.findall(patch)}


def _is_dropped(path: str, task: EvalTask) -> bool:
    verifier = task.verifier
    globs = (*verifier.protected, *verifier.patterns)
    return path in verifier.hidden or any(fnmatchcase(path, glob) for glob in globs)
