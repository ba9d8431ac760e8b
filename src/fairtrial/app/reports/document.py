"""A report that is a document: written to a file, or to standard output as it is made."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TextIO

from fairtrial.app.reports.informing import Informing
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class DocumentReport(Informing):
    """A document, made when it is written.

    Attributes:
        format: Its format.
        write: Writes it to a stream.
        path: The file it was written to; None when it is for standard output.
    """

    schema: ClassVar[str] = "fairtrial.document/1"

    format: str
    write: Callable[[TextIO], object]
    path: Path | None

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, **self.facts()}

    def facts(self) -> dict[str, Json]:
        """Return where the document is, or the document itself when it has no file."""
        text = None
        if self.path is None:
            stream = io.StringIO(newline="")
            self.write(stream)
            text = stream.getvalue()
        return {
            "format": self.format,
            "path": str(self.path) if self.path else None,
            "text": text,
        }


def document(
    document_format: str,
    write: Callable[[TextIO], object],
    path: Path | None,
    flag: str = "--output",
) -> DocumentReport:
    """Return a document; one with a path is written now, and replaces the file only when whole.

    Args:
        document_format: Its format.
        write: Writes it to a stream.
        path: Its file; None for standard output.
        flag: The option that named the file.

    Raises:
        UsageError: the file cannot be written.
    """
    if path is not None:
        try:
            if _is_device(path):
                with path.open("w", encoding="utf-8", newline="") as stream:
                    write(stream)
            else:
                _write_whole(Path(os.path.realpath(path)), write)
        except OSError as error:
            raise UsageError(
                f"cannot be written: {error.strerror}", where=str(path), fix=f"give another {flag}"
            ) from None
    return DocumentReport(document_format, write, path)


def _is_device(path: Path) -> bool:
    """Return whether a path is a stream such as /dev/stdout, which a file must not replace."""
    if path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm"):  # noqa: S108  # no file of ours
        return True
    return path.exists() and not (path.is_file() or path.is_dir())


def _write_whole(path: Path, write: Callable[[TextIO], object]) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:  # noqa: PTH123  # a descriptor
            write(stream)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # noqa: PTH101  # mkstemp's 0600 is not what was asked for
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
