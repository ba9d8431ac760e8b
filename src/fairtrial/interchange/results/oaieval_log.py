"""Logs of `oaieval`: a spec, then one event a line, then a final report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fairtrial.interchange.results.amounts import (
    cause_of,
    list_of,
    moment,
    number,
    object_of,
    word,
)
from fairtrial.interchange.results.contract import (
    FoundRun,
    FoundScore,
    FoundTrial,
    Notes,
    Trouble,
)
from fairtrial.interchange.results.files import lines
from fairtrial.interchange.results.json_values import Unreadable, value_of
from fairtrial.interchange.results.messages import plain
from fairtrial.model.json import Json

_MATCH: Final = "match"
_SKIPPED: Final = ("raw_sample", "cond_logp", "embedding", "function_call", "extra", "pick_option")


@dataclass(slots=True)
class _Sample:
    """What the events of one sample tell.

    Attributes:
        prompt: What went in.
        outputs: What came out, once for each time that it was asked.
        matches: What each match said.
        metrics: Numbers by name.
        error: What went wrong.
        started_at: When its first event was.
    """

    prompt: Json = None
    outputs: list[Json] = field(default_factory=list)
    matches: list[Mapping[str, Json]] = field(default_factory=list)
    metrics: dict[str, float | None] = field(default_factory=dict)
    error: str | None = None
    started_at: Json = None


def is_log(keys: Collection[str]) -> bool:
    """Return whether a first object is the spec of such a log."""
    return set(keys) == {"spec"} or {"event_id", "sample_id", "run_id", "type", "data"} <= set(keys)


class OaiEvalLog:
    """The samples of a log. See `Reading`."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self._path = path
        self._notes = notes
        self._spec: dict[str, Json] = {}
        self._whole = False

    def trials(self) -> Iterator[FoundTrial]:
        """See `Reading.trials`."""
        samples: dict[str, _Sample] = {}
        for number_, line in lines(self._path, self._notes):
            where = f"line {number_}"
            try:
                event = object_of(value_of(line, self._notes, where))
            except Unreadable:
                self._notes.add("events that are no JSON", where, lost=True)
                continue
            if "spec" in event:
                self._spec = object_of(event["spec"])
            elif "final_report" in event:
                self._whole = True
            elif (sample := word(event.get("sample_id"))) is not None:
                self._take(samples.setdefault(sample, _Sample()), event, where)
        for name, sample_ in samples.items():
            yield from _trials(name, sample_)

    def run(self) -> FoundRun:
        """See `Reading.run`."""
        models = [str(one) for one in list_of(self._spec.get("completion_fns"))]
        name = word(self._spec.get("eval_name"))
        return FoundRun(
            name=name,
            dataset=word(self._spec.get("base_eval")) or name,
            model=models[0] if len(models) == 1 else None,
            ending="finished" if self._whole else "interrupted",
            why=None if self._whole else "the log has no final report",
            facts={"run_id": self._spec["run_id"]} if self._spec.get("run_id") else {},
        )

    def _take(self, sample: _Sample, event: Mapping[str, Json], where: str) -> None:
        kind, data = event.get("type"), object_of(event.get("data"))
        sample.started_at = sample.started_at or event.get("created_at")
        if kind == "sampling":
            if sample.prompt is None:
                sample.prompt = data.get("prompt")
            sampled = data.get("sampled")
            one = sampled[0] if isinstance(sampled, list) and len(sampled) == 1 else sampled
            sample.outputs.append(one)
        elif kind == _MATCH:
            sample.matches.append(data)
        elif kind == "metrics":
            for name, value in data.items():
                score = float(value) if isinstance(value, bool) else number(value)
                sample.metrics[name] = score
        elif kind == "error":
            words = (word(data.get("type")), word(data.get("message")))
            sample.error = ": ".join(part for part in words if part) or "an error"
        elif kind not in _SKIPPED:
            self._notes.add(f"events of the type {str(kind)[:40]!r}", where)


def _trials(name: str, sample: _Sample) -> Iterator[FoundTrial]:
    prompt = sample.prompt
    given = [plain(one) for one in prompt] if isinstance(prompt, list) else prompt
    matches: list[Mapping[str, Json]] = sample.matches or [{}]
    for place, match in enumerate(matches):
        correct = match.get("correct")
        output = match.get("sampled")
        if output is None and sample.outputs:
            output = sample.outputs[min(place, len(sample.outputs) - 1)]
        yield FoundTrial(
            input=name if given is None else given,
            id=name,
            expected=match.get("expected"),
            output=output,
            scores={key: FoundScore(value) for key, value in sample.metrics.items()},
            passed=correct if isinstance(correct, bool) else None,
            trouble=None if sample.error is None else Trouble(cause_of(sample.error), sample.error),
            started_at=moment(sample.started_at),
            stands_in=given is None,
        )
