"""`harness show`: what belongs to a harness, and what agents are told of it."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.harnesses import folder_in, harness_of
from fairtrial.app.reports.harness import HarnessReport, Told
from fairtrial.app.requests.harness_show import Request
from fairtrial.harness.conflicts import conflict_line
from fairtrial.harness.loading.agents import LOADED, loaded
from fairtrial.harness.loading.listing import listed


def harness_show(bench: Bench, request: Request) -> HarnessReport:
    """Return the files of a harness, and what each agent is told when a session starts.

    Raises:
        UsageError: the source is no harness, or the folder is outside of the repository.
        NotFoundError: there is no such file or commit.
        FairtrialError: it cannot be read.
    """
    harness = harness_of(bench, request.source)
    cwd = folder_in(bench, request.cwd)
    agents = LOADED if request.agent is None else (request.agent,)
    told = [
        Told(agent, loaded(agent, harness, cwd), listed(agent, harness, cwd)) for agent in agents
    ]
    conflicts = {path: conflict_line(text) for path, text in harness.files.items()}
    return HarnessReport(
        harness=harness,
        cwd=cwd,
        told=told,
        conflicts={path: line for path, line in conflicts.items() if line is not None},
        in_full=request.agent is not None,
    )
