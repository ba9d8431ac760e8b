"""Routes that are nothing but a verb: parameters become its request, its report the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from fairtrial.app.bench import Bench
from fairtrial.app.verbs import Verb, find_verb
from fairtrial.http.answers import schema_ref
from fairtrial.http.names_in_paths import names_of
from fairtrial.http.problems import MEDIA_TYPE
from fairtrial.model.errors import DefectError, UsageError
from fairtrial.schema.decoding import decode, unknown_name
from fairtrial.schema.fields import Option, options_of

QUERY: Final = "query"


@dataclass(frozen=True, slots=True)
class Reading:
    """A GET route of a verb.

    Attributes:
        path: Its path, with parameters in braces.
        verb: The verb's words.
        in_path: Options that parameters of the path give, by the parameter's name.
        renamed: Options that have another name in the query, by that name.
        left_out: Options that are of no use here. Those that name a file of the server always are.
        answers: The forms of its answer, as `docs/reference/json.md` calls them.
        name: What it is called in the description; the verb's words unless given.
    """

    path: str
    verb: tuple[str, ...]
    in_path: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    answers: tuple[str, ...] = ()
    name: str | None = None

    @property
    def called(self) -> str:
        """What it is called in the description."""
        return self.name or "_".join(self.verb)


def add_readings(router: APIRouter, bench: Bench, readings: tuple[Reading, ...]) -> None:
    """Add a route for each reading. The verb runs in a thread of its own."""
    for reading in readings:
        verb = _verb(reading)
        router.add_api_route(
            reading.path,
            _endpoint(bench, verb, reading),
            methods=["GET"],
            name=reading.called,
            operation_id=reading.called,
            summary=verb.summary,
            tags=[verb.path[0]],
            response_class=Response,
            responses=responses(verb.summary, 200, reading.answers),
            openapi_extra={"parameters": list(_parameters(verb, reading))},
        )


def answer(report: Any, status: int = 200) -> Response:
    """Return a report as the JSON that the command line prints."""
    text = json.dumps(report.json(), ensure_ascii=False, allow_nan=False)
    return Response(text, status, media_type="application/json")


def _verb(reading: Reading) -> Verb:
    verb = find_verb(reading.verb)
    if verb is None:
        raise DefectError(f"there is no verb {' '.join(reading.verb)}")
    return verb


def _endpoint(bench: Bench, verb: Verb, reading: Reading) -> Callable[[Request], Response]:
    # FastAPI runs a function that is not async in a thread, so the store may take its time.
    def read(request: Request) -> Response:
        values = _values(request, verb, reading)
        return answer(verb.function()(bench, decode(verb.request(), values, QUERY)))

    return read


def _values(request: Request, verb: Verb, reading: Reading) -> dict[str, Any]:
    """Return the options that a request gives.

    Raises:
        UsageError: a parameter of the query has no meaning.
    """
    names = {option: name for name, option in reading.renamed.items()}
    named = names_of(request)
    given = {option: named[name] for name, option in reading.in_path.items()}
    return _read(request, _offered(verb, reading), names) | given


def query_values(
    request: Request, kind: type[Any] | None, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return the options of a kind that the query of a request gives.

    Args:
        request: The request.
        kind: A dataclass of options; None takes none.
        names: Other names of options in the query.

    Raises:
        UsageError: a parameter has no meaning.
    """
    return _read(request, [] if kind is None else options_of(kind), names)


def query_parameters(kind: type[Any], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return how the description of the API tells of the options of a kind."""
    return [_parameter(option, names) for option in options_of(kind)]


def _read(request: Request, options: Iterable[Option], names: Mapping[str, str]) -> dict[str, Any]:
    offered = {names.get(option.name, option.name): option for option in options}
    values: dict[str, Any] = {}
    for name, text in request.query_params.multi_items():
        option = offered.get(name)
        if option is None:
            raise UsageError(
                unknown_name(name, offered) if offered else f"unknown {name!r}", where=QUERY
            )
        if _is_list(option):
            values.setdefault(option.name, []).append(text)
        elif option.name in values:
            raise UsageError(f"{name!r} is there more than once", where=QUERY)
        else:
            values[option.name] = _typed(option, text)
    return values


def _parameter(option: Option, names: Mapping[str, str]) -> dict[str, Any]:
    (schema,), _ = msgspec.json.schema_components([option.type])
    return {
        "name": names.get(option.name, option.name),
        "in": "query",
        "required": option.required,
        "description": option.doc,
        "schema": schema,
    }


def _offered(verb: Verb, reading: Reading) -> list[Option]:
    unwanted = {*reading.left_out, *reading.in_path.values()}
    return [
        option
        for option in options_of(verb.request())
        if option.name not in unwanted and not _names_file(option)
    ]


def _names_file(option: Option) -> bool:
    return any(part is Path for part in _parts(option.type))


def _is_list(option: Option) -> bool:
    return any(
        part is tuple or getattr(part, "__origin__", None) is tuple for part in _parts(option.type)
    )


def _parts(kind: Any) -> list[Any]:
    return [kind, *(inner for part in get_args(kind) for inner in _parts(part))]


def _typed(option: Option, text: str) -> Any:
    """Return the value that a text stands for; the text itself when it does not fit."""
    try:
        return msgspec.convert(text, option.type, strict=False)
    except msgspec.ValidationError:
        return text


def _parameters(verb: Verb, reading: Reading) -> list[dict[str, Any]]:
    names = {option: name for name, option in reading.renamed.items()}
    found = []
    docs = {option.name: option.doc for option in options_of(verb.request())}
    for name, option_name in reading.in_path.items():
        found.append(
            {
                "name": name,
                "in": "path",
                "required": True,
                "description": docs[option_name],
                "schema": {"type": "string", "minLength": 1},
            }
        )
    found += [_parameter(option, names) for option in _offered(verb, reading)]
    return found


def responses(summary: str, status: int, answers: Sequence[str]) -> dict[int | str, dict[str, Any]]:
    """Return how a route answers, for the description of the API.

    Args:
        summary: What it does.
        status: What it answers when all is well.
        answers: The forms of that answer; none stands for an answer without a body.
    """
    refs = [{"$ref": schema_ref(title)} for title in answers]
    content = {"application/json": {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}}}
    return {
        status: {"description": summary, **({"content": content} if refs else {})},
        "default": {
            "description": "What went wrong, and what to do next",
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        },
    }
