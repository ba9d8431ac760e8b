"""Entry point of the command line."""

from __future__ import annotations

import sys

from fairtrial import __version__


def main(words: list[str] | None = None) -> int:
    """Run one command line and return its exit code.

    `--version` is answered before anything else is imported.

    Args:
        words: The command line; None is that of this process, which then ends with it.
    """
    given = sys.argv[1:] if words is None else words
    if given in (["--version"], ["-V"]):
        sys.stdout.write(f"fairtrial {__version__}\n")
        return 0
    return _run(given) if words is not None else _run_and_end(given)


def _run(words: list[str]) -> int:
    from fairtrial.cli.dispatch import dispatch  # noqa: PLC0415  # not needed for --version

    return dispatch(words)


def _run_and_end(words: list[str]) -> int:
    from fairtrial.cli import garbage  # noqa: PLC0415  # not needed for --version

    garbage.postpone()
    try:
        return _run(words)
    finally:
        garbage.leave()


if __name__ == "__main__":
    sys.exit(main())
