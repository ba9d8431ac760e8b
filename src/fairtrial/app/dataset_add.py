"""`dataset add`: cases from files and sessions, as a new version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.reports.dataset import AddedReport
from fairtrial.app.requests.dataset_add import ColumnNames, Request
from fairtrial.interchange.dataset_files.columns import STDIN, Columns, Extra, Format
from fairtrial.interchange.dataset_files.reading import read_cases
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.errors import UsageError
from fairtrial.model.wording import excerpt

LONGEST_NAME = 200


def dataset_add(bench: Bench, request: Request) -> AddedReport:
    """Store the cases of files and sessions as the newest version of a dataset.

    Raises:
        UsageError: the name, a file, a line or a session is wrong; nothing was written.
        NotFoundError: a file or a session does not exist.
    """
    name = checked_name(request.name)
    if not request.files and not request.sessions:
        raise UsageError(
            "nothing says which cases to store",
            fix="name files, or sessions with --session",
        )
    paths = [path if path == STDIN else _below(bench, path) for path in request.files]
    file_format = None if request.format is None else Format(request.format)
    cases = read_cases(paths, _columns(request.columns), file_format=file_format) if paths else ()
    if request.sessions:
        # Not needed for cases from files.
        from fairtrial.app.session_cases import session_cases  # noqa: PLC0415

        made = session_cases(bench, request.sessions)
        cases = _merged(cases if paths else _newest(bench, name), made)
    version, is_new = bench.store.datasets.add_version(request.name, cases)
    return AddedReport(version, is_new)


def checked_name(name: str) -> str:
    """Return the name of a dataset.

    Raises:
        UsageError: it is none.
    """
    if "@" in name or not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise UsageError(
            f"{excerpt(repr(name))} is no name of a dataset",
            why=f"a name is printable text of at most {LONGEST_NAME} characters, without @, which "
            "marks a version",
        )
    return name


def _newest(bench: Bench, name: str) -> Iterable[Case]:
    """Return the cases of the newest version of a dataset; none when it is new."""
    datasets = bench.store.datasets
    versions = datasets.versions(name)
    return datasets.cases(versions[0]) if versions else ()


def _merged(cases: Iterable[Case], made: Mapping[CaseKey, Case]) -> Iterator[Case]:
    """Yield cases, those that were made anew in their old places, new ones last."""
    left = dict(made)
    for case in cases:
        yield left.pop(case.key, case)
    yield from left.values()


def _below(bench: Bench, path: Path) -> Path:
    """Return a path as the user wrote it when that is where it is, for shorter messages."""
    return path if bench.cwd == Path.cwd() else bench.path(path)


def _columns(names: ColumnNames) -> Columns:
    return Columns(
        id=names.id_column,
        input=names.input_columns,
        expected=names.expected_column,
        metadata=names.metadata_column,
        tags=names.tags_column,
        split=names.split_column,
        condition=names.condition_column,
        json=names.json_columns,
        extra=Extra(names.extra),
    )
