"""The behaviours that decision points are found for, and those of the user."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from fairtrial.functions.blame import blame
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.session import Session, SessionEvent
from fairtrial.schema.decoding import unknown_name
from fairtrial.sessions.decision_points.anchor import Anchor

BEHAVIORS: Final[Mapping[str, str]] = {
    "unverified-claim": "fairtrial.sessions.decision_points.unverified_claim",
    "done-while-failing": "fairtrial.sessions.decision_points.done_while_failing",
    "unchanged-retry": "fairtrial.sessions.decision_points.unchanged_retry",
}
"""The module of each behaviour of the program."""

_SHAPE: Final = "it must define ANCHOR, or ANCHORS with a list of them"
_ADVICE: Final = "an anchor has name, summary, rubric and points(session, events)"
_PARTS: Final = ("name", "summary", "rubric")
_NAME: Final = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class OwnAnchor:
    """An anchor of the user, whose parts were looked at.

    Attributes:
        name: What the behaviour is called.
        summary: One line: what the agent does that is bad.
        rubric: What tells a judge whether a next turn shows the behaviour.
        anchor: What the module defines.
        file: The module, as the user named it.
    """

    name: str
    summary: str
    rubric: str
    anchor: Any
    file: str

    def points(self, session: Session, events: Sequence[SessionEvent]) -> Iterable[DecisionPoint]:
        """Return what the module finds, whatever it is."""
        found: Iterable[DecisionPoint] = self.anchor.points(session, events)
        return found


def anchors(behaviors: Sequence[str] = (), files: Sequence[Path] = ()) -> list[Anchor]:
    """Return what finds the decision points of behaviours.

    Args:
        behaviors: Names, of the program's or of those in `files`; all when there are none.
        files: Modules of the user that define anchors.

    Raises:
        UsageError: there is no such behaviour, or a module does not define what it must.
        NotFoundError: there is no such file.
    """
    own = [anchor for file in dict.fromkeys(files) for anchor in load_anchors(file)]
    known: dict[str, Anchor | None] = dict.fromkeys(BEHAVIORS)
    for anchor in own:
        if anchor.name in known:
            raise UsageError(
                f"a second behavior is called {anchor.name!r}",
                where=anchor.file,
                fix="give it a name of its own",
            )
        known[anchor.name] = anchor
    for name in behaviors:
        if name not in known:
            raise UsageError(unknown_name(name, known, "behavior "))
    return [known[name] or _built_in(name) for name in dict.fromkeys(behaviors or known)]


def built_in_anchors() -> list[Anchor]:
    """Return what finds the decision points of the program's own behaviours."""
    return [_built_in(name) for name in BEHAVIORS]


def _built_in(name: str) -> Anchor:
    anchor: Anchor = importlib.import_module(BEHAVIORS[name]).ANCHOR
    return anchor


def load_anchors(file: Path) -> list[OwnAnchor]:
    """Return the anchors that a module of the user defines.

    The module is run as any Python program is; its folder is searched for what it imports.

    Raises:
        UsageError: it cannot be imported, or does not define what it must.
        NotFoundError: there is no such file.
    """
    where = str(file)
    if not file.is_file():
        what = "this is a folder" if file.is_dir() else "there is no such module"
        raise NotFoundError(what, where=where, fix="name a Python module, a file in .py")
    module = _imported(file)
    found: Any = getattr(module, "ANCHORS", None)
    if found is None:
        found = [module.ANCHOR] if hasattr(module, "ANCHOR") else None
    if not isinstance(found, list | tuple) or not found:
        raise UsageError("the module exports no anchor", where=where, fix=_SHAPE)
    return [_checked(anchor, where) for anchor in found]


def _imported(file: Path) -> ModuleType:
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = f"fairtrial_anchor_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError("this is no Python module", where=str(file), fix="name a file in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        what = "the module could not be imported"
        fix = "run it with python to see the error whole"
        raise UsageError(what, where=str(file), why=blame(error), fix=fix) from error
    return module


def _is_text(value: Any) -> bool:
    """Return whether a value is a text that can be written anywhere."""
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def _checked(found: Any, where: str) -> OwnAnchor:
    anchor = found
    if isinstance(found, type):
        try:
            anchor = found()
        except (Exception, SystemExit) as error:
            what = f"the anchor {found.__name__} could not be made"
            raise UsageError(what, where=where, why=blame(error), fix=_ADVICE) from error
    for part in _PARTS:
        text: Any = getattr(anchor, part, None)
        if not _is_text(text) or not text.strip():
            raise UsageError(f"an anchor has no text {part!r}", where=where, fix=_ADVICE)
    if not _NAME.fullmatch(anchor.name) or len(anchor.name) > _LONGEST_NAME:
        raise UsageError(
            f"an anchor cannot be called {anchor.name[:_LONGEST_NAME]!r}",
            where=where,
            fix=f"letters, digits and single dashes, at most {_LONGEST_NAME} of them: own-rule",
        )
    if not callable(getattr(anchor, "points", None)):
        raise UsageError(f"the anchor {anchor.name!r} has no points()", where=where, fix=_ADVICE)
    return OwnAnchor(anchor.name, anchor.summary, anchor.rubric, anchor, where)
