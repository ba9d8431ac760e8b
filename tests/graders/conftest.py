"""Graders are asked as an experiment asks them: from a spec to a score."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fairtrial.graders.grading import grade_all
from fairtrial.graders.registry import build_grader, grader_specs
from fairtrial.model.case import Case
from fairtrial.model.grader import Subject
from fairtrial.model.score import Score
from fairtrial.ports import Surroundings
from fairtrial.workspaces.host.client import HostWorkspace

Ask: TypeAlias = Callable[..., Score]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Return a function that grades one output with one grader."""

    def score(spec: Any, output: Any, expected: Any = None, **changes: Any) -> Score:
        case = Case("c1", "question", expected, metadata={"repo": "r"})
        subject = Subject(case, output, trial=1, **changes)
        return asyncio.run(_scores([spec], subject, tmp_path))[0]

    return score


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Return a function that writes a module into the spec's folder and gives its name."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    name = f"graders_{tmp_path.parent.name}_{tmp_path.name}".replace("-", "_")

    def write(source: str) -> str:
        (tmp_path / f"{name}.py").write_text(source)
        return name

    yield write
    for added in set(sys.modules) - known:
        if added == name:
            del sys.modules[added]


async def _scores(specs: list[Any], subject: Subject, folder: Path) -> tuple[Score, ...]:
    workspace = HostWorkspace(slots=2)
    surroundings = Surroundings(folder, os.environ, workspace)
    graders = [build_grader(s, surroundings, "spec") for s in grader_specs(specs, "spec")]
    try:
        for grader in graders:
            await grader.open()
        return await grade_all(graders, subject)
    finally:
        for grader in graders:
            await grader.close()
        await workspace.close()
