"""The contracts of a `SweepStore` and a `LogbookStore`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from fairtrial.model.errors import NotFoundError, StoreError
from fairtrial.model.logbook import LogbookEntry
from fairtrial.model.sweep import Sweep
from fairtrial.ports import LogbookStore, SweepStore
from fairtrial.testing.store.facts import NOON

FIRST = Sweep("exp_1", "bugs", "ab", {"guards": ["ö"], "budget": 3}, NOON)
SECOND = replace(FIRST, id="exp_2", identity="cd")
LATER = NOON + timedelta(minutes=5)


class SweepStoreContract:
    """Subclass it in a test module, name the class `Test…`, and override `sweeps`."""

    @pytest.fixture
    def sweeps(self) -> Iterator[SweepStore]:
        """Give the sweeps of an empty store."""
        raise NotImplementedError

    def test_one_that_begins_is_unfinished(self, sweeps: SweepStore) -> None:
        sweeps.begin(FIRST)
        sweeps.begin(SECOND)
        assert sweeps.get("exp_1") == FIRST
        assert sweeps.unfinished() == [SECOND, FIRST]
        assert sweeps.unfinished("ab") == [FIRST]
        assert (sweeps.get("exp_3"), sweeps.adopting()) == (None, [])

    def test_an_id_is_given_once(self, sweeps: SweepStore) -> None:
        sweeps.begin(FIRST)
        with pytest.raises(StoreError, match="already"):
            sweeps.begin(FIRST)

    @pytest.mark.parametrize("adopted", ["cand", None])
    def test_one_that_is_over_keeps_its_result(
        self, sweeps: SweepStore, adopted: str | None
    ) -> None:
        sweeps.begin(FIRST)
        sweeps.finish("exp_1", {"outcome": "x"}, adopted, LATER)
        over = replace(FIRST, result={"outcome": "x"}, adopted=adopted, finished_at=LATER)
        assert sweeps.get("exp_1") == over
        assert sweeps.unfinished() == []
        assert sweeps.adopting() == ([over] if adopted else [])

    def test_what_was_never_begun_does_not_end(self, sweeps: SweepStore) -> None:
        with pytest.raises(NotFoundError, match="exp_9"):
            sweeps.finish("exp_9", {}, None, NOON)


class LogbookStoreContract:
    """Subclass it in a test module, name the class `Test…`, and override `logbooks`."""

    @pytest.fixture
    def logbooks(self) -> Iterator[LogbookStore]:
        """Give the logbooks of an empty store."""
        raise NotImplementedError

    def test_a_project_has_one_open_logbook(self, logbooks: LogbookStore) -> None:
        assert logbooks.current("/work") is None
        first = logbooks.open("/work", "prompt", NOON)
        other = logbooks.open("/other", "prompt", NOON)
        second = logbooks.open("/work", "rules", LATER)
        assert logbooks.current("/work") == second
        assert logbooks.current("/other") == other
        assert logbooks.named("/work", "prompt") == replace(first, closed_at=LATER)
        assert logbooks.named("/work", second.id) == second
        assert logbooks.named("/work", "none") is None

    def test_entries_stand_in_their_order_and_a_run_once(self, logbooks: LogbookStore) -> None:
        book = logbooks.open("/work", "prompt", NOON)
        logbooks.note(book.id, "naïve ☃", NOON)
        logbooks.add_run(book.id, "exp_2", LATER)
        logbooks.add_run(book.id, "exp_1", LATER)
        logbooks.add_run(book.id, "exp_2", LATER)
        logbooks.note(book.id, "after", LATER)
        assert logbooks.entries(book.id) == [
            LogbookEntry(NOON, "naïve ☃"),
            LogbookEntry(LATER, experiment="exp_2"),
            LogbookEntry(LATER, experiment="exp_1"),
            LogbookEntry(LATER, "after"),
        ]

    def test_what_is_not_there_is_said_to_be_missing(self, logbooks: LogbookStore) -> None:
        for verb in (
            lambda: logbooks.note("log_0", "x", NOON),
            lambda: logbooks.add_run("log_0", "exp_1", NOON),
            lambda: logbooks.entries("log_0"),
        ):
            with pytest.raises(NotFoundError, match="log_0"):
                verb()
