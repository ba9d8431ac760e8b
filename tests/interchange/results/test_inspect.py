"""Logs of Inspect AI."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.interchange.results.reading import read
from tests.interchange.results.writers import (
    archive,
    inspect_archive,
    inspect_header,
    inspect_json,
    inspect_sample,
)

from fairtrial.interchange.results import archive as archives
from fairtrial.model.errors import FairtrialError

SAMPLES = [inspect_sample(case, epoch) for epoch in (1, 2) for case in "ab"]


@pytest.mark.parametrize("method", [93, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_an_archive_is_read_whatever_compresses_it(tmp_path: Path, method: int) -> None:
    found = read(inspect_archive(tmp_path / "log.eval", SAMPLES, method=method))
    assert found.tool == "inspect"
    assert [(trial.id, trial.trial) for trial in found.trials] == [
        ("a", 1),
        ("b", 1),
        ("a", 2),
        ("b", 2),
    ]
    run = found.run
    assert (run.name, run.dataset, run.model, run.ending) == (
        "sums",
        "arithmetic",
        "openai/gpt",
        "finished",
    )
    assert (run.commit, run.dirty, run.thresholds) == ("abcdef1", False, {"match": 1.0})
    assert not found.notes


def test_both_forms_tell_the_same(tmp_path: Path) -> None:
    archived = read(inspect_archive(tmp_path / "a.eval", SAMPLES))
    written = read(inspect_json(tmp_path / "b.json", SAMPLES))
    assert archived.trials == written.trials
    (first, *_) = written.trials
    assert (first.output, first.duration_s, first.cost_usd) == ("A", 2.5, 0.5)
    assert first.tokens is not None
    assert (first.tokens.input, first.tokens.output, first.tokens.cache_read) == (7, 2, 5)
    assert first.started_at is not None
    assert first.started_at.hour == 12


def test_scores_are_numbers_or_missing_with_a_reason(tmp_path: Path) -> None:
    scores = {
        "letters": {"value": "P"},
        "none": {"value": "N"},
        "nan": {"value": math.nan},
        "words": {"value": "hm"},
        "yes": {"value": "yes"},
        "many": {"value": {"f1": 0.5, "n": 3}},
        "list": {"value": [1, 2]},
    }
    found = read(inspect_json(tmp_path / "l.json", [inspect_sample("a", scores=scores)]))
    (trial,) = found.trials
    assert {name: score.value for name, score in trial.scores.items()} == {
        "letters": 0.5,
        "none": 0.0,
        "nan": None,
        "words": None,
        "yes": 1.0,
        "many.f1": 0.5,
        "many.n": 3.0,
        "list": None,
    }
    assert all(score.reason for score in trial.scores.values() if score.value is None)
    # Half of what is correct does not pass.
    assert found.run.thresholds["letters"] == 1.0
    assert any("not finite" in what for what in found.notes)


def test_errors_and_limits_have_their_causes(tmp_path: Path) -> None:
    changes: dict[str, dict[str, Any]] = {
        "api": {"error": {"message": "RateLimitError('429')"}, "scores": {}},
        "task": {"error": {"message": "ValueError('boom')"}, "scores": {}},
        "gone": {"error": {"message": "CancelledError()"}, "scores": {}},
        "limit": {"limit": {"type": "token", "limit": 50}},
        "person": {"limit": {"type": "operator", "limit": 1}},
        "void": {"invalidation": {"reason": "leaked"}},
    }
    samples = [inspect_sample(case, **change) for case, change in changes.items()]
    found = read(inspect_archive(tmp_path / "log.eval", samples))
    assert {case: found.cause(case) for case in changes} == {
        "api": "infra",
        "task": "task",
        "gone": "undecidable",
        "limit": "limit",
        "person": "undecidable",
        "void": "undecidable",
    }
    # What was scored at its limit keeps its score.
    assert found.of("limit").scores["match"].value == 1.0


def test_a_log_that_was_never_closed_is_a_part(tmp_path: Path) -> None:
    path = inspect_archive(tmp_path / "log.eval", SAMPLES[:1], header=False)
    found = read(path)
    assert len(found.trials) == 1
    assert (found.run.ending, found.run.model) == ("interrupted", "openai/gpt")
    told: dict[str, Any] = {"status": "error", "error": {"message": "x"}}
    failed = read(inspect_json(tmp_path / "e.json", SAMPLES, **told))
    assert (failed.run.ending, failed.run.why) == ("stopped", "error: x")


def test_samples_that_are_missing_are_counted(tmp_path: Path) -> None:
    path = inspect_json(tmp_path / "l.json", SAMPLES[:1], results={"total_samples": 5})
    assert read(path).notes == {"samples that are not in the log": 4}


def test_ids_of_messages_are_no_part_of_a_case(tmp_path: Path) -> None:
    inputs = [
        [{"id": mark, "role": "user", "content": [{"type": "text", "text": "hi"}]}] for mark in "xy"
    ]
    samples = [inspect_sample("a", epoch, input=one) for epoch, one in enumerate(inputs, 1)]
    found = read(inspect_json(tmp_path / "l.json", samples))
    assert found.trials[0].input == found.trials[1].input == [{"role": "user", "content": "hi"}]


def test_what_stands_apart_is_put_into_its_place(tmp_path: Path) -> None:
    sample = inspect_sample("a", input="attachment://x1", attachments={"x1": "long text"})
    assert read(inspect_json(tmp_path / "l.json", [sample])).trials[0].input == "long text"


def test_a_member_that_is_too_large_or_damaged_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 10_000)
    bomb = inspect_sample("bomb", output={"completion": "0" * 10_000_000})
    path = inspect_archive(tmp_path / "log.eval", [bomb, inspect_sample("a")])
    assert path.stat().st_size < 10_000
    found = read(path)
    assert [trial.id for trial in found.trials] == ["a"]
    assert found.notes["samples that cannot be read"] == 1
    members = {
        "header.json": json.dumps(inspect_header(2)).encode(),
        "samples/../../../etc/x_epoch_1.json": json.dumps(inspect_sample("up")).encode(),
        "samples/torn_epoch_1.json": b'{"id": ',
    }
    archive(tmp_path / "odd.eval", members)
    odd = read(tmp_path / "odd.eval")
    assert [trial.id for trial in odd.trials] == ["up"]
    assert not (tmp_path.parent / "etc").exists()


@pytest.mark.parametrize("at", [200, 700])
def test_an_archive_that_was_cut_off_is_told(tmp_path: Path, at: int) -> None:
    path = inspect_archive(tmp_path / "log.eval", SAMPLES)
    path.write_bytes(path.read_bytes()[:at])
    with pytest.raises(FairtrialError, match="archive cannot be read"):
        read(path)
