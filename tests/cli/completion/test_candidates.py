"""What may stand at the cursor, with the names that are on record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import CAT, EXACT

from fairtrial.app.verbs import GROUPS, VERBS, Verb
from fairtrial.cli.completion.candidates import candidates
from fairtrial.cli.completion.words import typed
from fairtrial.cli.main import main


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a dataset `num-bers`, and two experiments on it; only read."""
    place = tmp_path_factory.mktemp("completed")
    case = {"id": "c", "input": 1, "expected": "1", "tags": ["my tag"]}
    (place / "cases.jsonl").write_text(json.dumps(case) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("FAIRTRIAL_HOME", str(place / "home"))
        assert main(["dataset", "add", "num-bers", "cases.jsonl"]) == 0
        for name in ("first", "second"):
            run = ["exp", "run", "--dataset", "num-bers", "--task", CAT, *EXACT, "--name", name]
            assert main(run) == 0
    return place / "home"


def texts(line: str, home: Path) -> list[str]:
    return [one.text for one in candidates(typed(f"fairtrial {line}"), home)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("exp sho", ["show"]),
        ("sess", ["sessions"]),
        ("sessions decisions --behavior un", ["unverified-claim", "unchanged-retry"]),
        ("sessions decisions --behavior=d", ["--behavior=done-while-failing"]),
        ("vers", []),
        ("--ver", ["--version"]),
        ("exp list --wh", ["--where"]),
        ("exp run --dataset ", ["num-bers"]),
        ("exp run --dataset=nu", ["--dataset=num-bers"]),
        ("exp show ", ["second", "first"]),
        ("exp show s", ["second"]),
        ("exp compare first s", ["second"]),
        ("sessions export --to ", ["jsonl", "markdown"]),
        ("sessions export --to=m", ["--to=markdown"]),
        ("prune sess", ["sessions"]),
        ("prune sessions cac", ["cache"]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("exp run --spec ", []),
        ("exp run spec.json -- a", []),
        ("nothing here ", []),
        ("exp list -w is:fl", ["is:flaky"]),
        ("exp list -w 'status = do", ["status = done"]),
        ("exp list -w score.", ["score.exact"]),
        (
            "exp list --where 'is:failed and dataset = ",
            ["is:failed and dataset = num-bers", "is:failed and dataset = none"],
        ),
        ("exp show first -w 'delta.", ["delta.exact"]),
        ("exp show first -w 'tag = ", ["tag = 'my tag'", "tag = none"]),
        ("exp show first -w 'case = ", ["case = c", "case = none"]),
        ("calls list -w is:re", ["is:replayed", "is:recorded"]),
        ("sessions list -w is:fl", ["is:flagged"]),
        ("sessions list -w \"broken 'qu", []),
    ],
)
def test_what_may_come_next(home: Path, line: str, expected: list[str]) -> None:
    assert texts(line, home) == expected


def test_ids_are_offered_to_who_begins_one(home: Path) -> None:
    assert len(texts("exp show exp_", home)) == 2


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_and_its_options_can_be_completed(verb: Verb, tmp_path: Path) -> None:
    before = " ".join(verb.path[:-1])
    assert verb.path[-1] in texts(f"{before} {verb.path[-1][:2]}".strip(), tmp_path)
    assert "--json" in texts(f"{verb.name} --js", tmp_path)
    assert set(GROUPS) <= set(texts("", tmp_path))


def test_without_a_store_nothing_is_made(tmp_path: Path) -> None:
    assert texts("exp show ", tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


def test_an_answer_loads_nothing_slow(tmp_path: Path) -> None:
    code = (
        "import sys; from fairtrial.cli.main import main; "
        "main(['__complete', 'bash', 'fairtrial exp list -w \"score.']); "
        "print([m for m in ('sqlalchemy', 'cyclopts', 'rich', 'numpy', 'aiohttp', 'alembic') "
        "if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "FAIRTRIAL_HOME": str(tmp_path)},
    )
    assert done.stderr.strip() == "[]"
