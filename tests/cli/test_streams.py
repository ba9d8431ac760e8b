"""Standard streams that are closed, full, of another encoding, or written to by a task."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import CAT, EXACT, Command

FAIRTRIAL = f"{sys.executable} -m fairtrial"
RUN = f"{FAIRTRIAL} exp run -d one --task '{CAT}' -g json"


def shell(text: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        ["/bin/sh", "-c", text],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stdout + done.stderr
    assert b"Exception ignored" not in done.stderr
    return done


@pytest.fixture
def one(fairtrial: Command, folder: Path) -> None:
    case = {"id": "é💥", "input": "ü", "expected": "ü"}
    (folder / "one.jsonl").write_text(json.dumps(case))
    assert fairtrial("dataset", "add", "one", "one.jsonl").code == 0


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize(
    "words", ["exp list", "exp list --json", "--help", "--version", "nope", "nope --json"]
)
def test_a_closed_stream_is_as_good_as_none(words: str) -> None:
    code = 64 if "nope" in words else 0
    for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
        assert shell(f"{FAIRTRIAL} {words} {closed}").returncode == code


@pytest.mark.usefixtures("one")
def test_a_run_without_any_stream_is_recorded(fairtrial: Command) -> None:
    assert shell(f"{RUN} <&- >&- 2>&-").returncode == 0
    assert json.loads(shell(f"{RUN} --json 2>&-").stdout)["passed"] == 1
    assert len(fairtrial("exp", "list", "--json").json["experiments"]) == 2


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize(
    "words", ["exp list", "exp list --json", "dataset export one", "--help", "--version"]
)
def test_a_full_standard_output_is_an_error_and_no_defect(words: str) -> None:
    done = shell(f"{FAIRTRIAL} {words} >/dev/full")
    assert done.returncode == 4
    assert b"error: standard output: cannot be written" in done.stderr
    assert b"No space left on device" in done.stderr
    assert shell(f"{FAIRTRIAL} {words} >/dev/full 2>/dev/full").returncode == 4


def test_an_error_that_cannot_be_told_keeps_its_exit_code() -> None:
    assert shell(f"{FAIRTRIAL} nope 2>/dev/full").returncode == 64
    told = shell(f"{FAIRTRIAL} nope --json >/dev/full")
    assert told.returncode == 64
    assert b"there is no command 'nope'" in told.stderr


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_text_fits_the_terminal_and_documents_are_utf8(encoding: str) -> None:
    there: dict[str, Any] = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    text = shell(RUN, **there)
    assert text.returncode == 0
    assert b"1 passed" in text.stdout
    assert "é💥" in shell(f"{RUN} --json", **there).stdout.decode() + "é💥"
    shown = json.loads(shell(f"{FAIRTRIAL} exp show one --case é💥 --json", **there).stdout)
    assert shown["trials"][0]["case_id"] == "é💥"
    exported = shell(f"{FAIRTRIAL} exp export one --to jsonl", **there).stdout.decode()
    assert json.loads(exported)["case_id"] == "é💥"


@pytest.mark.usefixtures("one")
def test_what_a_task_in_this_process_prints_is_kept_out_of_the_report(
    fairtrial: Command, folder: Path
) -> None:
    (folder / "noisy.py").write_text(
        "import os, subprocess\n"
        "def f(x):\n"
        "    print('one')\n"
        "    os.write(1, b'two\\n')\n"
        "    subprocess.run(['echo', 'three'])\n"
        "    return x\n"
    )
    task = '{"kind": "python", "function": "noisy:f"}'
    done = fairtrial("exp", "run", "-d", "one", "--task", task, *EXACT, "--json")
    assert done.json["passed"] == 1
    assert {"one", "two", "three"} <= set(done.err.split())


def test_a_word_that_is_not_utf8_is_shown_with_escapes() -> None:
    for words in ("nope\\377", "exp show x\\377", "exp show x\\377 --json", "exp list --\\377"):
        done = shell(f"{FAIRTRIAL} $(printf '{words}')")
        assert done.returncode in (64, 66), done
        assert "\\udcff" in (done.stdout + done.stderr).decode()


def test_a_folder_that_is_gone_is_no_defect(fairtrial: Command, folder: Path) -> None:
    there = folder / "gone"
    there.mkdir()
    done = shell(f"cd {there} && rmdir {there} && {FAIRTRIAL} exp list 2>&1")
    assert done.returncode == 66
    assert b"the current folder does not exist" in done.stdout
    assert fairtrial("exp", "list").code == 0


def test_the_home_of_nobody_is_no_defect(
    fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fairtrial("exp", "run", "~nobody-at-all/spec.yaml").code == 66
    monkeypatch.setenv("FAIRTRIAL_HOME", "~nobody-at-all/x")
    done = fairtrial("exp", "list")
    assert done.code == 66
    assert "error: FAIRTRIAL_HOME: there is no home folder" in done.err
