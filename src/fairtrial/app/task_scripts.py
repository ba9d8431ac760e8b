"""The content of the files that tasks run: an edited program is another configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from fairtrial.engine.plan import Arm
from fairtrial.graders.scripts import own_file


def task_script_digests(arms: Sequence[Arm], folder: Path) -> dict[str, str]:
    """Return the digest of the file that each arm's program is written in, by the arm's name.

    Only a file in the task's folder is the user's to edit between two runs. An arm without one is
    absent, and so is one whose file cannot be read: what runs it says so.

    Args:
        arms: The arms.
        folder: Where relative paths of their tasks start.
    """
    found = {}
    for arm in arms:
        options = dict(arm.task.options)
        path = own_file(options, folder / str(options.pop("cwd", None) or ""))
        if path is not None:
            try:
                found[arm.name] = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError:
                continue
    return found
