"""The other opinions of `exp compare`: pairwise judges, and people's labels of both arms."""

from __future__ import annotations

from fairtrial.analysis.comparing.comparability import Input
from fairtrial.analysis.comparing.compare import Compare
from fairtrial.analysis.labelled_delta import LabelReading
from fairtrial.analysis.pairwise_judging import JudgedPairs
from fairtrial.app.bench import Bench
from fairtrial.app.judging_options import HumanLabels, Judges
from fairtrial.app.label_correcting import corrected, label_files
from fairtrial.app.pairwise_judging import Panel


class Opinions:
    """Judges and people, with everything that the user gave checked before a judge is asked."""

    def __init__(
        self, bench: Bench, judges: Judges, people: HumanLabels, *, cache: bool = True
    ) -> None:
        """Build the judges and read the labels.

        Args:
            bench: The workbench.
            judges: The judges, and how they are asked.
            people: The labels.
            cache: Whether judges' answers are kept.

        Raises:
            UsageError: a judge, a label or a combination of options makes no sense.
            NotFoundError: a file does not exist.
        """
        self._bench = bench
        self._files = label_files(bench, people)
        self._min_labels = people.min_labels
        self._panel = Panel(bench, judges, cache=cache)

    def on(
        self, found: Compare, sides: tuple[Input, Input]
    ) -> tuple[JudgedPairs | None, LabelReading | None]:
        """Return what judges and people say of a comparison; None where none was asked.

        Raises:
            UsageError: a label names an unknown grader, or fits several rows.
            StoreError: the store failed.
        """
        people = None
        if self._files is not None:
            people = corrected(self._bench, found, sides, self._files, self._min_labels)
        judged = self._panel.judge(found, sides) if self._panel else None
        return judged, people
