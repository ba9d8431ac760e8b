"""A session as Markdown: its notes and runs in the order of time."""

from __future__ import annotations

from typing import TextIO

from fairtrial.app.reports.logbook import LogbookReport, Noted, Ran
from fairtrial.interchange.experiment_exports.markdown import block, code
from fairtrial.interchange.experiment_exports.visible_text import one_line, visible


def write(report: LogbookReport, stream: TextIO) -> None:
    """Write the session. Whatever somebody wrote stays text."""
    stream.write(f"# {code(report.logbook.name)}\n\n")
    for entry in report.entries:
        at = f"{entry.at.astimezone():%Y-%m-%d %H:%M}"
        if isinstance(entry, Noted):
            stream.write(f"{at}\n\n{block(visible(entry.text))}\n\n")
        else:
            stream.write(f"{at} **run {entry.number}** {_run(entry)}\n\n")
    stream.writelines(f"{code(one.sentence(), 1_000)}\n" for one in report.tried)


def _run(entry: Ran) -> str:
    experiment = entry.state.experiment
    rate = entry.rate.estimate
    passed = "no verdict" if rate is None else f"{100 * rate:.1f} % passed"
    text = f"{code(experiment.name)} {experiment.id}: {passed}"
    if entry.delta is None:
        return text
    return f"{text}\n\n{code(one_line(entry.delta.sentence(), 500), 500)}"
