"""The cells of a matrix."""

from __future__ import annotations

from typing import Any

import pytest

from fairtrial.engine.cells import MOST_CELLS, cells
from fairtrial.model.errors import UsageError

TASK = {"kind": "prompt", "model": "m", "params": {"top_p": 1}}


def test_fields_are_crossed_and_the_first_values_are_the_baseline() -> None:
    found = cells(TASK, {"model": ["small", "large"], "params.top_p": [1, 0.5]}, [], "spec")
    assert [cell.name for cell in found] == [
        "model=small,top_p=1",
        "model=small,top_p=0.5",
        "model=large,top_p=1",
        "model=large,top_p=0.5",
    ]
    assert found[3].task == {"kind": "prompt", "model": "large", "params": {"top_p": 0.5}}
    assert found[3].changes == {"model": "large", "params.top_p": 0.5}
    assert TASK["params"] == {"top_p": 1}


def test_variants_alone_stand_against_the_task_as_it_is() -> None:
    found = cells(TASK, {}, [{"name": "short", "system.text": "Be brief."}], "spec")
    assert [cell.name for cell in found] == ["base", "short"]
    assert found[0].task == TASK
    assert found[1].task == {**TASK, "system": {"text": "Be brief."}}


def test_variants_stand_beside_a_matrix() -> None:
    found = cells(TASK, {"model": ["a", "b"]}, [{"name": "c", "model": "c"}], "spec")
    assert [cell.name for cell in found] == ["model=a", "model=b", "c"]


def test_long_values_are_shortened_in_names() -> None:
    name = cells(TASK, {"model": ["x" * 100]}, [], "spec")[0].name
    assert name == "model=" + "x" * 23 + "…"


@pytest.mark.parametrize(
    ("matrix", "variants", "message"),
    [
        ({"model": []}, [], "has no value"),
        ({"model.name": ["a"]}, [], "leads into 'model', which is no object"),
        ({"a..b": ["a"]}, [], "no path of a field"),
        ({"": ["a"]}, [], "no path of a field"),
        ({"model": ["a", "a"]}, [], "two cells are called"),
        ({"model": ["1", 1]}, [], "two cells are called"),
        ({"n": list(range(MOST_CELLS + 1))}, [], "at most 100"),
        ({}, [{"model": "x"}], "needs a 'name'"),
        ({}, [{"name": "x"}], "changes nothing"),
        ({}, [{"name": "x", "model": "m"}], "are the same task"),
        ({}, [{"name": "base", "model": "x"}], "two cells are called"),
        ({}, [{"name": f"v{n}", "n": n} for n in range(MOST_CELLS)], "at most 100"),
    ],
)
def test_what_makes_no_matrix_is_refused(matrix: Any, variants: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cells(TASK, matrix, variants, "spec")
