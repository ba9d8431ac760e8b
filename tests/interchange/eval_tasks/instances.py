"""Instances in the form of SWE-bench's published files."""

from __future__ import annotations

from typing import Any


def an_instance(**changed: Any) -> dict[str, Any]:
    told = {
        "instance_id": "a__b-1",
        "repo": "a/b",
        "base_commit": "c" * 40,
        "problem_statement": "It fails.",
        "patch": "diff",
        "test_patch": "diff --git a/t b/t",
        "FAIL_TO_PASS": '["test_a.py::test_x"]',
        "PASS_TO_PASS": ["test_a.py::test_y[a b]"],
        "version": "1.0",
        "hints_text": "",
    }
    return {**told, **changed}
