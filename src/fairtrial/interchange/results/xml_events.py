"""XML as a stream of elements, without what makes XML dangerous: declarations, entities, depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from xml.parsers import expat  # entities and declarations are refused below

from fairtrial.interchange.results.files import checked
from fairtrial.model.errors import UsageError

_BLOCK: Final = 256 * 1024
_DEEPEST: Final = 100
_LONGEST_TEXT: Final = 1024 * 1024
"""Characters of one element's text; the rest is left out."""


class TornError(Exception):
    """The document ends, or goes wrong, in the middle; `str()` says where."""


def walk(
    path: Path,
    start: Callable[[str, Mapping[str, str]], None],
    end: Callable[[str, str], None],
) -> None:
    """Tell of each element as it begins, and as it ends with its own text.

    Raises:
        TornError: the document is no whole XML; what came before was told.
        UsageError: it declares entities or a document type, or is nested too deeply.
    """
    checked(path)
    texts: list[list[str]] = []
    sizes: list[int] = []

    def begun(name: str, attributes: dict[str, str]) -> None:
        if len(texts) >= _DEEPEST:
            raise UsageError("the XML is nested too deeply", where=str(path))
        texts.append([])
        sizes.append(0)
        start(name.rpartition("}")[2], attributes)

    def ended(name: str) -> None:
        sizes.pop()
        end(name.rpartition("}")[2], "".join(texts.pop()))

    def said(text: str) -> None:
        if texts and sizes[-1] < _LONGEST_TEXT:
            texts[-1].append(text)
            sizes[-1] += len(text)

    def refuse(*_: object) -> None:
        raise UsageError(
            "the XML declares a document type or entities, which are not read",
            where=str(path),
            fix="write it without <!DOCTYPE …>",
        )

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = begun
    parser.EndElementHandler = ended
    parser.CharacterDataHandler = said
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                parser.Parse(block, False)  # noqa: FBT003  # expat takes no keyword
        parser.Parse(b"", True)  # noqa: FBT003  # as above
    except expat.ExpatError as error:
        raise TornError(f"{expat.ErrorString(error.code)} in line {error.lineno}") from None
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise TornError(str(error)) from None
