"""Experiment exports: what each format says, and that nothing in a trial can break out of it."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import TextIO
from xml.etree import ElementTree as ET

import pytest

from fairtrial.interchange.experiment_exports import csv as csv_export
from fairtrial.interchange.experiment_exports import html, jsonl, junit, markdown
from fairtrial.interchange.experiment_exports.export import (
    ExperimentExport,
    headline,
    percent,
    trial_json,
)
from fairtrial.interchange.experiment_exports.folding import Outcome, fold
from fairtrial.interchange.experiment_exports.visible_text import one_line, preview, visible
from fairtrial.model.case import Case
from fairtrial.model.experiment import (
    Experiment,
    ExperimentState,
    GraderTotals,
    Provenance,
    Status,
    Totals,
)
from fairtrial.model.json import Json
from fairtrial.model.score import Score
from fairtrial.model.task import ProcessUsage, Tokens
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.stats.proportion import pass_rate

NOW = datetime(2026, 5, 1, 12, 30, 0, 250_000, tzinfo=UTC)
HOSTILE = (
    "</script><script>alert(1)</script>\"' onload=alert(1) x='"
    "]]>&amp; <!-- --> | `code` ``` @octocat #1 [a](http://evil.example) \\| **b**\n\n"
    "# title\n</details>\r\n=cmd()\x00\x07\x1b[31m\u202egnp.exe\u2028\ud800\ufffe<img src=x>"
)

EXPERIMENT = Experiment(
    id="exp_01J0000000000000000000TEST",
    name="smoke",
    dataset="faq",
    dataset_number=3,
    dataset_digest="ab" * 32,
    arms=("main",),
    trials=2,
    n_cases=5,
    seed=7,
    spec={},
    policy={},
    identity="id",
    provenance=Provenance("0.1.0", "3.11.7", "laptop", "/work", git_commit="c0ffee" * 7),
    created_at=NOW,
)


def trial(case_id: str, number: int = 1, verdict: str = "passed", **changes: object) -> Trial:
    passed = verdict == "passed"
    made = Trial(
        key=TrialKey(case_id, "default", "main", number),
        verdict=Verdict(verdict),
        cause=None,
        reason=None if passed else "exact: expected 4, got 5",
        score=float(passed),
        scores=(Score("exact", float(passed), passed, None if passed else "expected 4, got 5"),),
        output="4" if passed else {"answer": 5},
        started_at=NOW,
        duration_s=0.25,
        tries=1,
        seed=11,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


PLAIN = [
    trial("add"),
    trial("add", 2, cost_usd=0.002, tokens=Tokens(10, 3), metrics={"steps": 2.0}),
    trial("crash", 1, "failed", cause=Cause.TASK, reason="exit 1", score=None, scores=()),
    trial("crash", 2, "undecided", cause=Cause.INFRA, reason="HTTP 503", scores=(), output=None),
    trial("flaky", 1),
    trial("flaky", 2, "failed", process=ProcessUsage(0, None, 0.1, 1024)),
    trial(
        "lost",
        1,
        "undecided",
        cause=Cause.GRADER,
        reason="judge off its menu",
        scores=(Score("exact", None, None, "off its menu"),),
    ),
    trial("wrong", 1, "failed"),
    trial("wrong", 2, "failed"),
]


def export_of(
    trials: Sequence[Trial], experiment: Experiment = EXPERIMENT, status: Status = Status.FINISHED
) -> ExperimentExport:
    def again() -> Iterator[Trial]:
        return iter(trials)

    verdicts = Counter(one.verdict for one in trials)
    outcomes = Counter(row.outcome for row in fold(trials))
    totals = Totals(
        passed=verdicts[Verdict.PASSED],
        failed=verdicts[Verdict.FAILED],
        undecided=verdicts[Verdict.UNDECIDED],
        causes=Counter(one.cause for one in trials if one.cause),
        rows=outcomes.total(),
        flaky_rows=outcomes[Outcome.FLAKY],
    )
    graders: dict[str, list[Score]] = {}
    for one in trials:
        for score in one.scores:
            graders.setdefault(score.grader, []).append(score)
    rows = Counter((row.passed, row.passed + len(row.failed)) for row in fold(trials))
    return ExperimentExport(
        state=ExperimentState(experiment, status, None, totals, NOW, NOW),
        graders=[_totals(name, scores) for name, scores in graders.items()],
        rate=pass_rate(rows),
        trials=again,
        cases=lambda keys: (Case(key.case_id, HOSTILE, "4", condition=key[1]) for key in keys),
    )


def hostile_export(output: Json = HOSTILE) -> ExperimentExport:
    """Return an experiment in which every text that can come from outside is hostile."""
    experiment = replace(
        EXPERIMENT,
        name=HOSTILE,
        dataset=HOSTILE,
        arms=(HOSTILE,),
        provenance=replace(EXPERIMENT.provenance, host=HOSTILE, git_commit=HOSTILE),
    )
    bad = Score(HOSTILE, 0.0, passed=False, reason=HOSTILE)
    key = TrialKey(HOSTILE, HOSTILE, HOSTILE, 1)
    failed = trial("x", 1, "failed", reason=HOSTILE, scores=(bad,), output=output, key=key)
    lost = replace(failed, key=key._replace(case_id="y"), verdict=Verdict.UNDECIDED)
    export = export_of([failed, lost], experiment, Status.STOPPED)
    return replace(export, state=replace(export.state, status_reason=HOSTILE))


def _totals(name: str, scores: Sequence[Score]) -> GraderTotals:
    values = [score.value for score in scores if score.value is not None]
    mean = sum(values) / len(values) if values else None
    return GraderTotals(name, len(values), len(scores), mean, sum(bool(s.passed) for s in scores))


Write = Callable[[ExperimentExport, TextIO], None]
WRITERS: list[Write] = [junit.write, jsonl.write, csv_export.write, markdown.write, html.write]


def written(write: Write, export: ExperimentExport) -> str:
    stream = io.StringIO(newline="")
    write(export, stream)
    text = stream.getvalue()
    text.encode()  # a file must be able to hold it
    return text


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314  # our own


@pytest.mark.parametrize("write", WRITERS)
def test_every_format_writes_an_experiment_without_trials(write: Write) -> None:
    text = written(write, export_of([]))
    assert "smoke" in text or write in (jsonl.write, csv_export.write)


def test_rows_fold_to_outcomes() -> None:
    rows = list(fold(PLAIN))
    assert [(row.key.case_id, row.outcome) for row in rows] == [
        ("add", Outcome.PASSED),
        ("crash", Outcome.ERROR),
        ("flaky", Outcome.FLAKY),
        ("lost", Outcome.UNDECIDED),
        ("wrong", Outcome.FAILED),
    ]
    assert [row.counts for row in rows] == [
        "2 of 2 trials passed",
        "1 of 2 trials failed, 1 undecided",
        "1 of 2 trials failed",
        "1 of 1 trial undecided",
        "2 of 2 trials failed",
    ]
    assert rows[0].first_reason is None
    assert rows[1].first_reason == "task: exit 1"
    undecided = trial("a", 2, "undecided", cause=Cause.INFRA)
    assert next(fold([trial("a"), undecided])).outcome is Outcome.PASSED


def test_headline_and_percent() -> None:
    assert headline(pass_rate({})) == "no pass rate: no trial was decided"
    assert headline(pass_rate({(1, 1): 30, (0, 1): 10})).startswith("75.0 % passed (95 % interval ")
    assert headline(pass_rate({(1, 1): 1})).endswith("1 case)")
    assert [percent(share) for share in (0, 0.0001, 0.5, 0.9999, 1)] == [
        "0.0 %", "< 0.1 %", "50.0 %", "> 99.9 %", "100.0 %",
    ]  # fmt: skip


def test_hidden_characters_become_visible() -> None:
    assert visible("a\x00b\u202ec\ud800\U000e0041\r\n\té😀") == (
        "a\\x00b\\u202ec\\ud800\\U000e0041\n\té😀"
    )
    hidden = (
        "\x00\x1f\x7f\x85\u061c\u200b\u200f\u202e\u2065\u2069\ufeff\ud800\ufdd0\uffff\U000e007f"
    )
    assert visible(hidden).count("\\") == len(hidden)
    assert not any(visible(one) == one for one in hidden)
    assert one_line(" a\n\n b\u2028", 100) == "a b\\u2028"
    assert one_line("x" * 1000, 10) == "x" * 9 + "…"
    assert preview("x" * 12, 10) == "xxxxxxxxxx\n… 2 more characters"
    assert preview({"é": [1]}, 100) == '{\n  "é": [\n    1\n  ]\n}'


class TestJsonl:
    def test_a_trial_has_exactly_the_documented_keys(self) -> None:
        lines = [json.loads(line) for line in written(jsonl.write, export_of(PLAIN)).splitlines()]
        assert len(lines) == len(PLAIN)
        assert list(lines[1]) == [
            "case_id", "condition", "arm", "trial", "verdict", "cause", "reason", "score",
            "scores", "output", "started_at", "duration_s", "cost_usd", "grading_cost_usd",
            "tokens", "reused", "replay", "metrics", "spans", "process", "tries", "seed",
            "at_fault", "attempts", "reruns", "copied",
        ]  # fmt: skip
        assert lines[0]["scores"] == [
            {
                "grader": "exact",
                "value": 1.0,
                "passed": True,
                "reason": None,
                "required": True,
                "weight": 1.0,
                "cost_usd": 0.0,
                "detail": None,
            }
        ]
        assert lines[1]["tokens"]["input"] == 10
        assert lines[0]["tokens"] is None
        assert lines[0]["cost_usd"] is None
        assert lines[0]["started_at"] == "2026-05-01T12:30:00.250000Z"
        assert lines[2]["cause"] == "task"
        assert lines[5]["process"]["max_rss_bytes"] == 1024
        assert lines[8]["output"] == {"answer": 5}

    def test_hostile_text_survives_unchanged_and_on_one_line(self) -> None:
        text = written(jsonl.write, hostile_export())
        lines = text.split("\n")
        assert len(lines) == 3
        assert json.loads(lines[0])["output"] == HOSTILE

    def test_trial_json_is_json(self) -> None:
        for one in PLAIN:
            json.dumps(trial_json(one), allow_nan=False)


class TestCsv:
    def test_one_line_a_trial_and_one_column_a_grader(self) -> None:
        trials = [*PLAIN, trial("z", scores=(Score("judge", 0.5, passed=True),))]
        table = list(csv.DictReader(io.StringIO(written(csv_export.write, export_of(trials)))))
        assert len(table) == len(trials)
        assert table[0]["score.exact"] == "1.0"
        assert table[0]["score.judge"] == ""
        assert table[-1]["score.judge"] == "0.5"
        assert table[-2]["output"] == '{"answer": 5}'
        assert table[2]["score"] == ""
        assert table[1]["tokens_output"] == "3"

    @pytest.mark.parametrize(
        ("output", "cell"),
        [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+cmd|x", "'+cmd|x"),
            ("-2+3", "'-2+3"),
            ("\t=1", "'\t=1"),
            ("-2.5", "-2.5"),
            (-2.5, "-2.5"),
            ("a\0b", "a\\x00b"),
            (True, "true"),
            (None, ""),
        ],
    )
    def test_no_cell_is_a_formula(self, output: object, cell: str) -> None:
        text = written(csv_export.write, export_of([trial("a", output=output)]))
        assert next(csv.DictReader(io.StringIO(text, newline="")))["output"] == cell

    def test_hostile_text_stays_in_its_cell(self) -> None:
        table = list(csv.reader(io.StringIO(written(csv_export.write, hostile_export()))))
        assert len(table) == 3
        assert {len(record) for record in table} == {len(table[0])}


class TestJunit:
    def test_a_row_is_a_testcase(self) -> None:
        root = parsed(written(junit.write, export_of(PLAIN)))
        suite = root[0]
        assert root.attrib | {"name": ""} == {
            "name": "", "tests": "5", "failures": "2", "errors": "1", "time": "2.250",
        }  # fmt: skip
        assert suite.get("skipped") == "1"
        assert suite.get("timestamp") == "2026-05-01T12:30:00"
        properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
        assert properties["dataset"] == "faq@3"
        assert properties["commit"] == EXPERIMENT.provenance.git_commit
        cases = {case.get("name"): case for case in suite.iter("testcase")}
        assert [len(case) for case in cases.values()] == [0, 1, 1, 1, 1]
        assert cases["crash"][0].tag == "error"
        assert cases["flaky"][0].tag == "failure"
        assert cases["flaky"][0].get("type") == "flaky"
        assert cases["lost"][0].tag == "skipped"
        assert cases["lost"][0].get("message") == (
            "1 of 1 trial undecided: grader: judge off its menu"
        )
        assert "trial 2: failed" in (cases["wrong"][0].text or "")
        assert '"answer": 5' in (cases["wrong"][0].text or "")

    def test_a_suite_an_arm(self) -> None:
        arms = replace(EXPERIMENT, arms=("base", "new", "unused"))
        trials = [
            replace(one, key=one.key._replace(arm=arm))
            for one in (trial("a"), trial("b", 1, "failed"))
            for arm in ("base", "new")
        ]
        root = parsed(written(junit.write, export_of(trials, arms)))
        assert [suite.get("name") for suite in root] == ["smoke.base", "smoke.new", "smoke.unused"]
        assert [suite.get("tests") for suite in root] == ["2", "2", "0"]

    @pytest.mark.parametrize("export", [export_of(PLAIN), hostile_export(), export_of([])])
    def test_it_keeps_the_rules_of_the_common_schema(self, export: ExperimentExport) -> None:
        root = parsed(written(junit.write, export))
        assert root.tag == "testsuites"
        for suite in root:
            assert suite.tag == "testsuite"
            assert {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"} <= set(
                suite.attrib
            )
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
            assert [child.tag for child in suite][:1] == ["properties"]
            cases = suite.findall("testcase")
            assert len(suite) == len(cases) + 1
            assert int(suite.attrib["tests"]) == len(cases)
            for attribute, tag in (("failures", "failure"), ("errors", "error")):
                assert int(suite.attrib[attribute]) == len(suite.findall(f"testcase/{tag}"))
            assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))
            for case in cases:
                assert set(case.attrib) == {"name", "classname", "time"}
                assert float(case.attrib["time"]) >= 0
                assert len(case) <= 1
                for child in case:
                    assert set(child.attrib) <= {"message", "type"}
        for attribute in ("tests", "failures", "errors"):
            assert int(root.attrib[attribute]) == sum(int(s.attrib[attribute]) for s in root)

    def test_hostile_text_is_shown_as_text(self) -> None:
        root = parsed(written(junit.write, hostile_export()))
        text = root[0].findall("testcase")[0][0].text or ""
        assert "</script><script>alert(1)</script>" in text
        assert "\\x00\\x07\\x1b[31m\\u202egnp.exe\\u2028\\ud800\\ufffe" in text
        assert root.get("name") == visible(HOSTILE)

    def test_many_trials_and_long_outputs_are_bounded(self) -> None:
        trials = [trial("a", n, "failed", output="x" * 10**6) for n in range(1, 101)]
        text = written(junit.write, export_of(trials))
        assert len(text) < 40_000
        assert "… and 90 more trials" in text


class TestMarkdown:
    def test_it_says_what_happened(self) -> None:
        text = written(markdown.write, export_of(PLAIN))
        lines = text.splitlines()
        assert lines[0] == markdown.MARKER
        assert lines[1].startswith("### <code>smoke</code>: ")
        assert " % interval " in lines[1]
        assert "3 passed · 4 failed · 2 undecided of 9 trials · 1 flaky of 5 rows" in lines
        assert "| <code>exact</code> | 50.0 % | 0.500 | 6 / 7 |" in lines
        assert text.count("<details>") == text.count("</details>") == 3
        assert '"answer": 5' in text
        assert "left out" not in text

    def test_what_is_not_finished_says_so(self) -> None:
        assert "**Not finished** (2 of 10 trials): stopped" in written(
            markdown.write, hostile_export()
        )

    def test_hostile_text_is_inert(self) -> None:
        text = written(markdown.write, hostile_export())
        outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
        tags = set(re.findall(r"</?[a-z!-]+[^>]*>", outside.replace(markdown.MARKER, "")))
        assert tags <= {"<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>"}
        assert "@" not in outside
        assert "`" not in outside
        assert "](" not in outside
        assert text.count("<details>") == 1
        table = [line for line in outside.splitlines() if line.startswith("|")]
        assert {line.count("|") for line in table} == {5}

    def test_a_fence_in_an_output_does_not_close_the_block(self) -> None:
        text = markdown.block("a\n`````\nb")
        assert text == "``````text\na\n`````\nb\n``````"

    def test_it_is_bounded_and_says_what_it_leaves_out(self) -> None:
        trials = [
            trial(
                f"case-{n:05d}" + "|" * 200, 1, "failed", output="`<&" * 10_000, reason="#" * 9999
            )
            for n in range(1000)
        ]
        text = written(markdown.write, export_of(trials))
        assert 30_000 < len(text) <= markdown.MAX_CHARACTERS
        left = re.search(r"(\d+) more failed trials are left out", text)
        assert left
        assert int(left[1]) + text.count("<details>") == 1000
        many = [
            trial("a", scores=tuple(Score("|" * 99 + str(n), 1.0, passed=True) for n in range(999)))
        ]
        assert len(written(markdown.write, export_of(many))) <= markdown.MAX_CHARACTERS


class Page(HTMLParser):
    """What a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self._open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._open[-1] if self._open else "", []).append(data)

    def close(self) -> None:
        super().close()
        assert not self._open


def page_of(export: ExperimentExport) -> Page:
    page = Page()
    page.feed(written(html.write, export))
    page.close()
    return page


class TestHtml:
    def test_it_shows_rows_trials_and_graders(self) -> None:
        page = page_of(export_of(PLAIN))
        rows = [attributes["data-outcome"] for tag, attributes in page.tags if tag == "details"]
        assert rows == ["failed", "error", "flaky", "undecided", "passed"]
        assert any('"answer": 5' in text for text in page.texts["pre"])
        assert any(tag == "svg" for tag, _ in page.tags)
        assert any("interval" in text for text in page.texts["p"])

    def test_rows_without_a_duration_have_no_time(self) -> None:
        trials = [trial("a", duration_s=None), trial("b", 1, duration_s=None)]
        root = parsed(written(junit.write, export_of([*trials, trial("b", 2)])))
        cases = {one.get("name"): one.get("time") for one in root.iter("testcase")}
        assert cases == {"a": None, "b": "0.250"}

    def test_a_row_says_what_was_asked_and_what_was_expected(self) -> None:
        page = page_of(export_of([trial("add")]))
        assert page.texts["h3"][:2] == ["Input", "Expected"]
        assert [text.strip() for text in page.texts["pre"]] == [visible(HOSTILE).strip(), "4", "4"]

    def test_the_end_of_standard_error_explains_a_failure(self) -> None:
        usage = ProcessUsage(1, None, 0.1, 1024, "Traceback\nKeyError: 'x'\n")
        failed = trial("a", 1, "failed", process=usage)
        assert "KeyError: &#39;x&#39;</pre>" in written(html.write, export_of([failed]))
        assert "KeyError" not in written(html.write, export_of([trial("a", process=usage)]))

    @pytest.mark.parametrize(
        ("seconds", "shown"),
        [(0.0004, "< 1 ms"), (0.0042, "4 ms"), (0.25, "250 ms"), (61.26, "61.3 s"), (None, "–")],
    )
    def test_a_short_trial_has_a_duration_too(self, seconds: float | None, shown: str) -> None:
        page = page_of(export_of([trial("a", duration_s=seconds)]))
        assert f"1 of 1 trial passed · {shown}" in "".join(page.texts["span"])

    def test_causes_are_told_in_words(self) -> None:
        text = written(html.write, export_of(PLAIN))
        assert "1 × the task itself failed" in text
        assert "1 × infrastructure" in text

    @pytest.mark.parametrize("export", [export_of(PLAIN), hostile_export(), export_of([])])
    def test_it_asks_for_nothing_and_runs_only_its_own_script(
        self, export: ExperimentExport
    ) -> None:
        page = page_of(export)
        names = {tag for tag, _ in page.tags}
        assert names.isdisjoint({"img", "link", "iframe", "object", "a", "base", "form", "embed"})
        for _, attributes in page.tags:
            assert not any(name.startswith("on") for name in attributes)
            assert not {"src", "href", "style"} & set(attributes)
        scripts, styles = page.texts["script"], page.texts["style"]
        assert len(scripts) == len(styles) == 1
        policy = next(
            attributes["content"] or ""
            for _, attributes in page.tags
            if attributes.get("http-equiv") == "Content-Security-Policy"
        )
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        for text in (*scripts, *styles):
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy

    def test_hostile_text_is_shown_as_text(self) -> None:
        page = page_of(hostile_export())
        assert len([tag for tag, _ in page.tags if tag == "script"]) == 1
        assert visible(HOSTILE) in "".join(page.texts["pre"])
        text = written(html.write, hostile_export())
        assert not re.search("[\x00-\x08\u202e\u2028\ud800\ufffe]", text)

    def test_leading_newlines_of_an_output_are_kept(self) -> None:
        text = written(html.write, export_of([trial("a", output="\n\nx")]))
        assert "<pre>\n\n\nx</pre>" in text  # a browser drops the first

    def test_it_is_bounded_and_says_so(self) -> None:
        trials = [
            trial(f"case-{n:05d}", 1, "passed" if n % 2 else "failed", output="<" * 100_000)
            for n in range(2_000)
        ]
        text = written(html.write, export_of(trials))
        assert "1000 of 2000 rows are on this page" in text
        assert len(text) < 12_000_000
        many = written(html.write, export_of([trial("a", n) for n in range(1, 21)]))
        assert "15 more trials are not on this page" in many
