"""Pictures: well-formed, every label once and none on another, and the right places."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.comparing.conftest import Trials, arm, paired, side
from tests.interchange.test_experiment_exports import HOSTILE

from fairtrial.analysis.comparing.compare import compare
from fairtrial.interchange.pictures.axis import around_zero, from_zero, round_step
from fairtrial.interchange.pictures.boundaries import LookMark, add_boundaries
from fairtrial.interchange.pictures.curve import Chart, Curve, curves
from fairtrial.interchange.pictures.forest import MOST_ROWS, Line, Panel, forest
from fairtrial.interchange.pictures.histogram import Bar, add_histogram
from fairtrial.interchange.pictures.lettering import fitted, width_of
from fairtrial.interchange.pictures.of_comparison import comparison_picture, points
from fairtrial.interchange.pictures.over_time import Point, rates_over_time
from fairtrial.interchange.pictures.png import png
from fairtrial.interchange.pictures.svg import DARK, LIGHT, Drawing
from fairtrial.model.columns import CaseLabels
from fairtrial.model.noise import Luck

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawing: Drawing) -> ET.Element:
    text = drawing.document()
    text.encode()
    return ET.fromstring(text)  # noqa: S314  # our own


def labels_of(root: ET.Element) -> list[str]:
    return [found.text or "" for found in root.iter(f"{SVG}text")]


def boxes_of(root: ET.Element) -> list[tuple[float, float, float, float]]:
    """Return left, top, right and bottom of every label, as wide as it can get."""
    boxes = []
    for found in root.iter(f"{SVG}text"):
        size = float(found.attrib["font-size"])
        width = width_of(found.text or "", size)
        x, y = float(found.attrib["x"]), float(found.attrib["y"])
        start = x - {"middle": width / 2, "end": width}.get(found.get("text-anchor", ""), 0.0)
        boxes.append((start, y - 0.8 * size, start + width, y + 0.2 * size))
    return boxes


def assert_readable(drawing: Drawing) -> None:
    """Check that no label touches another, or leaves the sheet."""
    root = parsed(drawing)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = boxes_of(root)
    for left, top, right, bottom in boxes:
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
    for one, other in itertools.combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


def comparison(names: Sequence[str], tags: Sequence[str] = ("sql",)) -> Drawing:
    a: Trials = {f"c{n}": (n % 4, 3) for n in range(40)}
    b: Trials = {f"c{n}": (min(3, n % 4 + n % 2), 3) for n in range(40)}
    graders = {name: {case: passed / 3 for case, (passed, _) in b.items()} for name in names}
    labels = {case: CaseLabels("test", tuple(tags)) for case in a}
    spec = {"graders": [{"name": name, "kind": "exact", "required": True} for name in names]}
    rows = paired(arm(a, graders=graders), arm(b, graders=graders), labels=labels)
    found = compare(side("base", spec=spec), side("cand", spec=spec), rows)
    return comparison_picture(found.comparison)


def test_a_comparison_names_each_part_once() -> None:
    labels = labels_of(parsed(comparison(["exact", "close"], ["sql", "python"])))
    for name in ("all cases", "exact", "close", "tag sql", "tag python", "split test"):
        assert labels.count(name) == 1
    # A quarter of the cases pass one trial of three more.
    assert sum(label.startswith("+8.3 (") for label in labels) == 4
    assert "cand against base" in labels


@pytest.mark.parametrize(
    "name", [HOSTILE, "日本語の長い名前" * 20, "W" * 300, "a" * 300, "🎉" * 90]
)
def test_no_name_can_break_a_picture(name: str) -> None:
    drawing = comparison([name], [name])
    assert_readable(drawing)
    root = parsed(drawing)
    assert {child.tag.removeprefix(SVG) for child in root.iter()} <= {
        "svg", "style", "rect", "text", "line", "circle", "polyline",
    }  # fmt: skip


def test_many_tags_are_counted_not_drawn() -> None:
    drawing = comparison(["exact"], [f"tag-{n}" for n in range(300)])
    assert_readable(drawing)
    labels = labels_of(parsed(drawing))
    assert sum(label.startswith("tag ") for label in labels) <= MOST_ROWS
    assert any(label.startswith("… and ") for label in labels)


def test_an_interval_is_drawn_where_it_is() -> None:
    axis = around_zero(0.2, points)
    line = Line("x", 0.1, -0.1, 0.2, "note", "better")
    root = parsed(forest("title", "subtitle", [Panel("panel", [line], axis)]))
    ticks = {
        label: float(found.attrib["x"])
        for found in root.iter(f"{SVG}text")
        if (label := found.text or "") in ("−20.0", "+20.0", "0.0")
    }
    assert set(ticks) == {"−20.0", "0.0", "+20.0"}
    scale = (ticks["+20.0"] - ticks["0.0"]) / 0.2
    (dot,) = root.iter(f"{SVG}circle")
    assert float(dot.attrib["cx"]) == pytest.approx(ticks["0.0"] + 0.1 * scale, abs=0.1)
    bar = next(f for f in root.iter(f"{SVG}line") if f.attrib["stroke-width"] == "2.5")
    assert float(bar.attrib["x1"]) == pytest.approx(ticks["0.0"] - 0.1 * scale, abs=0.1)
    assert float(bar.attrib["x2"]) == pytest.approx(ticks["+20.0"], abs=0.1)
    assert bar.attrib["class"] == "edge-better"


def test_a_noise_floor_is_shaded_as_far_as_it_reaches() -> None:
    cases: Trials = {f"c{n}": (n % 2, 1) for n in range(40)}
    found = compare(side("base"), side("cand"), paired(arm(cases), arm(cases))).comparison
    root = parsed(comparison_picture(found, luck=Luck(0.05, at_most=False)))
    ticks = {
        found.text: float(found.attrib["x"])
        for found in root.iter(f"{SVG}text")
        if found.get("text-anchor") == "middle"
    }
    (band,) = [f for f in root.iter(f"{SVG}rect") if f.get("class") == "line"]
    scale = (ticks["+10"] - ticks["0"]) / 0.1
    assert float(band.attrib["width"]) == pytest.approx(2 * 1.959964 * 0.05 * scale, abs=0.1)
    assert any("shaded: 95 % of unchanged runs" in label for label in labels_of(root))
    bound = parsed(comparison_picture(found, luck=Luck(0.05, at_most=True)))
    assert any("shaded: at least 95 % of unchanged runs" in label for label in labels_of(bound))


def test_what_is_unknown_has_words_and_no_mark() -> None:
    line = Line("x", None, None, None, "unknown: no rows")
    root = parsed(forest("t", "", [Panel("p", [line], around_zero(0.0, points))]))
    assert "unknown: no rows" in labels_of(root)
    assert not list(root.iter(f"{SVG}circle"))


def test_looks_stand_between_their_boundaries() -> None:
    drawing = Drawing(860, "looks")
    looks = [
        LookMark(10, None, 0.4),  # too few cases to end anything
        LookMark(20, 4.0, -2.0),
        LookMark(30, 3.0, -40.0, ends=True),  # beyond the scale, at its end
        LookMark(40, 2.0),
    ]
    end = add_boundaries(drawing, "how it went", looks, 0.0, "cases")
    assert_readable(drawing)
    root = parsed(drawing)
    rings = [ring for ring in root.iter(f"{SVG}circle") if "page" in ring.attrib["class"]]
    dots = [dot for dot in root.iter(f"{SVG}circle") if "page" not in dot.attrib["class"]]
    level = [float(ring.attrib["cy"]) for ring in rings]
    middle = (level[0] + level[3]) / 2
    # z of 4, 3 and 2 above the middle, and as far below it.
    assert [round((middle - y) / (middle - level[2]), 3) for y in level] == [
        2,
        1.5,
        1,
        -2,
        -1.5,
        -1,
    ]
    assert [dot.attrib["class"] for dot in dots] == ["first", "first", "worse"]
    assert float(dots[1].attrib["cy"]) == pytest.approx(level[5], abs=0.02)
    assert float(dots[2].attrib["cy"]) > max(level)
    assert float(dots[2].attrib["cx"]) == pytest.approx(float(rings[1].attrib["cx"]))
    assert max(float(mark.attrib.get("cy", 0.0)) for mark in root.iter()) < end
    assert {"how it went", "cases", "+5", "0", "-5"} <= set(labels_of(root))


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30).filter(any))
def test_bars_are_as_high_as_their_counts(counts: list[int]) -> None:
    drawing = Drawing(860, "t")
    add_histogram(drawing, "bars", [Bar(f"{n}", count) for n, count in enumerate(counts)], 0.0, "u")
    assert_readable(drawing)
    bars = [f for f in parsed(drawing).iter(f"{SVG}rect") if f.get("class") == "unclear"]
    known = [count for count in counts if count]
    assert len(bars) == len(known)
    heights = [float(bar.attrib["height"]) for bar in bars]
    tallest = max(heights)
    for height, count in zip(heights, known, strict=True):
        expected = max(1.0, tallest * count / max(counts))
        assert height == pytest.approx(expected, abs=0.02)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(1, 10**6), st.floats(1e-6, 1.0)), max_size=8),
        max_size=5,
    ),
    st.booleans(),
)
def test_curves_are_named_apart(points_of: list[list[tuple[int, float]]], mark: bool) -> None:  # noqa: FBT001
    drawn = [
        Curve(f"{number} trials", sorted({float(x): y for x, y in some}.items()))
        for number, some in enumerate(points_of)
    ]
    marked = (50.0, 0.5, "50 cases: 50.0 points") if mark else None
    chart = Chart("t", "s", "cases", "points", drawn, lambda value: f"{100 * value:.3g}", marked)
    labels = labels_of(parsed(curves(chart)))
    for curve in drawn:
        assert labels.count(curve.name) == bool(curve.points)


@given(st.floats(1e-9, 1e9), st.integers(2, 6))
def test_a_scale_reaches_as_far_as_it_must(reach: float, most: int) -> None:
    for axis in (around_zero(reach, str, most), from_zero(reach, str, most)):
        assert axis.high >= reach * (1 - 1e-6)
        assert len(axis.ticks) <= 2 * most + 1
        assert axis.share(axis.low) == 0.0
        assert axis.share(axis.high) == 1.0
        assert axis.share(10 * axis.high) == 1.0
    step = round_step(reach, most)
    digits = step / 10.0 ** math.floor(math.log10(step) + 1e-9)
    assert min(abs(digits - round_one) for round_one in (1, 2, 5)) < 1e-6


@given(st.text(max_size=120), st.floats(20.0, 400.0))
def test_text_is_cut_to_its_room(text: str, room: float) -> None:
    shown = fitted(text, 12.0, room)
    assert width_of(shown, 12.0) <= room + 1e-9
    assert "\n" not in shown


def test_points_have_one_sign() -> None:
    assert [points(value) for value in (0.125, -0.125, 0.0, -0.0001)] == [
        "+12.5", "−12.5", "0.0", "0.0",
    ]  # fmt: skip


def test_both_palettes_name_the_same_marks_and_can_be_read() -> None:
    assert LIGHT.keys() == DARK.keys()
    for palette in (LIGHT, DARK):
        for name in set(palette) - {"page", "line"}:
            assert _contrast(palette[name], palette["page"]) >= 4.5, name


def _contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, as WCAG 2.2 defines it."""
    first, second = sorted((_luminance(one), _luminance(other)))
    return (second + 0.05) / (first + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_png_is_a_picture_of_twice_the_size() -> None:
    pytest.importorskip("resvg_py")
    drawing = comparison(["exact"])
    content = png(drawing.document(), "x.png")
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(content[16:20], "big") == 2 * drawing.width


def test_each_version_over_time_has_a_dot_and_its_interval() -> None:
    points = [Point("one", 0.5, (0.25, 0.75)), Point("two", None, None), Point("three", 1.0, None)]
    drawn = rates_over_time("of <b>", points, None).inline()
    assert drawn.count("<circle") == 2
    assert drawn.count('class="edge-first"') == 1
    assert "of &lt;b&gt;" in drawn
    assert "noise" not in drawn
    assert "<circle" not in rates_over_time("t", [], None).inline()


def test_the_band_of_noise_stays_within_the_picture() -> None:
    drawn = rates_over_time("t", [Point("one", 0.95, None)], (0.8, 1.1)).inline()
    assert "noise" in drawn
    assert 'y="14"' in drawn


def test_many_long_names_over_time_do_not_touch() -> None:
    points = [Point(f"a long name of version {n}", 0.5, None) for n in range(60)]
    drawn = rates_over_time("t", points, None).inline()
    assert 5 <= drawn.count("a long") < 30
