"""Whose experiment it is: a living process keeps it, a dead one does not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from fairtrial.model.errors import RefusedError
from fairtrial.store.opening import open_store
from fairtrial.store.owner import Owner, this_process
from fairtrial.testing.store.facts import NOON, an_experiment

_OPEN = """
import sys
from pathlib import Path
from fairtrial.store.opening import open_store
from fairtrial.testing.store.facts import an_experiment
with open_store(Path(sys.argv[1])) as store:
    store.experiments.open_experiment(an_experiment(), [1])
    print("open", flush=True)
    sys.stdin.read()
"""


@contextmanager
def _child(*argv: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        child.stdout.readline()
        try:
            yield child
        finally:
            child.kill()


def test_an_experiment_in_other_hands_is_refused_while_they_live(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, _child("-c", _OPEN, str(tmp_path)) as child:
        assert store.experiments.find("nightly").alive is True
        with pytest.raises(RefusedError, match="run by another process") as caught:
            store.experiments.reopen(an_experiment().id, {}, NOON)
        assert f"kill -INT {child.pid}" in str(caught.value.fix)
        child.kill()
        child.wait()
        assert store.experiments.find("nightly").alive is False
        store.experiments.reopen(an_experiment().id, {}, NOON)
        assert store.experiments.find("nightly").alive is True


def test_this_process_lives() -> None:
    assert this_process().alive() is True


def test_another_machine_cannot_be_seen() -> None:
    assert replace(this_process(), host="elsewhere").alive() is None


def test_another_space_of_process_ids_cannot_be_seen() -> None:
    assert replace(this_process(), space="pid:[1]").alive() is None


def test_a_machine_that_was_started_again_runs_no_old_process() -> None:
    assert replace(this_process(), boot="before").alive() is False


def test_a_process_number_that_was_given_again_is_another_process() -> None:
    assert replace(this_process(), started=0).alive() is False


@pytest.mark.parametrize("pid", [2**22 + 1, 2**70])
def test_a_process_that_is_gone_does_not_live(pid: int) -> None:
    assert replace(this_process(), pid=pid).alive() is False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_zombie_does_not_live() -> None:
    with _child("-c", "print(flush=True); input()") as child:
        fields = (Path("/proc") / str(child.pid) / "stat").read_text().rpartition(")")[2].split()
        owner = replace(this_process(), pid=child.pid, started=int(fields[19]))
        assert owner.alive() is True
        child.kill()
        # Not waited for, so it stays a zombie; its pipe closes when it is one.
        assert child.stdout
        child.stdout.read()
        while owner.alive():
            pass
        assert child.returncode is None


def test_a_process_of_another_user_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr("os.kill", refuse)
    assert this_process().alive() is True


def test_without_proc_the_number_must_do(tmp_path: Path) -> None:
    me = this_process(tmp_path)
    assert me == Owner(me.pid, me.host, None, None, None)
    assert me.alive(tmp_path) is True
    assert replace(me, pid=2**22 + 1).alive(tmp_path) is False
