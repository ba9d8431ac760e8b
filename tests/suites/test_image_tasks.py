"""Tasks in an image: built once, their workspace copied out of it, verified as Harbor does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.suites.harbor_folders import TASK_TOML, harbor_task
from tests.suites.shop import workshop

from fairtrial.graders.verifier import Verification, Verifying
from fairtrial.model.errors import InfraError, TaskError
from fairtrial.model.isolation import Guarantee, Level
from fairtrial.ports import ProcessCall
from fairtrial.ports.suites import wanted_in
from fairtrial.suites.folders import read_task
from fairtrial.suites.workshop import Workshop

T = TypeVar("T")


def worked(folder: Path, work: Callable[[Workshop, str], Coroutine[Any, Any, T]]) -> T:
    """Return what some work on the task of a folder brings."""
    task = read_task(folder, folder)
    home = folder.parent / "home"

    async def run() -> T:
        async with workshop(home, task, files=folder / "environment") as (shop, _):
            return await work(shop, task.digest)

    return asyncio.run(run())


def verified(folder: Path, patch: bytes | None, level: Level | None = None) -> Verification:
    """Return what the verifier says of a patch; None is what the solution changes."""

    async def work(shop: Workshop, digest: str) -> Verification:
        verifying = Verifying(shop, os.environ, level)
        task = shop.task(digest)
        change = await verifying.reference(task) if patch is None else patch
        assert change is not None
        return await verifying.verified(task, change)

    return worked(folder, work)


def test_a_task_in_harbor_s_form_is_verified_in_its_image(image: str, tmp_path: Path) -> None:
    folder = harbor_task(tmp_path / "hello", image)
    nothing = verified(folder, b"")
    assert (nothing.value, nothing.reason) == (0.0, "the verifier gave the reward 0")
    done = verified(folder, None)
    assert (done.value, done.reason) == (1.0, "the verifier gave the reward 1")
    isolation = done.detail["isolation"]
    assert isinstance(isolation, dict)
    assert isolation["level"] == "image"


def test_the_workspace_is_what_the_image_holds(image: str, tmp_path: Path) -> None:
    folder = harbor_task(tmp_path / "hello", image)

    async def work(shop: Workshop, digest: str) -> tuple[tuple[str, ...], bytes, bytes]:
        repo = await shop.prepared(digest, {})
        found = await shop.image(digest)
        assert found is not None
        assert await shop.image(digest) is found
        async with shop.workspace(repo, wanted_in(found)) as place:
            line = "pwd; ls /tests /solution; echo new > new.txt"
            argv = ("/bin/sh", "-c", line)
            ended = await place.run(ProcessCall(argv, b"", {}, Path(place.path), 60.0))
            return tuple(await place.files()), ended.stdout, await place.diff()

    files, said, patch = worked(folder, work)
    assert files == ("built.txt", "greeting.txt", "new.txt")
    assert said == b"/app\n"  # neither tests nor solution are there
    assert b"+new" in patch
    assert b"built.txt" not in patch


def test_limits_of_the_task_hold_in_its_image(image: str, tmp_path: Path) -> None:
    folder = harbor_task(tmp_path / "hello", image)

    async def work(shop: Workshop, digest: str) -> dict[Guarantee, bool]:
        found = await shop.image(digest)
        assert found is not None
        repo = await shop.prepared(digest, {})
        async with shop.workspace(repo, wanted_in(found)) as place:
            argv = ("/bin/sh", "-c", "true")
            assert (
                await place.run(ProcessCall(argv, b"", {}, Path(place.path), 60.0))
            ).usage.exit_status == 0
            return {held.what: held.holds for held in place.isolation.held}

    held = worked(folder, work)
    assert Guarantee.MEMORY in held
    assert Guarantee.CPUS in held


def test_an_image_that_stands_ready_takes_the_folder_s_files(image: str, tmp_path: Path) -> None:
    told = TASK_TOML + f'docker_image = "{image}"\nworkdir = "/app"\n'
    changed = {"task.toml": told, "environment/Dockerfile": None}
    changed["tests/test.sh"] = (
        "#!/bin/sh\n"
        "grep -q hi /app/greeting.txt && echo '{\"reward\": 0.5}' > /logs/verifier/reward.json\n"
    )
    folder = harbor_task(tmp_path / "hello", image, **changed)
    assert verified(folder, b"").value == 0.5


def test_an_agent_cannot_leave_a_reward_behind(image: str, tmp_path: Path) -> None:
    folder = harbor_task(
        tmp_path / "hello",
        image,
        **{
            "solution/solve.sh": "#!/bin/sh\nmkdir -p logs && echo 1 > logs/reward.txt\n"
            "mkdir -p /logs/verifier 2> /dev/null; echo 1 > /logs/verifier/reward.txt\n",
            "tests/test.sh": "#!/bin/sh\ntest -f hello.txt\n",
        },
    )
    found = verified(folder, None)
    assert (found.value, found.reason) == (0.0, "the verifier failed: exit status 1")


@pytest.mark.parametrize(
    ("dockerfile", "told"),
    [
        ("FROM {image}\nWORKDIR /app\nRUN echo so sad >&2 && exit 7\n", "does not build.*7"),
        ("FROM nobody.example/none:1\nWORKDIR /app\n", "not on this machine.*pull nobody.example"),
        ("FROM {image}\n", "working directory /.*WORKDIR"),
        ("FORM {image}\n", "does not build"),
    ],
)
def test_what_cannot_be_built_is_told(
    dockerfile: str, told: str, image: str, tmp_path: Path
) -> None:
    text = dockerfile.format(image=image)
    folder = harbor_task(tmp_path / "hello", image, **{"environment/Dockerfile": text})
    with pytest.raises(InfraError, match=told):
        verified(folder, b"")


def test_without_an_engine_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = harbor_task(tmp_path / "hello", "scratch")
    task = read_task(folder, folder)

    async def run() -> None:
        async with workshop(tmp_path / "home", task, files=folder / "environment") as (shop, _):
            await shop.prepared(task.digest, {})

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfraError, match=r"none of podman and docker.*install podman or docker"):
        asyncio.run(run())


def test_a_failing_solution_is_told(image: str, tmp_path: Path) -> None:
    changed = {"solution/solve.sh": "#!/bin/sh\necho cannot >&2\nexit 3\n"}
    folder = harbor_task(tmp_path / "hello", image, **changed)
    with pytest.raises(TaskError, match=r"solve.sh failed: exit status 3.*cannot"):
        verified(folder, None)


def test_another_level_has_no_tests_folder(image: str, tmp_path: Path) -> None:
    folder = harbor_task(tmp_path / "hello", image)
    with pytest.raises(TaskError, match="needs an image"):
        verified(folder, b"", Level.NONE)


def test_a_build_over_its_limit_is_ended(image: str, tmp_path: Path) -> None:
    text = TASK_TOML.replace("build_timeout_sec = 600.0", "build_timeout_sec = 1.5")
    dockerfile = f"FROM {image}\nWORKDIR /app\nRUN sleep 60\n"
    changed = {"task.toml": text, "environment/Dockerfile": dockerfile}
    folder = harbor_task(tmp_path / "hello", image, **changed)
    with pytest.raises(InfraError, match=r"not built within 1\.5 s"):
        verified(folder, b"")
