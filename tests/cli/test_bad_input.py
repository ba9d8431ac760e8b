"""Bad input: a clear message, the right exit code, and nothing finished is lost."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import CAT, EXACT, Command, process, write_cases

from fairtrial.model.errors import ExitCode

DEEP_SCHEMA = '{"kind": "json_schema", "schema": ' + '{"not": ' * 400 + "{}" + "}" * 401


def run(*more: str, task: str = CAT) -> tuple[str, ...]:
    return ("exp", "run", "-d", "numbers", "--task", task, *EXACT, *more)


def shell(text: str, **options: object) -> str:
    return json.dumps({"kind": "command", "command": text, **options})


@pytest.mark.usefixtures("numbers")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (run("--case", "nothing*"), 64, "the selection leaves no case of numbers@1"),
        (run("--case", "nothing*"), 64, "it has 20 cases, the first is 'c0000'"),
        (run("--split", "nope"), 64, "its splits: none"),
        (run("--trials", "0"), 64, "--trials: expected int >= 1, got 0"),
        (run("--trials", "many"), 64, "--trials"),
        (run("--trials", "9999999"), 64, "--trials: expected int <= 1000000"),
        (run("--concurrency", "99999999999"), 64, "--concurrency: expected int <= 10000"),
        (run("--name", "x" * 201), 64, "--name: expected str of length <= 200"),
        (("dataset", "add", "x" * 201, "cases.jsonl"), 64, "at most 200 characters"),
        (run("--sample", "0.0001"), 64, "widen --split, --case, --sample"),
        (run("-g", '{"kind": "regex", "pattern": "a{99999999999}"}'), 64, "no regular expression"),
        (run("-g", '{"kind": "json_schema", "schema": {"$schema": 5}}'), 64, "no JSON Schema"),
        (run("-g", DEEP_SCHEMA), 64, "no JSON Schema"),
        (run(task='{"kind": "command", "command": "x", "max_output": 1e30}'), 64, "max_output"),
        (run("--trials", "1.5"), 64, 'unable to convert "1.5" into int'),
        (run("--name", "x\udcff"), 64, "--name: expected text in UTF-8, got 'x\\udcff'"),
        (run("-g", '{"kind": "exact", "value": NaN}'), 64, "--grader: expected JSON: Out of range"),
        (run("-g", '{"kind": "exact", "value": "\\udcff"}'), 64, "expected text in UTF-8"),
        (run("-g", "[" * 50_000), 64, "--grader"),
        (run("--concurrency", "0"), 64, "--concurrency"),
        (run("--sample", "0"), 64, "--sample takes a count from 1 or a share"),
        (run("--sample", "-3"), 64, "--sample"),
        (run("--sample", "1.5"), 64, "--sample"),
        (run("--trial-timeout", "0"), 64, "--trial-timeout"),
        (run("--trials", "1", "--trails", "2"), 64, "--trials"),
        (run("--failing", "nope"), 66, "nope"),
        (run("--resume", "nope"), 66, "nope"),
        (run("--resume"), 66, "no unfinished experiment"),
        (run("--retry-errors"), 64, "--retry-errors needs to know which experiment"),
        (("exp", "run"), 64, "error: no dataset"),
        (("exp", "run", "-d", "numbers"), 64, "no task"),
        (("exp", "run", "-d", "numbers", "--task", CAT), 64, "no grader"),
        (("exp", "run", "-d", "nubmers", "--task", CAT, *EXACT), 66, "numbers"),
        (
            ("exp", "run", "-d", "numbers@9", "--task", CAT, *EXACT),
            66,
            "`fairtrial dataset list numbers` shows all",
        ),
        (("exp", "run", "nope.yaml"), 66, "no such file"),
        (("exp", "run", "faq.csv"), 64, "fix: for a file of cases: fairtrial dataset add NAME faq"),
        (run(task='{"kind": "comand"}'), 64, "did you mean 'command'?"),
        (run(task='{"kind": "command"}'), 64, "'command' is missing"),
        (run(task='{"kind": "command", "comand": "x"}'), 64, "did you mean 'command'?"),
        (run(task='{"kind": "command"'), 64, "not JSON"),
        (run(task='{"kind": "command", "command": ["/no/such/program"]}'), 64, "/no/such/program"),
        (run("-g", "exakt"), 64, "did you mean 'exact'?"),
        (run("-g", '{"kind": "regex", "pattern": "("}'), 64, "("),
        (run("-g", '{"kind": "exact", "wieght": 2}'), 64, "did you mean 'weight'?"),
        (("exp", "shwo", "x"), 64, "did you mean: fairtrial exp show"),
        (("exp", "show"), 64, "error: EXPERIMENT is missing: Experiment id, prefix or name"),
        (("exp", "export", "x"), 64, "error: --to is missing: junit, jsonl, csv, markdown or html"),
        (("exp", "export", "x", "--to"), 64, "--to requires an argument"),
        (run(task="python3 agent.py"), 64, "--task: expected a JSON object like {"),
        (run(task='{"kind": "shell"}'), 64, "error: --task: unknown task kind 'shell'"),
        (("exp", "show", "nope"), 66, "nope"),
        (("exp", "export", "nope", "--to", "pdf"), 64, "pdf"),
        (("exp", "list", "--limit", "0"), 64, "--limit"),
        (("nonsense",), 64, "there is no command"),
        (("dataset", "add", "x", "nope.jsonl"), 66, "nope.jsonl"),
        (("dataset", "add", "x@1", "cases.jsonl"), 64, "x@1"),
        (("dataset", "show", "nope"), 66, "nope"),
        (("dataset", "diff", "numbers@1", "@7"), 66, "7"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else None,
)
def test_a_wrong_command_says_what_is_wrong(
    fairtrial: Command, words: tuple[str, ...], code: int, told: str
) -> None:
    done = fairtrial(*words)
    assert (done.code, done.out) == (code, "")
    assert told in done.err
    as_json = fairtrial(*words, "--json")
    assert (as_json.code, as_json.json["exit_code"]) == (code, code)
    assert fairtrial("exp", "list", "--json").json["experiments"] == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("datset: numbers\n", "unknown 'datset' (did you mean 'dataset'?)"),
        ("dataset: [1]\n", "'dataset': expected str"),
        ("- 1\n", "a spec is an object of options"),
        ("dataset: x: y\n", "cannot be parsed"),
        ("trials: 0\n", "'trials': expected int >= 1"),
    ],
)
@pytest.mark.usefixtures("numbers")
def test_a_wrong_spec_says_which_file(
    fairtrial: Command, folder: Path, text: str, told: str
) -> None:
    (folder / "spec.yaml").write_text(text)
    done = fairtrial("exp", "run", "spec.yaml")
    assert done.code == ExitCode.USAGE
    assert told in done.err
    assert "spec.yaml" in done.err


def test_a_task_that_may_not_be_executed_is_found_out_before_the_run(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    (folder / "agent").write_text("#!/bin/sh\ncat\n")
    done = fairtrial(*run(task='{"kind": "command", "command": ["./agent"]}'))
    assert done.code == ExitCode.USAGE
    assert "agent" in done.err
    assert fairtrial("exp", "list", "--json").json["experiments"] == []
    (folder / "agent").chmod(0o755)
    assert fairtrial(*run(task='{"kind": "command", "command": ["./agent"]}')).code == 0
    assert numbers


def test_a_task_that_always_crashes_is_no_quality_verdict(fairtrial: Command, numbers: str) -> None:
    done = fairtrial(*run(task=shell("echo boom >&2; exit 9")))
    assert done.code == ExitCode.NO_VERDICT
    assert "exit status 9" in done.out
    assert "boom" in done.out
    assert numbers


def test_an_output_of_100_mb_is_cut_and_told(fairtrial: Command, numbers: str) -> None:
    task = shell('n=$(cat); [ "$n" = 3 ] && head -c 100000000 /dev/zero || echo "$n"')
    report = fairtrial(*run("--json", task=task)).json
    assert (report["passed"], report["causes"]) == (19, {"task": 1})
    assert "max_output" in report["problems"]["task"][0]["reason"]
    assert numbers


def test_an_output_that_is_not_utf8_is_told(fairtrial: Command, numbers: str) -> None:
    task = shell('n=$(cat); [ "$n" = 3 ] && printf "caf\\351" || echo "$n"')
    report = fairtrial(*run("--json", task=task)).json
    assert (report["passed"], report["causes"]) == (19, {"task": 1})
    assert "UTF-8" in report["problems"]["task"][0]["reason"]
    assert numbers


def test_an_input_of_5_mb_goes_through(fairtrial: Command, folder: Path) -> None:
    text = "x" * 5_000_000
    (folder / "big.jsonl").write_text(
        json.dumps({"id": "big", "input": text, "expected": "5000002"})
    )
    fairtrial("dataset", "add", "big", "big.jsonl")
    count = shell("tr -d '\\n' | wc -c")
    number = ("-g", "number")
    done = fairtrial("exp", "run", "-d", "big", "--task", count, *number, "--json")
    assert done.json["passed"] == 1


def test_a_task_that_never_reads_its_input_is_fine(fairtrial: Command, folder: Path) -> None:
    cases = [{"id": str(n), "input": "x" * 1_000_000, "expected": "ok"} for n in range(3)]
    (folder / "cases.json").write_text(json.dumps(cases))
    fairtrial("dataset", "add", "big", "cases.json")
    done = fairtrial("exp", "run", "-d", "big", "--task", shell("echo ok"), *EXACT, "--json")
    assert done.json["passed"] == 3


def test_a_task_that_forks_and_exits_leaves_nothing(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    mark = f"{os.getpid()}.4242"
    task = shell(f'n=$(cat); (setsid sleep {mark} &) ; sleep {mark} & echo "$n"')
    report = fairtrial(*run("--json", task=task)).json
    assert report["passed"] == 20
    assert folder.exists()
    left = subprocess.run(
        ["pgrep", "-f", f"sleep {mark}"], capture_output=True, text=True, check=False
    )
    assert left.stdout == ""
    assert numbers


def test_the_time_limit_fails_a_trial_and_says_so(fairtrial: Command, numbers: str) -> None:
    task = shell('n=$(cat); [ "$n" = 3 ] && sleep 60; echo "$n"')
    report = fairtrial(*run("--trial-timeout", "1", "--json", task=task)).json
    assert (report["passed"], report["failed"], report["causes"]) == (19, 1, {"limit": 1})
    assert numbers


@pytest.mark.usefixtures("numbers")
@pytest.mark.parametrize("damage", ["not a database", "a folder", "newer"])
def test_a_store_that_cannot_be_used_says_why(fairtrial: Command, damage: str) -> None:
    path = Path(os.environ["FAIRTRIAL_HOME"]) / "fairtrial.db"
    if damage == "newer":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("update alembic_version set version_num = '9999'")
    else:
        shutil.rmtree(path.parent)
        path.parent.mkdir()
        path.write_text("hello") if damage == "not a database" else path.mkdir()
    done = fairtrial("exp", "list")
    assert done.code == ExitCode.NO_VERDICT
    assert done.err.startswith("error: ")
    assert str(path) in done.err
    assert "fix:" in done.err


@pytest.mark.usefixtures("numbers")
@pytest.mark.parametrize("forbidden", ["the file", "the folder"])
def test_a_store_that_may_not_be_read_says_why(forbidden: str) -> None:
    path = Path(os.environ["FAIRTRIAL_HOME"]) / "fairtrial.db"
    barred = path if forbidden == "the file" else path.parent
    mode = barred.stat().st_mode
    barred.chmod(0)
    try:
        told = subprocess.run(
            [*_without_privileges(), sys.executable, "-m", "fairtrial", "exp", "list"],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        barred.chmod(mode)
    assert (told.returncode, told.stdout) == (ExitCode.NO_VERDICT, "")
    assert told.stderr.startswith(f"error: {path}: the store may not be read or written here")
    assert "fix: check the owner and the permissions" in told.stderr
    assert "Traceback" not in told.stderr


def _without_privileges() -> list[str]:
    """Return what takes root's right to read everything away from a command."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and setpriv is not there")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]


SMALL_DISK = """
set -e
mkdir -p disk
mount -t tmpfs -o size=3m tmpfs disk
export FAIRTRIAL_HOME=$PWD/disk/home
"$1" -m fairtrial dataset add numbers cases.jsonl > added
set +e
"$1" -m fairtrial exp run -d numbers --task "$2" -g exact --name full > out 2> err
echo $? > code
mount -o remount,size=200m disk
"$1" -m fairtrial exp show full --json > before
"$1" -m fairtrial exp run --resume full --json > after
echo $? > code2
"""


def test_a_full_disk_ends_the_run_and_loses_nothing(folder: Path) -> None:
    probe = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("needs user and mount namespaces")
    write_cases(folder / "cases.jsonl", 400)
    task = shell("cat; head -c 6000 /dev/urandom | base64 >&2; head -c 6000 /dev/urandom | base64")
    subprocess.run(
        ["unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", sys.executable, task],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    assert (folder / "code").read_text().strip() == str(int(ExitCode.NO_VERDICT))
    error = (folder / "err").read_text()
    assert "full" in error
    assert "go on with: fairtrial exp run --resume exp_" in error
    assert "Traceback" not in error
    before = json.loads((folder / "before").read_text())
    after = json.loads((folder / "after").read_text())
    assert 0 < before["n_recorded"] < 400
    # That it stopped may not fit on the disk either: then its process is gone, which says the same.
    assert before["status"] in ("stopped", "running")
    assert after["status"] == "finished"
    assert after["n_recorded"] == 400


def test_two_runs_at_once_share_one_store(fairtrial: Command, numbers: str) -> None:
    words = run("--json", "--name")
    runs = [process(*words, name, "--trials", "20") for name in ("one", "two", "three")]
    reports = []
    for running in runs:
        out, err = running.communicate(timeout=120)
        assert running.returncode == 0, err
        reports.append(json.loads(out))
    assert [report["passed"] for report in reports] == [400, 400, 400]
    listed = fairtrial("exp", "list", "--json").json["experiments"]
    assert {(e["name"], e["n_recorded"]) for e in listed} == {
        (n, 400) for n in ("one", "two", "three")
    }
    assert numbers


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.usefixtures("numbers")
@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("s.yaml", BOMB, "its aliases stand for more than 1,000,000 values"),
        ("s.yaml", "a: &a [*a]", "its aliases stand for more than"),
        ("s.json", b"{\xff}", "is not UTF-8 text\n  why: byte 0xff at offset 1"),
    ],
)
def test_a_spec_that_cannot_be_gone_through(
    fairtrial: Command, folder: Path, name: str, content: str | bytes, told: str
) -> None:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for words in (("exp", "run", name), ("exp", "compare", "a", "b", "--pairwise", name)):
        done = fairtrial(*words)
        assert done.code == ExitCode.USAGE
        assert told in done.err
    (folder / "d.json").mkdir(exist_ok=True)
    assert "cannot be read: Is a directory" in fairtrial("exp", "run", "d.json").err


def test_a_spec_and_labels_without_an_end(
    fairtrial: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "spec.json").write_text('{"dataset": "numbers"}')
    (folder / "loop").symlink_to("loop")
    monkeypatch.setattr("fairtrial.app.spec_files._LARGEST", 10)
    assert "has more than 10 bytes" in fairtrial("exp", "run", "spec.json").err
    labels = ("--labels-a", "loop", "--labels-b", "spec.json")
    done = fairtrial("exp", "compare", "a", "b", *labels)
    assert done.code == ExitCode.USAGE
    assert "cannot be read: Too many levels of symbolic links" in done.err
