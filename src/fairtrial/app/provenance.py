"""Where and with what an experiment runs."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

from fairtrial import __version__
from fairtrial.app.ci import Ci, ci_here, environment_here
from fairtrial.model.experiment import Provenance

_NO_NAME = (".oid (initial)", ".head (detached)")
"""How git says that there is no commit yet, and no branch."""


def provenance(cwd: Path, environ: Mapping[str, str], source: str | None = None) -> Provenance:
    """Return what is known of this machine, this folder and its repository.

    Args:
        cwd: The folder.
        environ: The environment: a CI tells its commit, branch and pull request there.
        source: What makes the experiment, where its spec does not tell.

    Raises:
        UsageError: FAIRTRIAL_ENVIRONMENT names no environment.
    """
    status = _git(cwd, "status", "--porcelain=v2", "--branch", "--untracked-files=no")
    head = dict(
        line.removeprefix("# branch.").split(" ", 1)
        for line in status or ()
        if line.startswith("# branch.") and not line.endswith(_NO_NAME)
    )
    ci = ci_here(environ) or Ci()
    return Provenance(
        fairtrial=__version__,
        python=platform.python_version(),
        host=platform.node(),
        cwd=str(cwd),
        git_commit=ci.commit or head.get("oid"),
        git_branch=ci.branch or head.get("head"),
        git_dirty=None if status is None else any(not line.startswith("#") for line in status),
        environment=environment_here(environ),
        pull_request=ci.pull_request,
        source=source,
    )


def _git(cwd: Path, *words: str) -> list[str] | None:
    try:
        done = subprocess.run(  # noqa: S603  # fixed words, no user text
            ["git", "-C", str(cwd), *words],  # noqa: S607  # the user's own git
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.splitlines()
