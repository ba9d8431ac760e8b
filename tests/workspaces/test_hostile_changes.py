"""What a trial leaves among its files so that nobody can tell or verify its change."""

from __future__ import annotations

import pytest
from tests.workspaces.levels import needs_bwrap

from fairtrial.model.isolation import Level, Wanted
from fairtrial.ports import PreparedRepo, RepoWorkspace, Workspaces
from fairtrial.testing.repo_workspace import Opened, inside, said, with_files

DEEP = "/".join(["d"] * 1010)


@pytest.fixture(
    params=[
        Level.NONE,
        pytest.param(Level.BWRAP, marks=needs_bwrap),
        Level.IMAGE,
    ]
)
def wanted(request: pytest.FixtureRequest) -> Wanted:
    level: Level = request.param
    image = request.getfixturevalue("image") if level is Level.IMAGE else None
    return Wanted(level, image=image)


def test_what_cannot_be_read_and_what_lies_deep_is_told(opened: Opened, wanted: Wanted) -> None:
    change = (
        "chmod 000 README; mkdir shut; echo inside > shut/file; chmod 000 shut; "
        f"mkdir -p {DEEP}; echo far > {DEEP}/file; chmod 500 ."
    )

    async def work(workspace: RepoWorkspace) -> bytes:
        await said(workspace, change)
        return await workspace.diff()

    diff = inside(opened, wanted, work)
    assert b"+inside\n" in diff
    assert b"+far\n" in diff
    assert b"README" not in diff


def test_what_is_left_out_of_a_patch_makes_room_for_nothing(opened: Opened, wanted: Wanted) -> None:
    change = "rm README; mkdir README; echo x > README/file; rm -r src; echo x > src; rm run.sh"

    async def work(workspaces: Workspaces, repo: PreparedRepo) -> str:
        async with workspaces.workspace(repo, wanted) as one:
            await said(one, change)
            diff = await one.diff()
        async with workspaces.workspace(repo, wanted) as other:
            await other.apply(diff, leaving_out=("README", "src/*"))
            return await said(other, "cat README; ls src; test -e run.sh || echo gone")

    assert with_files(opened, work) == "one\na.txt\nb.txt\ngone\n"
