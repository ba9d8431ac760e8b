"""Jobs of Harbor."""

from __future__ import annotations

from pathlib import Path

from tests.interchange.results.reading import read
from tests.interchange.results.writers import harbor_job, harbor_trial, raised


def test_trials_of_a_job(tmp_path: Path) -> None:
    trials = [harbor_trial(task, attempt) for attempt in (1, 2) for task in ("fix", "add")]
    found = read(harbor_job(tmp_path / "job", trials))
    assert (found.tool, found.run.name, found.run.dataset) == ("harbor", "job", "bench")
    assert sorted(str(trial.id) for trial in found.trials) == ["add", "add", "fix", "fix"]
    (first, *_) = found.trials
    assert (first.arm, first.model, first.scores["reward"].value) == (None, "sonnet", 1.0)
    assert (first.duration_s, first.cost_usd) == (30.0, 0.25)
    assert first.tokens is not None
    assert (first.tokens.input, first.tokens.cache_read, first.tokens.output) == (20, 80, 9)
    assert (found.run.ending, dict(found.run.thresholds)) == ("finished", {"reward": 1.0})


def test_an_error_of_a_step_counts_where_the_trial_has_none(tmp_path: Path) -> None:
    step = {"step_name": "one", "exception_info": raised("EnvironmentStartTimeoutError", "slow")}
    agent = {"agent_result": {"n_input_tokens": 5, "n_cache_tokens": 1, "cost_usd": 1.0}}
    steps = [step, {"step_name": "two", **agent}, {"step_name": "three", **agent}]
    trial = harbor_trial("fix", 1, 0.0, agent_result=None, step_results=steps)
    found = read(harbor_job(tmp_path / "job", [trial])).of("fix")
    assert found.trouble is not None
    assert found.trouble.cause == "infra"
    assert found.trouble.reason == "step one: EnvironmentStartTimeoutError: slow"
    assert found.cost_usd == 2.0
    assert found.tokens is not None
    assert (found.tokens.input, found.tokens.cache_read) == (8, 2)


def test_errors_by_their_names(tmp_path: Path) -> None:
    errors = {
        "late": (raised("AgentTimeoutError"), 1.0, "limit"),
        "verifier": (raised("VerifierTimeoutError"), None, "grader"),
        "api": (raised("ApiRateLimitError", "429"), 0.0, "infra"),
        "exit": (raised("NonZeroAgentExitCodeError"), 0.0, None),
        "crash": (raised("NonZeroAgentExitCodeError"), None, "task"),
        "gone": (raised("CancelledError"), None, "undecidable"),
        "silent": (None, None, "grader"),
        "odd": (raised("SomethingNew", "it broke"), None, "task"),
    }
    trials = [
        harbor_trial(task, 1, reward, exception_info=error)
        for task, (error, reward, _) in errors.items()
    ]
    found = read(harbor_job(tmp_path / "job", trials))
    assert {task: found.cause(task) for task in errors} == {
        task: cause for task, (_, _, cause) in errors.items()
    }


def test_agents_are_arms_in_the_order_of_the_job(tmp_path: Path) -> None:
    trials = []
    for attempt, model in enumerate(("opus", "haiku"), 1):
        config = {"agent": {"name": "claude-code", "model_name": model}}
        info = {"name": "claude-code", "model_info": {"name": model}}
        trials.append(harbor_trial("fix", attempt, config=config, agent_info=info))
    found = read(harbor_job(tmp_path / "job", trials))
    assert sorted(str(trial.arm) for trial in found.trials) == [
        "claude-code/haiku",
        "claude-code/opus",
    ]


def test_an_unfinished_job_is_a_part(tmp_path: Path) -> None:
    job = harbor_job(tmp_path / "job", [harbor_trial("fix", 1)], planned=3)
    (job / "add__1").mkdir()
    (job / "add__1" / "config.json").write_text("{}", encoding="utf-8")
    found = read(job)
    assert (found.run.ending, found.run.why) == ("interrupted", "1 of 3 trials have a result")
    assert found.notes == {"trials without a result": 1}


def test_a_trajectory_that_leads_elsewhere_is_not_taken(tmp_path: Path) -> None:
    job = harbor_job(tmp_path / "job", [harbor_trial("fix", 1)])
    secret = tmp_path / "secret.json"
    secret.write_text('{"schema_version": "ATIF-v1.7"}', encoding="utf-8")
    (job / "fix__1" / "agent" / "trajectory.json").symlink_to(secret)
    found = read(job)
    assert found.of("fix").transcript is None
    assert found.notes == {"trajectories that lead out of the folder of their trial": 1}


def test_one_trial_alone_and_jobs_side_by_side(tmp_path: Path) -> None:
    job = harbor_job(tmp_path / "jobs" / "one", [harbor_trial("fix", 1)])
    assert len(read(job / "fix__1").trials) == 1
