"""What is removed is gone from the whole folder; what stays is whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fairtrial.model.attempt import Attempt
from fairtrial.model.experiment import Status
from fairtrial.model.recorded_call import CallBody, CallOwner, KeptAnswer
from fairtrial.model.score import Score
from fairtrial.model.task import ProcessUsage
from fairtrial.model.trial import TrialKey
from fairtrial.model.verdict import Verdict
from fairtrial.ports.pruning import Kept
from fairtrial.store.opening import Store, open_store
from fairtrial.testing.store.calls import a_call
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment

PLANTED = "planted-Zx81-planted"
_DAY = timedelta(days=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "home", clock=lambda: NOON) as store:
        yield store


def planted(home: Path) -> list[str]:
    """Return the files of a folder that hold the planted text, also within a compressed one."""
    import zstandard  # noqa: PLC0415  # as in the store

    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".zst":
                content = zstandard.ZstdDecompressor().decompress(content)
            if PLANTED.encode() in content:
                found.append(path.name)
    return found


def _fill(store: Store) -> None:
    kept = store.experiments
    old, new = an_experiment(1), an_experiment(2, created_at=NOON)
    for experiment in (replace(old, created_at=NOON - 10 * _DAY), new):
        kept.open_experiment(experiment, range(4))
    score = Score("exact", 0.0, passed=False, reason=PLANTED, detail={"said": PLANTED}, cost_usd=0)
    attempt = Attempt(1, Verdict.FAILED, None, PLANTED, 0.0, PLANTED, PLANTED, 1.0, None)
    told = a_trial(
        verdict="failed",
        reason=PLANTED,
        output={"text": PLANTED},
        scores=(score,),
        process=ProcessUsage(0, None, 0.1, 1000, PLANTED),
        spans=({"name": PLANTED},),
        attempts=(attempt,),
        metrics={"words": 3.0},
    )
    kept.record(old.id, [told, a_trial("long", output=PLANTED * 20_000)], NOON)
    kept.record(old.id, [replace(told, score=0.5)], NOON)  # the first one is archived
    kept.record(new.id, [a_trial(output="stays")], NOON)
    for experiment in (old, new):
        kept.close_experiment(experiment.id, Status.FINISHED, None, NOON)


def test_outputs_are_removed_with_all_that_quotes_them(store: Store) -> None:
    _fill(store)
    assert planted(store.home)
    pruner, before = store.pruner, store.experiments.find(an_experiment(1).id).totals
    cutoff = pruner.cutoff(Kept.OUTPUTS, NOON - _DAY, None)
    assert cutoff is not None
    assert pruner.older(Kept.OUTPUTS, cutoff) == 1
    assert pruner.remove_outputs(cutoff) == 1
    assert pruner.compact()
    assert planted(store.home) == []
    assert pruner.older(Kept.OUTPUTS, cutoff) == pruner.remove_outputs(cutoff) == 0
    assert pruner.without_outputs(an_experiment(1).id)
    assert not pruner.without_outputs(an_experiment(2).id)
    assert store.experiments.find(an_experiment(1).id).totals == before
    trials = list(store.experiments.trials(an_experiment(1).id))
    assert [trial.output for trial in trials] == [None, None]
    assert trials[0].metrics == {"words": 3.0}
    assert trials[0].attempts[0].score == 0.0
    assert trials[0].scores[0].value == 0.0
    assert next(store.experiments.trials(an_experiment(2).id)).output == "stays"


def test_a_payload_that_another_experiment_shares_stays(store: Store) -> None:
    shared = "shared text " * 20_000
    for number in (1, 2):
        experiment = an_experiment(number, created_at=NOON - _DAY * (3 - number))
        store.experiments.open_experiment(experiment, range(4))
        store.experiments.record(experiment.id, [a_trial(output=shared)], NOON)
        store.experiments.close_experiment(experiment.id, Status.FINISHED, None, NOON)
    assert store.pruner.remove_outputs(NOON - _DAY) == 1
    assert next(store.experiments.trials(an_experiment(2).id)).output == shared
    # The same payload can be put on record again.
    again = an_experiment(3)
    store.experiments.open_experiment(again, range(4))
    store.experiments.record(again.id, [a_trial(output=shared)], NOON)
    assert next(store.experiments.trials(again.id)).output == shared


def test_a_running_experiment_keeps_its_outputs(store: Store) -> None:
    experiment = an_experiment(1, created_at=NOON - 10 * _DAY)
    store.experiments.open_experiment(experiment, range(4))
    assert store.pruner.older(Kept.OUTPUTS, NOON) == 0


def test_the_newest_are_kept_however_old_they_are(store: Store) -> None:
    pruner = store.pruner
    for days in (5, 3, 1):
        answer = KeptAnswer(f"k{days}", "fake", "m", {"text": PLANTED})
        store.answers.keep(answer, NOON - days * _DAY)
    two = pruner.cutoff(Kept.CACHE, None, 2)
    assert two == NOON - 3 * _DAY
    assert pruner.older(Kept.CACHE, two) == 1
    assert pruner.cutoff(Kept.CACHE, NOON - 4 * _DAY, 1) == NOON - 4 * _DAY
    assert pruner.cutoff(Kept.CACHE, None, 9) is None
    every = pruner.cutoff(Kept.CACHE, None, 0)
    assert every is not None
    assert pruner.older(Kept.CACHE, every) == 3


def test_calls_and_recordings_go_apart(store: Store) -> None:
    owner = CallOwner("exp_1", TrialKey("c", "default", "main", 1))
    body = CallBody(request=b'{"text": "%s"}' % PLANTED.encode())
    calls = [(a_call(1), body), (a_call(2, owner=owner), body)]
    store.calls.add(calls)
    later = NOON + _DAY
    assert [store.pruner.older(kept, later) for kept in (Kept.CALLS, Kept.RECORDINGS)] == [1, 1]
    assert store.calls.prune(later, 0.0, recordings=True, others=False)[0] == 1
    assert [store.pruner.older(kept, later) for kept in (Kept.CALLS, Kept.RECORDINGS)] == [1, 0]
    assert store.calls.prune(later, 0.0)[0] == 1
    assert store.pruner.compact()
    assert planted(store.home) == []


def test_leftovers_are_files_beside_the_store(store: Store) -> None:
    (store.home / "crashes.log").write_text(PLANTED)
    (store.home / "fairtrial.db.schema-0001.backup").write_text(PLANTED)
    (store.home / "prices.json").write_text("{}")
    cutoff = store.pruner.cutoff(Kept.LEFTOVERS, None, 0)
    assert cutoff is not None
    assert store.pruner.older(Kept.LEFTOVERS, cutoff) == 2
    assert store.pruner.remove_leftovers(cutoff) == 2
    assert planted(store.home) == []
    assert (store.home / "prices.json").exists()


def test_a_store_in_use_is_not_compacted(store: Store) -> None:
    with closing(sqlite3.connect(store.home / "fairtrial.db", isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM experiment").fetchall()
        assert not store.pruner.compact()
    assert store.pruner.compact()


def test_sizes_count_every_file_once(store: Store) -> None:
    (store.home / "blobs").mkdir(exist_ok=True)
    (store.home / "blobs" / "x").write_bytes(b"12345")
    sizes = store.pruner.sizes()
    assert sizes["blobs"] == 5
    assert sizes["database"] > 0
    assert set(sizes) <= {"database", "log", "blobs"}
