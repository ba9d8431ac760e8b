"""Reading what is under a folder into a store, as `sessions sync --path` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairtrial.ports.sessions import FlagRule
from fairtrial.pricing.prices import Prices
from fairtrial.redaction.secrets import Redactor
from fairtrial.sessions.finding import changed
from fairtrial.sessions.pricing import CallPrices
from fairtrial.sessions.reading import Ways
from fairtrial.sessions.recognising import recognised
from fairtrial.sessions.registry import readers
from fairtrial.sessions.repositories import Repositories
from fairtrial.sessions.syncing import Outcome, Syncer
from fairtrial.store.glance import known_files
from fairtrial.store.opening import Store
from fairtrial.testing.store.facts import NOON


def synced(store: Store, folder: Path, rules: Sequence[FlagRule] = ()) -> Outcome:
    """Read what is new under a folder, whosever it is."""
    known = known_files(store.home / "fairtrial.db") or {}
    new = changed(recognised(readers(), folder), known)
    ways = Ways(Redactor().body, store.sessions.pack, CallPrices(Prices()), Repositories())
    return Syncer(store.sessions, ways, rules, lambda: NOON).sync(new, lambda *_: None)
