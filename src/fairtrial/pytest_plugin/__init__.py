"""The pytest plugin: `@pytest.mark.fairtrial` runs a test over the cases of a dataset.

Nothing but pytest is imported until a marked test is collected.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

_MARK = (
    "fairtrial(dataset=None, cases=None, trials=1, threshold=None, row_threshold=None, "
    "graders=(), name=None, split=None, sample=None): run the test over the cases of a dataset, "
    "grade what it returns, and keep an experiment"
)
_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("trials", {"type": int, "metavar": "N", "help": "trials a case, whatever the marks say"}),
    ("split", {"metavar": "SPLIT", "help": "only cases of this split"}),
    ("sample", {"metavar": "N|SHARE", "help": "a random sample of the cases, the same each time"}),
    ("baseline", {"metavar": "EXPERIMENT", "help": "what to compare with, by id or name"}),
    (
        "gate",
        {"action": "store_true", "help": "fail unless the comparison with the baseline says ship"},
    ),
    ("name", {"metavar": "NAME", "help": "name of the experiments"}),
    (
        "off",
        {"action": "store_true", "help": "run each case once as a plain test, and keep nothing"},
    ),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("fairtrial", "evals of agents and LLM programs")
    for name, details in _OPTIONS:
        group.addoption(f"--fairtrial-{name}", dest=f"fairtrial_{name}", **details)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, and in a run on several processes take what the workers send."""
    config.addinivalue_line("markers", _MARK)
    config.addinivalue_line(
        "markers", "fairtrial_row(place): the case of an item; made, not written"
    )
    if getattr(config.option, "dist", "no") != "no" and not hasattr(config, "workerinput"):
        _start(config)  # here nothing is collected


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a marked test over its cases."""
    mark = metafunc.definition.get_closest_marker("fairtrial")
    if mark is not None:
        _start(metafunc.config).parametrize(metafunc, mark)


def _start(config: pytest.Config) -> Any:
    """Return what does the work, registered on first use."""
    found = config.pluginmanager.get_plugin("fairtrial-session")
    if found is None:
        found = importlib.import_module("fairtrial.pytest_plugin.session").Session(config)
        config.pluginmanager.register(found, "fairtrial-session")
    return found
