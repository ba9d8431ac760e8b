"""The seed of an experiment that was given none."""

from __future__ import annotations

import secrets


def seed_or_drawn(given: int | None) -> int:
    """Return the given seed, or one drawn from 0 to 2**31 - 1."""
    return secrets.randbelow(2**31) if given is None else given
