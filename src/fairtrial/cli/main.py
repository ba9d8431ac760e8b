"""Entry point of the command line."""

from __future__ import annotations

import sys

from fairtrial import __version__

_COMPLETE = "__complete"
"""What the scripts of shells call at every Tab; no command for people."""


def main(words: list[str] | None = None) -> int:
    """Run one command line and return its exit code.

    `--version` is answered, and the hook of agents run, before anything else is imported.

    Args:
        words: The command line; None is that of this process, which then ends with it.
    """
    given = sys.argv[1:] if words is None else words
    if given in (["--version"], ["-V"]) and _printed(f"fairtrial {__version__}\n"):
        return 0
    if given[:1] == ["hook"]:
        from fairtrial.cli.hook import hook  # noqa: PLC0415  # an agent waits for it

        return hook(given[1:])
    if given[:1] == [_COMPLETE]:
        from fairtrial.cli.completion.answering import answer  # noqa: PLC0415  # as below

        return answer(given[1:])
    try:
        return _run(given) if words is not None else _run_and_end(given)
    except KeyboardInterrupt:  # while modules are loaded, before anything else is there to catch it
        sys.stderr.write("interrupted\n")
        return 130


def _printed(text: str) -> bool:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError):
        return False  # closed or full: what comes next tells
    return True


def _run(words: list[str]) -> int:
    from fairtrial.cli.dispatch import dispatch  # noqa: PLC0415  # not needed for --version

    return dispatch(words)


def _run_and_end(words: list[str]) -> int:
    from fairtrial.cli import garbage, streams  # noqa: PLC0415  # not needed for --version

    streams.prepare()
    garbage.postpone()
    try:
        return _run(words)
    finally:
        garbage.leave()


if __name__ == "__main__":
    sys.exit(main())
