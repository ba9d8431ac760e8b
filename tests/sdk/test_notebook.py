"""A real kernel runs real cells."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fairtrial import Experiment
from fairtrial.model.experiment import Status

nbformat = pytest.importorskip(
    "nbformat", reason="needs a notebook: pip install nbclient ipykernel"
)
nbclient = pytest.importorskip(
    "nbclient", reason="needs a notebook: pip install nbclient ipykernel"
)
manager_module = pytest.importorskip("jupyter_client.manager", reason="needs a notebook, too")
pytest.importorskip("ipykernel", reason="needs a notebook: pip install nbclient ipykernel")

CELLS = (
    """
from fairtrial import Case, Eval, eval_async
cases = [Case(n, 2 * n, id=f"row-{n}") for n in range(6)]
def double(x): return 2 * x
first = Eval("numbers", cases, double, progress=True)
first
""",
    """
def double(x): return 2 * x if x % 2 else "<script>alert(1)</script>"
second = await eval_async("numbers", cases, double)
second
""",
    "second.comparison",
    "Eval('numbers', [], double)",
)


@pytest.fixture
def outputs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """What each cell puts out."""
    del folder
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(Path(os.environ["HOME"]) / name.lower()))
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", allow_errors=True
    ).execute()
    return [cell.outputs for cell in notebook.cells]


def html_of(outputs: list[Any]) -> str:
    (result,) = [one for one in outputs if one.output_type == "execute_result"]
    return str(result.data["text/html"])


def test_cells_show_experiments_and_comparisons(outputs: list[list[Any]]) -> None:
    first, second, compared, refused = outputs
    assert "6 passed, 0 failed" in html_of(first)
    shown = [one.text for one in first if one.output_type == "stream" and one.name == "stderr"]
    assert "6 trials" in "".join(shown)
    assert "3 passed, 3 failed" in html_of(second)
    assert "&lt;script&gt;" in html_of(second)
    assert "3 broken, 0 fixed" in html_of(compared)
    assert not any("<script" in html_of(one) for one in (first, second, compared))
    (error,) = [one for one in refused if one.output_type == "error"]
    assert (error.ename, "the data hold no cases" in error.evalue) == ("UsageError", True)
    assert "waiting.py" not in "".join(error.traceback)


LONG = """
import asyncio
from fairtrial import Case, eval_async
async def slow(x):
    print("begun", flush=True)
    await asyncio.sleep(60)
    return x
await eval_async("slow", [Case(n, n) for n in range(40)], slow)
"""


def test_a_cell_that_awaits_can_be_interrupted(folder: Path) -> None:
    del folder
    manager, client = manager_module.start_new_kernel(kernel_name="python3")
    try:
        cell = client.execute(LONG)
        errors: list[str] = []
        while True:
            message = client.get_iopub_msg(timeout=50)
            if message["parent_header"].get("msg_id") != cell:
                continue
            content = message["content"]
            if message["msg_type"] == "stream" and "begun" in content["text"]:
                manager.interrupt_kernel()
            if message["msg_type"] == "error":
                errors.append(content["ename"])
            if content.get("execution_state") == "idle":
                break
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert errors == ["CancelledError"]
    assert Experiment.of("slow").status is Status.INTERRUPTED
