"""Copies htmx into the package while it is built: no code of others stands in the repository."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGE = "js_lib_htmx"
_FILES = {"htmx.min.js": "htmx.js"}


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # of any configuration
    """Takes the file of the package that the build requires."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Copy it to where the pages are served from; wheels and editable installs need it."""
        del version
        target = Path(self.root) / "src/fairtrial/http/web/static/vendor"
        target.mkdir(parents=True, exist_ok=True)
        for name, to in _FILES.items():
            self._copy(name, target / to)
        build_data.setdefault("artifacts", []).append("src/fairtrial/http/web/static/vendor/*.js")

    def _copy(self, name: str, to: Path) -> None:
        found = find_spec(_PACKAGE)
        if found is None or not found.submodule_search_locations:
            message = f"{_PACKAGE} is not there; build-system.requires of pyproject.toml names it"
            raise RuntimeError(message)
        origin = Path(found.submodule_search_locations[0]) / "static/htmx" / name
        # A copy that is as it should be is left alone: others may be reading it.
        if not to.exists() or to.read_bytes() != origin.read_bytes():
            shutil.copyfile(origin, to)
