"""Whether an experiment still has the outputs that are to be read."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.model.errors import NotFoundError
from fairtrial.model.experiment import Experiment


def require_outputs(bench: Bench, experiment: Experiment) -> None:
    """Refuse to read outputs that were removed: what is not there would be graded as nothing.

    Raises:
        NotFoundError: they were removed.
    """
    if bench.store.pruner.without_outputs(experiment.id):
        raise NotFoundError(
            f"the outputs of {experiment.name} were removed",
            where=experiment.id,
            why="`fairtrial prune outputs` keeps verdicts, scores and sums only",
            fix="run it again, or use an experiment that still has them",
        )
