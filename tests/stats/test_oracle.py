"""Every reference case, computed by independent software, against the public API."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent

# The reference takes the maximum of no numbers where all differences are equal.
ARTEFACTS = {("wilcoxon_signed_rank-04", "hl"): 1.0}


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("fairtrial_stats_oracle", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


METHODS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = _load(HERE / "oracle.py").METHODS
CASES: list[dict[str, Any]] = json.loads((HERE / "oracle.json").read_text())["cases"]


def _tolerance(case: dict[str, Any], key: str) -> float:
    given = case["tolerance"]
    chosen: Any = given.get(key, given["default"]) if isinstance(given, dict) else given
    return float(chosen)


def _same(got: Any, expected: Any, tolerance: float) -> bool:
    if expected is None or isinstance(expected, bool | str):
        return bool(got == expected)
    if isinstance(expected, list):
        return len(got) == len(expected) and all(
            _same(g, e, tolerance) for g, e in zip(got, expected, strict=True)
        )
    if isinstance(expected, dict):
        return all(_same(got[key], value, tolerance) for key, value in expected.items())
    return got is not None and abs(got - expected) <= tolerance * max(1.0, abs(expected)) + 1e-15


def test_every_method_is_mapped() -> None:
    assert {case["method"] for case in CASES} == set(METHODS)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_reference_case(case: dict[str, Any]) -> None:
    got = METHODS[case["method"]](case["inputs"])
    for key, told in case["expected"].items():
        value = ARTEFACTS.get((case["id"], key), told)
        if key.endswith("_at_most"):
            assert got[key] <= value
        elif key.endswith("_at_least"):
            assert got[key] >= value
        else:
            assert _same(got[key], value, _tolerance(case, key)), (key, got[key], value)


def test_a_million_cases_take_well_under_a_second_and_keep_a_far_tail() -> None:
    case = next(case for case in CASES if case["method"] == "paired_huge")
    start = time.process_time()
    got = METHODS["paired_huge"](case["inputs"])
    assert time.process_time() - start < 1.5
    exact = case["expected"]["mcnemar_exact_p"]
    assert got["mcnemar_exact_p"] == pytest.approx(exact, rel=1e-6)
