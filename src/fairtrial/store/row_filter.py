"""What a filter of the rows of an experiment means in SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    String,
    cast,
    false,
    func,
    literal_column,
    or_,
    select,
    true,
    tuple_,
)
from sqlalchemy import case as when

from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.verdict import Verdict
from fairtrial.ports import RowFilter
from fairtrial.query.expression import Compare, Operator
from fairtrial.query.vocabularies.rows import OF_BASELINE
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import from_json, to_json
from fairtrial.store.filtering import Condition, Filterable, compared, condition, positive
from fairtrial.store.flips import version_of_experiment
from fairtrial.store.tables import (
    TRIALS_A_ROW,
    case_content,
    experiment,
    grader_tally,
    score,
    trial,
    trial_body,
    trial_row,
    version_case,
)

_TEXT_AT: Final = "fairtrial_text_at"
# Written as the partial indexes are: a parameter in place of the 0 would hide them.
_ZERO: Final[ColumnElement[int]] = literal_column("0")
_decided = trial_row.c.passed + trial_row.c.failed
_n = _decided + trial_row.c.undecided
_own_key = tuple_(trial_row.c.case_id, trial_row.c.condition)


def row_condition(connection: Connection, blobs: Blobs, number: int, rows: RowFilter) -> Condition:
    """Return the condition of a filter of rows, and let the connection look into payloads.

    Args:
        connection: What the condition is used on.
        blobs: The payloads of trials and cases.
        number: The experiment's number.
        rows: The filter.

    Raises:
        NotFoundError: there is no experiment that rows are held against.
    """
    _install(connection, blobs)
    version = connection.execute(
        select(version_of_experiment()).where(experiment.c.id == number)
    ).scalar_one()
    baseline = None
    if rows.baseline is not None:
        ref, arm = rows.baseline
        theirs = connection.execute(
            select(experiment.c.id).where(experiment.c.ref == ref)
        ).scalar_one_or_none()
        if theirs is None:
            raise NotFoundError(f"there is no experiment {ref}")
        baseline = int(theirs), arm
    return condition(rows.where, _filterable(number, version, baseline))


def _filterable(number: int, version: int | None, baseline: tuple[int, str] | None) -> Filterable:
    """Return what filters of the rows of an experiment mean.

    Args:
        number: The experiment's number.
        version: The number of its dataset version; None when it is not in this store.
        baseline: The number of the experiment that rows are held against, and the arm.
    """
    of_case = _OfCase(-1 if version is None else version)
    of_trial = _OfTrial(number)
    against = _Against(number, baseline)
    return Filterable(
        {
            "case": trial_row.c.case_id,
            "condition": trial_row.c.condition,
            "arm": trial_row.c.arm,
            "tag": of_case.tag,
            "split": of_case.split,
            "input": of_case.input,
            "output": of_trial.output,
            "reason": trial_row.c.first_reason,
            "verdict": _verdict,
            "cause": of_trial.cause,
            "score": lambda found: compared(
                _mean(trial_row, number, found.key), found.operator, found.value
            ),
            "delta": against.delta,
            "pass_rate": cast(trial_row.c.passed, Float) / func.nullif(_decided, 0),
            "passed": trial_row.c.passed,
            "failed": trial_row.c.failed,
            "undecided": trial_row.c.undecided,
            "trials": _n,
            "cost": when((trial_row.c.costed > 0, trial_row.c.cost_usd)),
            "duration": trial_row.c.duration_s / func.nullif(trial_row.c.timed, 0),
            "tokens": when((trial_row.c.tokened > 0, trial_row.c.tokens)),
        },
        {
            "failed": trial_row.c.failed > _ZERO,
            "passed": (trial_row.c.passed > _ZERO) & (trial_row.c.failed == _ZERO),
            "solved": trial_row.c.passed > trial_row.c.failed,
            "undecided": trial_row.c.undecided > _ZERO,
            "flaky": (trial_row.c.passed > _ZERO) & (trial_row.c.failed > _ZERO),
            **against.properties(),
        },
        _contains,
    )


def _install(connection: Connection, blobs: Blobs) -> None:
    """Let a connection look into payloads, which may be compressed or in files of their own."""

    def text_at(inline: bytes | None, blob: str | None, key: str) -> str | None:
        found = from_json(blobs.unpack(inline, blob)).get(key)
        if found is None or isinstance(found, str):
            return None if found is None else found.encode("utf-8", "replace").decode()
        return to_json(found).decode()

    driver: Any = connection.connection.driver_connection
    driver.create_function(_TEXT_AT, 3, text_at, deterministic=True)


def _text_at(table: Any, key: str) -> ColumnElement[Any]:
    function: Callable[..., ColumnElement[Any]] = getattr(func, _TEXT_AT)
    return function(table.c.inline, table.c.blob, key, type_=String)


def _verdict(found: Compare) -> Condition:
    if found.value is None:  # every trial has one
        return false() if found.operator is Operator.EQUAL else true()
    column = {
        Verdict.PASSED: trial_row.c.passed,
        Verdict.FAILED: trial_row.c.failed,
        Verdict.UNDECIDED: trial_row.c.undecided,
    }[Verdict(str(found.value))]
    return column > _ZERO if found.operator is Operator.EQUAL else column == _ZERO


def _mean(row: Any, experiment: int, grader: str | None) -> ColumnElement[Any]:
    """Return a row's mean main score, or the mean value of a grader over its trials."""
    if grader is None:
        main: ColumnElement[Any] = row.c.score_sum / func.nullif(row.c.scored, 0)
        return main
    position = (
        select(grader_tally.c.position)
        .where(grader_tally.c.experiment_id == experiment, grader_tally.c.grader == grader)
        .scalar_subquery()
    )
    return (
        select(func.avg(score.c.value))
        .where(
            score.c.trial_id.between(
                row.c.id * TRIALS_A_ROW, row.c.id * TRIALS_A_ROW + (TRIALS_A_ROW - 1)
            ),
            score.c.grader == position,
        )
        .scalar_subquery()
    )


def _contains(text: str) -> Condition:
    columns = (trial_row.c.case_id, trial_row.c.condition, trial_row.c.first_reason)
    return or_(*(compared(column, Operator.CONTAINS, text) for column in columns))


class _OfCase:
    """What only the dataset version knows. Looked up once for all rows, not once a row."""

    def __init__(self, version: int) -> None:
        self._version = version

    def tag(self, found: Compare) -> Condition:
        tags = func.json_each(version_case.c.tags).table_valued("value")
        chosen = self._keys(version_case.c.tags.is_not(None)).join(tags, true())
        how, negated = positive(found.operator)
        if found.value is None:
            return self._among(chosen, negated=how is found.operator)
        return self._among(chosen.where(compared(tags.c.value, how, found.value)), negated=negated)

    def split(self, found: Compare) -> Condition:
        return self._among(
            self._keys(compared(version_case.c.split, found.operator, found.value)), negated=False
        )

    def input(self, found: Compare) -> Condition:
        text = _text_at(case_content, "input")
        chosen = self._keys(compared(text, found.operator, found.value)).join(
            case_content, case_content.c.id == version_case.c.content_id
        )
        return self._among(chosen, negated=False)

    def _keys(self, condition: Condition) -> Any:
        return select(version_case.c.case_id, version_case.c.condition).where(
            version_case.c.version_id == self._version, condition
        )

    @staticmethod
    def _among(chosen: Any, *, negated: bool) -> Condition:
        return _own_key.not_in(chosen) if negated else _own_key.in_(chosen)


class _OfTrial:
    """What holds for one of a row's trials.

    Tables have names of their own here: a page of trials reads the same ones beside.
    """

    def __init__(self, experiment: int) -> None:
        self._experiment = experiment

    def cause(self, found: Compare) -> Condition:
        # The few trials with a cause have an index of their own.
        own = trial.alias("caused")
        chosen = select(own.c.row_id).where(
            own.c.experiment_id == self._experiment, own.c.cause.is_not(None)
        )
        how, negated = positive(found.operator)
        if found.value is None:
            negated = not negated
        else:
            chosen = chosen.where(compared(own.c.cause, how, found.value))
        return trial_row.c.id.not_in(chosen) if negated else trial_row.c.id.in_(chosen)

    @staticmethod
    def output(found: Compare) -> Condition:
        body = trial_body.alias("looked_into")
        text = _text_at(body, "output")
        how, negated = positive(found.operator)
        if found.value is None:
            how, negated = Operator.EQUAL, found.operator is not Operator.EQUAL
        has = (
            select(body.c.trial_id)
            .where(
                body.c.trial_id.between(
                    trial_row.c.id * TRIALS_A_ROW,
                    trial_row.c.id * TRIALS_A_ROW + (TRIALS_A_ROW - 1),
                ),
                compared(text, how, found.value),
            )
            .exists()
        )
        return ~has if negated else has


class _Against:
    """Rows beside those of a baseline."""

    def __init__(self, experiment: int, baseline: tuple[int, str] | None) -> None:
        self._experiment = experiment
        self._baseline = baseline

    def delta(self, found: Compare) -> Condition:
        if self._baseline is None:
            raise UsageError("there is no baseline to hold the rows against")
        number, arm = self._baseline
        other = trial_row.alias("other")
        theirs = self._of_twin(other, _mean(other, number, found.key), arm)
        mine = _mean(trial_row, self._experiment, found.key)
        return compared(mine - theirs, found.operator, found.value)

    def properties(self) -> dict[str, Condition]:
        if self._baseline is None:
            return dict.fromkeys(OF_BASELINE, false())
        other = trial_row.alias("other")
        decided = other.c.passed + other.c.failed
        # 1 solved, 0 not, null without a verdict.
        theirs = self._of_twin(
            other, when((decided > 0, other.c.passed > other.c.failed)), self._baseline[1]
        )
        mine = trial_row.c.passed > trial_row.c.failed
        regressed = func.coalesce((_decided > 0) & ~mine & (theirs == 1), false())
        improved = func.coalesce(mine & (theirs == 0), false())
        return {
            "regressed": regressed,
            "broken": regressed,
            "improved": improved,
            "fixed": improved,
        }

    def _of_twin(self, other: Any, value: ColumnElement[Any], arm: str) -> ColumnElement[Any]:
        """Return a value of the same row of the baseline."""
        number = -1 if self._baseline is None else self._baseline[0]
        return (
            select(value)
            .where(
                other.c.experiment_id == number,
                other.c.case_id == trial_row.c.case_id,
                other.c.condition == trial_row.c.condition,
                other.c.arm == arm,
            )
            .scalar_subquery()
        )
