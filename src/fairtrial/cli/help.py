"""Help texts, made from the verb table and the requests."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import get_args, get_origin

from fairtrial.app.verbs import GROUPS, VERBS, Verb
from fairtrial.schema.fields import MISSING, Option, options_of

WIDEST = 100
COLUMN = 30

GLOBAL_OPTIONS = (
    ("--json", "Print one JSON object instead of text (errors too)"),
    ("-h, --help", "Show this help"),
)


def top_help() -> str:
    """Return the help of `fairtrial` alone."""
    groups = [(name, f"{summary} (fairtrial {name} --help)") for name, summary in GROUPS.items()]
    single = [(verb.name, verb.summary) for verb in VERBS if len(verb.path) == 1]
    return _page(
        "Usage: fairtrial COMMAND [OPTIONS]",
        "Every change to your agent gets a fair trial.",
        ("Commands", [*groups, *single]),
        ("Options", [("--version", "Print the version"), *GLOBAL_OPTIONS]),
        ("Environment", _ENVIRONMENT),
        ("Start here", [("fairtrial demo", "A real experiment in half a minute, offline")]),
    )


_ENVIRONMENT = (
    ("FAIRTRIAL_HOME", "Folder of the store (default: the user's data folder)"),
    ("FAIRTRIAL_STORE", "Database URL to use instead of the embedded store"),
    ("NO_COLOR", "Print without colours"),
)


def group_help(group: str) -> str:
    """Return the help of a group of verbs, e.g. `fairtrial exp`."""
    verbs = [(verb.name, verb.summary) for verb in VERBS if verb.path[0] == group]
    return _page(
        f"Usage: fairtrial {group} COMMAND [OPTIONS]",
        f"{GROUPS[group]}.",
        ("Commands", verbs),
        ("Options", GLOBAL_OPTIONS),
    )


def verb_help(verb: Verb) -> str:
    """Return the help of one verb."""
    request = verb.request()
    options = options_of(request)
    arguments = [option for option in options if option.command_line.positional]
    flags = [o for o in options if not o.command_line.positional and not o.command_line.hidden]
    usage = " ".join(["Usage: fairtrial", verb.name, *map(_argument, arguments), "[OPTIONS]"])
    return _page(
        usage,
        textwrap.dedent(f"    {request.__doc__}"),
        ("Arguments", [(option.name.upper(), option.doc) for option in arguments]),
        ("Options", [*[(_flags(option), _text(option)) for option in flags], *GLOBAL_OPTIONS]),
        ("Examples", [(example, "") for example in verb.examples()]),
    )


def _argument(option: Option) -> str:
    name = option.name.upper() + ("…" if is_list(option) else "")
    return name if option.required else f"[{name}]"


def _flags(option: Option) -> str:
    line = option.command_line
    metavar = line.metavar or ("" if option.type is bool else option.name.upper())
    value = f" [{metavar}]" if line.bare else f" {metavar}" if metavar else ""
    negative = f", {option.negative}" if option.negative else ""
    return (f"{line.short}, " if line.short else "    ") + option.flag + value + negative


def _text(option: Option) -> str:
    text = option.doc
    if is_list(option):
        text += " (repeatable)"
    if option.default is not True and option.default not in (MISSING, None, False, ()):
        text += f" (default: {option.default})"
    return text


def is_list(option: Option) -> bool:
    """Return whether an option can be given several times."""
    kinds = (option.type, *get_args(option.type))
    return any(get_origin(kind) is tuple for kind in kinds)


def _page(usage: str, text: str, *sections: tuple[str, Iterable[tuple[str, str]]]) -> str:
    width = min(shutil.get_terminal_size().columns, WIDEST)
    paragraphs = [textwrap.fill(" ".join(p.split()), width) for p in text.split("\n\n")]
    parts = [usage, *paragraphs]
    for title, entries in sections:
        lines = [line for name, about in entries for line in _entry(name, about, width)]
        if lines:
            parts.append("\n".join([f"{title}:", *lines]))
    return "\n\n".join(parts) + "\n"


def _entry(name: str, about: str, width: int) -> Sequence[str]:
    name = f"  {name}"
    lines = textwrap.wrap(about, max(width - COLUMN, 20))
    indented = [" " * COLUMN + line for line in lines]
    if not lines or len(name) > COLUMN - 2:
        return [name, *indented]
    return [name.ljust(COLUMN) + lines[0], *indented[1:]]
