"""From the result of one trial of Harbor to a trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from fairtrial.interchange.results.amounts import (
    amount,
    cause_of,
    count,
    list_of,
    moment,
    number,
    object_of,
    seconds_between,
    tokens_of,
    word,
)
from fairtrial.interchange.results.contract import Cause, FoundScore, FoundTrial, Notes, Trouble
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens

REWARD: Final = "reward"
"""The reward that decides; others are only told."""
_CAUSES: Final[Mapping[str, Cause]] = {
    "AgentTimeoutError": "limit",
    "CancelledError": "undecidable",
    "VerifierTimeoutError": "grader",
    "RewardFileNotFoundError": "grader",
    "RewardFileEmptyError": "grader",
    "VerifierOutputParseError": "grader",
    "AddTestsDirError": "infra",
    "DownloadVerifierDirError": "infra",
    "EnvironmentStartTimeoutError": "infra",
    "AgentSetupTimeoutError": "infra",
    "HealthcheckError": "infra",
    "MemoryLimitExceededError": "infra",
    "AgentAuthenticationError": "infra",
    "ModelNotFoundError": "infra",
    "BudgetExceededError": "infra",
    "NonZeroAgentExitCodeError": "task",
    "ContextWindowExceededError": "task",
    "OutputTokenExceededError": "task",
    "AgentSafetyRefusalError": "task",
}
"""What is known of the errors by name; of others their words tell."""
_TRAJECTORIES: Final = ("agent/trajectory.json", "steps/*/agent/trajectory.json")


def agent_of(result: Mapping[str, Json]) -> tuple[str | None, str | None]:
    """Return the name of the agent and of its model."""
    info = object_of(result.get("agent_info"))
    config = object_of(object_of(result.get("config")).get("agent"))
    model = word(object_of(info.get("model_info")).get("name")) or word(config.get("model_name"))
    return word(info.get("name")) or word(config.get("name")), model


def trial_of(result: Mapping[str, Json], folder: Path, arm: str | None, notes: Notes) -> FoundTrial:
    """Return the trial of a result.

    Args:
        result: The result.
        folder: The folder of the trial.
        arm: Its arm; None where there is one only.
        notes: Counts what was not understood.
    """
    name = word(result.get("task_name")) or folder.name
    rewards = _rewards(result)
    errors = list(_errors(result))
    trouble = _trouble(errors, rewards, list_of(result.get("step_results")))
    metadata = {"task_checksum": result["task_checksum"]} if result.get("task_checksum") else {}
    said: dict[str, Json] = {"trial": word(result.get("trial_name")) or folder.name}
    said["rewards"] = rewards or None
    if errors:
        said["errors"] = [f"{where}{kind}: {text}"[:2_000] for where, kind, text in errors]
    return FoundTrial(
        input=name,
        id=name,
        metadata=metadata,
        arm=arm,
        model=agent_of(result)[1],
        output=said,
        scores={key: FoundScore(value) for key, value in rewards.items()},
        reason=said["errors"][0] if errors else None,
        trouble=trouble,
        started_at=moment(result.get("started_at")),
        duration_s=_duration(result),
        cost_usd=_cost(result),
        tokens=_tokens(result),
        stands_in=True,
        transcript=_transcript(folder, notes),
    )


def _rewards(result: Mapping[str, Json]) -> dict[str, float | None]:
    told = object_of(object_of(result.get("verifier_result")).get("rewards"))
    return {name: number(value) for name, value in told.items()}


def _errors(result: Mapping[str, Json]) -> Iterator[tuple[str, str, str]]:
    """Yield where, which and with what words something went wrong: in the trial, then in steps.

    With several steps the trial itself may have no error, and a reward of 0, all the same.
    """
    steps = [object_of(step) for step in list_of(result.get("step_results"))]
    places = [("", result), *((f"step {step.get('step_name')}: ", step) for step in steps)]
    for where, place in places:
        info = object_of(place.get("exception_info"))
        if info:
            kind = word(info.get("exception_type")) or "error"
            yield where, kind, word(info.get("exception_message")) or ""


def _trouble(
    errors: list[tuple[str, str, str]], rewards: Mapping[str, float | None], steps: list[Json]
) -> Trouble | None:
    order: tuple[Cause, ...] = ("infra", "undecidable", "grader", "limit", "task")
    found: dict[Cause, str] = {}
    for where, kind, text in errors:
        cause = _CAUSES.get(kind) or cause_of(f"{kind}: {text}")
        found.setdefault(cause, f"{where}{kind}{f': {text}' if text else ''}")
    scored = rewards.get(REWARD) is not None
    for cause in order:
        if cause in found and not (cause == "task" and scored):
            return Trouble(cause, found[cause])
    if scored or found:
        return None
    words = "the verifier gave no reward"
    if steps and not rewards:
        words += " for its steps"
    return Trouble("grader", words)


def _parts(result: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return what the agent took: of the trial, or else of each step."""
    own = object_of(result.get("agent_result"))
    if own:
        return [own]
    steps = [object_of(step) for step in list_of(result.get("step_results"))]
    return [part for step in steps if (part := object_of(step.get("agent_result")))]


def _sum(parts: list[dict[str, Json]], name: str) -> int | None:
    known = [found for part in parts if (found := count(part.get(name))) is not None]
    return sum(known) if known else None


def _tokens(result: Mapping[str, Json]) -> Tokens | None:
    parts = _parts(result)
    total, cached = _sum(parts, "n_input_tokens"), _sum(parts, "n_cache_tokens")
    return tokens_of(
        # Its input has the cached ones in it.
        input=None if total is None else max(total - (cached or 0), 0),
        output=_sum(parts, "n_output_tokens"),
        cache_read=cached,
    )


def _cost(result: Mapping[str, Json]) -> float | None:
    costs = [amount(part.get("cost_usd")) for part in _parts(result)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _duration(result: Mapping[str, Json]) -> float | None:
    steps = [object_of(step) for step in list_of(result.get("step_results"))]
    spans = [object_of(place.get("agent_execution")) for place in (result, *steps)]
    found = [
        seconds
        for span in spans
        if (
            seconds := seconds_between(
                moment(span.get("started_at")), moment(span.get("finished_at"))
            )
        )
        is not None
    ]
    return sum(found) if found else None


def _transcript(folder: Path, notes: Notes) -> Path | None:
    """Return the trajectory of a trial, or of its last step; none that leads out of its folder."""
    inside = folder.resolve()
    found = [path for pattern in _TRAJECTORIES for path in sorted(folder.glob(pattern))]
    safe = [path for path in found if path.is_file() and path.resolve().is_relative_to(inside)]
    if len(safe) < len(found):
        notes.add("trajectories that lead out of the folder of their trial", folder.name)
    return safe[-1] if safe else None
