"""`demo`: a small real experiment, offline, in a store of its own."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.dataset_add import dataset_add
from fairtrial.app.exp_compare import compared
from fairtrial.app.exp_run import exp_run
from fairtrial.app.reports.demo import DemoReport
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.requests.dataset_add import Request as AddRequest
from fairtrial.app.requests.demo import Request
from fairtrial.app.requests.exp_compare import Request as CompareRequest
from fairtrial.app.requests.exp_run import Request as RunRequest
from fairtrial.app.spec_files import build_request
from fairtrial.model.errors import UsageError

FILES = Path(__file__).parent / "demo_files"
STORE = "store"


def demo(bench: Bench, request: Request) -> DemoReport:
    """Run the two programs of the demo over its cases, and compare them.

    Raises:
        UsageError: the folder to keep exists already.
    """
    keep = None if request.keep is None else bench.path(request.keep)
    if keep is not None and keep.exists():
        raise UsageError("exists already", where=str(keep), fix="name a folder that does not exist")
    with _folder(keep) as folder:
        inside = dataclasses.replace(
            bench, home=folder / STORE, cwd=folder, store_url=None, environ=_with_this_python(bench)
        )
        try:
            dataset_add(inside, AddRequest("invoices", (folder / "cases.jsonl",)))
            baseline = _run(inside, "baseline")
            candidate = _run(inside, "candidate")
            _, comparison = compared(inside, CompareRequest("baseline", "candidate"))
        finally:
            inside.close()
    return DemoReport(baseline, candidate, comparison, keep)


def _with_this_python(bench: Bench) -> dict[str, str]:
    """Return the environment in which `python3` is the Python that runs fairtrial."""
    folders = [str(Path(sys.executable).parent), bench.environ.get("PATH", os.defpath)]
    return {**bench.environ, "PATH": os.pathsep.join(folders)}


def _run(bench: Bench, name: str) -> ExperimentReport:
    request = build_request(RunRequest, {"spec": f"{name}.yaml", "seed": 1}, bench.cwd)
    report = exp_run(bench, request)
    if not isinstance(report, ExperimentReport):
        raise TypeError(report)
    return report


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Yield a folder with the demo's files: one to keep, or one that is gone afterwards."""
    if keep is not None:
        shutil.copytree(FILES, keep)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="fairtrial-demo-") as name:
        folder = Path(name) / "demo"
        shutil.copytree(FILES, folder)
        yield folder
