"""`exp metrics`: measure two commands in pairs, and say what changed."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ulid import ULID

from fairtrial.analysis.run_pairs import Wanted
from fairtrial.app.bench import Bench
from fairtrial.app.crashes import crash_log
from fairtrial.app.metric_arms import MetricArm, measuring_task, metric_arms
from fairtrial.app.picturing import checked_plot, pictured_metrics
from fairtrial.app.provenance import provenance
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.metrics import MetricsReport, metrics_report
from fairtrial.app.requests.exp_metrics import Request
from fairtrial.app.seeds import seed_or_drawn
from fairtrial.engine.pairs import PairedPlan
from fairtrial.engine.plan import Arm, Policy
from fairtrial.engine.run import Due, Machinery, World, run
from fairtrial.engine.warm_up import warm_up
from fairtrial.executors.one_by_one import OneByOneExecutor
from fairtrial.graders.grading import grade_all
from fairtrial.model.case import Case
from fairtrial.model.errors import FairtrialError, UsageError
from fairtrial.model.experiment import Experiment
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
from fairtrial.ports import Task
from fairtrial.workspaces.host.client import HostWorkspace

DATASET = "metrics-pairs"
"""The dataset whose versions are so and so many pairs: an experiment has cases, so pairs are."""
WARM_UP = Case("warm-up", {"pair": 0})
HOPELESS = 3
"""An arm whose first so many runs all fail is not tried any further."""


def exp_metrics(bench: Bench, request: Request) -> MetricsReport | AccompaniedReport:
    """Run two commands in pairs, and report how their metrics differ.

    Raises:
        UsageError: an arm is wrong, or a pattern matches no metric of the first pair.
        NotFoundError: a file does not exist.
        FairtrialError: an arm failed in all of its first runs.
        StoreError: the store cannot be read or written.
    """
    path = checked_plot(bench, request.picture.plot)
    arms = metric_arms(request.arms, bench.cwd, request.timeout)
    workspace = HostWorkspace(slots=1)
    surroundings = bench.surroundings(bench.cwd, workspace)
    tasks: dict[str, Task] = {arm.name: measuring_task(arm, surroundings) for arm in arms}
    plan = _plan(bench, request, arms)
    experiment = _experiment(bench, request, plan, arms)
    store = bench.store.experiments
    positions = [case.position for case in plan.cases]
    wanted = Wanted(request.metric, request.higher, request.correction)
    warm = functools.partial(
        warm_up, tasks, WARM_UP, times=request.warmup, seed=plan.seed, control=bench.control
    )
    run(
        Due(plan, experiment, lambda: store.open_experiment(experiment, positions)),
        Machinery(tasks, (), functools.partial(grade_all, ()), workspace),
        World(
            store=store,
            load=lambda positions: bench.store.datasets.cases(plan.dataset, positions),
            executor=OneByOneExecutor(bench.clock, warm, _Watch(experiment, wanted).see),
            clock=bench.clock,
            publish=bench.publish,
            crash_log=functools.partial(crash_log, bench.home / "crashes.log"),
        ),
        bench.control,
    )
    report = metrics_report(store, store.find(experiment.id))
    return report if path is None else pictured_metrics(report, path)


class _Watch:
    """Stops a run that can come to nothing, as soon as that shows."""

    def __init__(self, experiment: Experiment, wanted: Wanted) -> None:
        self._experiment = experiment
        self._wanted = wanted
        self._seen: dict[str, list[Trial]] = {arm: [] for arm in experiment.arms}
        self._patterns_checked = False

    def see(self, trial: Trial) -> None:
        """Take in a run.

        Raises:
            UsageError: both arms have run, and a pattern matches none of their metrics.
            FairtrialError: an arm has failed from the start.
        """
        if self._patterns_checked and len(self._seen[trial.key.arm]) >= HOPELESS:
            return
        runs = self._seen[trial.key.arm]
        runs.append(trial)
        good = [[t for t in runs if t.verdict is Verdict.PASSED] for runs in self._seen.values()]
        if all(good) and not self._patterns_checked:
            self._check_patterns([name for runs in good for t in runs for name in t.metrics])
        if len(runs) == HOPELESS and all(t.verdict is not Verdict.PASSED for t in runs):
            raise FairtrialError(
                f"the first {HOPELESS} runs of arm {trial.key.arm} failed, so nothing can be "
                "compared",
                why=trial.reason,
                fix=f"see what it printed: fairtrial exp show {self._experiment.id} "
                f"--case {trial.key.case_id}",
            )

    def _check_patterns(self, names: Sequence[str]) -> None:
        self._patterns_checked = True
        unmatched = self._wanted.unmatched(names)
        if unmatched:
            known = ", ".join(dict.fromkeys(names))
            raise UsageError(
                f"no metric is called {', '.join(unmatched)}",
                where="--metric" if unmatched[0] in self._wanted.only else "--higher",
                why=f"the first pair has: {known}",
                fix="correct the name; the run was stopped after that pair",
            )


def _plan(bench: Bench, request: Request, arms: Sequence[MetricArm]) -> PairedPlan:
    width = max(3, len(str(request.pairs)))
    cases = (Case(f"pair-{n:0{width}}", {"pair": n}) for n in range(1, request.pairs + 1))
    dataset, _ = bench.store.datasets.add_version(DATASET, cases)
    return PairedPlan(
        dataset=dataset,
        cases=tuple(bench.store.datasets.outline(dataset)),
        arms=tuple(Arm(arm.name, arm.task) for arm in arms),
        graders=(),
        trials=1,
        seed=seed_or_drawn(request.seed),
        policy=Policy(concurrency=1, retries=0, stop_after_infra=0),
    )


def _experiment(
    bench: Bench, request: Request, plan: PairedPlan, arms: Sequence[MetricArm]
) -> Experiment:
    names = tuple(arm.name for arm in arms)
    spec = {**plan.spec(), "base_dir": str(bench.cwd)}
    spec["metrics"] = {
        "pairs": request.pairs,
        "warmup": request.warmup,
        "higher": list(request.higher),
        "metric": list(request.metric),
        "correction": request.correction,
        "timeout": {arm.name: arm.time_limit_s for arm in arms},
        "fail_on_worse": request.fail_on_worse,
    }
    return Experiment(
        id=f"exp_{ULID()}",
        name=request.name or "-vs-".join(names),
        dataset=plan.dataset.dataset,
        dataset_number=plan.dataset.number,
        dataset_digest=plan.dataset.digest,
        arms=names,
        trials=1,
        n_cases=len(plan.cases),
        seed=plan.seed,
        spec=spec,
        policy=plan.policy.content(),
        identity=plan.identity,
        provenance=provenance(bench.cwd, bench.environ),
        created_at=bench.clock.now(),
    )
