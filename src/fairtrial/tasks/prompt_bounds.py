"""How large a result of a template's filters and methods would be, told before it is made.

A count that is given (a width, an indentation, so many slices) and a text that is put in many times
make results of any size from a template of a few words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, Final

LARGEST: Final = 10_000_000
"""Characters that a prompt, or a text within it, may have."""
_WIDE: Final = re.compile(r"\d{7,}")
_NESTED: Final = re.compile(r"\{[^{}]*\{")
_DEEPEST: Final = 100
_MOST: Final = 20 * LARGEST


class TooMuchError(Exception):
    """A template does more than a prompt may."""


class Made:
    """How much a rendering has made so far: many results may be kept at once."""

    def __init__(self) -> None:
        self._size = 0

    def start(self) -> None:
        """Begin a rendering."""
        self._size = 0

    def add(self, result: Any) -> Any:
        """Return a result, counted.

        Raises:
            TooMuchError: all results together are too large.
        """
        if isinstance(result, str | bytes | list | tuple):
            self._size += len(result)
            if self._size > _MOST:
                raise TooMuchError(f"it makes more than {_MOST:,} characters on the way")
        return result


def bounded(name: str, function: Callable[..., Any], made: Made) -> Callable[..., Any]:
    """Return a filter of Jinja's that refuses to make too much.

    Args:
        name: Its name in templates.
        function: What it does.
        made: What a rendering has made so far.
    """
    before_value = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def filtered(*arguments: Any, **named: Any) -> Any:
        _check(
            _FILTERS,
            name,
            arguments[before_value],
            (*arguments[before_value + 1 :], *named.values()),
        )
        return made.add(function(*arguments, **named))

    return filtered


def check_size(size: int) -> None:
    """Refuse a text or a list of this many characters or items.

    Raises:
        TooMuchError: it is too long.
    """
    if size > LARGEST:
        raise TooMuchError(f"it makes a text or a list longer than {LARGEST:,}")


def check_percent(text: str, values: Any) -> None:
    """Refuse the formatting of values by `%` where the result would be too long.

    Raises:
        TooMuchError: it would be too long, or as wide as a value says.
    """
    if _WIDE.search(text) or "*" in text:
        raise TooMuchError("it formats a value too widely")
    check_size(len(text) + text.count("%") * _longest(values))


def check_call(function: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Refuse a call of a method of a text, a number or bytes that would make too much.

    Raises:
        TooMuchError: the result would be too long.
    """
    method = getattr(function, "__wrapped__", function)  # the sandbox wraps `format`
    owner = getattr(method, "__self__", None)
    if isinstance(owner, str | bytes | int):
        _check(_METHODS, getattr(method, "__name__", ""), owner, (*arguments, *named.values()))


def _check(
    rules: Mapping[str, Callable[[Any, tuple[Any, ...]], None]],
    name: str,
    value: Any,
    arguments: tuple[Any, ...],
) -> None:
    rule = rules.get(name)
    if rule is not None:
        rule(value, arguments)


def _padded(value: Any, arguments: tuple[Any, ...]) -> None:
    check_size(_size(value) + _largest_number(arguments))


def _each(value: Any, arguments: tuple[Any, ...]) -> None:
    """As many times as there are characters, what is given: a width, or a text."""
    given = max(_largest_number(arguments), _longest(arguments))
    check_size(_size(value) + (_pieces(value) + 1) * given)


def _replaced(value: Any, arguments: tuple[Any, ...]) -> None:
    texts = [str(argument) for argument in arguments if not isinstance(argument, int)]
    if len(texts) > 1:
        text = str(value)
        check_size(len(text) + text.count(texts[0]) * len(texts[1]))


def _joined(value: Any, arguments: tuple[Any, ...]) -> None:
    """`TEXT.join(items)`, or `items | join(TEXT)`."""
    items, text = (
        (arguments[0] if arguments else (), value)
        if isinstance(value, str)
        else (
            value,
            arguments[0] if arguments else "",
        )
    )
    if isinstance(items, str | list | tuple | dict):
        between = len(items) * _size(text)
        check_size(between + (len(items) if isinstance(items, str) else sum(map(_size, items))))
    elif _size(text) > _DEEPEST:  # of an iterator nobody knows the length
        raise TooMuchError("it joins with a text that is too long")


def _formatted(value: Any, arguments: tuple[Any, ...]) -> None:
    text = str(value)
    if _WIDE.search(text) or _NESTED.search(text):
        raise TooMuchError("it formats a value too widely")
    check_size(len(text) + text.count("{") * _longest(arguments))


def _percent(value: Any, arguments: tuple[Any, ...]) -> None:
    check_percent(str(value), arguments)


def _by_the_number(_: Any, arguments: tuple[Any, ...]) -> None:
    check_size(_largest_number(arguments))


def _shallow(_: Any, arguments: tuple[Any, ...]) -> None:
    if _largest_number(arguments) > _DEEPEST or _longest(arguments) > _DEEPEST:
        raise TooMuchError(f"its number is larger than {_DEEPEST}")


def _never(_: Any, __: tuple[Any, ...]) -> None:
    raise TooMuchError("prompts cannot use it")


_METHODS: Final[Mapping[str, Callable[[Any, tuple[Any, ...]], None]]] = {
    **dict.fromkeys(("center", "ljust", "rjust", "zfill", "to_bytes"), _padded),
    "expandtabs": _each,
    "replace": _replaced,
    "join": _joined,
    **dict.fromkeys(("format", "format_map"), _formatted),
    "translate": _never,
}
_FILTERS: Final[Mapping[str, Callable[[Any, tuple[Any, ...]], None]]] = {
    "center": _padded,
    **dict.fromkeys(("indent", "wordwrap", "urlize"), _each),
    "replace": _replaced,
    "join": _joined,
    "format": _percent,
    **dict.fromkeys(("batch", "slice"), _by_the_number),
    **dict.fromkeys(("tojson", "round"), _shallow),
}


def _size(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    return len(str(value)) if isinstance(value, int | float | list | tuple | dict) else 0


def _pieces(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else 1


def _longest(value: Any) -> int:
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return _size(value)
    return max((_longest(item) for item in value), default=0)


def _largest_number(arguments: Iterable[Any]) -> int:
    return max((argument for argument in arguments if isinstance(argument, int)), default=0)
