"""The behaviours that decision points are found for, and those of the user."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from fairtrial.functions.blame import blame
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.schema.decoding import unknown_name
from fairtrial.sessions.decision_points.anchor import Anchor

BEHAVIORS: Final[Mapping[str, str]] = {
    "unverified-claim": "fairtrial.sessions.decision_points.unverified_claim",
    "done-while-failing": "fairtrial.sessions.decision_points.done_while_failing",
    "unchanged-retry": "fairtrial.sessions.decision_points.unchanged_retry",
}
"""The module of each behaviour of the program."""

_SHAPE: Final = "it must define ANCHOR, or ANCHORS with a list of them"
_PARTS: Final = ("name", "summary", "rubric")


def anchors(behaviors: Sequence[str] = (), files: Sequence[Path] = ()) -> list[Anchor]:
    """Return what finds the decision points of behaviours.

    Args:
        behaviors: Names, of the program's or of those in `files`; all when there are none.
        files: Modules of the user that define anchors.

    Raises:
        UsageError: there is no such behaviour, or a module does not define what it must.
        NotFoundError: there is no such file.
    """
    own = [anchor for file in files for anchor in load_anchors(file)]
    known: dict[str, Anchor | None] = dict.fromkeys(BEHAVIORS)
    for anchor in own:
        if anchor.name in known:
            raise UsageError(
                f"a second behavior is called {anchor.name!r}", fix="give it a name of its own"
            )
        known[anchor.name] = anchor
    for name in behaviors:
        if name not in known:
            raise UsageError(unknown_name(name, known, "behavior "))
    return [known[name] or _built_in(name) for name in (behaviors or known)]


def _built_in(name: str) -> Anchor:
    anchor: Anchor = importlib.import_module(BEHAVIORS[name]).ANCHOR
    return anchor


def load_anchors(file: Path) -> list[Anchor]:
    """Return the anchors that a module of the user defines.

    The module is run as any Python program is; its folder is searched for what it imports.

    Raises:
        UsageError: it cannot be imported, or does not define what it must.
        NotFoundError: there is no such file.
    """
    where = str(file)
    if not file.is_file():
        raise NotFoundError("there is no such module", where=where)
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
        raise UsageError(what, where=str(file), why=blame(error)) from error
    return module


def _checked(anchor: Any, where: str) -> Anchor:
    anchor = anchor() if isinstance(anchor, type) else anchor
    for part in _PARTS:
        if not isinstance(getattr(anchor, part, None), str):
            raise UsageError(f"an anchor has no text {part!r}", where=where, fix=_ADVICE)
    if not callable(getattr(anchor, "points", None)):
        raise UsageError(f"the anchor {anchor.name!r} has no points()", where=where, fix=_ADVICE)
    checked: Anchor = anchor
    return checked


_ADVICE: Final = "an anchor has name, summary, rubric and points(session, events)"
