"""What pairwise judges and people say of a comparison, in a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairtrial.analysis.labelled_delta import SHARED, LabelledDelta, LabelReading
from fairtrial.analysis.pairwise_judging import JudgedPairs, PairwiseFinding
from fairtrial.interchange.pictures.of_comparison import points


def notes(judged: JudgedPairs | None, people: LabelReading | None) -> Sequence[str]:
    """Return a sentence for each judge, and for each criterion that people labelled."""
    return (*_of_judges(judged), *_of_people(people))


def _of_judges(judged: JudgedPairs | None) -> Iterator[str]:
    for finding in () if judged is None else judged.findings:
        yield f"Pairwise judge {finding.spec.name}: {_finding(finding)}."


def _finding(finding: PairwiseFinding) -> str:
    found = finding.found
    if found is None:
        return "no pair was judged"
    missing = len(finding.pairs) - finding.judged
    undecided = f"; {missing:,} pairs undecided" if missing else ""
    return (
        f"B wins {found.wins:,}, loses {found.losses:,} and ties {found.ties:,} of {found.n:,} "
        f"pairs (p = {found.test.p_mid:.3g}){undecided}"
    )


def _of_people(people: LabelReading | None) -> Iterator[str]:
    if people is not None and people.shared:
        yield f"{SHARED[0].upper()}{SHARED[1:]}."
    for found in () if people is None else people.deltas:
        about = "" if found.criterion is None else f" on {found.criterion}"
        yield f"By people's labels{about}: {_labelled(found)}."


def _labelled(found: LabelledDelta) -> str:
    best = found.headline
    if best is None or best.estimate is None or best.interval is None:
        return f"no corrected difference, {found.correction.reason}"
    ends = f"{points(best.interval.lower)} to {points(best.interval.upper)}"
    changed = f"; {found.changed}" if found.changed else ""
    return f"B − A is {points(best.estimate)} points ({ends}){changed}"
