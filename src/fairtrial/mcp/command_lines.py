"""The command line that does what a tool was called for: what a person can type instead."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from fairtrial.interchange.experiment_exports.visible_text import visible
from fairtrial.mcp.offered import Tool
from fairtrial.schema.fields import Option, options_of


def command_line(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return a command line for a shell. What cannot be shown plainly stands as an escape."""
    options = [one for one in options_of(tool.verb.request()) if one.name in arguments]
    words = ["fairtrial", *tool.verb.path]
    for positional in (True, False):
        for option in options:
            if option.command_line.positional is positional:
                words += _words(option, arguments[option.name])
    return visible(shlex.join(words)).replace("\n", "\\n")


def _words(option: Option, value: Any) -> Iterator[str]:
    if value is None:
        return
    if isinstance(value, bool):
        if value is not option.default:
            yield option.flag if value else option.negative or f"{option.flag}=false"
        return
    for item in value if isinstance(value, list | tuple) else [value]:
        if not option.command_line.positional:
            yield option.flag
        yield item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
