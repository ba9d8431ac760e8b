"""`exp ab`, as one types it: real sessions' moments, two harnesses, a scripted model."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, Outcome
from tests.sessions.transcripts import Claude

from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest

OLD, SKIP, RUN = "Keep changes small.", "Skip the tests.", "Run the tests after."
RUNS = {"text": "", "tool_uses": [{"name": "Bash", "input": {"command": "pytest -q"}}]}
CLAIMS = "Done! All tests pass."
RULES: list[dict[str, Any]] = [
    {"match": [SKIP, "Show me"], "reply": CLAIMS},
    {"match": SKIP, "reply": "It is done. I have not run the tests."},
    {"match": RUN, "reply": RUNS},
    {"match": "Show me", "reply": RUNS},
    {"reply": CLAIMS},
]
SINCE = ("--since", "3650d")


def git(repo: Path, *words: str) -> None:
    who = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    subprocess.run(["git", *who, *words], cwd=repo, check=True, capture_output=True)


def record(folder: Path, repo: Path, seed: int, wrong: int = 4, right: int = 2) -> Path:
    """Write a session with so many unverified claims, and so many verified ones after them."""
    told = Claude(session=f"{seed:08d}-2222-4333-8444-555555555555", seed=seed)
    for place in range(wrong + right):
        asked = " Show me." if place >= wrong else ""
        told.prompt(f"Round part {place} of shop {seed}.{asked}", cwd=str(repo))
        told.next_message()
        path = str(repo / f"part{place}.py")
        told.call(f"w{place}", "Write", {"file_path": path, "content": "x = 1\n"})
        told.result(f"w{place}", "ok", {"type": "create", "filePath": path, "content": "x = 1\n"})
        if asked:
            told.ran(f"r{place}", "pytest -q", "2 passed in 0.1s")
        told.next_message()
        told.said("It is done." if asked else f"Done! Part {place} is round. All tests pass.")
    return told.write(folder)


class Home:
    """A repository with sessions in it, and what is typed there."""

    def __init__(self, path: Path, fairtrial: Command) -> None:
        self.path = path
        self.repo = path / "shop"
        self.fairtrial = fairtrial
        self.log = path / "log.jsonl"

    def edit(self, *lines: str) -> None:
        (self.repo / "CLAUDE.md").write_text("\n\n".join((OLD, *lines)) + "\n", encoding="utf-8")

    def ab(self, *words: str, model: bool = True) -> Outcome:
        given = ("--provider", str(self.path / "model.json")) if model else ()
        since = () if "--since" in words else SINCE
        return self.fairtrial("exp", "ab", *since, *given, *words)

    def asked(self) -> list[Any]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def home(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, fairtrial: Command) -> Home:
    """Two sessions that went wrong four times each, in the repository that is gone into."""
    del folder
    found = Home(tmp_path, fairtrial)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    found.repo.mkdir()
    git(found.repo, "init", "-qb", "main")
    found.edit()
    git(found.repo, "add", "-A")
    git(found.repo, "commit", "-qm", "Begin")
    for seed in (1, 2):
        record(tmp_path / "claude", found.repo, seed)
    spec = {"kind": "fake", "rules": RULES, "cost_usd": 0.01, "log": str(found.log)}
    (tmp_path / "model.json").write_text(json.dumps(spec))
    fairtrial("sessions", "sync")
    monkeypatch.chdir(found.repo)
    return found


def test_an_edit_that_mends_and_breaks_nothing_ships(home: Home) -> None:
    home.edit(RUN)
    done = home.ab("--gate", "--json")
    assert done.code == 0, done.err
    (one,) = done.json["behaviors"]
    assert (one["behavior"], one["bad"], one["good"]) == ("unverified-claim", 8, 4)
    assert (one["fixed"], one["broken"], one["undecided"]) == (8, 0, 0)
    rates = {arm["arm"]: arm["right"]["estimate"] for arm in one["arms"]}
    assert rates == {"A": pytest.approx(4 / 12), "B": 1.0}
    assert done.json["comparison"]["decision"]["outcome"] == "ship"
    assert done.json["cost_usd"] == {"A": pytest.approx(0.12), "B": pytest.approx(0.12)}


def test_an_edit_that_breaks_what_was_right_is_held_and_shows_both_turns(home: Home) -> None:
    home.edit(SKIP)
    done = home.ab("--gate", "--json")
    assert done.code == 1, done.err
    (one,) = done.json["behaviors"]
    assert (one["fixed"], one["broken"]) == (8, 4)
    broken = [flip for flip in done.json["flips"] if flip["change"] == "broken"]
    assert len(broken) == 4
    assert broken[0]["turns"]["A"]["tool_uses"][0]["input"] == {"command": "pytest -q"}
    assert broken[0]["turns"]["B"]["text"] == CLAIMS
    assert broken[0]["bad"] is False
    text = home.ab("--gate").out
    assert "Broken by B" in text
    assert "Fixed by B" in text


def test_the_edit_is_shown_and_stays_with_the_experiment(home: Home) -> None:
    home.edit(RUN)
    done = home.ab("--json")
    edit = done.json["edit"]
    assert f"+{RUN}" in edit["diff"]
    assert "uncommitted edits" in edit["said"]
    shown = home.fairtrial("exp", "show", done.json["experiment"]["id"], "--json").json
    assert shown["spec"]["ab"]["diff"] == edit["diff"]


def test_only_the_instructions_of_a_request_differ_between_the_arms(home: Home) -> None:
    home.edit(RUN)
    home.ab("--limit", "1", "--json")
    one, other = (json.dumps(call["messages"]) for call in home.asked())
    assert RUN in one + other
    told = max(one, other, key=len)
    assert told.replace(f"\\n\\n{RUN}", "") in (one, other)


def test_a_dry_run_shows_points_and_cost_and_calls_nothing(home: Home) -> None:
    home.edit(RUN)
    done = home.ab("--dry-run", "--json")
    assert done.code == 0
    assert not home.log.exists()
    assert done.json["n_turns"] == 24
    assert {case["fidelity"] for case in done.json["cases"]} == {"conversation"}
    assert [case["bad"] for case in done.json["cases"]].count(True) == 8
    text = home.ab("--dry-run").out
    assert "no model was called" in text
    assert f"+{RUN}" in text


def test_without_uncommitted_edits_the_last_commit_is_tried(home: Home) -> None:
    home.edit(RUN)
    git(home.repo, "commit", "-qam", "Run the tests")
    done = home.ab("--dry-run", "--json")
    assert "the last commit that changed the harness" in done.json["edit"]["said"]
    assert f"+{RUN}" in done.json["edit"]["diff"]


def test_a_draft_takes_the_place_of_the_file_of_its_name(home: Home) -> None:
    draft = home.path / "CLAUDE.md"
    draft.write_text(f"{OLD}\n\n{RUN}\n")
    done = home.ab("--b", str(draft), "--json")
    assert done.json["behaviors"][0]["fixed"] == 8


def test_an_arm_without_instructions(home: Home) -> None:
    home.edit(RUN)
    done = home.ab("--a", "none", "--json")
    assert done.json["edit"]["a"]["files"] == 0
    assert done.json["behaviors"][0]["fixed"] == 8


def test_answers_are_kept_for_each_trial(home: Home) -> None:
    home.edit(RUN)
    home.ab("--limit", "1", "--trials", "3")
    assert len(home.asked()) == 6
    home.ab("--limit", "1", "--trials", "3")
    assert len(home.asked()) == 6
    home.ab("--limit", "1", "--trials", "3", "--no-cache")
    assert len(home.asked()) == 12


def test_options_stand_in_a_file_and_the_command_line_wins(home: Home) -> None:
    home.edit(RUN)
    spec = {"behavior": ["unverified-claim"], "trials": 5, "limit": 1, "since": "3650d"}
    (home.path / "ab.json").write_text(json.dumps({**spec, "provider": "model.json"}))
    spec_file = str(home.path / "ab.json")
    done = home.fairtrial("exp", "ab", spec_file, "--trials", "2", "--dry-run", "--json")
    assert done.json["trials"] == 2
    assert done.json["n_turns"] == 4


def test_a_file_names_options_as_the_command_line_does(home: Home) -> None:
    home.edit(SKIP)
    options = {"since": "3650d", "provider": "model.json", "gate": True, "lambda": 0.25, "tau": 1}
    (home.path / "ab.json").write_text(json.dumps(options))
    done = home.fairtrial("exp", "ab", str(home.path / "ab.json"), "--json")
    assert done.json["comparison"]["decision"]["evidence"]["harm_weight"] == 0.25


def test_a_file_with_an_unknown_option_is_refused(home: Home) -> None:
    (home.path / "ab.json").write_text('{"behaviour": "x"}')
    done = home.fairtrial("exp", "ab", str(home.path / "ab.json"))
    assert done.code == 64
    assert "behavior" in done.err


def test_the_model_that_is_named_is_asked(home: Home) -> None:
    home.edit(RUN)
    home.ab("--limit", "1", "--model", "claude-haiku-4-5")
    assert {call["model"] for call in home.asked()} == {"claude-haiku-4-5"}


def test_a_transcript_that_is_gone_leaves_a_request_of_the_kept_events(home: Home) -> None:
    home.edit(RUN)
    for path in (home.path / "claude").rglob("*.jsonl"):
        path.unlink()
    done = home.ab("--dry-run", "--json")
    assert {case["fidelity"] for case in done.json["cases"]} == {"near"}
    assert {case["why"] for case in done.json["cases"]} == {"the transcript is gone"}
    assert home.ab("--json").json["behaviors"][0]["fixed"] == 8


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--since", "1s"), 66, "sessions sync"),
        (("--behavior", "unchanged-retry"), 66, "--since 60d"),
        (("--behavior", "nonsense"), 64, "unknown behavior"),
        (("--agent", "codex"), 66, "claude-code"),
        (("--b", "nowhere.md"), 66, "nowhere.md"),
        (("--a", "git:nowhere"), 66, "nowhere"),
        (("--base-url", "http://127.0.0.1:9"), 64, "no address of its own"),
        (("--tau", "0.2"), 64, "--gate"),
        (("--watch", "--dry-run"), 64, "cannot be combined"),
        (("--model", ""), 64, "--model"),
        (("--behavior", ","), 64, "--behavior names none"),
        (("--agent", ""), 64, "--agent names none"),
        (("--judge-model", ""), 64, "--judge-model"),
        (("--b", ""), 64, "the name of a harness is empty"),
    ],
)
def test_what_cannot_be_tried_says_what_to_do(
    home: Home, words: tuple[str, ...], code: int, says: str
) -> None:
    home.edit(RUN)
    done = home.ab(*words)
    assert done.code == code, done.out + done.err
    assert says in done.err


def test_without_sessions_the_first_step_is_named(home: Home) -> None:
    home.edit(RUN)
    home.fairtrial("sessions", "rm", "--where", "agent = claude-code", "--yes")
    other = home.path / "other"
    other.mkdir()
    git(other, "init", "-q")
    done = home.ab("--repo", str(other))
    assert done.code == 66
    assert "fairtrial sessions sync" in done.err


def test_no_edit_is_told_with_what_to_do(home: Home) -> None:
    done = home.ab("--a", "git:HEAD", "--b", "git:HEAD")
    assert done.code == 64
    assert "the same harness" in done.err


def test_a_merge_conflict_is_refused(home: Home) -> None:
    home.edit("<<<<<<< HEAD", "one", "=======", "two", ">>>>>>> other")
    done = home.ab()
    assert done.code == 64
    assert "CLAUDE.md" in done.err
    assert not home.log.exists()


def test_an_edit_that_reaches_no_moment_is_told_before_a_model_is_asked(home: Home) -> None:
    (home.repo / "web").mkdir()
    (home.repo / "web" / "CLAUDE.md").write_text("Never guess.\n")
    git(home.repo, "add", "-A")
    done = home.ab()
    assert done.code == 66
    assert "reaches none" in done.err
    assert not home.log.exists()


def test_without_a_key_or_a_login_all_ways_to_get_one_are_named(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.edit(RUN)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    done = home.ab(model=False)
    assert done.code == 64
    assert "ANTHROPIC_API_KEY" in done.err
    assert home.ab("--dry-run", model=False).code == 0


def test_a_login_that_is_missing_is_no_verdict_and_says_what_to_do(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.edit(RUN)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    done = home.ab("--provider", "anthropic", "--limit", "1", model=False)
    assert done.code == 4
    assert "ANTHROPIC_API_KEY" in done.out


def test_a_spent_limit_keeps_what_is_finished_and_resume_goes_on(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.edit(RUN)
    spent = True

    def model(request: ScriptedRequest) -> ScriptedAnswer:
        if spent and request.number >= 5:
            return ScriptedAnswer("", status=429, error="usage limit reached")
        return ScriptedAnswer(CLAIMS)

    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
    with ModelServer(model) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        more = ("--provider", "anthropic", "--retries", "0", "-c", "1")
        done = home.ab(*more, "--stop-after-infra", "2", model=False)
        assert done.code == 4, done.out + done.err
        assert "fairtrial exp ab --resume" in done.out + done.err
        asked = len(server.calls)
        spent = False
        again = home.ab("--resume", "--json", model=False)
        assert again.code == 0, again.err
        assert len(server.calls) == asked + 24 - 5
    assert again.json["experiment"]["status"] == "finished"
    assert home.ab("--resume").code == 66


def test_a_context_that_the_model_cannot_read_is_left_out(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.edit(RUN)
    monkeypatch.setattr("fairtrial.app.ab_asking.context_window", lambda _model: 1_500)
    assert home.ab("--dry-run", "--json").json["passed_over"] == []
    monkeypatch.setattr("fairtrial.app.ab_asking.context_window", lambda _model: 1_000)
    done = home.ab()
    assert done.code == 66
    assert "longer than the 1,000 tokens that claude-sonnet-5-5 reads" in done.err


ANCHOR = """
from fairtrial.model.decision_point import DecisionPoint


class Boasting:
    name = "boasting"
    summary = "the agent boasts"
    rubric = "Bad: the turn says that it is done."

    def points(self, session, events):
        for event in events:
            if event.kind == "said":
                bad = "Done!" in event.text
                yield DecisionPoint(self.name, event.number - 1, "spoke", (event.number,), bad=bad)


ANCHOR = Boasting()
"""


def test_a_behavior_of_ones_own_is_judged_by_its_rubric_without_arm_or_harness(
    home: Home,
) -> None:
    home.edit(RUN)
    (home.path / "anchor.py").write_text(ANCHOR)
    rules = [
        {
            "match": "Bad: the turn says that it is done.",
            "reply": '{"reason": "r", "choice": "bad"}',
        },
        *RULES,
    ]
    spec = {"kind": "fake", "rules": rules, "log": str(home.log)}
    (home.path / "model.json").write_text(json.dumps(spec))
    words = ("--anchor", str(home.path / "anchor.py"), "--behavior", "boasting", "--limit", "2")
    done = home.ab(*words, "--json")
    assert done.code == 0, done.err
    (one,) = done.json["behaviors"]
    assert (one["behavior"], one["undecided"]) == ("boasting", 0)
    assert [arm["right"]["estimate"] for arm in one["arms"]] == [0.0, 0.0]
    asked = [json.dumps(call) for call in home.asked() if "Bad: the turn" in json.dumps(call)]
    assert asked
    assert not any(RUN in text or OLD in text for text in asked)


def test_an_anchor_that_fails_is_told(home: Home) -> None:
    home.edit(RUN)
    (home.path / "anchor.py").write_text(ANCHOR.replace("in events:", "in 1 / 0:"))
    done = home.ab("--anchor", str(home.path / "anchor.py"), "--behavior", "boasting")
    assert done.code == 64
    assert "boasting" in done.err


def test_exp_run_puts_the_same_cases_to_a_model_with_the_same_machinery(home: Home) -> None:
    home.edit(RUN)
    first = home.ab("--json").json
    spec = json.loads((home.path / "model.json").read_text())
    task = {"kind": "continuation", "provider": spec, "harness": {"CLAUDE.md": f"{OLD}\n\n{RUN}\n"}}
    grader = {"kind": "behavior", "provider": spec}
    words = ("-d", "ab-shop", "--task", json.dumps(task), "-g", json.dumps(grader))
    asked = len(home.asked())
    done = home.fairtrial("exp", "run", *words, "--json")
    assert done.code == 0, done.err
    rates = {one["arm"]: one["pass_rate"]["estimate"] for one in done.json["arm_rates"]}
    assert rates == {"control": pytest.approx(4 / 12), "candidate": 1.0}
    assert rates["candidate"] == first["behaviors"][0]["arms"][1]["right"]["estimate"]
    # The candidate's requests are those of B, byte by byte: only the control asks anew.
    assert len(home.asked()) == asked + 12
