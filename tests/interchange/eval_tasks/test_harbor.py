"""Harbor's task folders: what is read, what is refused with its reason, what is told as lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.suites.harbor_folders import TASK_TOML, harbor_task

from fairtrial.interchange.eval_tasks.harbor import is_harbor, read
from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import FolderStart

NEWER = """\
schema_version = "1.4"
source = "registry"

[task]
name = "org/hello"
keywords = ["greeting", "trivial"]
authors = [{ name = "A" }]

[metadata]
tags = ["trivial"]
made = 2026-01-02

[verifier]
timeout_sec = 60
env = { LANG = "C" }
user = "root"

[environment]
docker_image = "some/image:1"
cpus = 0.5
memory_mb = 512
storage_mb = 100
network_mode = "public"
workdir = "/srv"
env = { A = "b" }
"""


def test_a_folder_is_read(tmp_path: Path) -> None:
    found = read(harbor_task(tmp_path / "hello", "base:1"))
    task = found.task
    assert task.name == "hello"
    assert task.instruction == "Write `Hello, world!` into hello.txt.\n"
    assert isinstance(task.start, FolderStart)
    assert task.start.dockerfile is not None
    assert task.start.dockerfile.startswith("FROM base:1\n")
    assert (task.start.memory_mb, task.start.cpus) == (256, 1.0)
    assert task.verifier.place == "/tests"
    assert sorted(task.verifier.hidden) == ["fixtures/expected.txt", "test.sh"]
    assert sorted(task.solution) == ["answer.txt", "solve.sh"]
    assert task.agent_limit_s == 120.0
    assert task.tags == ("trivial",)
    assert task.metadata == {"author_name": "A", "difficulty": "easy", "category": "programming"}
    assert sorted(found.environment) == ["Dockerfile", "greeting.txt"]
    assert found.lost == ("its disk is not limited",)


def test_a_newer_schema_is_read_and_what_is_lost_told(tmp_path: Path) -> None:
    changed = {"task.toml": NEWER, "environment/Dockerfile": None}
    found = read(harbor_task(tmp_path / "hello", "base:1", **changed))
    start = found.task.start
    assert isinstance(start, FolderStart)
    assert (start.image, start.workdir, start.memory_mb) == ("some/image:1", "/srv", 512)
    assert found.task.tags == ("trivial", "greeting")
    assert found.task.metadata == {"made": "2026-01-02"}
    assert found.task.verifier.command is not None
    assert found.task.verifier.command.env == {"LANG": "C"}
    keys, disk, network = found.lost
    told = "3 keys of task.toml mean nothing here: environment.env, source, verifier.user"
    assert keys == told
    assert "disk" in disk
    assert "network" in network


def test_sizes_of_older_schemas_are_read(tmp_path: Path) -> None:
    text = TASK_TOML.replace("memory_mb = 256", 'memory = "2G"').replace("10240", '"10G"')
    start = read(harbor_task(tmp_path / "hello", "b", **{"task.toml": text})).task.start
    assert isinstance(start, FolderStart)
    assert start.memory_mb == 2048


def test_tests_that_fetch_are_told(tmp_path: Path) -> None:
    script = "#!/bin/bash\n# curl https://no\napt-get update\ncurl -LsSf https://x | sh\n"
    found = read(harbor_task(tmp_path / "hello", "b", **{"tests/test.sh": script}))
    assert found.lost[-1] == "tests/test.sh seems to fetch, and will fail: apt-get update"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"environment/docker-compose.yaml": "services: {}\n"}, "docker-compose.yaml: a trial is"),
        ({"task.toml": TASK_TOML + "[[steps]]\nname = 'a'\n"}, "several steps"),
        ({"steps/one/instruction.md": "x"}, "several steps"),
        ({"task.toml": TASK_TOML + "os = 'windows'\n"}, "for Windows"),
        ({"task.toml": TASK_TOML + "gpus = 1\n"}, "a GPU"),
        ({"task.toml": TASK_TOML + "[environment.healthcheck]\ncommand = 'x'\n"}, "health check"),
        ({"tests/test.sh": None}, r"no tests/test\.sh"),
        ({"instruction.md": None}, r"no instruction\.md"),
        ({"environment/Dockerfile": None}, "neither environment/Dockerfile nor a docker_image"),
        ({"task.toml": "= broken"}, "this is no TOML"),
        ({"task.toml": "agent = 3\n"}, r"\[agent\] must be a table"),
        ({"task.toml": "[agent]\ntimeout_sec = -1\n"}, r"\[agent\] timeout_sec must be seconds"),
        ({"task.toml": "[environment]\nmemory = 'lots'\n"}, "memory must be a size"),
        ({"task.toml": "[environment]\ncpus = 'all'\n"}, "cpus must be a number"),
        ({"task.toml": "[verifier]\nenv = 3\n"}, r"\[verifier\] env must be a table"),
        ({"task.toml": "[verifier]\nenvironment_mode = 'separate'\n"}, "an image of its own"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(
    changed: dict[str, str | None], told: str, tmp_path: Path
) -> None:
    folder = harbor_task(tmp_path / "hello", "b", **changed)
    with pytest.raises(UsageError, match=told):
        read(folder)


@pytest.mark.parametrize("place", ["instruction.md", "tests/leak", "environment/leak", "tests"])
def test_no_link_leads_out_of_the_folder(place: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "test.sh").write_text("mine")
    folder = harbor_task(tmp_path / "hello", "b")
    link = folder / place
    if link.is_dir():
        link.rename(tmp_path / "away")
    link.unlink(missing_ok=True)
    link.symlink_to(secret if place == "tests" else secret / "test.sh")
    with pytest.raises(UsageError, match="link"):
        read(folder)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    folder = harbor_task(tmp_path / "hello", "b")
    os.mkfifo(folder / "environment" / "pipe")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        read(folder)


def test_fairtrial_s_own_folders_are_not_harbor_s(tmp_path: Path) -> None:
    assert is_harbor(harbor_task(tmp_path / "a", "b"))
    own = {"task.toml": '[verifier]\ncommand = "true"\n'}
    assert not is_harbor(harbor_task(tmp_path / "b", "b", **own))
    assert not is_harbor(harbor_task(tmp_path / "c", "b", **{"task.toml": "[start]\n"}))
    assert not is_harbor(harbor_task(tmp_path / "d", "b", **{"task.toml": "broken ="}))
    assert not is_harbor(tmp_path)
