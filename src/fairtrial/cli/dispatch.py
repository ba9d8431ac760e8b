"""One command line: find its verb, run it, print its report, return its exit code."""

from __future__ import annotations

import os
import traceback
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial import __version__
from fairtrial.app.verbs import GROUPS, VERBS, Verb, find_verb
from fairtrial.cli import streams
from fairtrial.model.errors import DefectError, ExitCode, FairtrialError, UsageError

if TYPE_CHECKING:
    from fairtrial.app.bench import Bench

HELP = ("--help", "-h")
VERSION = (["--version"], ["-V"])


def dispatch(words: list[str]) -> int:
    """Run the command that the words say."""
    options = words[: words.index("--")] if "--" in words else words
    wants_help = any(word in HELP for word in options)
    as_json = "--json" in options
    try:
        verb = find_verb(tuple(words))
        if verb is None or wants_help:
            return _explain(verb, words, wants_help=wants_help)
        return _run(verb, words[len(verb.path) :])
    except FairtrialError as error:
        return _tell(error, as_json=as_json and not isinstance(error, streams.OutputError))
    except BrokenPipeError:
        return ExitCode.OK  # the reader left; there is nobody to tell
    except KeyboardInterrupt:
        streams.tell("interrupted\n")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001  # bad input never shows a traceback; a defect is logged
        return _tell(_defect(error), as_json=as_json)


def _explain(verb: Verb | None, words: list[str], *, wants_help: bool) -> int:
    from fairtrial.cli.help import group_help, top_help, verb_help  # noqa: PLC0415  # only for help

    group = words[0] if words and words[0] in GROUPS else None
    named = [word for word in words if not word.startswith("-")]
    if verb is not None:
        text = verb_help(verb)
    elif words in VERSION:
        text = f"fairtrial {__version__}\n"
    elif group is not None and len(named) == 1:
        text = group_help(group)
    elif not named:
        text = top_help()
    else:
        raise _unknown(named)
    streams.write_text(text)
    bad = words and not (wants_help or named or words in VERSION)
    return ExitCode.USAGE if bad else ExitCode.OK


def _unknown(named: list[str]) -> UsageError:
    import difflib  # noqa: PLC0415  # only for the suggestion

    typed = " ".join(named[:2])
    names = [verb.name for verb in VERBS]
    near = difflib.get_close_matches(typed, names, n=1) or difflib.get_close_matches(
        named[0], [*names, *GROUPS], n=1
    )
    hint = f"did you mean: fairtrial {near[0]}" if near else "see: fairtrial --help"
    return UsageError(f"there is no command {typed!r}", fix=hint)


def _run(verb: Verb, words: list[str]) -> int:
    from fairtrial.app.bench import bench_here  # noqa: PLC0415  # not needed for help
    from fairtrial.app.spec_files import build_request  # noqa: PLC0415
    from fairtrial.cli.arguments import arguments_of  # noqa: PLC0415
    from fairtrial.cli.output import show  # noqa: PLC0415

    arguments = arguments_of(verb, words)
    bench = bench_here()
    if verb.asks and not arguments.json:
        from fairtrial.cli.asking import asking  # noqa: PLC0415  # rarely asked

        bench = asking(verb, bench)
    try:
        request = build_request(verb.request(), arguments.given, bench.cwd)
        if verb.serves:
            from fairtrial.cli.serving import served  # noqa: PLC0415  # only for what serves

            return served(verb, bench, request, as_json=arguments.json)
        watching = getattr(request, "watching", None)
        if watching is not None and not watching.watching and "watch" in arguments.given:
            raise UsageError("--watch-path has no effect without --watch", fix="add --watch")
        if watching is not None and watching.watching:
            from fairtrial.cli.watching import watched_runs  # noqa: PLC0415  # rarely asked

            build = partial(build_request, verb.request(), arguments.given, bench.cwd)
            return watched_runs(bench, request, build, as_json=arguments.json)
        if getattr(request, "watch", False):
            from fairtrial.cli.watching_ab import watched_ab  # noqa: PLC0415  # rarely asked

            return watched_ab(bench, request, as_json=arguments.json)
        report = _watched(verb, bench, request)
        with suppress(BrokenPipeError):  # the reader left, and yet what was decided is decided
            show(verb, report, as_json=arguments.json)
        exit_code: ExitCode = report.exit_code
        return exit_code
    finally:
        bench.close()


def _watched(verb: Verb, bench: Bench, request: Any) -> Any:
    """Run a verb, with progress and a way to stop it if it takes long."""
    function = verb.function()
    kept = streams.kept_for_the_report() if verb.runs_graders else nullcontext()
    if verb.reads:
        from fairtrial.cli.reading import reading  # noqa: PLC0415  # only for what reads files

        with kept, reading(bench) as reading_bench:
            return function(reading_bench, request)
    if not verb.runs_trials and not verb.judges:
        return function(bench, request)
    from fairtrial.cli.progress import watched  # noqa: PLC0415  # only for what takes a while

    if not verb.runs_trials:
        with kept, watched(bench) as watched_bench:
            return function(watched_bench, request)
    from fairtrial.cli.interrupts import stoppable  # noqa: PLC0415  # only for runs

    with (
        streams.kept_for_the_report(),
        stoppable(bench.control),
        watched(bench) as watched_bench,
    ):
        return function(watched_bench, request)


def _tell(error: FairtrialError, *, as_json: bool) -> int:
    if as_json:
        from fairtrial.cli.output import error_json  # noqa: PLC0415  # msgspec is not needed else

        try:
            streams.write_document(lambda out: out.write(error_json(error)))
        except (BrokenPipeError, streams.OutputError):
            as_json = False
    if not as_json:
        from fairtrial.cli.harmless import harmless_lines  # noqa: PLC0415  # only for errors

        streams.tell(f"error: {harmless_lines(str(error))}\n")
    return error.exit_code


def _defect(error: Exception) -> FairtrialError:
    from fairtrial.app.bench import home_here  # noqa: PLC0415  # only for defects

    log = home_here(os.environ) / "crashes.log"
    kept = _keep_traceback(log, error)
    return DefectError(
        f"a defect of fairtrial: {type(error).__name__}: {error}",
        why=f"the traceback is in {log}" if kept else None,
        fix="finished trials are kept; please report it with that traceback",
    )


def _keep_traceback(log: Path, error: Exception) -> bool:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return False
    return True
