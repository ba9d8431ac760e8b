"""Early stopping as a picture: what each look saw, and the boundaries that it was held against."""

from __future__ import annotations

from typing import Final

from fairtrial.interchange.experiment_exports.export import percent
from fairtrial.interchange.pictures.axis import around_zero
from fairtrial.interchange.pictures.boundaries import LookMark, add_boundaries
from fairtrial.interchange.pictures.forest import Line, Panel
from fairtrial.interchange.pictures.svg import Drawing
from fairtrial.model.design import DesignReading
from fairtrial.model.json import Json

_KIND: Final = "early-stopping"


def looks_panels(reading: DesignReading | None) -> list[Panel]:
    """Return the difference at each look, and the adjusted one; none for other designs."""
    if reading is None or reading.kind != _KIND:
        return []
    seen = [look for look in reading.facts["looks"] if look.get("estimate") is not None]
    lines = [
        Line(
            f"look {look['look']}, {look['cases']:,} cases",
            look["estimate"],
            None,
            None,
            f"{_points(look['estimate'])}  {_held(look)}",
            ("better" if look["estimate"] > 0.0 else "worse") if look["stops"] else "unclear",
        )
        for look in seen
    ]
    found = reading.facts["estimate"]
    if found is not None:
        low, high = found["interval"]["lower"], found["interval"]["upper"]
        fair = found["median_unbiased"]
        note = f"{_points(fair)}  ({_points(low)} to {_points(high)})"
        colour = "better" if low > 0.0 else "worse" if high < 0.0 else "unclear"
        lines.append(Line("adjusted for the looks", fair, low, high, note, colour))
    if not lines:
        return []
    ends = [v for line in lines for v in (line.estimate, line.lower, line.upper) if v is not None]
    axis = around_zero(max(map(abs, ends)), _points)
    return [Panel("Difference of the pass rates, B − A, at each look", lines, axis, 0.0)]


def add_looks(drawing: Drawing, reading: DesignReading | None) -> None:
    """Draw the test statistic of each look between its boundaries; nothing for other designs."""
    if reading is None or reading.kind != _KIND:
        return
    facts = reading.facts
    marks = [
        LookMark(look["cases"], look["z_bound"], look.get("z"), look["stops"])
        for look in facts["looks"]
        if look["cases"]
    ]
    marks += [LookMark(look["cases"], look["z_bound"]) for look in facts.get("looks_left", ())]
    if not any(mark.z is not None for mark in marks):
        return
    title = "The test statistic z at each look (line), and the boundaries that end the run (rings)"
    unit = f"cases; the error over all looks is at most {percent(facts['alpha'])}"
    add_boundaries(drawing, title, marks, drawing.height + 6, unit)


def _held(look: dict[str, Json]) -> str:
    if look["p"] is None or look["limit"] is None:
        return "too few cases to stop"
    return f"p {look['p']:.2g}, limit {look['limit']:.2g}"


def _points(value: float) -> str:
    return f"{100 * value:+.3g}" if value else "0"
