"""Options of `eval export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Write eval tasks as folders of another tool, which fairtrial can load again.

    Each task becomes a folder of DIR, with an image, its tests and its reference. What the other
    tool will not see of it is said.
    """

    tasks: tuple[str, ...] = option(positional=True, metavar="SUITE|TASK")
    """A suite, or tasks of one: SUITE, SUITE/TASK or TASK"""
    to: Literal["harbor"] = option(metavar="FORMAT")
    """harbor: Harbor's task folders"""
    output: Path = option(short="-o", metavar="DIR")
    """The folder that gets one folder for each task; a task's folder must not be there yet"""
    base_image: str | None = option(None, metavar="IMAGE")
    """What the image of a task without one begins with, such as python:3.12; git, a shell and what
    its setup and verifier need have to be in there"""


EXAMPLES = (
    "fairtrial eval export failures --to harbor -o harbor-tasks --base-image python:3.12",
    "fairtrial eval export failures/fix-the-total --to harbor -o out --base-image node:22 --json",
)
