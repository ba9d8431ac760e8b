"""Making room for good: what is old, how many there are, and how much the store takes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Kept(StrEnum):
    """What a store keeps that can be removed, oldest first."""

    SESSIONS = "sessions"
    """Captured sessions with their events and flags."""
    CALLS = "calls"
    """Recorded model calls of no experiment."""
    RECORDINGS = "recordings"
    """Recorded model calls of experiments, which replays need."""
    OUTPUTS = "outputs"
    """What trials put out, and every text that quotes it; verdicts, scores and sums stay."""
    CACHE = "cache"
    """Kept answers of models."""
    SNAPSHOTS = "snapshots"
    """Snapshots of repositories."""
    LEFTOVERS = "leftovers"
    """Copies of the store from before a migration, and the log of crashes."""


class Pruner(Protocol):
    """Looks for what is old in a store, and removes what no other part of the store removes."""

    def cutoff(self, kept: Kept, before: datetime | None, keep: int | None) -> datetime | None:
        """Return the moment before which a kind is to be removed; None is never.

        Args:
            kept: The kind.
            before: What is not older stays.
            keep: The newest so many stay, however old they are.
        """
        ...

    def older(self, kept: Kept, cutoff: datetime) -> int:
        """Return how many of a kind are older."""
        ...

    def remove_outputs(self, cutoff: datetime) -> int:
        """Remove the outputs of ended experiments that were begun before; return of how many.

        What quotes them goes too: reasons, spans, what judges said, earlier records of trials run
        again. Experiments that measure commands have no outputs and stay as they are.

        Raises:
            StoreError: the store cannot be written, or a file cannot be removed.
        """
        ...

    def without_outputs(self, experiment_id: str) -> bool:
        """Return whether the outputs of an experiment were removed."""
        ...

    def remove_leftovers(self, cutoff: datetime) -> int:
        """Remove leftovers; return how many.

        Raises:
            StoreError: a file cannot be removed.
        """
        ...

    def compact(self) -> bool:
        """Write the database anew without what was removed, and empty its log.

        Returns:
            Whether it was done; another process may be reading or writing.
        """
        ...

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes of the database, its log, and each folder and file beside them."""
        ...
