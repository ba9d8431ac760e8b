"""Images for the tests of suites."""

from __future__ import annotations

from tests.workspaces.fixtures import _containers_of_this_session, image

__all__ = ["_containers_of_this_session", "image"]
