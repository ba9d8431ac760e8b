"""Options of `completion`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Print what makes a shell complete commands, options, names and filters.

    bash: add `eval "$(fairtrial completion bash)"` to ~/.bashrc. zsh: the same with zsh, in
    ~/.zshrc after compinit. fish: pipe it into `source`, or keep it in the folder of completions.
    """

    shell: Literal["bash", "zsh", "fish"] = option(positional=True)
    """bash, zsh or fish"""


EXAMPLES = (
    "fairtrial completion bash >> ~/.bashrc",
    "fairtrial completion fish | source",
)
