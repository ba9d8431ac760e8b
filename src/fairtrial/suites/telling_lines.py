"""The lines of a hidden file that give it away."""

from __future__ import annotations

from typing import Final

TELLING: Final = 24
"""Characters that a line of a hidden file has at least, for it to be no accident to see it."""
ENOUGH: Final = 3
"""Lines of one hidden file that have to be seen."""
_OF_ANY_FILE: Final = ("import ", "from ", "#", "//", "use ")


def telling_lines(data: bytes) -> frozenset[str]:
    """Return the lines of a file that stand in no other by accident."""
    lines = (line.strip() for line in data.decode("utf-8", "replace").split("\n"))
    return frozenset(
        line for line in lines if len(line) >= TELLING and not line.startswith(_OF_ANY_FILE)
    )
