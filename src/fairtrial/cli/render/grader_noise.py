"""How much graders differ with themselves, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from fairtrial.cli.render.lines import line, section
from fairtrial.cli.render.words import counted, percent
from fairtrial.model.regrade import GraderNoise


def render_grader_noise(found: Sequence[GraderNoise], console: Console) -> None:
    """Print the noise of the verdict and of each grader; nothing when none was measured."""
    if not found:
        return
    section(console, "Noise of the graders alone: the same outputs, graded more than once")
    for noise in found:
        name = "the verdict" if noise.grader is None else noise.grader
        line(console, f"  {name}  {_in_words(noise)}")


def _in_words(noise: GraderNoise) -> str:
    if noise.fixed:
        return "none: it always says the same of the same output"
    if noise.flip_rate is None:
        return "unknown: no output has a value from every round"
    spread = "" if noise.spread is None else f", the value scatters by {noise.spread:.3f} (sd)"
    outputs = counted(noise.outputs, "output")
    return f"two rounds disagree on {percent(noise.flip_rate)} of outputs{spread} ({outputs})"
