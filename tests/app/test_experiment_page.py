"""What a page of an experiment says, from the store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairtrial.app import against_baseline, experiment_gates
from fairtrial.app.against_baseline import FlipCounter
from fairtrial.app.bench import Bench, bench_here
from fairtrial.app.compare_page import ComparePageRequest, compare_page
from fairtrial.app.experiment_page import PAGE, PageRequest, experiment_page
from fairtrial.app.fix_notes import fix_notes
from fairtrial.app.row_keys import key_text
from fairtrial.cli.main import main
from fairtrial.model.comparison import FlipCounts
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.verdict import Verdict

N = PAGE + 10


@pytest.fixture
def bench(folder: Path) -> Iterator[Bench]:
    """A bench over two experiments: `second` solves the odd cases, `first` none."""
    cases = [{"id": f"c{n:03}", "input": str(n), "expected": "yes"} for n in range(N)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    main(["dataset", "add", "d", "cases.jsonl"])
    spec = {
        "dataset": "d",
        "task": {"kind": "python", "function": "agent:answer"},
        "graders": ["contains"],
        "gate": [{"every_row": {"passed": {"at_least": 1}}}],
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    (folder / "agent.py").write_text(
        "from pathlib import Path\n"
        "def answer(text):\n"
        "    return 'yes' if int(text) % 2 and Path('better').exists() else 'no'\n"
    )
    for name in ("first", "second"):
        if name == "second":
            (folder / "better").touch()
        main(["exp", "run", "spec.json", "--name", name])
    with closing(bench_here()) as bench:
        yield bench


def test_rows_stand_beside_those_of_the_baseline(bench: Bench) -> None:
    page = experiment_page(bench, "second", PageRequest())
    assert page.baseline.state is not None
    assert page.baseline.state.experiment.name == "first"
    assert page.against.flips is not None
    assert (page.against.flips.fixed, page.against.flips.broken) == (N // 2, 0)
    assert page.n_rows == N
    assert len(page.rows) == PAGE
    assert [view.change for view in page.rows[:2]] == ["same", "fixed"]
    assert page.rows[1].glance.output == "yes"
    assert page.rows[1].glance.input == "1"
    assert page.rows[1].glance.scores == {"contains": 1.0}
    following = experiment_page(bench, "second", PageRequest(after=page.next))
    assert len(following.rows) == N - PAGE
    assert following.next is None


def test_chips_and_filters_narrow_together(bench: Bench) -> None:
    page = experiment_page(bench, "second", PageRequest(show="improved", where="case = c003"))
    assert [view.glance.row.key.case_id for view in page.rows] == ["c003"]
    assert page.n_rows == 1
    # Brackets keep an `or` of the user's apart from the chip.
    page = experiment_page(
        bench, "second", PageRequest(show="failed", where="case = c002 or case = c003")
    )
    assert [view.glance.row.key.case_id for view in page.rows] == ["c002"]


def test_a_wrong_filter_points_into_what_the_user_typed(bench: Bench) -> None:
    page = experiment_page(bench, "second", PageRequest(show="failed", where="scroe < 1"))
    assert isinstance(page.error, UsageError)
    assert "column 1" in str(page.error)
    assert page.rows == []


def test_a_rule_leads_to_the_rows_that_broke_it(bench: Bench) -> None:
    page = experiment_page(bench, "second", PageRequest(rule=0))
    assert page.n_rows == N // 2
    assert all(view.glance.row.failed for view in page.rows)
    assert page.next is None


def test_a_large_experiment_is_judged_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    small = experiment_page(bench, "second", PageRequest()).gate
    monkeypatch.setattr(experiment_gates, "_SMALL", 0)
    assert experiment_page(bench, "second", PageRequest()).gate == small

    def never(*_: object, **__: object) -> None:
        pytest.fail("it was judged again")

    monkeypatch.setattr(experiment_gates, "judge", never)
    assert experiment_page(bench, "second", PageRequest()).gate == small


def test_a_large_gate_that_was_not_judged_yet_does_not_hold_up_the_rows(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = experiment_page(bench, "second", PageRequest()).gate
    monkeypatch.setattr(experiment_gates, "_SMALL", 0)
    for baseline in (None, "first"):
        later = experiment_page(bench, "second", PageRequest(baseline, decide=False))
        assert later.gate is not None
        assert (later.gate.standing, len(later.rows)) == ("later", PAGE)
        now = experiment_page(bench, "second", PageRequest(baseline)).gate
        assert now is not None
        assert now == decided
        assert experiment_page(bench, "second", PageRequest(baseline, decide=False)).gate == now


def test_a_baseline_that_is_gone_is_said_and_another_used(bench: Bench) -> None:
    page = experiment_page(bench, "second", PageRequest(baseline="exp_gone"))
    assert isinstance(page.baseline_error, NotFoundError)
    assert page.baseline.state is not None
    assert len(page.rows) == PAGE


def test_fix_notes_hold_the_evidence_in_fences(bench: Bench) -> None:
    notes = fix_notes(bench, "second", ("c002", "default", "main"))
    assert "1 of 1 trials failed" in notes
    assert "```text\nno\n```" in notes
    assert "--case c002" in notes
    with pytest.raises(NotFoundError):
        fix_notes(bench, "second", ("none", "default", "main"))


def test_a_key_is_told_in_an_address() -> None:
    assert key_text(("a b", "clean", "main")) == '["a b","clean","main"]'


def test_what_a_large_experiment_fixed_is_counted_once_until_a_trial_changes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(against_baseline, "_SMALL", 0)
    store = bench.store.experiments
    state = store.find("second")
    assert FlipCounter(bench, in_a_list=True).of(state).flips is not None
    counted = FlipCounter(bench, keep=True).of(state)

    def never(*_: object) -> None:
        pytest.fail("it was counted again")

    with monkeypatch.context() as patched:
        patched.setattr(store, "flip_counts", never)
        assert FlipCounter(bench, keep=True).of(state) == counted
        assert FlipCounter(bench, in_a_list=True).of(state) == counted
    # A trial that is recorded again makes what was kept count no more.
    trial = next(store.trials(state.experiment.id))
    store.record(state.experiment.id, [replace(trial, duration_s=9.0)], bench.clock.now())
    changed = store.find("second")
    with monkeypatch.context() as patched:
        patched.setattr(store, "flip_counts", lambda *_: FlipCounts(1, 2, 3))
        assert FlipCounter(bench, keep=True).of(changed).flips == FlipCounts(1, 2, 3)


def test_a_comparison_is_remembered_until_a_trial_changes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ComparePageRequest("first", "second")
    page = compare_page(bench, asked)
    store = bench.store.experiments
    readings: list[object] = []
    usual = store.paired_rows

    def counted(*words: Any) -> object:
        readings.append(words)
        return usual(*words)

    monkeypatch.setattr(store, "paired_rows", counted)
    assert compare_page(bench, replace(asked, show="same")).counts == page.counts
    assert not readings
    state = store.find("second")
    trial = next(store.trials(state.experiment.id))
    passes = replace(trial, verdict=Verdict.UNDECIDED, score=None, scores=())
    store.record(state.experiment.id, [passes], bench.clock.now())
    assert compare_page(bench, asked).counts["undecided"] == page.counts["undecided"] + 1
    assert readings
