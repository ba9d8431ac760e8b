"""Every level of workspace keeps the same contract."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.workspaces.levels import needs_bwrap, open_workspaces

from fairtrial.model.isolation import Guarantee, Level, Wanted
from fairtrial.ports import RepoWorkspace
from fairtrial.testing.repo_workspace import (
    Opened,
    RepoWorkspaceContract,
    fill,
    inside,
    said,
    shell,
)
from fairtrial.workspaces.levels import LocalWorkspaces


class TestLevelNone(RepoWorkspaceContract):
    @pytest.fixture
    def wanted(self) -> Wanted:
        return Wanted(Level.NONE)


@needs_bwrap
class TestLevelBwrap(RepoWorkspaceContract):
    @pytest.fixture
    def wanted(self) -> Wanted:
        return Wanted(Level.BWRAP)


@needs_bwrap
class TestLevelBwrapWithoutAnOverlay(RepoWorkspaceContract):
    @pytest.fixture
    def wanted(self) -> Wanted:
        return Wanted(Level.BWRAP, overlay=False)

    def test_a_prepared_folder_can_be_renamed(self, opened: Opened, wanted: Wanted) -> None:
        async def work(workspace: RepoWorkspace) -> str:
            (copy,) = (held for held in workspace.isolation.held if held.what is Guarantee.COPY)
            assert copy.how == "a copy by cp"
            rename = (sys.executable, "-c", "import os; os.rename('src', 'renamed')")
            result = await workspace.run(replace(shell(""), argv=rename))
            assert result.usage.exit_status == 0
            return await said(workspace, "ls")

        assert inside(opened, wanted, work) == "README\nlink\nrenamed\nrun.sh\n"


@needs_bwrap
def test_where_no_overlay_works_files_are_copied(tmp_path: Path) -> None:
    """As below a folder that is itself an overlay, in most containers."""

    async def work() -> None:
        async with open_workspaces(tmp_path / "store") as workspaces:
            assert isinstance(workspaces, LocalWorkspaces)
            workspaces._means.findings.overlay = "no such device"
            repo = await workspaces.prepare("files", fill)
            async with workspaces.workspace(repo, Wanted(Level.BWRAP)) as workspace:
                how = workspace.isolation.held[0].how
                assert how == "a copy by cp, since an overlay does not work: no such device"
                assert await said(workspace, "rm -r src; ls") == "README\nlink\nrun.sh\n"
                snapshot = await workspace.snapshot()
            async with workspaces.workspace(snapshot, Wanted(Level.BWRAP)) as workspace:
                assert await said(workspace, "ls") == "README\nlink\nrun.sh\n"

    asyncio.run(work())


class TestLevelImage(RepoWorkspaceContract):
    @pytest.fixture
    def wanted(self, image: str) -> Wanted:
        return Wanted(Level.IMAGE, image=image)
