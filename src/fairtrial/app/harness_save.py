"""`harness save`: a harness as one file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.harnesses import harness_of
from fairtrial.app.reports.document import document
from fairtrial.app.reports.harness import HarnessSavedReport
from fairtrial.app.requests.harness_save import Request
from fairtrial.harness.belonging import PRIVATE
from fairtrial.harness.bundle import bundle_text, is_bundle
from fairtrial.model.errors import UsageError
from fairtrial.model.harness import Harness
from fairtrial.redaction.secrets import Redactor

_HEAD: Final = 300


def harness_save(bench: Bench, request: Request) -> HarnessSavedReport:
    """Write a harness to a file.

    Raises:
        UsageError: the source is no harness, it is empty, or the file cannot be written or is
            something else.
        NotFoundError: there is no such file or commit.
        FairtrialError: it cannot be read.
    """
    harness = harness_of(bench, request.source)
    path = Path(os.path.normpath(bench.path(request.file)))
    if not harness.files:
        raise UsageError(
            "there is nothing to save: no AGENTS.md, CLAUDE.md, rule or skill is here",
            fix="go to a repository that has one, or name another source with --from",
        )
    _refuse_other(path)
    harness = _to_be_kept(harness)
    text = bundle_text(harness)
    document("json", lambda stream: stream.write(text), path, "FILE")
    return HarnessSavedReport(harness, path)


def _to_be_kept(harness: Harness) -> Harness:
    """Return a harness without secrets that are known by their look, and what to know of it."""
    redactor = Redactor()
    files, notes = {}, list(harness.notes)
    for path, text in harness.files.items():
        data = text.encode("utf-8")
        count = len(redactor.spans(data))
        files[path] = redactor.body(data).decode("utf-8") if count else text
        if count:
            notes.append(f"{path} held secrets by their look ({count}); they were taken out")
        if PurePosixPath(path).name == PRIVATE:
            notes.append(f"{path} is your own, and is in the file: mind whom you give it to")
    return replace(harness, files=files, notes=tuple(notes))


def _refuse_other(path: Path) -> None:
    """Refuse to write over what is no saved harness."""
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            kept = is_bundle(file.read(_HEAD).decode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    if not kept:
        raise UsageError(
            f"{path} is there already, and is no saved harness",
            fix="name another file, or remove it first",
        )
