"""Tables of kinds: a name in a spec, the module behind it, loaded on first use.

A module of a kind defines `Options`, the frozen dataclass of its options, and `build`, which turns
those options and the surroundings into the port's implementation. It may define `settle`, which
returns the options that a plan fixes (a file's content, the provider that is used) and lines that
tell of them: two runs are the same only when these are.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.schema.decoding import decode, unknown_name
from fairtrial.schema.json_schema import json_schema


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of one port.

    Attributes:
        port: What they are kinds of: `task` or `grader`.
        modules: The module of each kind by its name in a spec.
    """

    port: str
    modules: Mapping[str, str]

    def module(self, kind: str, where: str) -> ModuleType:
        """Return the module behind a kind.

        Raises:
            UsageError: there is no such kind; the message suggests the nearest.
        """
        if kind not in self.modules:
            what = unknown_name(kind, self.modules, f"{self.port} kind ")
            raise UsageError(what, where=where)
        return importlib.import_module(self.modules[kind])

    def options(self, kind: str, values: Mapping[str, Json], where: str) -> Any:
        """Return a kind's options from JSON.

        Raises:
            UsageError: an unknown kind or option, or a value that does not fit.
        """
        return decode(self.module(kind, where).Options, values, f"{where} ({kind} {self.port})")

    def settled(
        self,
        kind: str,
        values: Mapping[str, Json],
        place: tuple[Path, Mapping[str, str]],
        where: str,
    ) -> tuple[Mapping[str, Json], tuple[str, ...]]:
        """Return a kind's options with all that is left open decided, and lines that tell of it.

        Args:
            kind: The kind.
            values: Its options as the user wrote them.
            place: The folder that relative paths start at, and the environment.
            where: What the options come from, for error messages.

        Raises:
            UsageError: what they name is not there.
        """
        settle = getattr(self.module(kind, where), "settle", None)
        if settle is None:
            return values, ()
        fixed, notes = settle(self.options(kind, values, where), *place, where)
        merged = {**values, **fixed}
        return {name: value for name, value in merged.items() if value is not None}, notes

    def schemas(self, shared: Mapping[str, Json]) -> list[dict[str, Json]]:
        """Return the JSON Schema of each kind; `shared` are properties that all of them take."""
        return [self._schema(kind, shared) for kind in self.modules]

    def _schema(self, kind: str, shared: Mapping[str, Json]) -> dict[str, Json]:
        module = self.module(kind, kind)
        schema = json_schema(
            module.Options, title=f"{kind} {self.port}", description=(module.__doc__ or "").strip()
        )
        schema["properties"] = {"kind": {"const": kind}, **schema["properties"], **shared}
        schema["required"] = ["kind", *schema["required"]]
        return schema
