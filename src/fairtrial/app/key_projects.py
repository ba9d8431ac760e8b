"""What a key that is for one project may reach."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs, unquote

from fairtrial.app.bench import Bench
from fairtrial.app.keys import digest_of
from fairtrial.app.projects import in_folder, project_named
from fairtrial.model.errors import FairtrialError

_FREE: Final = frozenset({"/v2/health", "/v2/openapi.json"})
_NAMING: Final = ("baseline", "a", "b")
"""Parameters of a query that name an experiment."""


def outside(bench: Bench, token: str, path: str, query: str) -> bool:
    """Return whether a request is beyond the project that a key is for.

    Args:
        bench: The workbench.
        token: The text of a good key.
        path: The path of the request.
        query: Its query.
    """
    key = bench.store.keys.good(digest_of(token))
    if key is None or key.project is None or path in _FREE:
        return False
    words = [unquote(word) for word in path.strip("/").split("/")]
    try:
        project = project_named(bench, key.project)
        if words[:2] == ["v2", "projects"] and len(words) > 2:
            return words[2] not in (project.id, project.name)
        asked = parse_qs(query)
        named = [ref for name, given in asked.items() if name in _NAMING for ref in given]
        if words in ([""], ["experiments"]):
            return False  # the list shows such a key what is of its project
        if words[:2] == ["v2", "experiments"] and len(words) > 2:
            named.append(words[2])
        elif words[0] == "experiments":
            named.append(words[1])
        elif words == ["side-by-side"]:
            named += [ref for given in asked.get("ids", ()) for ref in given.split(",")]
        elif words not in (["v2", "comparisons"], ["compare"]):
            return True
        return not named or any(_folder(bench, ref) != project.folder for ref in named)
    except FairtrialError:
        return True


def filter_of_key(bench: Bench, token: str | None) -> str | None:
    """Return the filter of experiments that a good key may see; None when it may see all.

    Raises:
        NotFoundError: the project is gone.
    """
    key = None if token is None else bench.store.keys.good(digest_of(token))
    if key is None or key.project is None:
        return None
    return in_folder(project_named(bench, key.project).folder)


def _folder(bench: Bench, ref: str) -> str:
    """Return the folder of an experiment, which may be named with an arm behind it."""
    experiments = bench.store.experiments
    try:
        return experiments.find(ref).experiment.provenance.cwd
    except FairtrialError:
        return experiments.find(ref.rpartition(":")[0]).experiment.provenance.cwd
