"""The verbs that read experiments: show, list, status, export; and demo, doctor, help."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.cli.conftest import CAT, EXACT, Command

from fairtrial.app.verbs import GROUPS, VERBS
from fairtrial.model.errors import ExitCode

HOSTILE = "\x1b]0;owned\x07<script>alert(1)</script>\u202e\r"
TRIAL_KEYS = {
    "case_id",
    "condition",
    "arm",
    "trial",
    "verdict",
    "cause",
    "scores",
    "output",
    "duration_s",
    "cost_usd",
}


@pytest.fixture
def ran(fairtrial: Command, numbers: str) -> str:
    task = json.dumps(
        {"kind": "command", "command": 'n=$(cat); [ "$n" = 3 ] && echo bad || echo "$n"'}
    )
    words = ("exp", "run", "-d", numbers, "--task", task, *EXACT, "--name", "r", "--json")
    identity: str = fairtrial(*words).json["id"]
    return identity


def test_a_case_is_shown_in_full(fairtrial: Command, ran: str) -> None:
    shown = fairtrial("exp", "show", ran, "--case", "c0003")
    assert "c0003  trial 1: failed" in shown.out
    assert "✗ exact 0.000  expected '3', got 'bad'" in shown.out
    assert re.search(
        r"trial 1: failed, [\d.]+ m?s, [\d.]+ m?s CPU, peak [\d.]+ [KM]iB$", shown.out, re.MULTILINE
    )
    (trial,) = fairtrial("exp", "show", ran, "--case", "c0003", "--json").json["trials"]
    assert shown.out.startswith(
        "c0003\n  input\n    3\n  expected\n    3\n\nc0003  trial 1: failed"
    )
    assert trial.keys() >= TRIAL_KEYS
    assert (trial["case_id"], trial["verdict"], trial["output"]) == ("c0003", "failed", "bad")
    missing = fairtrial("exp", "show", ran, "--case", "zzz")
    assert missing.code == ExitCode.NOT_FOUND
    assert "all ids: fairtrial dataset show numbers" in missing.err


def test_a_task_error_has_no_output_and_an_empty_one_says_so(
    fairtrial: Command, numbers: str
) -> None:
    def shown(task: str) -> str:
        words = ("exp", "run", "-d", numbers, "--task", task, *EXACT, "--case", "c0003")
        made = fairtrial(*words, "--json").json["id"]
        return fairtrial("exp", "show", made, "--case", "c0003").out

    assert "  output  (empty)" in shown('{"kind": "command", "command": "true"}')
    crashed = shown('{"kind": "python", "function": "json:loads"}')  # takes no number
    assert "failed (task)" in crashed
    assert "  output" not in crashed


def test_a_list_in_a_pipe_has_one_experiment_a_line(
    fairtrial: Command, ran: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    fairtrial("exp", "run", "-d", "numbers", "--task", CAT, *EXACT, "--name", "long " * 30)
    _, *lines = fairtrial("exp", "list").out.splitlines()
    assert [line.split("  ")[0][:4] for line in lines] == ["exp_", "exp_"]
    assert "long long" in lines[0]
    assert ran in lines[1]


def test_list_pages_by_the_last_id(fairtrial: Command, numbers: str) -> None:
    for n in range(5):
        fairtrial("exp", "run", "-d", numbers, "--task", CAT, *EXACT, "--name", f"n{n}")
    first = fairtrial("exp", "list", "-n", "2", "--json").json
    assert [e["name"] for e in first["experiments"]] == ["n4", "n3"]
    second = fairtrial("exp", "list", "-n", "3", "--before", first["next"], "--json").json
    assert [e["name"] for e in second["experiments"]] == ["n2", "n1", "n0"]
    assert second["next"] is None
    assert "100% of 20" in fairtrial("exp", "list").out


def test_status_of_a_finished_run_says_so(fairtrial: Command, ran: str) -> None:
    assert "Every experiment is finished" in fairtrial("exp", "status").out
    one = fairtrial("exp", "status", ran, "--json").json["runs"][0]
    assert (one["status"], one["resume"], one["eta_s"]) == ("finished", None, None)


def test_jsonl_has_one_trial_a_line(fairtrial: Command, ran: str) -> None:
    lines = fairtrial("exp", "export", ran, "--to", "jsonl").out.splitlines()
    trials = [json.loads(line) for line in lines]
    assert len(trials) == 20
    assert all(trial.keys() >= TRIAL_KEYS for trial in trials)


def test_a_dash_is_standard_output(fairtrial: Command, ran: str, folder: Path) -> None:
    for words in (("exp", "export", ran, "--to", "csv"), ("dataset", "export", "numbers")):
        printed = fairtrial(*words).out
        assert printed
        assert fairtrial(*words, "-o", "-").out == printed
    assert fairtrial("exp", "schema", "--output", "-").json["type"] == "object"
    assert not (folder / "-").exists()


def test_json_holds_a_document_that_goes_to_no_file(
    fairtrial: Command, ran: str, folder: Path
) -> None:
    words = ("exp", "export", ran, "--to", "csv")
    printed = fairtrial(*words).out
    assert fairtrial(*words, "--json").json["text"] == printed
    schema = fairtrial("exp", "schema", "--json").json
    assert json.loads(schema["text"])["type"] == "object"
    written = fairtrial(*words, "-o", "r.csv", "--json").json
    assert (written["path"], written["text"]) == (str(folder / "r.csv"), None)


def test_junit_counts_what_failed(fairtrial: Command, ran: str, folder: Path) -> None:
    fairtrial("exp", "export", ran, "--to", "junit", "-o", "report.xml")
    root = ET.parse(folder / "report.xml").getroot()  # noqa: S314  # our own file
    assert len(list(root.iter("testcase"))) == 20
    assert len(list(root.iter("failure"))) == 1


@pytest.mark.parametrize("form", ["csv", "markdown", "html"])
def test_every_format_has_the_failed_case(fairtrial: Command, ran: str, form: str) -> None:
    assert "c0003" in fairtrial("exp", "export", ran, "--to", form).out


def test_an_export_to_a_place_that_cannot_be_written_says_so(fairtrial: Command, ran: str) -> None:
    done = fairtrial("exp", "export", ran, "--to", "csv", "-o", "no/such/folder.csv")
    assert done.code == ExitCode.USAGE
    assert "no/such/folder.csv" in done.err


def test_hostile_ids_and_outputs_are_harmless_in_a_terminal(
    fairtrial: Command, folder: Path
) -> None:
    case = {"id": f"x{HOSTILE}", "input": HOSTILE, "expected": "y"}
    (folder / "h.json").write_text(json.dumps([case]))
    fairtrial("dataset", "add", "h", "h.json")
    words = ("exp", "run", "-d", "h", "--task", CAT, *EXACT, "--name", "h")
    outs = [
        fairtrial(*words).out,
        fairtrial("exp", "show", "h").out,
        fairtrial("exp", "show", "h", "--case", f"x{HOSTILE}").out,
        fairtrial("dataset", "show", "h").out,
        fairtrial(*words, "--dry-run").out,
    ]
    for out in outs:
        assert "\\x1b" in out
        assert not any(char in out for char in "\x1b\x07\u202e\r")


def test_the_demo_runs_offline_and_leaves_nothing(
    fairtrial: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    report = fairtrial("demo", "--json").json
    assert report["baseline"]["n_recorded"] == report["candidate"]["n_recorded"] == 120
    assert report["baseline"]["passed"] < report["candidate"]["passed"] < 120
    assert report["candidate"]["flaky_rows"]
    assert list(tmp_path.glob("fairtrial-demo-*")) == []
    assert not Path(os.environ["FAIRTRIAL_HOME"]).exists()


def test_a_kept_demo_can_be_gone_on_from(
    fairtrial: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = fairtrial("demo", "--keep", "mine")
    assert f"export FAIRTRIAL_HOME={folder / 'mine' / 'store'}" in done.out
    monkeypatch.setenv("FAIRTRIAL_HOME", str(folder / "mine" / "store"))
    assert len(fairtrial("exp", "list", "--json").json["experiments"]) == 2
    again = fairtrial("exp", "run", "mine/candidate.yaml", "--first-n", "2", "--json")
    assert again.json["n_recorded"] == 6
    assert fairtrial("demo", "--keep", "mine").code == ExitCode.USAGE


def test_doctor_finds_agents_and_problems(
    fairtrial: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, script in (("claude", "echo 2.1.0"), ("codex", "exit 1")):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    done = fairtrial("doctor", "--json")
    checks = {check["name"]: check for check in done.json["checks"]}
    assert done.code == ExitCode.NEGATIVE
    assert (checks["claude"]["ok"], checks["claude"]["found"]) == (
        True,
        f"2.1.0 at {folder}/claude",
    )
    assert checks["codex"]["ok"] is False
    assert checks["codex"]["fix"] == "try it by hand: codex --version"
    assert checks["store"]["ok"] is True
    text = fairtrial("doctor").out
    assert "✗ codex" in text


def test_doctor_says_which_provider_would_be_chosen_and_why(
    fairtrial: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    (folder / "claude").write_text("#!/bin/sh\necho 2.1.0\n")
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(folder))
    missing = fairtrial("doctor").out
    assert "· provider   none would be chosen: ANTHROPIC_API_KEY is not set" in missing
    (folder / ".claude").mkdir()
    (folder / ".claude/.credentials.json").touch()
    assert "✓ provider   claude-code (logged-in `claude`; costs are API" in fairtrial("doctor").out
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    done = fairtrial("doctor", "--json")
    (check,) = [check for check in done.json["checks"] if check["name"] == "provider"]
    assert check["found"] == "openai (OPENAI_API_KEY is set), model gpt-6-sol"


def test_help_at_every_level(fairtrial: Command) -> None:
    top = fairtrial("--help")
    assert (top.code, fairtrial().out) == (0, top.out)
    for group in GROUPS:
        listed = fairtrial(group, "--help").out
        assert all(verb.name in listed for verb in VERBS if verb.path[0] == group)
    for verb in VERBS:
        text = fairtrial(*verb.path, "--help").out
        assert text.startswith(f"Usage: fairtrial {verb.name}")
        assert all(example in text for example in verb.examples())
        assert max(len(line) for line in text.splitlines() if "fairtrial" not in line) <= 100


def test_version_imports_next_to_nothing() -> None:
    code = "import sys; sys.argv[1:] = ['--version']; from fairtrial.cli.main import main; main()"
    shown = f"{code}; print(sorted(m for m in sys.modules if m.startswith('fairtrial')))"
    out = subprocess.run(
        [sys.executable, "-c", shown], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert out[0].startswith("fairtrial ")
    assert out[1] == "['fairtrial', 'fairtrial.cli', 'fairtrial.cli.main']"


def test_a_reader_that_leaves_is_no_error(ran: str) -> None:
    command = f"{sys.executable} -m fairtrial exp export {ran} --to jsonl | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_the_schema_accepts_good_specs_and_refuses_bad_ones(
    fairtrial: Command, folder: Path
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    fairtrial("exp", "schema", "-o", "schema.json")
    schema = json.loads((folder / "schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    good = {
        "dataset": "d",
        "task": {"kind": "command", "command": ["cat"]},
        "graders": ["exact", {"kind": "number", "absolute": 0.1, "not": True}],
        "trials": 3,
    }
    jsonschema.validate(good, schema)
    for bad in (
        {**good, "trials": 0},
        {**good, "trails": 1},
        {**good, "task": {"kind": "command", "comand": "x"}},
        {**good, "graders": [{"kind": "number", "absolut": 1}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)
