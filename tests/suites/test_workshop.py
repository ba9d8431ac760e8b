"""A workshop: workspaces prepared once for all trials, set up, with a harness over them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.suites.shop import WANTED, a_repo, a_task, worked, workshop

from fairtrial.model.errors import InfraError, StoreError, Undecidable
from fairtrial.model.eval_task import Command, RepoStart
from fairtrial.ports import ProcessCall
from fairtrial.suites.workshop import Kept, Workshop


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return a_repo(tmp_path / "repo")


def test_the_setup_runs_once_for_all_trials(repo: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    task = a_task(repo, setup=Command(f"echo x >> {ran}; echo made > made.txt", 60.0))

    async def work(shop: Workshop) -> list[bytes | None]:
        repos = await asyncio.gather(*(shop.prepared(task.digest, {}) for _ in range(3)))
        assert len({prepared.layers for prepared in repos}) == 1
        seen = []
        for _ in range(2):
            async with shop.workspace(repos[0], WANTED) as place:
                seen.append(await place.read("made.txt"))
                await place.copy_in({"made.txt": b"changed"})
        return seen

    assert worked(tmp_path / "home", task, work) == [b"made\n", b"made\n"]
    assert ran.read_text() == "x\n"


def test_a_harness_lies_over_the_files_of_its_own_arm_alone(repo: Path, tmp_path: Path) -> None:
    task = a_task(repo)

    async def work(shop: Workshop) -> list[bytes | None]:
        seen = []
        for harness in ({"AGENTS.md": b"one"}, {"AGENTS.md": b"two"}, {}):
            repo = await shop.prepared(task.digest, harness)
            async with shop.workspace(repo, WANTED) as place:
                seen.append(await place.read("AGENTS.md"))
        return seen

    assert worked(tmp_path / "home", task, work) == [b"one", b"two", None]


@pytest.mark.parametrize(
    ("line", "limit", "told"),
    [
        ("echo oh no >&2; exit 3", 60.0, "the setup failed: exit status 3.*oh no"),
        ("sleep 60", 0.2, "ran over its limit of 0.2 s"),
        ("there-is-no-such-program", 60.0, "the setup failed"),
    ],
)
def test_a_setup_that_fails_is_infrastructure(
    repo: Path, tmp_path: Path, line: str, limit: float, told: str
) -> None:
    task = a_task(repo, setup=Command(line, limit))
    with pytest.raises(InfraError, match=told) as caught:
        worked(tmp_path / "home", task, lambda shop: shop.prepared(task.digest, {}))
    assert caught.value.kind == "setup"


def test_a_setup_that_failed_is_tried_again(repo: Path, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    task = a_task(repo, setup=Command(f"test -e {flag} || {{ touch {flag}; exit 1; }}", 60.0))

    async def work(shop: Workshop) -> None:
        with pytest.raises(InfraError):
            await shop.prepared(task.digest, {})
        await shop.prepared(task.digest, {})

    worked(tmp_path / "home", task, work)


def test_a_repository_that_is_gone_is_undecidable(repo: Path, tmp_path: Path) -> None:
    task = a_task(repo, start=RepoStart(str(tmp_path / "gone"), "a" * 40))
    with pytest.raises(Undecidable, match="s/t cannot be made"):
        worked(tmp_path / "home", task, lambda shop: shop.prepared(task.digest, {}))


def test_the_user_s_repository_is_not_reached(repo: Path, tmp_path: Path) -> None:
    task = a_task(repo)

    async def work(shop: Workshop) -> None:
        prepared = await shop.prepared(task.digest, {})
        async with shop.workspace(prepared, WANTED) as place:
            call = ProcessCall(
                ("/bin/sh", "-c", "echo b > a.txt && git commit -qam y"),
                b"",
                {"PATH": os.environ["PATH"], "HOME": str(place.home)},
                Path(place.path),
                60.0,
            )
            await place.run(call)

    worked(tmp_path / "home", task, work)
    assert (repo / "a.txt").read_text() == "a\n"


@pytest.mark.parametrize(
    ("files", "told"),
    [({}, "wrote no transcript"), ({"x.jsonl": b"?"}, "could not be read")],
)
def test_a_transcript_that_is_none_is_told(
    repo: Path, tmp_path: Path, files: Mapping[str, bytes], told: str
) -> None:
    task = a_task(repo)
    kept = worked(tmp_path / "home", task, lambda shop: shop.keep_trajectory(task, "codex", files))
    assert kept.session is None
    assert told in str(kept.trouble)


def test_a_store_that_cannot_be_written_loses_no_trial(repo: Path, tmp_path: Path) -> None:
    def full(_agent: str, _files: Mapping[str, bytes]) -> Kept | None:
        raise StoreError("the disk is full")

    async def run() -> str | None:
        task = a_task(repo)
        async with workshop(tmp_path / "home", task, full) as (shop, _):
            kept = await shop.keep_trajectory(task, "codex", {"x.jsonl": b"{}"})
        return kept.trouble

    assert "the disk is full" in str(asyncio.run(run()))
