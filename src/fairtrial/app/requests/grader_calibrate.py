"""Options of `grader calibrate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from fairtrial.app.caching_options import Caching
from fairtrial.app.file_options import Plot
from fairtrial.schema.fields import JSON_OR_FILE, group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Hold a grader against people's labels: what it recognises, how surely, where it differs.

    The grader grades the labelled outputs again, in an experiment or in a dataset; no task runs.
    Only cases of the test split count: a rubric agrees best with the cases it was written on.
    Exit code 0, or 2 with too few labels to say.
    """

    grader: Any = option(positional=True, metavar=JSON_OR_FILE)
    """The grader, or with --experiment the name of one of its graders"""
    labels: Path = option(metavar="FILE")
    """Human labels, JSON array or JSONL of {"caseId","value":"pass"|"fail"|"skip","criterion"?}"""
    experiment: str | None = option(None, short="-e", metavar="EXPERIMENT[:ARM]")
    """The experiment whose outputs people labelled; of several trials of a case, the first that
    has an output counts"""
    dataset: str | None = option(None, short="-d", metavar="NAME[@VERSION]")
    """Instead: a dataset whose cases hold the labelled outputs"""
    output_at: str | None = option(None, metavar="POINTER")
    """With --dataset: JSON pointer to the output within a case (default: /metadata/output)"""
    split: str = option("test", metavar="SPLIT")
    """The split that counts; all takes every labelled case, and the verdict then says so"""
    criterion: str | None = option(None, metavar="NAME")
    """The criterion of the labels that speak to this grader (default: its name, where there is one,
    else the labels without a criterion)"""
    min_labels: Annotated[int, Meta(ge=1)] = option(20, metavar="N")
    """Fewest labels for a verdict"""
    concurrency: Annotated[int, Meta(ge=1, le=1024)] = option(4, short="-c", metavar="N")
    """Outputs graded at a time"""
    caching: Caching = group(Caching)
    picture: Plot = group(Plot)


EXAMPLES = (
    "fairtrial grader calibrate judge.json --labels people.jsonl --experiment smoke",
    "fairtrial grader calibrate polite --labels people.jsonl -e smoke --plot polite.svg",
    "fairtrial grader calibrate judge.json --labels people.jsonl -d qa --output-at /input/answer",
)
