"""`fairtrial __complete SHELL LINE`: what the scripts of the shells call at every Tab."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from fairtrial.app.bench import home_here
from fairtrial.cli.completion.candidates import Candidate, candidates
from fairtrial.cli.completion.words import Typed, typed
from fairtrial.cli.harmless import harmless

_MOST = 500
_BREAKS = ":="
"""Where bash splits a word that is not in quotes; it asks for what stands behind only."""
_PLAIN = "-_./:=@%+,~"


def answer(words: Sequence[str]) -> int:
    """Print what may come next, one a line; never an error: a Tab must not disturb."""
    try:
        shell, line = words
        found = typed(line)
        lines = list(_lines(shell, found, candidates(found, home_here(os.environ))[:_MOST]))
        sys.stdout.write("".join(f"{one}\n" for one in lines))
    except Exception:  # noqa: BLE001  # nobody could read it: the shell is drawing its prompt
        return 1
    return 0


def _lines(shell: str, line: Typed, found: Sequence[Candidate]) -> Iterator[str]:
    for one in found:
        if not one.text.isprintable():
            continue
        if shell == "bash":
            yield _for_bash(line, one)
        else:
            yield f"{one.text}\t{harmless(one.doc)}"


def _for_bash(line: Typed, one: Candidate) -> str:
    end = " " if one.done else ""
    if line.quote:
        return one.text + (line.quote + end if one.done else "")
    cut = max(line.current.rfind(sign) for sign in _BREAKS) + 1
    rest = one.text[cut:]
    return "".join(c if c.isalnum() or c in _PLAIN else f"\\{c}" for c in rest) + end
