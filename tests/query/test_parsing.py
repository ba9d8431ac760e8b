"""The filter language: what is understood, and what an error points at."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.model.errors import UsageError
from fairtrial.query.expression import And, Compare, Contains, Expression, Is, Not, Operator, Or
from fairtrial.query.parsing import DEEPEST, MOST_PARTS, parse
from fairtrial.query.tokens import LONGEST
from fairtrial.query.vocabulary import Field, Kind, Vocabulary

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
SESSIONS = Vocabulary(
    "sessions",
    {
        "agent": Field(Kind.WORD, "which agent", ("claude-code", "codex")),
        "cost": Field(Kind.NUMBER, "US dollars"),
        "flag": Field(Kind.WORD, "a flag"),
        "repo": Field(Kind.TEXT, "the repository"),
        "started": Field(Kind.INSTANT, "when it began"),
        "resumed": Field(Kind.BOOLEAN, "whether it was resumed"),
        "score": Field(Kind.NUMBER, "a grader's value", keyed=True),
        "delta": Field(
            Kind.NUMBER, "a difference", keyed=True, whole=True, keys=("exact", "judge")
        ),
    },
    {"flagged": "it has a flag", "open": "it has not ended"},
)


def read(text: str) -> Expression:
    return parse(text, SESSIONS, NOW)


def compare(field: str, sign: str, value: object, key: str | None = None) -> Compare:
    return Compare(field, key, Operator(sign), value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is:flagged", Is("flagged")),
        ("agent = codex", compare("agent", "=", "codex")),
        ("agent==codex", compare("agent", "=", "codex")),
        ("cost > 1", compare("cost", ">", 1.0)),
        ("cost<=$0.5", compare("cost", "<=", 0.5)),
        ("cost > 20k", compare("cost", ">", 20_000.0)),
        ("score.task_done < 0.8", compare("score", "<", 0.8, "task_done")),
        ("score.a.b >= 80%", compare("score", ">=", 0.8, "a.b")),
        ("score.'my grader' < 1", compare("score", "<", 1.0, "my grader")),
        ("delta < 0", compare("delta", "<", 0.0)),
        ("delta.exact < 0", compare("delta", "<", 0.0, "exact")),
        ("repo ~ api", compare("repo", "~", "api")),
        ("repo !~ 'my repo'", compare("repo", "!~", "my repo")),
        ("cost = none", compare("cost", "=", None)),
        ("resumed = yes", Compare("resumed", None, Operator.EQUAL, value=True)),
        ("started > 14d", compare("started", ">", NOW - timedelta(days=14))),
        ("started >= 2026-11-01", compare("started", ">=", datetime(2026, 11, 1, tzinfo=UTC))),
        ("login bug", And((Contains("login"), Contains("bug")))),
        ('"agent = codex"', Contains("agent = codex")),
        (r'"say \"hi\""', Contains('say "hi"')),
        ("not is:open", Not(Is("open"))),
        ("NOT is:open AND cost > 1", And((Not(Is("open")), compare("cost", ">", 1.0)))),
        (
            "is:open or cost > 1 and is:flagged",
            Or((Is("open"), And((compare("cost", ">", 1.0), Is("flagged"))))),
        ),
        (
            "(is:open or cost > 1) is:flagged",
            And((Or((Is("open"), compare("cost", ">", 1.0))), Is("flagged"))),
        ),
        (
            "agent in (codex, claude-code)",
            Or((compare("agent", "=", "codex"), compare("agent", "=", "claude-code"))),
        ),
        ("agent not in (codex)", Not(compare("agent", "=", "codex"))),
        ("flag = looping", compare("flag", "=", "looping")),
    ],
)
def test_what_a_filter_means(text: str, expected: Expression) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("cots > 1", "sessions have no field 'cots'", 1),
        ("is:flaged", "no property 'flaged'", 1),
        ("is:open and cost >", "a value is expected after >, not the end", 19),
        ("cost > cheap", "'cheap' is no number", 8),
        ("cost ~ 1", "~ makes no sense for cost", 6),
        ("agent < codex", "< makes no sense for agent", 7),
        ("agent = gemini", "agent is never 'gemini'", 9),
        ("started > yesterday", "'yesterday' is no moment", 11),
        ("resumed = maybe", "neither yes nor no", 11),
        ("score > 1", "say which score: score.NAME", 1),
        ("delta.exakt > 1", "no delta 'exakt'", 1),
        ("delta. > 1", "say which delta: delta.NAME", 1),
        ("(is:open", "a bracket is never closed", 1),
        ("is:open)", "')' is not expected here", 8),
        ("is:open or", "something is missing at the end", 11),
        ("or is:open", "not 'or'", 1),
        ("= 1", "not '='", 1),
        ("log in", "not 'in'", 5),
        ("repo = 'x", "a quote is never closed", 8),
        ("hello!", "'!' means nothing", 6),
        ("agent in (codex", "a comma or ) is expected", 16),
        ("cost > none", "none is only = or !=", 8),
        ("cost = inf", "'inf' is no number", 8),
    ],
)
def test_an_error_points_at_its_column(text: str, message: str, column: int) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    assert message in caught.value.what
    assert f"(column {column})" in caught.value.what
    mark = caught.value.what.splitlines()[-1]
    assert mark.index("^") == 2 + column - 1


def test_a_near_miss_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        read("cots > 1")
    assert caught.value.fix == "did you mean cost?"


def test_an_empty_filter_is_refused() -> None:
    with pytest.raises(UsageError, match="empty"):
        read("  ")


def test_what_is_too_long_or_too_deep_is_refused() -> None:
    with pytest.raises(UsageError, match="characters"):
        read("x" * (LONGEST + 1))
    with pytest.raises(UsageError, match="nested deeper"):
        read("not " * (DEEPEST + 1) + "x")
    with pytest.raises(UsageError, match="nested deeper"):
        read("(" * 4000 + "x" + ")" * 4000)
    assert isinstance(read("x " * MOST_PARTS), And)
    with pytest.raises(UsageError, match=f"comparisons at most.*column {2 * MOST_PARTS + 1}"):
        read("x " * (MOST_PARTS + 1))
    with pytest.raises(UsageError, match="comparisons at most"):
        read(f"repo in ({', '.join('x' * (MOST_PARTS + 1))})")


@given(st.text(max_size=60))
def test_whatever_is_typed_is_understood_or_refused_with_a_reason(text: str) -> None:
    with contextlib.suppress(UsageError):  # any other exception fails this
        read(text)


WORDS = ["is:open", "cost", "agent", "score.x", "codex", "1", "14d", "none", "'a'", "x"]
SIGNS = ["=", "<", "~", "and", "or", "not", "in", "(", ")", ","]
PIECES = st.sampled_from([*WORDS, *SIGNS])


@given(st.lists(PIECES, max_size=12))
def test_any_order_of_pieces_is_understood_or_refused_with_a_reason(pieces: list[str]) -> None:
    with contextlib.suppress(UsageError):
        read(" ".join(pieces))
