"""The interfaces between the engine and the world; adapters implement them, the engine sees them.

An adapter is checked against its contract by a conformance class of `fairtrial.testing`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing for it would take longer than this module
if TYPE_CHECKING:
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

_PLACES = {
    "models": ("AnswerCache", "CallStore", "Prices", "Provider"),
    "programs": ("ProcessCall", "ProcessResult", "Workspace"),
    "runs": (
        "CallRecorder",
        "CallsMade",
        "Clock",
        "Executor",
        "Lease",
        "Line",
        "TrialSink",
        "TrialWork",
    ),
    "stores": (
        "EVERY_ROW",
        "CaseOutline",
        "DatasetStore",
        "ExperimentStore",
        "RowFilter",
        "RowQuery",
        "SettingsStore",
        "TrialFilter",
    ),
    "tasks": ("Grader", "Surroundings", "Task"),
    "timelines": ("LogbookStore", "SweepStore"),
    "workspaces": ("PreparedRepo", "RepoWorkspace", "Workspaces"),
}
"""Where each name is: it is loaded on first use, for short commands need few of them."""

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


def __getattr__(name: str) -> object:
    for module, names in _PLACES.items():
        if name in names:
            import importlib  # noqa: PLC0415  # only for who uses one

            found = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            globals()[name] = found  # the next time it is not asked for here
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
