"""Comparison exports: what each format says, and that nothing in a case can break out of it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TextIO
from xml.etree import ElementTree as ET

import pytest
from tests.analysis.comparing.conftest import Trials, arm, paired, side
from tests.interchange.test_experiment_exports import HOSTILE, Page

from fairtrial.analysis.comparing.compare import Compare, compare
from fairtrial.analysis.comparing.listing import same
from fairtrial.interchange.comparison_exports import csv as csv_export
from fairtrial.interchange.comparison_exports import html, jsonl, junit, markdown
from fairtrial.interchange.comparison_exports.export import ComparisonExport, marker_of
from fairtrial.interchange.experiment_exports.markdown import MAX_CHARACTERS
from fairtrial.interchange.page import csp_hash
from fairtrial.model.columns import CaseLabels
from fairtrial.model.comparison import Change, Problem
from fairtrial.model.decision import Decision, Outcome

A: Trials = {
    "broke": (3, 3), "fixed": (0, 3), "better": (2, 3), "worse": (3, 3), "same": (1, 3),
    "lost": (0, 0), "gone": (1, 3), "other": (3, 3),
}  # fmt: skip
B: Trials = {
    "broke": (0, 3), "fixed": (3, 3), "better": (3, 3), "worse": (2, 3), "same": (1, 3),
    "lost": (2, 3), "came": (1, 3), "other": (0, 3),
}  # fmt: skip
CHANGES = {
    "broke": "broken", "fixed": "fixed", "better": "improved", "worse": "regressed",
    "same": "same", "lost": "undecided", "gone": "dropped", "came": "new",
    "other": "not_comparable",
}  # fmt: skip
HOLD = Decision(Outcome.HOLD, ("It broke too much.",), {}, ("Read what broke.",))


def export_of(found: Compare, decision: Decision | None = HOLD, **more: Any) -> ComparisonExport:
    return ComparisonExport(
        found.comparison, decision, lambda: same(found.pairs), marker_of("cand"), **more
    )


def plain() -> ComparisonExport:
    labels = {"broke": CaseLabels("test", ("sql",)), "fixed": CaseLabels("test", ("sql", "py"))}
    a, b = arm(A, undecided={"lost": 3}), arm(B)
    return export_of(
        compare(side("base"), side("cand"), paired(a, b, changed=["other"], labels=labels))
    )


def hostile(n: int = 3) -> ComparisonExport:
    """Return a comparison in which every text that can come from outside is hostile."""
    ids = [f"{HOSTILE} {number}" for number in range(n)]
    a = arm(dict.fromkeys(ids, (3, 3)), graders={HOSTILE: dict.fromkeys(ids, 1.0)})
    reasons = [HOSTILE] * n
    b = arm(dict.fromkeys(ids, (0, 3)), graders={HOSTILE: dict.fromkeys(ids, 0.0)}, reasons=reasons)
    labels = {case: CaseLabels(HOSTILE, (HOSTILE,)) for case in ids}
    grader = {"name": HOSTILE, "kind": "exact", "required": True}
    sides = [side(HOSTILE, spec={"graders": [grader]}, dataset=HOSTILE) for _ in "ab"]
    found = compare(sides[0], sides[1], paired(a, b, labels=labels))
    decision = replace(HOLD, reasons=(HOSTILE,), advice=(HOSTILE,))
    export = export_of(found, decision, notes=(HOSTILE,))
    problems = (Problem(HOSTILE, 2, HOSTILE),)
    return replace(export, comparison=replace(found.comparison, problems=problems))


Write = Callable[[ComparisonExport, TextIO], None]
WRITERS: Sequence[Write] = (
    junit.write, jsonl.write, csv_export.write, markdown.write, html.write,
)  # fmt: skip


def written(write: Write, export: ComparisonExport) -> str:
    stream = io.StringIO(newline="")
    write(export, stream)
    text = stream.getvalue()
    text.encode()  # a file must be able to hold it
    return text


def suite_of(export: ComparisonExport) -> ET.Element:
    return ET.fromstring(written(junit.write, export))[0]  # noqa: S314  # our own


def page_of(export: ComparisonExport) -> Page:
    page = Page()
    page.feed(written(html.write, export))
    page.close()
    return page


def text_of(page: Page) -> str:
    return "".join(text for texts in page.texts.values() for text in texts)


@pytest.mark.parametrize("write", WRITERS)
def test_every_format_writes_a_comparison_without_a_shared_row(write: Write) -> None:
    found = compare(side("base"), side("cand"), paired(arm({"a": (1, 1)}), arm({"b": (1, 1)})))
    text = written(write, export_of(found, None))
    assert "cand" in text or write in (jsonl.write, csv_export.write)


def test_a_marker_is_safe_in_a_comment() -> None:
    assert marker_of("cand") == "cand"
    assert marker_of("a --> <b>\n日本") == "a-b"
    assert marker_of("--") == "comparison"
    assert len(marker_of("x" * 500)) == 60


class TestRows:
    def test_jsonl_has_every_row_once(self) -> None:
        rows = [json.loads(line) for line in written(jsonl.write, plain()).splitlines()]
        assert {row["case_id"]: row["change"] for row in rows} == CHANGES
        assert rows[0] == {
            "case_id": "broke", "condition": "default", "change": "broken",
            "a_passed": 3, "a_decided": 3, "a_undecided": 0, "a_score": 1.0,
            "b_passed": 0, "b_decided": 3, "b_undecided": 0, "b_score": 0.0,
            "within_noise": False, "reason": "broke differs",
        }  # fmt: skip

    def test_csv_says_the_same_as_jsonl(self) -> None:
        rows = [json.loads(line) for line in written(jsonl.write, plain()).splitlines()]
        cells = list(csv.DictReader(io.StringIO(written(csv_export.write, plain()), newline="")))
        shown = [{key: _cell(value) for key, value in row.items()} for row in rows]
        assert cells == shown

    def test_hostile_text_stays_in_its_place(self) -> None:
        rows = [json.loads(line) for line in written(jsonl.write, hostile()).split("\n")[:-1]]
        assert {row["reason"] for row in rows} == {HOSTILE}
        table = list(csv.reader(io.StringIO(written(csv_export.write, hostile()), newline="")))
        assert len(table) == 4
        assert {len(record) for record in table} == {len(csv_export.COLUMNS)}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


class TestJunit:
    def test_only_a_broken_row_fails(self) -> None:
        suite = suite_of(plain())
        told = {
            case.attrib["name"]: [child.tag for child in case] for case in suite.iter("testcase")
        }
        elements = {
            "broken": "failure",
            "undecided": "skipped",
            "dropped": "skipped",
            "new": "skipped",
            "not_comparable": "skipped",
        }
        assert told == {
            case: [elements.get(change, "system-out")] for case, change in CHANGES.items()
        }
        counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
        assert counts == {"tests": "9", "failures": "1", "errors": "0", "skipped": "4"}

    def test_what_is_skipped_says_why(self) -> None:
        suite = suite_of(plain())
        why = {
            case.attrib["name"]: case[0].attrib["message"]
            for case in suite.iter("testcase")
            if case[0].tag == "skipped"
        }
        assert why["other"] == "not comparable: the case has another content"
        assert why["came"] == "new"

    def test_the_properties_have_the_numbers(self) -> None:
        export = plain()
        delta = export.comparison.delta
        properties = {
            found.attrib["name"]: found.attrib["value"]
            for found in suite_of(export).iter("property")
        }
        assert delta.estimate is not None
        assert float(properties["delta"]) == pytest.approx(delta.estimate, rel=1e-5)
        assert properties["decision"] == "hold"
        assert properties["broken"] == "1"
        assert properties["sentence"] == export.comparison.sentence

    def test_hostile_text_cannot_break_the_xml(self) -> None:
        suite = suite_of(hostile())
        assert len(list(suite.iter("testcase"))) == 3
        assert len(list(suite.iter("failure"))) == 3


class TestMarkdown:
    def test_it_starts_with_its_marker_and_says_what_to_know(self) -> None:
        text = written(markdown.write, plain())
        lines = text.splitlines()
        assert lines[0] == "<!-- fairtrial:cand -->"
        assert lines[1] == "### Hold: <code>cand</code> against <code>base</code>"
        assert "1 broken, 1 fixed, 1 regressed, 1 improved, 1 not comparable" in text
        assert "- It broke too much." in lines
        assert "- → Read what broke." in lines
        assert "| <code>broke</code> | 3/3 → 0/3 | <code>broke differs</code> |" in lines
        assert "fairtrial exp compare exp&#95;base exp&#95;cand --to html" in text

    def test_the_numbers_are_those_of_the_comparison(self) -> None:
        found = compare(
            side("base"),
            side("cand"),
            paired(
                arm({f"c{n}": (n % 2, 1) for n in range(40)}),
                arm({f"c{n}": (n % 4 > 0, 1) for n in range(40)}),
            ),
        )
        text = written(markdown.write, export_of(found, None))
        assert "| pass rate | 50.0 % | 75.0 % | +25.0 | +" in text
        assert "### <code>cand</code> against <code>base</code>" in text

    def test_tables_are_folded_and_every_fold_is_closed(self) -> None:
        text = written(markdown.write, plain())
        assert text.count("<details>") == text.count("</details>") >= 6
        assert "Pass rate by tag, split and condition" in text

    def test_nothing_hostile_acts(self) -> None:
        text = written(markdown.write, hostile())
        ours = re.sub(r"</?(details|summary|code)>|<!-- fairtrial:[\w.-]+ -->", "", text)
        assert "<" not in ours.replace("&#60;", "")
        assert "@octocat" not in text
        assert "](http" not in text
        assert "\u202e" not in text
        assert text.count("<!--") == 1
        for line in text.splitlines():
            cells = line.count("|")
            assert not line.startswith("|") or cells in (4, 6, 7), line

    @pytest.mark.parametrize("n", [200, 3_000])
    def test_it_is_bounded(self, n: int) -> None:
        text = written(markdown.write, hostile(n))
        assert len(text) <= MAX_CHARACTERS
        assert "are left out" in text
        assert "What to do next" in text
        assert text.count("<details>") == text.count("</details>")


class TestHtml:
    def test_the_page_has_every_row_to_filter(self) -> None:
        page = page_of(plain())
        shown = [a["data-outcome"] for tag, a in page.tags if tag == "details"]
        assert sorted(map(str, shown)) == sorted(CHANGES.values())
        assert "It broke too much." in text_of(page)
        assert "cand against base" in text_of(page)

    def test_it_has_one_picture_that_names_each_part_once(self) -> None:
        text = written(html.write, plain())
        (svg,) = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
        root = ET.fromstring(svg)  # noqa: S314  # our own
        labels = [found.text for found in root.iter("{http://www.w3.org/2000/svg}text")]
        for name in ("all cases", "exact", "tag sql", "split test"):
            assert labels.count(name) == 1
        assert "style" not in {name for found in root.iter() for name in found.attrib}

    @pytest.mark.parametrize("export", [plain(), hostile()])
    def test_it_asks_for_nothing_and_runs_only_its_own_script(
        self, export: ComparisonExport
    ) -> None:
        page = page_of(export)
        policy = next(
            attributes["content"] or ""
            for _, attributes in page.tags
            if attributes.get("http-equiv") == "Content-Security-Policy"
        )
        assert policy.startswith("default-src 'none'; ")
        scripts, styles = page.texts["script"], page.texts["style"]
        assert len(scripts) == len(styles) == 1
        for text in (*scripts, *styles):
            assert csp_hash(text) in policy

    def test_hostile_text_makes_no_mark_up(self) -> None:
        calm, wild = page_of(plain()), page_of(hostile())
        own = {"details", "summary", "script", "bdi", "code"}
        assert {tag for tag, _ in wild.tags} <= {tag for tag, _ in calm.tags} | own
        assert sum(tag == "script" for tag, _ in wild.tags) == 1
        assert not any(name.startswith("on") for _, a in wild.tags for name in a)
        assert not any(a.get("src") or a.get("href") or "style" in a for _, a in wild.tags)

    def test_it_is_bounded(self) -> None:
        cases = {f"c{n:05}": (1, 1) for n in range(5_000)}
        found = compare(side("base"), side("cand"), paired(arm(cases), arm(cases)))
        page = page_of(export_of(found))
        assert sum(tag == "details" for tag, _ in page.tags) == 500
        assert "500 of 5,000 rows are on this page" in text_of(page)


def test_every_change_has_a_place() -> None:
    counts: Mapping[Change, int] = plain().comparison.counts
    assert sum(counts.values()) == len(list(plain().rows())) == len(CHANGES)
