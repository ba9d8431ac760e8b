"""The pairwise judges of `exp compare`: built, asked, and held against people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairtrial.analysis.comparing.comparability import Input
from fairtrial.analysis.comparing.compare import Compare
from fairtrial.analysis.labels import match_labels
from fairtrial.analysis.pairwise_judging import JudgedPairs, People, judged_pairs
from fairtrial.app.bench import Bench
from fairtrial.app.counted_trials import counted_rows, decided_trials
from fairtrial.app.judging_options import Judges
from fairtrial.app.kept_outputs import require_outputs
from fairtrial.app.settling import tell
from fairtrial.app.stored_cases import stored_cases
from fairtrial.graders.pairwise.judge import PairwiseJudge
from fairtrial.graders.pairwise.judging import Pace, judge_pairs
from fairtrial.graders.pairwise.spec import KIND, pairwise_specs
from fairtrial.interchange.label_files import read_winner_labels
from fairtrial.model.case import CaseKey
from fairtrial.model.errors import UsageError
from fairtrial.model.events import Judged, JudgingStarted
from fairtrial.model.json import Json
from fairtrial.model.label import WinnerLabel
from fairtrial.model.pairwise import JudgedPair, Pair, PairwiseSpec
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.registry import build_provider
from fairtrial.providers.settling import settled_provider
from fairtrial.workspaces.host.client import HostWorkspace

TEST_SPLIT = "test"
RETRIES = 3


class Panel:
    """The judges that a request names, ready to be asked: everything is checked before."""

    def __init__(self, bench: Bench, options: Judges, *, cache: bool = True) -> None:
        """Build the judges and read the labels.

        Args:
            bench: The workbench.
            options: The judges, and how they are asked.
            cache: Whether answers are kept.

        Raises:
            UsageError: a judge or a label makes no sense, or an option stands alone.
            NotFoundError: a file does not exist.
        """
        _refuse_strays(options)
        self._bench = bench
        usual = Pace()
        self._pace = usual if options.concurrency is None else Pace(options.concurrency)
        self._retries = RETRIES if options.retries is None else options.retries
        self._labels = _labels(bench, options.labels)
        settled = [_settled(bench, value) for value in options.pairwise]
        specs = pairwise_specs(settled, "--pairwise")
        self._workspace = HostWorkspace(slots=self._pace.concurrency)
        surroundings = bench.surroundings(bench.cwd, self._workspace, cache=cache)
        self._judges = [(spec, _provider(spec, surroundings)) for spec in specs]

    def __bool__(self) -> bool:
        return bool(self._judges)

    def judge(self, found: Compare, sides: tuple[Input, Input]) -> JudgedPairs:
        """Ask every judge about every row that counts.

        Raises:
            UsageError: a label fits several rows.
            StoreError: the store failed.
        """
        keys = counted_rows(found)
        people = self._people(found, keys)
        pairs = _pairs(self._bench, keys, sides)
        return judged_pairs(
            [(spec, self._asked(spec, provider, pairs)) for spec, provider in self._judges],
            people,
        )

    def _asked(
        self, spec: PairwiseSpec, provider: Provider, pairs: Sequence[Pair]
    ) -> list[JudgedPair]:
        publish = self._bench.publish
        publish(JudgingStarted(spec.name, len(pairs)))

        def seen(pair: JudgedPair) -> None:
            costs = (pair.a_first.cost_usd, pair.b_first.cost_usd)
            publish(Judged(None if None in costs else sum(c for c in costs if c is not None)))

        judge = self._judge(spec, provider)
        return judge_pairs(judge, pairs, self._pace, seen, self._workspace)

    def _judge(self, spec: PairwiseSpec, provider: Provider) -> PairwiseJudge:
        return PairwiseJudge(spec, provider, self._bench.clock, self._retries)

    def _people(self, found: Compare, keys: Mapping[CaseKey, int]) -> People | None:
        if self._labels is None:
            return None
        matched = match_labels(self._labels, list(keys))
        known = found.pairs.rows.labels
        test = {key for key in keys if key in known and known[key].split == TEST_SPLIT}
        winners = {key: label.winner for key, label in matched.labels.items()}
        return People(winners, test, matched.unknown)


def _settled(bench: Bench, value: Any) -> Any:
    """Return a judge as the user wrote it, with the provider that is taken when none is named."""
    if not isinstance(value, Mapping) or value.get("kind") != KIND or value.get("provider"):
        return value
    model = value.get("model")
    if not isinstance(model, str | None):
        return value
    provider, chosen, note = settled_provider(None, model, bench.environ, "--pairwise")
    tell(bench, [note] if note else [])
    return {**value, "provider": provider, "model": chosen}


def _refuse_strays(options: Judges) -> None:
    given = {
        "--labels": options.labels,
        "--concurrency": options.concurrency,
        "--retries": options.retries,
    }
    stray = next((flag for flag, value in given.items() if value is not None), None)
    if stray is not None and not options.pairwise:
        fix = "give the judge with --pairwise"
        if stray == "--labels":
            fix += "; labels of one arm's outputs are --labels-a and --labels-b"
        raise UsageError(f"{stray} has no effect without --pairwise", fix=fix)


def _labels(bench: Bench, path: Path | None) -> Sequence[WinnerLabel] | None:
    return None if path is None else read_winner_labels(bench.path(path))


def _provider(spec: PairwiseSpec, surroundings: Surroundings) -> Provider:
    return build_provider(spec.provider, surroundings, f"judge {spec.name}")


def _pairs(bench: Bench, keys: Mapping[CaseKey, int], sides: tuple[Input, Input]) -> list[Pair]:
    a, b = (_first_outputs(bench, keys, side) for side in sides)
    cases = stored_cases(bench, sides[1].state.experiment, keys.__contains__)
    inputs = {case.key: case.input for case in cases}
    return [Pair(key, inputs[key], a[key], b[key]) for key in keys]


def _first_outputs(bench: Bench, keys: Mapping[CaseKey, int], side: Input) -> dict[CaseKey, Json]:
    """Return the output of the first decided trial of each row."""
    require_outputs(bench, side.state.experiment)
    found: dict[CaseKey, Json] = {}
    for trial in decided_trials(bench, side):
        key = trial.key.case_key
        if key in keys and key not in found:
            found[key] = trial.output
    return found
