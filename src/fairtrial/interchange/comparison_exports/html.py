"""HTML: one self-contained page with a picture and every row that changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from markupsafe import Markup

from fairtrial.interchange.comparison_exports.export import (
    ORDER,
    VERDICTS,
    WORDS,
    ComparisonExport,
    change_of,
    interval_of,
)
from fairtrial.interchange.experiment_exports.export import percent
from fairtrial.interchange.page import csp_hash, environment_of, source_of
from fairtrial.interchange.pictures.of_comparison import comparison_forest
from fairtrial.interchange.pictures.svg import DARK, LIGHT, colours
from fairtrial.model.comparison import Change, RowChange
from fairtrial.model.delta import Quantity

_ROWS_SHOWN = {
    Change.BROKEN: 1_000,
    Change.FIXED: 1_000,
    Change.REGRESSED: 500,
    Change.IMPROVED: 500,
    Change.SAME: 500,
}
_OTHERS_SHOWN = 250


def write(export: ComparisonExport, stream: TextIO) -> None:
    """Write the page.

    It makes no request and runs one script of its own, whose hash its content security policy
    names; whatever comes from a trial is text. A bounded number of rows of each change is on it.
    """
    environment = environment_of("comparison_exports", "experiment_exports")
    style = source_of(environment, "page.css") + _style(source_of(environment, "comparison.css"))
    script = source_of(environment, "page.js")
    found, decision = export.comparison, export.decision
    rows = list(_rows(export))
    counts = [(change, found.counts[change]) for change in ORDER if found.counts[change]]
    page = environment.get_template("comparison.html").stream(
        export=export,
        found=found,
        decision=decision,
        verdict=None if decision is None else VERDICTS[decision.outcome],
        headline=interval_of(found.delta),
        picture=Markup(comparison_forest(found, export.luck).inline()),  # noqa: S704  # drawn and escaped by us
        rates=(_share(found.delta.a), _share(found.delta.b)),
        quantities=[_QuantityView.of(each) for each in found.quantities if each.n],
        rows=rows,
        counts=[(change.value, WORDS[change], count) for change, count in counts],
        n_rows=sum(found.counts.values()),
        style=Markup(style),  # noqa: S704  # our own files
        script=Markup(script),  # noqa: S704  # our own file
        style_hash=csp_hash(style),
        script_hash=csp_hash(script),
    )
    stream.writelines(page)
    stream.write("\n")


@dataclass(frozen=True, slots=True)
class _RowView:
    name: str
    case_id: str
    change: str
    word: str
    passed: str
    reason: str
    luck: bool
    scores: str | None

    @classmethod
    def of(cls, row: RowChange) -> _RowView:
        """Return what the page shows of a row."""
        scores = [None if side is None else side.score for side in (row.a, row.b)]
        known = [score for score in scores if score is not None]
        return cls(
            name=str(row.key),
            case_id=row.key.case_id,
            change=row.change.value,
            word=WORDS[row.change],
            passed=change_of(row),
            reason=row.reason or "",
            luck=bool(row.within_noise),
            scores=" → ".join("–" if s is None else f"{s:.3f}" for s in scores) if known else None,
        )


@dataclass(frozen=True, slots=True)
class _QuantityView:
    name: str
    a: str
    b: str
    difference: str
    interval: str

    @classmethod
    def of(cls, found: Quantity) -> _QuantityView:
        """Return what the page shows of what a trial takes."""
        ends = "–"
        if found.lower is not None and found.upper is not None:
            ends = f"{_signed(found.lower)} to {_signed(found.upper)}"
        return cls(
            name=f"{found.name} ({found.unit})",
            a="–" if found.a is None else f"{found.a:,.4g}",
            b="–" if found.b is None else f"{found.b:,.4g}",
            difference=_signed(found.difference),
            interval=ends,
        )


def _rows(export: ComparisonExport) -> Iterator[_RowView]:
    for change in ORDER:
        rows = export.same() if change is Change.SAME else export.comparison.rows[change]
        for row in rows[: _ROWS_SHOWN.get(change, _OTHERS_SHOWN)]:
            yield _RowView.of(row)


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+,.4g}".replace("-", "−")


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _style(own: str) -> str:
    dark = colours(DARK, within=".picture ")
    light = colours(LIGHT, within=".picture ")
    return f"{own}\n{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"
