"""Write `statistics.md`, the reference of every statistical procedure, from the docstrings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

SECTIONS: dict[str, tuple[str, ...]] = {
    "Rates": ("stats.proportion", "stats.clustered_rate"),
    "Paired differences": (
        "analysis.paired",
        "stats.paired.tango",
        "stats.paired.newcombe",
        "stats.paired.bonett_price",
        "stats.paired.student",
        "stats.paired.constant",
        "stats.paired.bootstrap",
    ),
    "Paired tests": (
        "stats.paired.sign_flip",
        "stats.paired.mcnemar",
        "stats.paired.fisher",
        "stats.paired.wilcoxon",
        "stats.paired.hodges_lehmann",
    ),
    "Ship or hold": (
        "analysis.gate.ship",
        "analysis.flips",
        "stats.gate.net_gain",
        "stats.gate.cross_fitted",
    ),
    "Looks": (
        "analysis.stopping.early",
        "analysis.stopping.regression",
        "stats.sequential.spending",
        "stats.sequential.bounds",
        "stats.sequential.recursion",
        "stats.sequential.design",
        "stats.sequential.inference",
    ),
    "Plateau": (
        "analysis.plateau",
        "analysis.loop_rounds",
        "stats.edetector.detector",
        "stats.edetector.bets",
    ),
    "Judges and labels": (
        "analysis.label_correction",
        "stats.ppi.mean",
        "stats.ppi.difference",
        "stats.ppi.poststratified",
        "analysis.judge_agreement",
        "stats.agreement.confusion",
        "stats.agreement.kappa",
        "analysis.pairwise_gate",
        "stats.pairwise",
    ),
    "Margins": ("analysis.noninferiority", "stats.noninferiority"),
    "Noise and planning": ("analysis.noise", "stats.variance", "stats.flip_rate", "stats.power"),
    "Races": ("analysis.sweep", "analysis.comparing.guarding", "stats.halving"),
    "Measured quantities": ("analysis.measured", "stats.log_ratio"),
    "Several tries": ("analysis.pass_metrics", "stats.passk", "stats.adaptive"),
    "Selection": ("stats.selection",),
    "Several comparisons": (
        "analysis.arms",
        "stats.multiplicity",
        "stats.dunnett",
        "analysis.tried",
        "stats.best_of",
    ),
    "Tails": ("stats.tails",),
}

HEAD = """# The statistics, method by method

Written from the docstrings by `docs/reference/write_statistics.py`; a test keeps the two the same.
Every method says its formula, its source, when to use it and when it lies. **Ours** marks what is
our own design and in no paper: its reference values come from enumeration or separate code, which
checks the implementation; simulations check the idea.
[The explanation](../explanation/statistics.md) asks the questions people ask.

All results are frozen objects. They carry the method, the number of cases, and where it applies the
clusters, the level and the seed, and `describe()` says them in plain words. What is undefined is
`None` with a `reason`; it is never 0 and never NaN. Arguments out of their domain raise
`ArgumentError`, a `ValueError` that names the argument.
"""


def _public(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        is_bet = module.__name__.endswith("bets") and inspect.isclass(value)
        is_bet = is_bet and "Source:" in (value.__doc__ or "")
        if inspect.isfunction(value) or is_bet:
            yield name, value


def _body(docstring: str) -> str:
    """Return a docstring without its argument and error sections."""
    lines: list[str] = []
    for line in inspect.cleandoc(docstring).splitlines():
        if line in ("Args:", "Raises:", "Attributes:", "Returns:"):
            break
        lines.append(line)
    return "\n".join(lines).strip()


def _entry(module: str, name: str, value: Callable[..., Any]) -> str:
    text = _body(value.__doc__ or "")
    ours = " · ours" if "Ours" in text or "ours" in text.split("Use it")[0] else ""
    for label in ("Formula:", "Source:"):
        text = text.replace(label, f"**{label[:-1]}:**")
    parameters = ", ".join(inspect.signature(value).parameters)
    return f"### `{name}({parameters})`{ours}\n\n`fairtrial.{module}`\n\n{text}\n"


def reference() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for title, modules in SECTIONS.items():
        parts.append(f"## {title}\n")
        for module in modules:
            loaded = importlib.import_module(f"fairtrial.{module}")
            parts += [_entry(module, name, value) for name, value in _public(loaded)]
    return "\n".join(parts)


if __name__ == "__main__":
    Path(__file__).with_name("statistics.md").write_text(reference())
