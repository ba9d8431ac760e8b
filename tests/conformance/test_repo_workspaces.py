"""Every level of workspace keeps the same contract."""

from __future__ import annotations

import pytest
from tests.workspaces.levels import needs_bwrap

from fairtrial.model.isolation import Level, Wanted
from fairtrial.testing.repo_workspace import RepoWorkspaceContract


class TestLevelNone(RepoWorkspaceContract):
    @pytest.fixture
    def wanted(self) -> Wanted:
        return Wanted(Level.NONE)


@needs_bwrap
class TestLevelBwrap(RepoWorkspaceContract):
    @pytest.fixture
    def wanted(self) -> Wanted:
        return Wanted(Level.BWRAP)


class TestLevelImage(RepoWorkspaceContract):
    @pytest.fixture
    def wanted(self, image: str) -> Wanted:
        return Wanted(Level.IMAGE, image=image)
