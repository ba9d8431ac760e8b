"""The interfaces between the engine and the world; adapters implement them, the engine sees them.

An adapter is checked against its contract by a conformance class of `fairtrial.testing`.
"""

from __future__ import annotations

from fairtrial.ports.models import AnswerCache, CallStore, Prices, Provider
from fairtrial.ports.programs import ProcessCall, ProcessResult, Workspace
from fairtrial.ports.runs import (
    CallRecorder,
    CallsMade,
    Clock,
    Executor,
    Lease,
    Line,
    TrialSink,
    TrialWork,
)
from fairtrial.ports.stores import (
    EVERY_ROW,
    CaseOutline,
    DatasetStore,
    ExperimentStore,
    RowFilter,
    RowQuery,
    SettingsStore,
    TrialFilter,
)
from fairtrial.ports.tasks import Grader, Surroundings, Task
from fairtrial.ports.timelines import LogbookStore, SweepStore
from fairtrial.ports.workspaces import PreparedRepo, RepoWorkspace, Workspaces

__all__ = [
    "EVERY_ROW",
    "AnswerCache",
    "CallRecorder",
    "CallStore",
    "CallsMade",
    "CaseOutline",
    "Clock",
    "DatasetStore",
    "Executor",
    "ExperimentStore",
    "Grader",
    "Lease",
    "Line",
    "LogbookStore",
    "PreparedRepo",
    "Prices",
    "ProcessCall",
    "ProcessResult",
    "Provider",
    "RepoWorkspace",
    "RowFilter",
    "RowQuery",
    "SettingsStore",
    "Surroundings",
    "SweepStore",
    "Task",
    "TrialFilter",
    "TrialSink",
    "TrialWork",
    "Workspace",
    "Workspaces",
]
