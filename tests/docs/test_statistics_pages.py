"""The statistics pages quote and show only what the package computes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


PICTURES = _load(DOCS / "explanation" / "draw_statistics.py")
PAGE = " ".join((DOCS / "explanation" / "statistics.md").read_text().split())


@pytest.mark.parametrize("name", PICTURES.PICTURES)
def test_pictures_are_drawn_by_their_script_and_shown(name: str) -> None:
    drawn = PICTURES.PICTURES[name]().svg()
    assert (DOCS / "explanation" / "img" / f"{name}.svg").read_text() == drawn
    assert f"(img/{name}.svg)" in PAGE


@pytest.mark.parametrize("text", PICTURES.facts().values(), ids=PICTURES.facts())
def test_numbers_in_the_text_are_computed(text: str) -> None:
    assert text in PAGE


def test_the_reference_is_written_from_the_docstrings() -> None:
    writer = _load(DOCS / "reference" / "write_statistics.py")
    assert (DOCS / "reference" / "statistics.md").read_text() == writer.reference()


def test_the_reference_lists_every_module() -> None:
    writer = _load(DOCS / "reference" / "write_statistics.py")
    listed = {module for modules in writer.SECTIONS.values() for module in modules}
    source = DOCS.parent / "src" / "fairtrial"
    tools = {"arrays", "checks", "errors", "roots", "lattice", "trials", "chi", "normal_array"}
    tools |= {"interval", "result", "counts", "cases", "walsh", "distinct", "__init__"}
    present = {
        ".".join(path.relative_to(source).with_suffix("").parts)
        for path in (source / "stats").rglob("*.py")
        if path.stem not in tools
    }
    assert present <= listed
