"""What an experiment will run, in which order: a pure function of the request."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.grader import GraderSpec
from fairtrial.model.json import Json, content_hash
from fairtrial.model.task import TaskSpec
from fairtrial.ports import CaseOutline


@dataclass(frozen=True, slots=True)
class Arm:
    """One configuration under test."""

    name: str
    task: TaskSpec


@dataclass(frozen=True, slots=True)
class Policy:
    """How an experiment is run; a resume may change it.

    Attributes:
        concurrency: Trials in flight at most.
        retries: Further tries of a trial after a rate limit, a 5xx or a network error.
        stop_after_infra: Stop once so many trials in a row end on infrastructure; 0 never stops.
        trial_timeout_s: Seconds a trial may take, retries included; None for no limit.
        max_cost_usd: What tasks and graders may cost together; None for no limit.
        no_cache: Whether every model is asked anew. A resume never turns that off: part of the
            trials would be draws of another run.
    """

    concurrency: int = 4
    retries: int = 3
    stop_after_infra: int = 5
    trial_timeout_s: float | None = None
    max_cost_usd: float | None = None
    no_cache: bool = False

    def content(self) -> dict[str, Json]:
        """Return the policy as one JSON object."""
        return {
            "concurrency": self.concurrency,
            "retries": self.retries,
            "stop_after_infra": self.stop_after_infra,
            "trial_timeout": self.trial_timeout_s,
            "max_cost": self.max_cost_usd,
            **({"no_cache": True} if self.no_cache else {}),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What will run.

    Attributes:
        dataset: The pinned dataset version.
        cases: The selected cases, in dataset order.
        arms: The configurations under test, baseline first.
        graders: What turns their outputs into scores.
        trials: Trials a case and arm.
        seed: Seed of the order and of the trials' own seeds.
        policy: How it is run.
        design: How later trials depend on earlier ones, as JSON with a `kind`; empty when none do.
        calls: What is done with the tasks' model calls, as JSON; empty leaves them alone. `record`
            is true when they are recorded; `replay` names the `experiment` and `arm` whose calls
            are served again, and the last one that is (`until`); `control` says whether an arm
            runs the recorded configuration, whose paths start at `folder`.
    """

    dataset: DatasetVersion
    cases: Sequence[CaseOutline]
    arms: tuple[Arm, ...]
    graders: tuple[GraderSpec, ...]
    trials: int
    seed: int
    policy: Policy
    design: Mapping[str, Json] = field(default_factory=dict)
    calls: Mapping[str, Json] = field(default_factory=dict)

    @property
    def n_planned(self) -> int:
        """How many trials the plan holds; with a design, how many there are at most."""
        told = self.design.get("planned")
        return len(self.cases) * len(self.arms) * self.trials if told is None else int(told)

    @property
    def identity(self) -> str:
        """Hash of what makes two runs the same experiment.

        The seed is not in it: an interrupted run is found again whatever seed it drew, and goes on
        with that one.
        """
        digest = hashlib.sha256()
        for case in self.cases:
            digest.update(case.digest.encode("ascii"))
        return content_hash(
            {
                "dataset": self.dataset.dataset,
                "cases": digest.hexdigest(),
                "arms": {arm.name: arm.task.content() for arm in self.arms},
                "graders": [grader.content() for grader in self.graders],
                "trials": self.trials,
                **self._designed(),
                **({"replay": self.calls["replay"]} if self.calls.get("replay") else {}),
            }
        )

    def spec(self) -> dict[str, Json]:
        """Return what is run as JSON, complete enough to run it again."""
        return {
            "dataset": self.dataset.ref,
            "arms": {arm.name: arm.task.content() for arm in self.arms},
            "graders": [grader.content() for grader in self.graders],
            "trials": self.trials,
            **self._designed(),
            **({"calls": dict(self.calls)} if self.calls else {}),
        }

    def _designed(self) -> dict[str, Json]:
        return {"design": dict(self.design)} if self.design else {}

    def slots(self) -> Iterator[Slot]:
        """Yield every trial in the order it is due.

        Trial 1 of all cases comes before trial 2 of any, so that a slow drift of the world meets
        all cases alike. Each round has its own seeded order of the cases; within a case the arms
        stand side by side, and which comes first goes round.
        """
        shuffler = random.Random(self.seed)  # noqa: S311  # an order, not a secret
        order = list(range(len(self.cases)))
        for trial in range(1, self.trials + 1):
            shuffler.shuffle(order)
            for turn, index in enumerate(order):
                first = turn % len(self.arms)
                for arm in (*self.arms[first:], *self.arms[:first]):
                    yield Slot(self.cases[index], arm.name, trial)


class Slot(NamedTuple):
    """A planned trial: a case without its content, an arm and a trial number."""

    case: CaseOutline
    arm: str
    trial: int


def trial_seed(seed: int, case_id: str, condition: str, trial: int) -> int:
    """Return a trial's own seed, from 0 to 2**31 - 1.

    It does not depend on the arm: both arms of a pair meet the same randomness, which narrows the
    interval of their difference.
    """
    text = f"{seed}\0{case_id}\0{condition}\0{trial}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def stored_policy(stored: Mapping[str, Json]) -> Policy:
    """Return the policy that `Policy.content` described."""
    return Policy(
        stored["concurrency"],
        stored["retries"],
        stored["stop_after_infra"],
        stored["trial_timeout"],
        stored.get("max_cost"),
        stored.get("no_cache", False),
    )
