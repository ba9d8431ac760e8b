"""YAML: a list of cases, an object whose `cases` is one, or one case a document.

Plain scalars follow the core schema of YAML 1.2 with JSON's numbers, not YAML 1.1: `no` and
`2024-05-01` are texts, and so is `007`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from fairtrial.interchange.dataset_files.json_text import BrokenJson, bad_utf8, decode
from fairtrial.interchange.dataset_files.records import Record, broken, check_object, kind_of
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json

_MAX_NODES = 5_000_000
"""How many values one case may hold once its aliases are written out."""

_TAG = "tag:yaml.org,2002:"
NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
NUMBER = re.compile(
    r"^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Composes nodes; values are made here, not by PyYAML's constructors."""


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver(_TAG + "null", NULL, ["~", "n", "N", ""])
_Loader.add_implicit_resolver(_TAG + "bool", BOOL, list("tTfF"))
_Loader.add_implicit_resolver(_TAG + "number", NUMBER, list("-+.0123456789"))


def read(data: bytes, source: str) -> Iterator[Record]:
    """Yield the cases of a file, one document after the other.

    Args:
        data: The whole file.
        source: Its name for error messages.

    Raises:
        UsageError: it is no YAML, holds what JSON cannot, or is no list of objects.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = bad_utf8(data, error)
        raise broken("the file is not UTF-8", f"{source}:{problem.line}", problem) from None
    for document in _documents(text, source):
        for node in _case_nodes(document, source):
            line = node.start_mark.line + 1
            try:
                value = _Values(source).of(node)
            except RecursionError:
                raise _too_deep(f"{source}:{line}") from None
            check_object(value, f"{source}:{line}")
            yield line, value


def _documents(text: str, source: str) -> Iterator[Node]:
    documents = yaml.compose_all(text, Loader=_Loader)
    while True:
        try:
            document = next(documents, None)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line if error.problem_mark else 0
            line = min(line, text.rstrip().count("\n")) + 1  # the end may be told as one line more
            why = ": ".join(part for part in (error.context, error.problem) if part)
            raise UsageError("the file is not YAML", where=f"{source}:{line}", why=why) from None
        except yaml.YAMLError as error:
            line = text.count("\n", 0, getattr(error, "position", 0)) + 1
            why = str(error).partition("\n")[0]
            raise UsageError("the file is not YAML", where=f"{source}:{line}", why=why) from None
        except RecursionError:
            raise _too_deep(source) from None
        if document is None:
            return
        yield document


def _too_deep(where: str) -> UsageError:
    return UsageError("the file is nested too deeply", where=where)


def _case_nodes(document: Node, source: str) -> list[Node]:
    if isinstance(document, MappingNode):
        keys = [key.value for key, _ in document.value]
        if keys != ["cases"]:
            return [document]
        document = document.value[0][1]
    if isinstance(document, SequenceNode):
        return list(document.value)
    if document.tag == _TAG + "null":
        return []
    raise UsageError(
        "the file must hold a list of cases",
        where=f"{source}:{document.start_mark.line + 1}",
        why=f"this is {kind_of(_Values(source).of(document))}",
        fix="write each case as `- input: …`",
    )


class _Values:
    """Makes JSON values of the nodes of one case."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._made = 0
        self._open: set[int] = set()

    def of(self, node: Node) -> Json:
        """Return a node's value."""
        self._made += 1
        if self._made > _MAX_NODES:
            raise self._refusal(node, "its aliases make the case too large")
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if node.tag not in (_TAG + "map", _TAG + "seq"):
            raise self._refusal(node, f"the tag {node.tag.replace(_TAG, '!!')} is not JSON")
        if id(node) in self._open:
            raise self._refusal(node, "an alias stands within its own anchor")
        self._open.add(id(node))
        value = self._mapping(node) if isinstance(node, MappingNode) else self._sequence(node)
        self._open.discard(id(node))
        return value

    def _sequence(self, node: Node) -> list[Json]:
        return [self.of(item) for item in node.value]

    def _mapping(self, node: MappingNode) -> dict[str, Json]:
        value: dict[str, Json] = {}
        for key, item in node.value:
            if not isinstance(key, ScalarNode):
                raise self._refusal(key, "a key must be a text")
            if key.value in value:
                raise self._refusal(key, f"the key {key.value[:60]!r} comes twice")
            value[key.value] = self.of(item)
        return value

    def _scalar(self, node: ScalarNode) -> Json:
        text: str = node.value
        tag = node.tag.removeprefix(_TAG)
        if tag == "str":
            return text
        if tag == "null" and NULL.match(text):
            return None
        if tag == "bool" and BOOL.match(text):
            return text.lower() == "true"
        if tag in ("number", "int", "float"):
            try:
                return decode(text)
            except BrokenJson:
                raise self._refusal(node, f"{text[:60]} is not a finite number") from None
        raise self._refusal(node, f"{text[:60]!r} with the tag !!{tag} is not JSON")

    def _refusal(self, node: Node, why: str) -> UsageError:
        where = f"{self._source}:{node.start_mark.line + 1}"
        return UsageError("the case is not JSON", where=where, why=why)
