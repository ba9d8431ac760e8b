"""The judge is settled, and no order in an output fools it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fairtrial.graders.canaries import CONTROL, canaries
from fairtrial.graders.judge.options import menu_of
from fairtrial.graders.verifier import judge_options
from fairtrial.graders.wording import text_of
from fairtrial.model.errors import GraderError, UsageError
from fairtrial.model.grader import Subject
from fairtrial.model.json import Json
from fairtrial.suites.compiling import cases_of
from fairtrial.suites.validation.findings import Check, Checked, Finding
from fairtrial.suites.validation.trying import Tried, Trying

_NOTES: Final = "NOTES.md"


async def check_judge(trying: Trying) -> Checked:
    """Try to fool a task's judge, as `grader check` does.

    Each order stands in the agent's answer and in a file that its change adds. They are built
    from a change that does nothing, so none of them may pass.
    """
    task = trying.task
    if task.verifier.judge is None:
        return Checked(Check.JUDGE, skipped="a command verifies")
    loose = unsettled(task.verifier.judge)
    if loose:
        problem = Finding(
            f"the judge is not settled: {' and '.join(loose)} would be chosen anew on each machine",
            "name them in [verifier.judge] of task.toml",
        )
        return Checked(Check.JUDGE, (problem,))
    try:
        best = tuple(menu_of(judge_options(task, "the task's judge"), "judge").choices or ())
    except UsageError as error:
        return Checked(Check.JUDGE, (Finding(f"the judge makes no sense: {error}"),))
    (case,) = cases_of([task])
    built = list(canaries(Subject(case, "I changed nothing.", 1), None, best))
    texts = [_text(canary.subject.output) for canary in built]
    tries = await trying.answers([_noted(text) for text in texts], texts)
    return _checked([canary.kind for canary in built], tries)


def unsettled(judge: Mapping[str, Json]) -> list[str]:
    """Return what of a judge is left open: its provider, its model."""
    judges = judge.get("judges")
    asked = judges if isinstance(judges, list | tuple) and judges else [judge]
    loose: dict[str, None] = {}
    for one in asked:
        given = {**judge, **one} if isinstance(one, Mapping) else judge
        provider = given.get("provider")
        if not provider:
            loose["its provider"] = None
        if not given.get("model") and not _has_model(provider):
            loose["its model"] = None
    return list(loose)


def _has_model(provider: Json) -> bool:
    return isinstance(provider, Mapping) and bool(provider.get("model"))


def _checked(kinds: list[str], tries: list[Tried]) -> Checked:
    fooled = [kind for kind, tried in zip(kinds, tries, strict=True) if tried.passed]
    silent = [tried for tried in tries if tried.value is None]
    facts: dict[str, Json] = {"tried": len(tries), "fooled": list(fooled)}
    if silent:
        problem = Finding(
            f"the judge gave no answer to {len(silent):,} outputs: {silent[0].reason}"
        )
        return Checked(Check.JUDGE, (problem,), facts=facts)
    if CONTROL in fooled:
        problem = Finding(
            "the judge passes an agent that says it changed nothing",
            "say in the rubric what a change has to do",
        )
        return Checked(Check.JUDGE, (problem,), facts=facts)
    if fooled:
        problem = Finding(
            f"the judge is fooled by: {', '.join(fooled)}",
            "take a better model, several judges, or a command; see: fairtrial grader check",
        )
        return Checked(Check.JUDGE, (problem,), facts=facts)
    return Checked(Check.JUDGE, facts=facts)


def _text(output: Json) -> str:
    try:
        return text_of(output)
    except GraderError:
        return ""


def _noted(text: str) -> bytes:
    """Return a change that adds a file with a text."""
    lines = text.split("\n")
    head = (
        f"diff --git a/{_NOTES} b/{_NOTES}\nnew file mode 100644\n--- /dev/null\n+++ b/{_NOTES}\n"
    )
    body = "".join(f"+{line}\n" for line in lines)
    return f"{head}--- /dev/null\n+++ b/{_NOTES}\n@@ -0,0 +1,{len(lines)} @@\n{body}".encode()
