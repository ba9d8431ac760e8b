"""What reads sessions into the store of a bench."""

from __future__ import annotations

from collections.abc import Callable

from fairtrial.app.bench import Bench
from fairtrial.model.json import Json
from fairtrial.redaction.own_rules import SESSION_RULES, own_rules
from fairtrial.redaction.secrets import Redactor
from fairtrial.sessions.pricing import CallPrices
from fairtrial.sessions.reading import Ways
from fairtrial.sessions.registry import flag_rules
from fairtrial.sessions.repositories import Repositories
from fairtrial.sessions.syncing import Syncer

MUTED = "sessions:muted-flags"
"""The setting that holds the names of muted rules."""


def syncer(bench: Bench, trouble: Callable[[str], None]) -> Syncer:
    """Return what reads files into the store and flags what they bring.

    Args:
        bench: The bench.
        trouble: Told of rules that cannot be loaded.

    Raises:
        UsageError: the user's prices or rules of secrets cannot be read.
    """
    store = bench.store.sessions
    clean = redactor(bench).body
    ways = Ways(clean, store.pack, CallPrices(bench.prices), Repositories())
    return Syncer(store, ways, flag_rules(muted_flags(bench), trouble), bench.clock.now)


def redactor(bench: Bench) -> Redactor:
    """Return what takes secrets out of sessions.

    Raises:
        UsageError: the user's rules of secrets cannot be read.
    """
    return Redactor((*SESSION_RULES, *own_rules(bench.home / "secrets.json")))


def muted_flags(bench: Bench) -> list[str]:
    """Return the names of the rules that are muted."""
    found: Json = bench.store.settings.get(MUTED)
    return [str(name) for name in found] if isinstance(found, list) else []
