"""Fixtures of this folder."""

from __future__ import annotations

from tests.workspaces.fixtures import _containers_of_this_session, image, opened

__all__ = ["_containers_of_this_session", "image", "opened"]
