"""JUnit XML: one testcase a row; what B broke fails."""

from __future__ import annotations

from typing import TextIO
from xml.sax.saxutils import escape

from fairtrial.interchange.comparison_exports.export import (
    WORDS,
    ComparisonExport,
    change_of,
    interval_of,
)
from fairtrial.interchange.experiment_exports.junit import tag
from fairtrial.interchange.experiment_exports.visible_text import one_line, visible
from fairtrial.model.comparison import Change, RowChange

SKIPPED = (Change.UNDECIDED, Change.NOT_COMPARABLE, Change.NEW, Change.DROPPED)
"""Changes of which nothing can be said: a row in one experiment only has nothing to compare."""
_REASON_CHARACTERS = 500


def write(export: ComparisonExport, stream: TextIO) -> None:
    """Write a comparison's rows.

    A broken row is a `failure`; a row that cannot be compared is `skipped`, with the reason.
    Every other row passes, the regressed ones too: they did not flip.
    """
    found = export.comparison
    name = visible(f"{found.b.label} against {found.a.label}")
    counts = {
        "tests": str(sum(found.counts.values())),
        "failures": str(found.counts[Change.BROKEN]),
        "errors": "0",
        "time": "0.000",
    }
    skipped = str(sum(found.counts[change] for change in SKIPPED))
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n')
    stream.write(tag("testsuites", {"name": name, **counts}) + "\n")
    suite = {"name": name, "id": "0", **counts, "skipped": skipped}
    stream.write(f"  {tag('testsuite', suite)}\n    <properties>\n")
    stream.writelines(
        f"      {tag('property', {'name': key, 'value': visible(value)})}</property>\n"
        for key, value in _properties(export).items()
    )
    stream.write("    </properties>\n")
    classname = visible(f"{found.b.dataset}.{found.b.label}")
    stream.writelines(_testcase(row, classname) for row in export.rows())
    stream.write("  </testsuite>\n</testsuites>\n")


def _testcase(row: RowChange, classname: str) -> str:
    attributes = {"classname": classname, "name": visible(str(row.key)), "time": "0.000"}
    start = f"    {tag('testcase', attributes)}"
    reason = one_line(row.reason or "no reason was given", _REASON_CHARACTERS)
    if row.change is Change.BROKEN:
        luck = " (could be luck)" if row.within_noise else ""
        message = f"broken, {change_of(row)}{luck}: {reason}"
        body = (
            f"{tag('failure', {'message': message, 'type': 'broken'})}{escape(message)}</failure>"
        )
    elif row.change in SKIPPED:
        about = f": {reason}" if row.change not in (Change.NEW, Change.DROPPED) else ""
        body = f"{tag('skipped', {'message': WORDS[row.change] + about})}</skipped>"
    else:
        body = f"<system-out>{escape(f'{WORDS[row.change]}, {change_of(row)}')}</system-out>"
    return f"{start}{body}</testcase>\n"


def _properties(export: ComparisonExport) -> dict[str, str]:
    found, delta, decision = export.comparison, export.comparison.delta, export.decision
    numbers = {
        "a_pass_rate": delta.a,
        "b_pass_rate": delta.b,
        "delta": delta.estimate,
        "delta_lower": delta.lower,
        "delta_upper": delta.upper,
        "p": delta.p,
    }
    properties = {
        "a": found.a.id,
        "b": found.b.id,
        "a_name": found.a.label,
        "b_name": found.b.label,
        "sentence": found.sentence,
        "change": interval_of(delta),
        **{name: f"{value:.6g}" for name, value in numbers.items() if value is not None},
        "delta_method": delta.method,
        "verdict": delta.verdict.value,
        "n": str(delta.n),
        **{change.value: str(count) for change, count in found.counts.items()},
    }
    if decision is not None:
        properties["decision"] = decision.outcome.value
        properties["decision_reason"] = " ".join(decision.reasons)
    return properties
