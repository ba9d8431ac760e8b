"""Options of `sessions rm`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Remove captured sessions for good, with all that is kept of them.

    The agents' own files stay as they are, and are not read again. Snapshots that an eval task
    begins with stay until it is taken off. Sessions are named one by one, or chosen by a filter or
    an age; then --yes is needed.
    """

    sessions: tuple[str, ...] = option((), positional=True, metavar="SESSION")
    """Session ids, prefixes or agents' own ids"""
    where: str | None = option(None, short="-w", metavar="FILTER")
    """Remove all sessions that this filter fits; see `fairtrial sessions list`"""
    older_than: str | None = option(None, metavar="TIME")
    """Remove all sessions that ended so long ago, e.g. 90d; with --where, those that it fits"""
    yes: bool = option(default=False, short="-y")
    """Remove what was chosen by a filter or an age, however much it is"""


EXAMPLES = (
    "fairtrial sessions rm ses_5rf4je",
    "fairtrial sessions rm --older-than 90d --yes",
    'fairtrial sessions rm --where "repo = secret-project" --yes',
)
