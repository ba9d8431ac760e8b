"""Every level of workspace passes the same contract."""

from __future__ import annotations

import pytest

from fairtrial.ports import Workspace
from fairtrial.testing.workspace import WorkspaceContract
from fairtrial.workspaces.host.client import HostWorkspace


class TestHostWorkspace(WorkspaceContract):
    @pytest.fixture
    def workspace(self) -> Workspace:
        return HostWorkspace(slots=4)
