"""`exp run --record` and `--replay`: real programs, real wires, a scripted model."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, Outcome, process, write_cases
from tests.cli.model_agents import write_agents

from fairtrial.model.call import ToolUse
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer, ScriptedRequest

N = 2
ANY = ("-g", '{"kind":"regex","pattern":"."}')
STEPS = 3


class Model:
    """A model that never answers twice the same, so that a served answer can be told."""

    def __init__(self) -> None:
        self.overloaded = 0
        self.slow_s = 0.0

    def __call__(self, request: ScriptedRequest) -> ScriptedAnswer:
        if self.overloaded > 0:
            self.overloaded -= 1
            return ScriptedAnswer(status=529, error="busy", headers={"retry-after": "30"})
        said = sum(turn["role"] == "assistant" for turn in request.body["messages"])
        if request.tool_names and said < STEPS - 1:
            use = ToolUse(f"toolu_{request.number}", "step", {"at": request.number})
            return ScriptedAnswer(f"answer {request.number}", tool_uses=(use,))
        if self.slow_s:
            slow = Fault.SLOW_FIRST_BYTE
            return ScriptedAnswer(f"answer {request.number}", fault=slow, slow_s=self.slow_s)
        return ScriptedAnswer(f"answer {request.number}")


@pytest.fixture
def model() -> Model:
    """What answers."""
    return Model()


@pytest.fixture
def server(model: Model, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server that everything calls."""
    with ModelServer(model) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", server.v1_url)
        yield server


@pytest.fixture
def run(fairtrial: Command, folder: Path, server: ModelServer) -> Command:
    """Run an agent over two cases."""
    del server
    write_agents(folder)
    write_cases(folder / "cases.jsonl", N)
    assert fairtrial("dataset", "add", "d", "cases.jsonl").code == 0

    def run(task: str, *words: str) -> Outcome:
        return fairtrial("exp", "run", "-d", "d", "--task", task, *ANY, *words)

    return run


def agent(name: str, **env: str) -> str:
    """Return a command task that runs an agent."""
    return json.dumps(
        {"kind": "command", "command": [sys.executable, f"{name}_agent.py"], "env": env}
    )


def outputs(fairtrial: Command, experiment: str, arm: str | None = None) -> dict[str, Any]:
    """Return the output of each case of an experiment."""
    done = fairtrial("exp", "export", experiment, "--to", "jsonl")
    trials = [json.loads(line) for line in done.out.splitlines()]
    return {
        trial["case_id"]: trial["output"]
        for trial in trials
        if trial.get("output") is not None and arm in (None, trial["arm"])
    }


def trials_of(fairtrial: Command, experiment: str, case: str = "c0000") -> list[Any]:
    found: list[Any] = fairtrial("exp", "show", experiment, "--case", case, "--json").json["trials"]
    return found


class TestRealClients:
    @pytest.mark.parametrize(
        ("name", "env"),
        [("anthropic", {}), ("anthropic", {"STREAMS": "1"}), ("openai", {})],
        ids=["anthropic", "anthropic-streaming", "openai"],
    )
    def test_an_unchanged_agent_follows_its_recording_and_a_changed_one_leaves_it(
        self,
        run: Command,
        fairtrial: Command,
        server: ModelServer,
        name: str,
        env: dict[str, str],
    ) -> None:
        recorded = run(agent(name, **env), "--record", "--name", "rec", "--json").json
        assert (recorded["passed"], len(server.calls)) == (N, N * STEPS)
        assert recorded["cost_usd"] is not None

        words = ("--replay", "rec", "--no-control", "--json")
        again = run(agent(name, **env), *words).json
        assert len(server.calls) == N * STEPS
        [arm] = again["replay"]["arms"]
        assert (arm["served"], arm["live"], arm["followed"]) == (N * STEPS, 0, N)
        assert again["replay"]["control"] is False
        assert outputs(fairtrial, again["id"]) == outputs(fairtrial, "rec")
        assert again["cost_usd"] == 0
        [saved] = again["reused"]
        assert (saved["source"], saved["calls"]) == ("recording", N * STEPS)
        assert saved["cost_usd"] == pytest.approx(recorded["cost_usd"])

        changed = run(agent(name, CHANGES_AT="2", **env), *words).json
        assert len(server.calls) == N * (STEPS + STEPS - 1)
        [arm] = changed["replay"]["arms"]
        assert (arm["served"], arm["live"], arm["followed"]) == (N, N * (STEPS - 1), 0)
        [place] = arm["divergences"]
        assert (place["number"], place["trials"]) == (2, N)
        assert place["reasons"][0][0] in ("system differs", "messages[0].content differs")


class TestReplay:
    def test_the_recorded_configuration_runs_as_control(
        self, run: Command, fairtrial: Command, server: ModelServer
    ) -> None:
        run(agent("plain"), "--record", "--name", "rec")
        before = len(server.calls)
        done = run(agent("plain", CHANGES_AT="3"), "--replay", "rec", "--name", "rep")
        assert done.code in (0, 2)
        assert len(server.calls) == before + N
        text = " ".join(done.out.split())
        assert "control 2 6 6 0 2 " in text
        assert "candidate 2 6 4 2 0 " in text
        assert "candidate 3 2 system differs (2)" in text
        assert "A control" in text
        assert "B candidate" in text
        shown = fairtrial("exp", "show", "rep").out
        assert "system differs (2)" in shown
        report = fairtrial("exp", "show", "rep", "--json").json
        assert report["replay"]["control"] is True
        assert [arm["arm"] for arm in report["replay"]["arms"]] == ["control", "candidate"]
        [first, second] = sorted(trials_of(fairtrial, "rep"), key=lambda trial: trial["arm"])
        assert second["replay"] == {
            "recorded": 3,
            "served": 3,
            "live": 0,
            "diverged_at": None,
            "why": None,
        }
        assert (first["replay"]["diverged_at"], first["replay"]["why"]) == (3, "system differs")
        case = fairtrial("exp", "show", "rep", "--case", "c0000").out
        assert "2 of 3 recorded calls served, live from call 3: system differs" in case

    def test_an_edited_file_is_no_recorded_configuration(self, run: Command, folder: Path) -> None:
        run(agent("plain"), "--record", "--name", "rec")
        same = run(agent("plain"), "--replay", "rec")
        assert "both arms run the recorded task" in same.err
        path = folder / "plain_agent.py"
        path.write_text(path.read_text().replace("Be brief.", "Be long."), encoding="utf-8")
        edited = run(agent("plain"), "--replay", "rec")
        assert "was edited since" in edited.err

    def test_until(self, run: Command, server: ModelServer) -> None:
        run(agent("plain"), "--record", "--name", "rec")
        before = len(server.calls)
        words = ("--replay", "rec", "--replay-until", "2", "--no-control", "--json")
        done = run(agent("plain"), *words).json
        assert len(server.calls) == before + N
        [place] = done["replay"]["arms"][0]["divergences"]
        assert (place["number"], place["reasons"]) == (3, [["after --replay-until", N]])

    def test_more_and_fewer_calls_than_recorded(self, run: Command, server: ModelServer) -> None:
        run(agent("plain"), "--record", "--name", "rec")
        before = len(server.calls)
        words = ("--replay", "rec", "--no-control", "--json")
        more = run(agent("plain", CALLS="4"), *words).json["replay"]["arms"][0]
        assert more["divergences"][0]["reasons"] == [["no more recorded calls", N]]
        fewer = run(agent("plain", CALLS="2"), *words).json["replay"]["arms"][0]
        assert (fewer["shorter"], fewer["followed"], fewer["divergences"]) == (N, 0, [])
        assert len(server.calls) == before + N

    def test_a_trial_that_was_not_recorded_is_live(self, run: Command) -> None:
        run(agent("plain"), "--record", "--name", "rec", "--case", "c0000")
        words = ("--replay", "rec", "--no-control", "--json")
        arm = run(agent("plain"), *words).json["replay"]["arms"][0]
        assert (arm["served"], arm["live"]) == (3, 3)
        assert arm["divergences"][0]["reasons"] == [["no recording of this trial", 1]]

    def test_calls_side_by_side_are_found_in_any_order(
        self, run: Command, fairtrial: Command, server: ModelServer, model: Model
    ) -> None:
        model.slow_s = 0.5
        run(agent("plain", SIDE_BY_SIDE="yes"), "--record", "--name", "rec")
        before = len(server.calls)
        words = ("--replay", "rec", "--no-control", "--json")
        done = run(agent("plain", SIDE_BY_SIDE="backwards"), *words).json
        assert len(server.calls) == before
        assert done["replay"]["arms"][0]["followed"] == N
        assert outputs(fairtrial, done["id"]) == outputs(fairtrial, "rec")

    def test_a_recorded_error_is_served_again_and_nobody_waits_for_it(
        self, run: Command, fairtrial: Command, server: ModelServer, model: Model
    ) -> None:
        model.overloaded = 2
        run(agent("plain"), "--record", "--name", "rec")
        listed = fairtrial("calls", "list", "--failed", "--json").json["calls"]
        assert [call["status"] for call in listed] == [529, 529]
        before = len(server.calls)
        done = run(agent("plain"), "--replay", "rec", "--no-control", "--json").json
        [arm] = done["replay"]["arms"]
        assert (arm["served"], arm["live"], len(server.calls)) == (3 * N + 2, 0, before)
        assert done["passed"] == N

    def test_a_replay_is_a_recording_too(
        self, run: Command, fairtrial: Command, server: ModelServer
    ) -> None:
        run(agent("plain"), "--record", "--name", "one")
        changed = agent("plain", CHANGES_AT="2")
        run(changed, "--replay", "one", "--no-control", "--name", "two")
        before = len(server.calls)
        run(changed, "--replay", "two", "--no-control", "--name", "three")
        assert len(server.calls) == before
        assert outputs(fairtrial, "three") == outputs(fairtrial, "two")

    def test_an_experiment_with_a_spec(
        self, run: Command, fairtrial: Command, folder: Path
    ) -> None:
        run(agent("plain"), "--record", "--name", "rec")
        spec = {"dataset": "d", "task": json.loads(agent("plain")), "graders": [json.loads(ANY[1])]}
        spec |= {"replay": "rec", "replay_until": 1, "control": False}
        (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
        done = fairtrial("exp", "run", "spec.json", "--json").json
        assert done["replay"]["until"] == 1
        assert done["replay"]["control"] is False
        assert len(done["replay"]["arms"]) == 1

    def test_two_arms_of_ones_own_are_both_replayed(self, run: Command, fairtrial: Command) -> None:
        run(agent("plain"), "--record", "--name", "rec")
        arms = ("--arm", f"a={agent('plain')}", "--arm", f"b={agent('plain', CHANGES_AT='2')}")
        done = fairtrial("exp", "run", "-d", "d", *arms, *ANY, "--replay", "rec", "--json").json
        assert [arm["served"] for arm in done["replay"]["arms"]] == [3 * N, N]


class TestRecordings:
    def test_only_the_last_try_of_a_trial_is_its_recording(
        self, run: Command, folder: Path, server: ModelServer
    ) -> None:
        task = agent("plain", FAILS_FIRST="yes")
        first = run(task, "--record", "--name", "rec", "--json").json
        assert first["failed"] == N  # a program that fails is not tried again by itself
        again = run(task, "--resume", first["id"], "--retry-errors", "--json")
        assert again.json["passed"] == N, again.err
        before = len(server.calls)
        assert before == N * 4
        assert len(list(folder.glob("tried-*"))) == N
        done = run(agent("plain"), "--replay", "rec", "--no-control", "--json").json
        assert done["replay"]["arms"][0]["followed"] == N
        assert len(server.calls) == before

    def test_what_the_calls_took_is_the_trials(self, run: Command, fairtrial: Command) -> None:
        run(agent("plain"), "--record", "--name", "rec")
        [trial] = trials_of(fairtrial, "rec")
        assert trial["tokens"]["input"] == 300
        assert trial["cost_usd"] > 0
        assert trial["replay"] is None
        calls = fairtrial("calls", "list", "--json").json["calls"]
        trials = {call["trial"]["case_id"] for call in calls}
        assert trials == {"c0000", "c0001"}
        of_first = [call for call in calls if call["trial"]["case_id"] == "c0000"]
        assert [call["number"] for call in of_first] == [3, 2, 1]
        assert len({call["session"] for call in of_first}) == 1
        assert len({call["session"] for call in calls}) == N

    def test_prompts_go_through_the_proxy_and_back(
        self, run: Command, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
        provider = {"kind": "anthropic", "base_url": server.url, "api_key_env": "ANTHROPIC_API_KEY"}
        spec = {"kind": "prompt", "provider": provider, "model": "claude-sonnet-5"}
        first = run(json.dumps(spec), "--record", "--name", "rec", "--json").json
        assert (first["passed"], len(server.calls)) == (N, N)
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        again = run(json.dumps(spec), "--replay", "rec", "--no-control", "--json").json
        assert (again["passed"], len(server.calls)) == (N, N)  # with no key at all
        assert again["cost_usd"] == 0

    def test_a_python_task_runs_alone_with_the_variables_set(
        self, run: Command, folder: Path, server: ModelServer
    ) -> None:
        (folder / "asking.py").write_text(
            "import json, os, urllib.request\n"
            "def ask(value):\n"
            "    body = {'model': 'm', 'max_tokens': 9, 'messages': [{'role': 'user',\n"
            "        'content': str(value)}]}\n"
            "    request = urllib.request.Request(os.environ['ANTHROPIC_BASE_URL']\n"
            "        + '/v1/messages', json.dumps(body).encode(),\n"
            "        {'anthropic-version': '1', 'content-type': 'application/json'})\n"
            "    return json.load(urllib.request.urlopen(request))['content'][0]['text']\n",
            encoding="utf-8",
        )
        task = json.dumps({"kind": "python", "function": "asking:ask"})
        done = run(task, "--record", "--name", "rec")
        assert "one trial runs at a time" in done.err
        assert os.environ["ANTHROPIC_BASE_URL"] == server.url
        again = run(task, "--replay", "rec", "--no-control", "--json").json
        assert (again["replay"]["arms"][0]["followed"], len(server.calls)) == (N, N)

    def test_a_run_without_any_call_says_so(self, run: Command) -> None:
        done = run(json.dumps({"kind": "command", "command": ["cat"]}), "--record")
        assert "no model call was recorded" in done.out


class TestResume:
    @pytest.mark.parametrize("part", ["record", "replay"])
    def test_a_killed_run_ends_like_an_undisturbed_one(
        self, run: Command, fairtrial: Command, folder: Path, server: ModelServer, part: str
    ) -> None:
        write_cases(folder / "more.jsonl", 6)
        fairtrial("dataset", "add", "d", "more.jsonl")
        run(agent("plain"), "--record", "--name", "rec")
        changed = agent("plain", CHANGES_AT="3")
        words = {
            "record": (agent("plain"), *ANY, "--record"),
            "replay": (changed, *ANY, "--replay", "rec"),
        }[part]
        task, *rest = words
        line = ("exp", "run", "-d", "d", "--task", task, *rest, "-c", "1", "--name", "cut")
        n = len(server.calls)
        done = process(*line, cwd=folder)
        server.wait_until(lambda server: len(server.calls) >= n + 2)
        done.send_signal(signal.SIGKILL)
        done.communicate(timeout=30)
        resumed = fairtrial("exp", "run", "--resume", "cut", "--json")
        assert resumed.code in (0, 2), resumed.err
        report = resumed.json
        assert report["status"] == "finished"
        if part == "record":
            before = len(server.calls)
            again = run(agent("plain"), "--replay", "cut", "--no-control", "--json").json
            assert (again["replay"]["arms"][0]["followed"], len(server.calls)) == (6, before)
        else:
            whole = run(changed, "--replay", "rec", "--json").json
            assert report["replay"] == whole["replay"]
            assert report["arms"] == whole["arms"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--replay-until", "2"), 64, "--replay-until has no effect without --replay"),
        (("--no-control",), 64, "--no-control has no effect"),
        (("--replay", "nowhere"), 66, "nowhere"),
        (("--replay", "plain"), 64, "has no recorded model calls"),
        (("--replay", "plain", "--seq", "2"), 64, "cannot be combined"),
    ],
)
def test_what_makes_no_sense_is_refused(
    run: Command, words: tuple[str, ...], code: int, message: str
) -> None:
    cat = json.dumps({"kind": "command", "command": ["cat"]})
    run(cat, "--name", "plain")
    done = run(cat, *words)
    assert (done.code, message in done.err) == (code, True), done.err


def test_an_http_task_is_told_how_to_record(run: Command) -> None:
    done = run(json.dumps({"kind": "http", "url": "http://127.0.0.1:9"}), "--record")
    assert done.code == 64
    assert "fairtrial proxy --port 8787" in done.err


def test_a_recording_of_another_dataset_is_refused(
    run: Command, fairtrial: Command, folder: Path
) -> None:
    run(agent("plain"), "--record", "--name", "rec", "--case", "c0000")
    write_cases(folder / "other.jsonl", 1)
    fairtrial("dataset", "add", "other", "other.jsonl")
    words = ("-d", "other", "--task", agent("plain"), *ANY, "--replay", "rec")
    done = fairtrial("exp", "run", *words)
    assert (done.code, "ran on dataset d" in done.err) == (64, True)


@pytest.mark.usefixtures("run")
def test_two_addresses_of_one_api_are_refused(fairtrial: Command) -> None:
    arms: tuple[str, ...] = (
        "--arm",
        f"a={agent('plain', OPENAI_BASE_URL='http://127.0.0.1:1/v1')}",
    )
    arms += ("--arm", f"b={agent('plain', OPENAI_BASE_URL='http://127.0.0.1:2/v1')}")
    done = fairtrial("exp", "run", "-d", "d", *arms, *ANY, "--record")
    assert (done.code, "two addresses of one API" in done.err) == (64, True)
