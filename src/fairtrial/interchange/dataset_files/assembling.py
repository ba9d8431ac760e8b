"""From an object, as it stands in a file, to a case."""

from __future__ import annotations

from collections.abc import Mapping

from fairtrial.interchange.dataset_files.columns import Columns, Extra
from fairtrial.interchange.dataset_files.records import kind_of, listed
from fairtrial.model.case import DEFAULT_CONDITION, Case, case_id_of
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.schema.decoding import unknown_name


class Assembler:
    """Makes cases of one file's objects.

    Errors carry no `where`; the reader knows it.
    """

    def __init__(self, columns: Columns, *, extra: Extra) -> None:
        self._columns = columns
        self._extra_is_metadata = extra is Extra.METADATA
        self._id = columns.id or "id"
        self._input = columns.input or ("input",)
        self._expected = columns.expected or "expected"
        self._metadata = columns.metadata or "metadata"
        self._tags = columns.tags or "tags"
        self._split = columns.split or "split"
        self._condition = columns.condition or "condition"
        self._unseen = dict(columns.named())

    def assemble(self, values: dict[str, Json]) -> Case:
        """Return the case that an object describes; the object is used up.

        Raises:
            UsageError: it describes none.
        """
        if self._unseen:
            self._unseen = {role: name for role, name in self._unseen.items() if name not in values}
        case_id = values.pop(self._id, None)
        expected = values.pop(self._expected, None)
        metadata = values.pop(self._metadata, None)
        tags = values.pop(self._tags, None)
        split = values.pop(self._split, None)
        condition = values.pop(self._condition, None)
        case_input = self._take_input(values)
        if metadata is not None or values:
            metadata = self._merge(metadata, values)
        return Case(
            id=self._id_of(case_id, case_input),
            input=case_input,
            expected=expected,
            metadata=metadata or {},
            tags=self._tags_of(tags) if tags else (),
            split=None if split is None else self._text(split, self._split) or None,
            condition=self._condition_of(condition),
        )

    def missing(self) -> tuple[str, str] | None:
        """Return the (role, name) that was asked for and that no object had, if there is one."""
        return next(iter(self._unseen.items()), None)

    def _take_input(self, values: dict[str, Json]) -> Json:
        try:
            if len(self._input) == 1:
                return values.pop(self._input[0])
            return {name: values.pop(name) for name in self._input}
        except KeyError as error:
            has = listed(values) or "no other key"
            raise UsageError(
                f"the case has no {error.args[0]!r}",
                why=f"it has {has}",
                fix="every case needs an input; say which key holds it with --input-column",
            ) from None

    def _id_of(self, value: Json, case_input: Json) -> str:
        if type(value) is str and value:
            return value
        if value is None:
            if self._columns.id is None:
                return _hash_id(case_input)
            raise UsageError(
                f"the case has no {self._id!r}",
                why="it was named as the id",
                fix="give every case an id, or do not name a key as the id",
            )
        if type(value) is int:
            return str(value)
        why = "it is empty" if value == "" else f"it is {kind_of(value)}"
        raise UsageError(
            f"{self._id!r} must be a text or a whole number",
            why=why,
            fix="leave it out to get an id made of the input's hash",
        )

    def _tags_of(self, value: Json) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(tag, str) for tag in value):
            return tuple(value)
        raise _refusal(value, self._tags, 'an array of texts, e.g. ["hard", "math"]')

    def _condition_of(self, value: Json) -> str:
        if value is None:
            return DEFAULT_CONDITION
        condition = self._text(value, self._condition)
        if not condition:
            raise UsageError(
                f"{self._condition!r} is empty", fix=f"leave it out for {DEFAULT_CONDITION!r}"
            )
        return condition

    def _text(self, value: Json, name: str) -> str:
        if isinstance(value, str):
            return value
        raise _refusal(value, name, "a text")

    def _merge(self, metadata: Json, values: Mapping[str, Json]) -> dict[str, Json]:
        metadata = {} if metadata is None else metadata
        if not isinstance(metadata, dict):
            raise _refusal(metadata, self._metadata, 'an object, e.g. {"source": "manual"}')
        if not values:
            return metadata
        if not self._extra_is_metadata:
            raise UsageError(
                unknown_name(next(iter(values))[:60], self._known()),
                fix=f"put facts about the case into {self._metadata!r}, "
                "or keep unknown keys there with --extra metadata",
            )
        for name in values:
            if name in metadata:
                raise UsageError(f"{name!r} stands both in {self._metadata!r} and beside it")
        return {**metadata, **values}

    def _known(self) -> tuple[str, ...]:
        return (
            self._id,
            *self._input,
            self._expected,
            self._metadata,
            self._tags,
            self._split,
            self._condition,
        )


def _refusal(value: Json, name: str, wanted: str) -> UsageError:
    return UsageError(f"{name!r} must be {wanted}", why=f"it is {kind_of(value)}")


def _hash_id(case_input: Json) -> str:
    try:
        return case_id_of(case_input)
    except RecursionError:
        raise UsageError("the input is nested too deeply") from None
