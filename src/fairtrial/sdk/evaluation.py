"""`Eval`: cases, a task and graders make an experiment; the engine is that of `exp run`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack

from fairtrial.app.baselines import baseline_of
from fairtrial.app.bench import Bench, bench_here, ignore
from fairtrial.app.ci import ENVIRONMENTS
from fairtrial.app.exp_run import Birth, carry_out
from fairtrial.app.requests import exp_compare
from fairtrial.app.requests.exp_run import NEWEST, Limits, Request, Selection
from fairtrial.app.resuming import Intent, intent_of
from fairtrial.app.task_scripts import task_script_digests
from fairtrial.engine.control import Control
from fairtrial.interchange.dataset_files.columns import format_of
from fairtrial.model.errors import FairtrialError, NotFoundError, UsageError
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall
from fairtrial.model.trial import MAIN_ARM
from fairtrial.schema.decoding import decode
from fairtrial.sdk.cases import Data, stored_cases
from fairtrial.sdk.comparison import Comparison, compared_in
from fairtrial.sdk.datasets import Dataset
from fairtrial.sdk.experiment import Experiment
from fairtrial.sdk.naming import Names, source_digest
from fairtrial.sdk.plain_errors import AtTheCall
from fairtrial.sdk.progress import ProgressLine, is_wanted
from fairtrial.sdk.scoring import Grader, name_of
from fairtrial.sdk.waiting import awaited, waited_for

In = TypeVar("In")

Task: TypeAlias = Callable[[In], Any] | Callable[[In, TaskCall], Any] | Mapping[str, Any]
"""What turns an input into an output: a function, async or not, or a task as in a spec."""
GraderGiven: TypeAlias = Callable[..., Any] | Grader[..., Any] | str | Mapping[str, Any]
"""A function, a `Grader`, the name of a kind (`exact`) or a grader as in a spec."""


class Options(TypedDict, total=False):
    """What `Eval` takes beside data, task and graders."""

    trials: int
    """Trials a case (default: 1)."""
    baseline: Experiment | str | None
    """What to compare with: an experiment, its id or its name. Without one it is the project's
    baseline, else the newest earlier finished experiment of the same `Eval`."""
    concurrency: int
    """Trials in flight at most (default: 4)."""
    retries: int
    """Further tries of a trial after an `InfraError` (default: 3)."""
    trial_timeout: float
    """Seconds that a trial may take; over it the trial fails (default: no limit)."""
    max_cost: float
    """What models may cost together, in USD (default: no limit)."""
    seed: int
    """Seed of the order and of the trials' own seeds (default: drawn, and recorded)."""
    split: str
    """Only cases of this split."""
    sample: int | float
    """A random sample of the cases: a count, or a share below 1."""
    first_n: int
    """Only the first so many cases."""
    resume: bool | str
    """Go on with an interrupted experiment: True for the newest unfinished one with the same
    cases, task, graders and trials, if there is one, or its id."""
    environment: Literal["dev", "staging", "prod", "ci"]
    """Where it runs, as its record says (default: what FAIRTRIAL_ENVIRONMENT says, else `ci` on a
    CI, else `dev`)."""
    series: str
    """The improvement loop that the experiment is a round of."""
    progress: bool
    """Whether to show progress on standard error (default: on a terminal and in a notebook, and
    not on a CI)."""
    environ: Mapping[str, str]
    """Where the store is, as the environment says it (default: that of the process)."""


def Eval(  # noqa: N802  # it is read as a thing: Eval("support", …)
    name: str,
    data: Data[In],
    task: Task[In],
    graders: Sequence[GraderGiven] = ("exact",),
    **options: Unpack[Options],
) -> Experiment:
    """Run a task over cases, grade every output, and return the experiment, which is stored.

    It may be called where an event loop runs, as in a notebook, and in any thread; `await
    eval_async(…)` does the same without holding the loop. What the task or a grader raises becomes
    the verdict of its trial. The first Ctrl-C finishes the trials in flight, the second ends them.

    Args:
        name: What the experiment is called, and the dataset of cases that are given here.
        data: Cases, dicts with their keys, a generator of these, a function that makes one, a
            file, or the name of a dataset of the store.
        task: Gets the input of a case and returns the output. With a second parameter called
            `call` it also gets the `TaskCall`, which knows trial and seed.
        graders: Functions and graders as in a spec.
        options: See `Options`.

    Raises:
        UsageError: something is missing or wrong; nothing was run.
        NotFoundError: a dataset, a file or an experiment does not exist; nothing was run.
        StoreError: the store cannot be read or written.
        KeyboardInterrupt: after Ctrl-C, when the trials in flight have ended.
    """
    with AtTheCall():
        evaluation = _Evaluation(name, data, task, _listed(graders), options)
        return waited_for(evaluation.run, evaluation.control)


async def eval_async(
    name: str,
    data: Data[In],
    task: Task[In],
    graders: Sequence[GraderGiven] = ("exact",),
    **options: Unpack[Options],
) -> Experiment:
    """Do what `Eval` does; the caller's event loop goes on meanwhile.

    The task runs on an event loop of its own, in another thread: a client that is bound to the
    caller's loop is to be made within the task. A cancel ends the trials in flight.
    """
    with AtTheCall():
        evaluation = _Evaluation(name, data, task, _listed(graders), options)
        return await awaited(evaluation.run, evaluation.control)


@dataclass
class _Evaluation:
    """One call of `Eval`."""

    name: str
    data: Any
    task: Any
    graders: tuple[Any, ...]
    options: Options
    control: Control = field(default_factory=Control)
    names: Names = field(default_factory=Names)

    def run(self) -> Experiment:
        """Run it; see `Eval`."""
        with closing(self._bench()) as bench:
            given = self._baseline(bench)
            request = self._request(bench)
            intent = self._intent(bench, request)
            birth = Birth(facts=self._facts(intent, given), source="sdk")
            report = carry_out(bench, request, intent, birth)
            environ = self.options.get("environ")
            compared, why_not = _compared(bench, report.state.experiment.id)
        return Experiment(report, compared, why_not, environ)

    def _bench(self) -> Bench:
        bench = bench_here(self.options.get("environ"))
        environment = self.options.get("environment")
        if environment is not None:
            if environment not in ENVIRONMENTS:
                raise UsageError(
                    f"{str(environment)[:60]!r} is no environment",
                    where="environment",
                    fix=f"it is one of {', '.join(ENVIRONMENTS)}",
                )
            told = {**bench.environ, "FAIRTRIAL_ENVIRONMENT": environment}
            bench = dataclasses.replace(bench, environ=told)
        wanted = is_wanted(bench.environ, given=self.options.get("progress"))
        return dataclasses.replace(
            bench,
            publish=ProgressLine().see if wanted else ignore,
            control=self.control,
            functions=self.names.functions,
        )

    def _baseline(self, bench: Bench) -> str | None:
        """Return the id of the baseline that was given: a name may mean another one later."""
        given = self.options.get("baseline")
        if given is None:
            return None
        if not isinstance(given, Experiment | str):
            raise UsageError(
                f"a {type(given).__name__} is no experiment",
                where="baseline",
                fix="give an experiment, its id or its name",
            )
        ref = given if isinstance(given, str) else given.id
        return bench.store.experiments.find(ref).experiment.id

    def _request(self, bench: Bench) -> Request:
        _check_name(self.name)
        unknown = [key for key in self.options if key not in Options.__annotations__]
        if unknown:
            known = ", ".join(Options.__annotations__)
            raise UsageError(f"Eval takes no {unknown[0]!r}", fix=f"its options are: {known}")
        given = {key: value for key, value in self.options.items() if value is not None}
        task, graders = self._task(), self._graders()
        decoded = decode(Request, {**_chosen(given, Request), "name": self.name}, "Eval")
        resume: Any = self.options.get("resume", False)
        if not isinstance(resume, bool | str | None):
            raise UsageError(
                f"a {type(resume).__name__} is no experiment",
                where="resume",
                fix="give True for the newest, or an id",
            )
        return dataclasses.replace(
            decoded,
            dataset=self._dataset(bench),
            task=task,
            graders=graders,
            selection=decode(Selection, _chosen(given, Selection), "Eval"),
            limits=decode(Limits, _chosen(given, Limits), "Eval"),
            resume=NEWEST if resume is True else resume or None,
        )

    def _intent(self, bench: Bench, request: Request) -> Intent:
        try:
            return intent_of(bench, request, (MAIN_ARM,))
        except NotFoundError:
            if request.resume != NEWEST:
                raise
            return intent_of(bench, dataclasses.replace(request, resume=None), (MAIN_ARM,))

    def _dataset(self, bench: Bench) -> str:
        data = self.data
        if isinstance(data, Dataset):
            return data.name
        if isinstance(data, str) and not _is_file(data):
            return data
        source = bench.path(Path(data)) if isinstance(data, str | Path) else data
        version, _ = bench.store.datasets.add_version(self.name, stored_cases(source))
        return version.ref

    def _task(self) -> Mapping[str, Json]:
        if isinstance(self.task, Mapping):
            return self.task
        if not callable(self.task):
            raise UsageError(
                f"a {type(self.task).__name__} is no task",
                where="task",
                fix="give a function that takes the input of a case, or a task as in a spec",
            )
        return {"kind": "python", "function": self.names.add(self.task)}

    def _graders(self) -> tuple[Mapping[str, Json] | str, ...]:
        if not self.graders:
            raise UsageError("no grader", where="graders", fix="give one, e.g. graders=['exact']")
        taken: set[str] = set()
        return tuple(self._grader(one, place, taken) for place, one in enumerate(self.graders))

    def _grader(self, given: Any, place: int, taken: set[str]) -> Mapping[str, Json] | str:
        if isinstance(given, str | Mapping):
            return given
        if isinstance(given, Grader):
            taken.add(given.name)
            return given.spec(self.names.add(given))
        if not callable(given):
            raise UsageError(
                f"a {type(given).__name__} is no grader",
                where=f"graders[{place}]",
                fix="give a function, the name of a kind, or a grader as in a spec",
            )
        name = name_of(given)
        unique, number = name, 1
        while unique in taken:
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique)
        return Grader(given, unique).spec(self.names.add(given))

    def _facts(self, intent: Intent, baseline: str | None) -> dict[str, Json]:
        facts: dict[str, Json] = {} if baseline is None else {"baseline": baseline}
        if callable(self.task) and not task_script_digests(intent.plan.arms, intent.folder):
            digest = source_digest(self.task)
            if digest is not None:
                facts["task_scripts"] = {MAIN_ARM: digest}
        return facts


def _listed(graders: Any) -> tuple[Any, ...]:
    """Return graders as they are wanted: several of them, in a list."""
    if isinstance(graders, str | Mapping) or callable(graders) or not isinstance(graders, Iterable):
        raise UsageError(
            f"a {type(graders).__name__} is no list of graders",
            where="graders",
            fix="write graders=[…], also for one",
        )
    return tuple(graders)


def _compared(bench: Bench, experiment_id: str) -> tuple[Comparison | None, str | None]:
    """Compare an experiment with its baseline; where that cannot be, say why."""
    state = bench.store.experiments.find(experiment_id)
    try:
        found = baseline_of(bench, state)
        if found.state is None:
            return None, found.sentence
        request = exp_compare.Request(found.state.experiment.id, experiment_id)
        return compared_in(bench, request), None
    except FairtrialError as error:
        return None, f"not compared: {error.what}"


def _chosen(given: Mapping[str, Any], kind: type) -> dict[str, Any]:
    names = {one.name for one in dataclasses.fields(kind)} - {"resume"}
    return {name: value for name, value in given.items() if name in names}


def _is_file(text: str) -> bool:
    try:
        format_of(Path(text))
    except UsageError:
        return False
    return True


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or "@" in name:
        raise UsageError(
            f"{name!r} is no name of an Eval",
            fix="it is a text of one line without '@', of at most 200 characters",
        )
    if len(name) > 200:
        raise UsageError("the name of an Eval has at most 200 characters", where=name[:40])
