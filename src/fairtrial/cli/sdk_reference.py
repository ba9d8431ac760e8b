"""The reference of what Python programs use, made from its docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import fairtrial
from fairtrial.sdk.evaluation import Options

_SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Yields):")
_LEFT_OUT = ("environ",)
"""For tests of the library."""


def sdk_page(page: Callable[..., str]) -> str:
    """Return the reference; `page` joins its parts."""
    names = [name for name in fairtrial.__all__ if not name.startswith("_")]
    return page(
        "# Python",
        "What `import fairtrial` offers. [Evaluate from Python](../how-to/evaluate-from-python.md) "
        "shows how it goes together, [Evaluate in pytest](../how-to/evaluate-in-pytest.md) the "
        "plugin.",
        *(part for name in names for part in _thing(name, getattr(fairtrial, name))),
    )


def _thing(name: str, value: Any) -> Iterator[str]:
    yield f"## {name}"
    if inspect.isclass(value):
        yield from _told(value)
        for member, found in vars(value).items():
            if member.startswith("_") or not _is_documented(found):
                continue
            function = found.fget if isinstance(found, property) else found
            function = getattr(function, "__func__", function)
            told = "".join(f"\n\n{part}" for part in _told(function))
            yield f"### {name}.{member}{told}"
        return
    parameters = inspect.signature(value).parameters.values()
    shown = ", ".join(str(one).split(":")[0] for one in parameters)
    yield f"`{'await ' * inspect.iscoroutinefunction(value)}{name}({shown})`"
    yield from _told(value)
    if any(one.kind is one.VAR_KEYWORD and "Options" in str(one) for one in parameters):
        yield "Options:"
        yield "\n".join(f"- `{key}`: {text}" for key, text in _options())


def _is_documented(value: Any) -> bool:
    return isinstance(value, property | classmethod) or inspect.isfunction(value)


def _options() -> Iterator[tuple[str, str]]:
    source = inspect.getsource(Options)
    for name, text in re.findall(
        r'^    (\w+): [^\n]*\n    """(.*?)"""', source, re.MULTILINE | re.DOTALL
    ):
        yield name, re.sub(r"\s+", " ", text)


def _told(value: Any) -> Iterator[str]:
    """Yield a docstring as paragraphs, its sections as lists."""
    text = inspect.getdoc(value) or ""
    before, *sections = re.split(rf"^(?={_SECTION.pattern}$)", text, flags=re.MULTILINE)
    parts = [part for part in [before, *sections] if part and not _SECTION.fullmatch(part + ":")]
    for part in parts:
        head, _, rest = part.partition("\n")
        if not _SECTION.fullmatch(head):
            yield from (re.sub(r"\s+", " ", one) for one in re.split(r"\n\s*\n", part.strip()))
            continue
        items = re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", rest, re.MULTILINE)
        lines = [
            f"- `{name}`: " + re.sub(r"\s+", " ", meaning).strip()
            for name, meaning in items
            if name not in _LEFT_OUT
        ]
        if lines:
            yield f"{head}"
            yield "\n".join(lines)
