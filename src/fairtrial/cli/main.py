"""Entry point of the command line."""

from __future__ import annotations

import sys

from fairtrial import __version__


def main(words: list[str] | None = None) -> int:
    """Run one command line and return its exit code.

    `--version` is answered before anything else is imported.
    """
    words = sys.argv[1:] if words is None else words
    if words in (["--version"], ["-V"]):
        sys.stdout.write(f"fairtrial {__version__}\n")
        return 0
    from fairtrial.cli.dispatch import dispatch  # noqa: PLC0415  # not needed for --version

    return dispatch(words)


if __name__ == "__main__":
    sys.exit(main())
