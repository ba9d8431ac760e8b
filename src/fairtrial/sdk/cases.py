"""Cases as a program writes them, and the way to those that the store keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import count
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from fairtrial.functions.blame import blame
from fairtrial.interchange.dataset_files.assembling import Assembler
from fairtrial.interchange.dataset_files.columns import Columns, Extra
from fairtrial.interchange.dataset_files.reading import read_cases
from fairtrial.model import case as model
from fairtrial.model.errors import FairtrialError, UsageError
from fairtrial.sdk.datasets import Dataset
from fairtrial.tasks.plain_json import NotJsonError, plain_json

In = TypeVar("In")
In_co = TypeVar("In_co", covariant=True)
Expected_co = TypeVar("Expected_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Case(Generic[In_co, Expected_co]):
    """One input with what is expected of it. All of it is JSON.

    Attributes:
        input: What the task is called with.
        expected: What graders compare with; None when nothing is expected.
        id: Names the case in every experiment; None takes a hash of the input.
        metadata: Named facts about the case, e.g. the repository it comes from.
        tags: Labels to filter and group by.
        split: `train`, `test` or any other name; None when the data are not split.
        condition: The variant of the case, e.g. `clean` or `attack`.
    """

    input: In_co
    expected: Expected_co | None = None
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    split: str | None = None
    condition: str = model.DEFAULT_CONDITION


Items: TypeAlias = Iterable[Case[In, Any] | Mapping[str, Any]]
Data: TypeAlias = str | Path | Dataset | Items[In] | Callable[[], Items[In]]
"""Where cases come from: a dataset by name, a file, or cases and dicts, also from a generator or
a function that makes one."""


def stored_cases(
    data: Path | Items[Any] | Callable[[], Items[Any]],
) -> Iterator[model.Case]:
    """Yield cases as the store keeps them.

    Raises:
        UsageError: something is no case or no JSON, or the user's own code raised.
        NotFoundError: the file does not exist.
    """
    if isinstance(data, Path):
        yield from read_cases([data])
        return
    assembler = Assembler(Columns(), extra=Extra.ERROR)
    items = _items(data)
    for place in count():
        where = f"data[{place}]"
        try:
            item = next(items)
        except StopIteration:
            if place == 0:
                raise UsageError(
                    "the data hold no cases", where="data", fix="give at least one"
                ) from None
            return
        except FairtrialError:
            raise
        except Exception as error:
            raise UsageError(
                "the data could not be read: nothing was run", where=where, why=blame(error)
            ) from error
        yield _case(item, assembler, where)


def _items(data: Items[Any] | Callable[[], Items[Any]]) -> Iterator[Any]:
    if callable(data):
        try:
            data = data()
        except Exception as error:
            raise UsageError(
                "the data could not be made: nothing was run", where="data", why=blame(error)
            ) from error
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise UsageError(
            f"a {type(data).__name__} holds no cases",
            where="data",
            fix="give cases: [Case(input=…, expected=…), …], the name of a dataset, or a Path",
        )
    return iter(data)


def _case(item: Any, assembler: Assembler, where: str) -> model.Case:
    if isinstance(item, Case):
        given = {one.name: getattr(item, one.name) for one in fields(item)}
        values = {name: value for name, value in given.items() if value is not None}
        values["input"] = item.input
    elif isinstance(item, model.Case):
        values = item.content()
    elif isinstance(item, Mapping):
        values = dict(item)
    else:
        raise UsageError(
            f"a {type(item).__name__} is no case",
            where=where,
            fix="write Case(input=…, expected=…), or a dict with those keys",
        )
    try:
        plain = plain_json(values)
    except NotJsonError as error:
        raise UsageError("the case is not JSON", where=where, why=str(error)) from None
    try:
        return assembler.assemble(plain)
    except UsageError as error:
        error.where = where
        if error.fix and "--" in error.fix:
            error.fix = "the keys are: id, input, expected, metadata, tags, split, condition"
        raise
