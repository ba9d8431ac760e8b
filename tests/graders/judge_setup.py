"""Judges as a test needs them: built from a spec, asked about one output."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.graders.scripted import Scripted, Stopwatch

from fairtrial.graders.grading import grade_all
from fairtrial.graders.judge.grader import Judge
from fairtrial.graders.registry import build_grader, grader_spec
from fairtrial.model.case import Case
from fairtrial.model.grader import Subject
from fairtrial.model.json import Json
from fairtrial.model.score import Score
from fairtrial.ports import Surroundings
from fairtrial.workspaces.host.client import HostWorkspace

SPEC = {"kind": "judge", "rubric": "The capital is right.", "provider": "fake"}
CASE = Case("c1", "Capital of France?", "Paris", metadata={"topic": "geography"})


def subject(output: Json, case: Case = CASE, trial: int = 1, turn: int = 0) -> Subject:
    return Subject(case, output, trial, turn=turn)


def judge_of(folder: Path, **options: Any) -> Judge:
    surroundings = Surroundings(folder, os.environ, HostWorkspace(slots=1), clock=Stopwatch())
    grader = build_grader(grader_spec({**SPEC, **options}, "spec"), surroundings, "grader")
    assert isinstance(grader, Judge)
    return grader


def scripted(folder: Path, *providers: Scripted, **options: Any) -> Judge:
    """Return a judge whose members are scripted."""
    judge = judge_of(folder, **options)
    member = judge.members[0]
    judge.members = tuple(
        replace(member, label=f"m{n}", provider=provider)
        for n, provider in enumerate(providers, start=1)
    )
    return judge


def score(judge: Judge, output: Json, **about: Any) -> Score:
    """Return what a judge makes of an output, as a run would."""
    return asyncio.run(grade_all([judge], subject(output, **about)))[0]
