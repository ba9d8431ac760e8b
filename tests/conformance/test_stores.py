"""Every store keeps the contracts of stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fairtrial.ports import AnswerCache, CallStore, LogbookStore, SettingsStore, SweepStore
from fairtrial.ports.sessions import SessionStore
from fairtrial.ports.snapshots import SnapshotStore
from fairtrial.ports.suites import SuiteStore
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.answers import AnswerCacheContract, Moment
from fairtrial.testing.store.calls import CallStoreContract
from fairtrial.testing.store.datasets import DatasetStoreContract
from fairtrial.testing.store.experiments import ExperimentStoreContract
from fairtrial.testing.store.facts import NOON
from fairtrial.testing.store.pairing import PairedRowsContract
from fairtrial.testing.store.sessions import SessionStoreContract
from fairtrial.testing.store.settings import SettingsStoreContract
from fairtrial.testing.store.snapshots import SnapshotStoreContract
from fairtrial.testing.store.suites import SuiteStoreContract
from fairtrial.testing.store.timelines import LogbookStoreContract, SweepStoreContract


class TestSqliteDatasets(DatasetStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with open_store(tmp_path, clock=lambda: NOON) as store:
            yield store


class TestSqliteExperiments(ExperimentStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with open_store(tmp_path, clock=lambda: NOON) as store:
            yield store


class TestSqliteSettings(SettingsStoreContract):
    @pytest.fixture
    def settings(self, tmp_path: Path) -> Iterator[SettingsStore]:
        with open_store(tmp_path, clock=lambda: NOON) as store:
            yield store.settings


class TestSqlitePairedRows(PairedRowsContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with open_store(tmp_path, clock=lambda: NOON) as store:
            yield store


class TestSqliteCalls(CallStoreContract):
    @pytest.fixture
    def calls(self, tmp_path: Path) -> Iterator[CallStore]:
        with open_store(tmp_path, clock=lambda: NOON) as store:
            yield store.calls


class TestSqliteAnswers(AnswerCacheContract):
    @pytest.fixture
    def answers(self, tmp_path: Path, moment: Moment) -> Iterator[AnswerCache]:
        with open_store(tmp_path, clock=moment) as store:
            yield store.answers


class TestSqliteSweeps(SweepStoreContract):
    @pytest.fixture
    def sweeps(self, tmp_path: Path) -> Iterator[SweepStore]:
        with open_store(tmp_path, clock=lambda: NOON) as store:
            yield store.sweeps


class TestSqliteLogbooks(LogbookStoreContract):
    @pytest.fixture
    def logbooks(self, tmp_path: Path) -> Iterator[LogbookStore]:
        with open_store(tmp_path, clock=lambda: NOON) as store:
            yield store.logbooks


class TestSqliteSuites(SuiteStoreContract):
    @pytest.fixture
    def suites(self, tmp_path: Path) -> Iterator[SuiteStore]:
        with open_store(tmp_path, clock=lambda: NOON) as store:
            yield store.suites


class TestSqliteSessions(SessionStoreContract):
    @pytest.fixture
    def sessions(self, tmp_path: Path) -> Iterator[SessionStore]:
        with open_store(tmp_path, clock=lambda: NOON) as store:
            yield store.sessions


class TestSqliteSnapshots(SnapshotStoreContract):
    @pytest.fixture
    def snapshots(self, tmp_path: Path) -> Iterator[SnapshotStore]:
        with open_store(tmp_path) as store:
            yield store.snapshots
