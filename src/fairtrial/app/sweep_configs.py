"""The configurations of a sweep: from what a user typed to arms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.spec_files import SUFFIXES
from fairtrial.app.task_arms import GivenArm, given_arm, settled_arm
from fairtrial.engine.plan import Arm
from fairtrial.model.errors import UsageError
from fairtrial.model.json import content_hash

_HOW = "give two or more: base.json warm=warm.json"


def configurations(bench: Bench, words: Sequence[str]) -> tuple[tuple[Arm, ...], tuple[Path, ...]]:
    """Return the configurations, the start first, and where the paths in each start.

    Raises:
        UsageError: there are fewer than two, two are the same, or one is no task.
        NotFoundError: a file does not exist.
    """
    if len(words) < 2:
        count = "no configuration" if not words else "one configuration only"
        raise UsageError(f"{count}: a race takes two or more", fix=_HOW)
    given = [_given(bench, word, number) for number, word in enumerate(words, start=1)]
    for number, one in enumerate(given):
        if one.name in [other.name for other in given[:number]]:
            raise UsageError(
                f"two configurations are called {one.name!r}", fix="name them: NAME=FILE"
            )
    arms = tuple(Arm(one.name, settled_arm(bench, one)) for one in given)
    known: dict[str, str] = {}
    for arm in arms:
        other = known.setdefault(content_hash(arm.task.content()), arm.name)
        if other != arm.name:
            raise UsageError(
                f"{other} and {arm.name} are the same task",
                fix="leave one out; to learn how much differs when nothing does: fairtrial exp aa",
            )
    return arms, tuple(one.folder for one in given)


def _given(bench: Bench, word: str, number: int) -> GivenArm:
    if word.lstrip().startswith("{"):
        return given_arm(f"c{number}", word.strip(), bench.cwd, f"configuration {number}")
    name, equals, text = word.partition("=")
    if not equals:
        name, text = Path(word).stem, word
    if not text.strip():
        raise UsageError(f"{word!r} is not NAME=JSON or NAME=FILE", fix=_HOW)
    if not text.startswith("{") and Path(text).suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise UsageError(f"{text!r} is neither JSON nor a file ({known})", fix=_HOW)
    return given_arm(name.strip(), text.strip(), bench.cwd, f"configuration {name.strip()}")
