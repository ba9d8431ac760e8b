"""What can be read of experiments and sessions: the verbs of the command line."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from fairtrial.app.bench import Bench
from fairtrial.http.verb_routes import Reading, add_readings

_PAGE: Final = {"cursor": "before"}
_EXPERIMENT: Final = "/v2/experiments/{experiment}"
_OF_EXPERIMENT: Final = {"experiment": "experiment"}
_OF_SESSION: Final = {"session": "session"}
READINGS: Final = (
    Reading(
        "/v2/experiments", ("exp", "list"), renamed=_PAGE, answers=("fairtrial.experiments/1",)
    ),
    Reading(
        _EXPERIMENT,
        ("exp", "show"),
        _OF_EXPERIMENT,
        answers=(
            "fairtrial.experiment/1",
            "fairtrial.case/1",
            "fairtrial.rows/1",
            "fairtrial.metrics/1",
        ),
    ),
    Reading(
        f"{_EXPERIMENT}/rows/{{case}}",
        ("exp", "show"),
        {"experiment": "experiment", "case": "case"},
        left_out=frozenset({"where", "limit", "after"}),
        answers=("fairtrial.case/1",),
        name="row_show",
    ),
    Reading(
        f"{_EXPERIMENT}/status",
        ("exp", "status"),
        {"experiment": "run"},
        left_out=frozenset({"limit"}),
        answers=("fairtrial.status/1",),
        name="experiment_status",
    ),
    Reading(
        f"{_EXPERIMENT}/gate",
        ("exp", "gate"),
        _OF_EXPERIMENT,
        left_out=frozenset({"clear"}),
        answers=("fairtrial.gate/1",),
        name="experiment_gate",
    ),
    Reading(
        f"{_EXPERIMENT}/baseline",
        ("exp", "baseline"),
        _OF_EXPERIMENT,
        left_out=frozenset({"action"}),
        answers=("fairtrial.baseline/1",),
        name="experiment_baseline",
    ),
    Reading(
        f"{_EXPERIMENT}/labels",
        ("exp", "labels"),
        _OF_EXPERIMENT,
        answers=("fairtrial.document/1",),
        name="experiment_labels",
    ),
    Reading(
        "/v2/comparisons",
        ("exp", "compare"),
        # A reading asks no judge, and answers JSON.
        left_out=frozenset(
            {"pairwise", "concurrency", "retries", "min_labels", "no_cache", "to", "marker"}
        ),
        answers=("fairtrial.comparison/1",),
    ),
    Reading(
        "/v2/status",
        ("exp", "status"),
        left_out=frozenset({"run"}),
        answers=("fairtrial.status/1",),
    ),
    Reading(
        "/v2/datasets",
        ("dataset", "list"),
        left_out=frozenset({"name"}),
        answers=("fairtrial.datasets/1",),
    ),
    Reading(
        "/v2/datasets/{dataset}",
        ("dataset", "show"),
        {"dataset": "dataset"},
        answers=("fairtrial.dataset/1",),
    ),
    Reading(
        "/v2/datasets/{dataset}/versions",
        ("dataset", "list"),
        {"dataset": "name"},
        answers=("fairtrial.datasets/1",),
        name="dataset_versions",
    ),
    Reading("/v2/dataset-diffs", ("dataset", "diff"), answers=("fairtrial.dataset_diff/1",)),
    Reading("/v2/calls", ("calls", "list"), renamed=_PAGE, answers=("fairtrial.calls/1",)),
    Reading("/v2/calls/{call}", ("calls", "show"), {"call": "call"}, answers=("fairtrial.call/1",)),
    Reading("/v2/sessions", ("sessions", "list"), renamed=_PAGE, answers=("fairtrial.sessions/1",)),
    Reading(
        "/v2/sessions/{session}",
        ("sessions", "show"),
        _OF_SESSION,
        left_out=frozenset({"full"}),  # JSON is always whole
        answers=("fairtrial.session/1",),
    ),
    Reading(
        "/v2/sessions/{session}/flags",
        ("sessions", "flags"),
        _OF_SESSION,
        left_out=frozenset({"where", "mute", "unmute", "again"}),
        answers=("fairtrial.session_flags/1",),
        name="session_flags",
    ),
    Reading(
        "/v2/flags",
        ("sessions", "flags"),
        left_out=frozenset({"session", "mute", "unmute", "again"}),
        answers=("fairtrial.flag_rules/1",),
    ),
    Reading("/v2/session-stats", ("sessions", "stats"), answers=("fairtrial.session_stats/1",)),
    Reading("/v2/keys", ("key", "list"), answers=("fairtrial.keys/1",)),
)


def reading_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter()
    add_readings(router, bench, READINGS)
    return router
