"""Jobs of Harbor: a folder with a folder for each trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fairtrial.interchange.results.amounts import count, list_of, object_of, word
from fairtrial.interchange.results.contract import Asked, Ending, FoundRun, FoundTrial, Notes, Probe
from fairtrial.interchange.results.files import content
from fairtrial.interchange.results.harbor_trials import REWARD, agent_of, trial_of
from fairtrial.interchange.results.json_values import Unreadable, value_of
from fairtrial.model.errors import FairtrialError
from fairtrial.model.json import Json, canonical_json

TOOL: Final = "harbor"
_RESULT: Final = "result.json"
_CONFIG: Final = "config.json"
_TRIAL: Final = frozenset({"trial_name", "task_name"})
_JOB: Final = frozenset({"n_total_trials", "stats"})
_LARGEST: Final = 256 * 1024 * 1024
_LOOKED_AT: Final = 50
"""Folders that are looked into to see whether there is a trial among them."""


def recognises(probe: Probe, _: Asked) -> bool:
    """Return whether a folder is that of a job, or of one trial."""
    if not probe.is_folder:
        return False
    own = set(_json(probe.path / _RESULT))
    if own >= _TRIAL or own >= _JOB:
        return True
    folders = [inner for inner in sorted(probe.path.iterdir()) if (inner / _RESULT).is_file()]
    return any(set(_json(inner / _RESULT)) >= _TRIAL for inner in folders[:_LOOKED_AT])


def _json(path: Path) -> dict[str, Json]:
    """Return the object in a file; an empty one when there is none that can be read."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return {}
        return object_of(value_of(bytes(content(path)), Notes()))
    except (FairtrialError, OSError, Unreadable):
        return {}


class HarborJob:
    """The trials of a job. See `Reading`."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self._path = path
        self._notes = notes
        self._job = _json(path / _RESULT)
        self._config = _json(path / _CONFIG)
        self._read = 0
        self._sources: Counter[str] = Counter()

    def trials(self) -> Iterator[FoundTrial]:
        """See `Reading.trials`."""
        names = self._arms()
        for folder in self._folders():
            result = _json(folder / _RESULT)
            if not result.keys() >= _TRIAL:
                self._notes.add("trials without a result", folder.name, lost=True)
                continue
            self._read += 1
            if (source := word(result.get("source"))) is not None:
                self._sources[source] += 1
            arm = names.get(_key(result)) if len(names) > 1 else None
            yield trial_of(result, folder, arm, self._notes)

    def run(self) -> FoundRun:
        """See `Reading.run`."""
        ending: Ending = "finished"
        why = None
        planned = count(self._job.get("n_total_trials"))
        if planned is not None and self._read < planned:
            ending, why = "interrupted", f"{self._read:,} of {planned:,} trials have a result"
        sources = list(self._sources)
        name = word(self._config.get("job_name"))
        return FoundRun(
            name=name,
            dataset=sources[0] if len(sources) == 1 else None,
            ending=ending,
            why=why,
            arms=tuple(dict.fromkeys(self._arms().values())),
            thresholds={REWARD: 1.0},
            decides=(REWARD,),
            graders=(REWARD,),
            facts={"job_id": self._job["id"]} if word(self._job.get("id")) else {},
        )

    def _folders(self) -> list[Path]:
        if self._job.keys() >= _TRIAL:
            return [self._path]
        return [
            inner
            for inner in sorted(self._path.iterdir())
            if inner.is_dir()
            and not inner.is_symlink()
            and ((inner / _RESULT).is_file() or (inner / _CONFIG).is_file())
        ]

    def _arms(self) -> dict[str, str]:
        """Return a name for each configuration of an agent, in the order of the job."""
        found: dict[str, str] = {}
        for folder in self._folders():
            result = _json(folder / _RESULT)
            key = _key(result)
            if not result.keys() >= _TRIAL or key in found:
                continue
            name = "/".join(part for part in agent_of(result) if part) or "agent"
            if name in found.values():
                name = f"{name} #{len(found) + 1}"
            found[key] = name
        order = [canonical_json(_identity(one)).decode() for one in self._wanted()]
        ranked = {key: place for place, key in enumerate(order)}
        return dict(sorted(found.items(), key=lambda item: ranked.get(item[0], len(ranked))))

    def _wanted(self) -> list[dict[str, Json]]:
        return [object_of(one) for one in list_of(self._config.get("agents"))]


def _key(result: dict[str, Json]) -> str:
    """Return what tells the configurations of agents apart."""
    agent = object_of(object_of(result.get("config")).get("agent"))
    return canonical_json(_identity(agent)).decode()


def _identity(agent: dict[str, Json]) -> dict[str, Json]:
    return {name: agent.get(name) for name in ("name", "import_path", "model_name", "kwargs")}


def read(path: Path, _: Asked, notes: Notes) -> HarborJob:
    """Return the results of a job."""
    return HarborJob(path, notes)
