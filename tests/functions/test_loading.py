"""Functions of modules that share a name with one in another folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairtrial.functions.calling import UserFunction
from fairtrial.functions.loading import load_function

NAME = "module_of_two_folders"


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop(NAME, None)


def loaded(folder: Path, answer: int) -> UserFunction:
    folder.mkdir(exist_ok=True)
    (folder / f"{NAME}.py").write_text(f"def answer(_input):\n    return {answer}\n")
    return load_function(f"{NAME}:answer", folder, "test")


def test_each_folder_has_its_own(tmp_path: Path) -> None:
    first, second = loaded(tmp_path / "a", 1), loaded(tmp_path / "b", 2)
    again = load_function(f"{NAME}:answer", tmp_path / "a", "test")
    values = [function.target(None) for function in (first, second, again)]
    assert values == [1, 2, 1]


def test_a_module_is_read_once_a_folder(tmp_path: Path) -> None:
    first = loaded(tmp_path / "a", 1)
    again = load_function(f"{NAME}:answer", tmp_path / "a", "test")
    assert first.target is again.target
