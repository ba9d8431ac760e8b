"""Two experiments beside each other, as a program reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtrial.app.bench import Bench, bench_here
from fairtrial.app.exp_compare import compared
from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.app.requests.exp_compare import Gate, Request
from fairtrial.interchange.comparison_exports.export import counts_of, interval_of
from fairtrial.model.comparison import Change, RowChange
from fairtrial.model.delta import Delta
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.sdk.plain_errors import AtTheCall
from fairtrial.sdk.words import named

if TYPE_CHECKING:
    from fairtrial.sdk.experiment import Experiment


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """What B fixed and broke against A, by how much, and how surely.

    Attributes:
        report: All that `fairtrial exp compare` says.
    """

    report: ComparisonReport

    @property
    def delta(self) -> Delta:
        """The difference of the pass rates over shared rows, B less A, with its interval."""
        return self.report.comparison.delta

    @property
    def fixed(self) -> Sequence[RowChange]:
        """Rows that only B solves."""
        return self.report.comparison.rows[Change.FIXED]

    @property
    def broken(self) -> Sequence[RowChange]:
        """Rows that only A solves."""
        return self.report.comparison.rows[Change.BROKEN]

    @property
    def sentence(self) -> str:
        """What it comes to, in plain words."""
        return self.report.comparison.sentence

    @property
    def ships(self) -> bool | None:
        """Whether the gate lets B ship; None when none was asked, see `gate` of `compare`."""
        return None if self.report.decision is None else not self.report.decision.exit_code

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON, as `fairtrial exp compare --json` prints it."""
        return self.report.json()

    def lines(self) -> Iterator[str]:
        """Yield what it comes to in a few lines of plain text, against what it is first."""
        found = self.report.comparison
        yield f"against {named(found.a)}: {counts_of(found)}"
        yield f"B − A: {interval_of(found.delta)}"
        if self.report.decision is not None:
            yield f"{self.report.decision.outcome.value}: {self.report.decision.reasons[0]}"
        yield found.sentence

    def __repr__(self) -> str:
        return "\n".join([f"{named(self.report.comparison.b)}", *self.lines()])

    def _repr_html_(self) -> str:
        """Return it for a notebook: all text escaped, nothing loaded from elsewhere."""
        # Only a notebook needs templates.
        from fairtrial.sdk.html import comparison_html  # noqa: PLC0415

        return comparison_html(self)


def compare(
    a: Experiment | str,
    b: Experiment | str,
    *,
    gate: bool = False,
    margin: float | None = None,
    cluster: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare two experiments of the store; rows are paired by the ids of their cases.

    Args:
        a: The baseline: an experiment, or its id, prefix or name; `NAME:ARM` chooses an arm.
        b: The candidate.
        gate: Decide too whether B may ship.
        margin: Decide too whether B is at most so much worse (0.05 is 5 points).
        cluster: Field of the cases' metadata; cases with the same value count as one unit.
        environ: Where the store is, as the environment says it; None is that of the process.

    Raises:
        NotFoundError: one of them does not exist.
        UsageError: both are the same, or an argument makes no sense.
    """
    request = Request(
        _ref(a, "a"), _ref(b, "b"), margin=margin, cluster=cluster, ship=Gate(gate=gate)
    )
    with AtTheCall(), closing(bench_here(environ)) as bench:
        return compared_in(bench, request)


def compared_in(bench: Bench, request: Request) -> Comparison:
    """Compare as a request says."""
    return Comparison(compared(bench, request)[1])


def _ref(given: Any, where: str) -> str:
    if isinstance(given, str):
        return given
    found = getattr(given, "id", None)
    if not isinstance(found, str):
        raise UsageError(
            f"a {type(given).__name__} is no experiment",
            where=where,
            fix="give an experiment, its id or its name",
        )
    return found
