"""YAML of spec files: JSON's values only, and no field twice."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml

_MERGE = "tag:yaml.org,2002:merge"


class _Loader(yaml.SafeLoader):
    """Refuses a field that an object has twice: the first of them would silently not count."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002  # as PyYAML has it
        seen: set[Any] = set()
        for key, _ in node.value:
            if key.tag == _MERGE or not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                line = key.start_mark.line + 1
                raise ValueError(f"line {line} holds {key.value!r} a second time")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load(text: str) -> Any:
    """Return the value of a YAML document.

    Raises:
        ValueError: it is none, or an object has a field twice.
    """
    try:
        return yaml.load(text, _Loader)  # noqa: S506  # a SafeLoader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
