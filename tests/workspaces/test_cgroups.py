"""Control groups: where they can be made, in both versions; what they tell; how they end."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fairtrial.model.isolation import Guarantee, Limits
from fairtrial.workspaces.cgroups import ControlGroups, Group, remove_group

LIMITS = Limits(memory_bytes=100 * 1024**2, processes=40)


def ignore(_: str) -> None:
    """Take a note and do nothing."""


class Machine:
    """A /proc and trees of control groups, as files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.proc = root / "proc"
        self.proc.mkdir()
        (self.proc / "mounts").write_text("")
        (self.proc / "cgroup").write_text("")

    def mount(self, kind: str, name: str, options: str = "rw") -> Path:
        folder = self.root / name
        folder.mkdir()
        with (self.proc / "mounts").open("a") as mounts:
            mounts.write(f"{kind} {folder} {kind} {options} 0 0\n")
        return folder

    def own(self, *lines: str) -> None:
        (self.proc / "cgroup").write_text("".join(f"{line}\n" for line in lines))

    def version_2(self, own: str, passed_on: dict[str, str]) -> Path:
        """A tree in which some groups pass controllers on."""
        top = self.mount("cgroup2", "unified")
        self.own(f"0::{own}")
        for path, controllers in passed_on.items():
            folder = top / path
            folder.mkdir(exist_ok=True)
            (folder / "cgroup.controllers").write_text("cpu memory pids\n")
            (folder / "cgroup.subtree_control").write_text(controllers)
            (folder / "cgroup.procs").write_text("")
        return top


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_version_1_has_a_folder_for_each_controller(machine: Machine) -> None:
    memory = machine.mount("cgroup", "memory", "rw,memory")
    pids = machine.mount("cgroup", "pids", "rw,pids")
    (memory / "mine").mkdir()
    machine.own("3:pids:/", "2:memory:/mine", "0::/")
    noted: list[str] = []
    group, held = ControlGroups(machine.proc).make("fairtrial-x", LIMITS, noted.append)
    folders = (memory / "mine" / "fairtrial-x", pids / "fairtrial-x")
    assert group.folders == folders
    assert noted == [str(folder) for folder in folders]
    assert [one.holds for one in held] == [True, True]
    assert "104,857,600 by a control group, version 1" in held[0].how
    assert (folders[0] / "memory.limit_in_bytes").read_text() == "104857600"
    assert (folders[1] / "pids.max").read_text() == "40"


def test_a_group_that_is_not_shown_is_replaced_by_the_top(machine: Machine) -> None:
    memory = machine.mount("cgroup", "memory", "rw,memory")
    machine.own("2:memory:/docker/of/the/host")
    group, _ = ControlGroups(machine.proc).make("x", Limits(memory_bytes=1), ignore)
    assert group.folders == (memory / "x",)


def test_version_2_has_one_folder(machine: Machine) -> None:
    passed_on = {"": "cpu memory pids", "user": "memory pids", "user/app": "memory pids"}
    top = machine.version_2("/user/app/term", {**passed_on, "user/app/term": ""})
    group, held = ControlGroups(machine.proc).make("x", LIMITS, ignore)
    assert group.folders == (top / "user/app/x",)  # the nearest that passes both on
    assert [one.holds for one in held] == [True, True]
    assert (group.folders[0] / "memory.max").read_text() == "104857600"
    assert (group.folders[0] / "memory.swap.max").read_text() == "0"
    assert (group.folders[0] / "pids.max").read_text() == "40"


def test_a_group_of_version_2_that_can_pass_controllers_on_is_asked_to(machine: Machine) -> None:
    top = machine.version_2("/", {"": ""})
    group, _ = ControlGroups(machine.proc).make("x", Limits(processes=5), ignore)
    assert (top / "cgroup.subtree_control").read_text() == "+pids"
    assert group.folders == ()  # a kernel would have put `pids` there; a file has not


def test_no_group_says_why(machine: Machine) -> None:
    _, held = ControlGroups(machine.proc).make("x", LIMITS, ignore)
    assert [(one.what, one.holds) for one in held] == [
        (Guarantee.MEMORY, False),
        (Guarantee.PROCESS_COUNT, False),
    ]
    assert held[0].how == "no control groups for memory are mounted"
    _, held = ControlGroups(machine.root / "none").make("x", LIMITS, ignore)
    assert held[0].how == "this system has no control groups"


def test_no_limit_makes_no_group(machine: Machine) -> None:
    machine.mount("cgroup", "memory", "rw,memory")
    assert ControlGroups(machine.proc).make("x", Limits(), ignore) == (Group(), ())


@pytest.mark.parametrize(
    ("file", "text", "hits"),
    [
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", 1),
        ("memory.events", "low 0\nmax 9\noom 1\noom_kill 1\n", 1),
        ("memory.events", "low 0\nmax 9\noom 0\noom_kill 0\n", 0),
        ("pids.events", "max 3\n", 1),
        ("pids.events", "max 0\n", 0),
        ("pids.events", "max what\n", 0),
    ],
)
def test_hits_are_read(tmp_path: Path, file: str, text: str, hits: int) -> None:
    (tmp_path / file).write_text(text)
    group = Group((tmp_path,))
    assert len(group.hits(LIMITS)) == hits
    assert group.hits(Limits()) == ()


def test_a_real_group_ends_with_all_that_is_in_it() -> None:
    group, held = ControlGroups().make("fairtrial-test-group", LIMITS, ignore)
    if not held[0].holds:
        pytest.skip(f"needs a control group that can be written: {held[0].how}")
    folder = group.folders[0]
    (folder / "below").mkdir()
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        (folder / "below" / "cgroup.procs").write_text(str(sleeper.pid))
        group.remove()
        assert sleeper.wait(10) == -9
    assert not folder.exists()
    group.remove()


def test_cgroup_kill_ends_a_group_of_version_2() -> None:
    top = Path("/sys/fs/cgroup/unified")
    if not (top / "cgroup.procs").exists():
        top = top.parent
    folder = top / "fairtrial-test-kill"
    try:
        folder.mkdir()
        if not (folder / "cgroup.kill").exists():
            pytest.skip("needs control groups of version 2, of Linux 5.14")
    except OSError as problem:
        pytest.skip(f"needs control groups of version 2 that can be written: {problem}")
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        (folder / "cgroup.procs").write_text(str(sleeper.pid))
        remove_group(folder)
        assert sleeper.wait(10) == -9
    assert not folder.exists()
