"""The commands of `how-to/post-results-from-anywhere.md` do what the page says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.http.conftest import Server

from fairtrial.http import reference

PAGE = Path(reference.__file__).parents[3] / "docs" / "how-to" / "post-results-from-anywhere.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_every_command_of_the_page_is_answered(server: Server) -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh api\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    answers = []
    for block in blocks:
        here = block.replace("127.0.0.1:7411", server.address)
        for command in re.split(r"^(?=curl )", here, flags=re.MULTILINE):
            if command.strip():
                script = command.replace("curl -s", "curl -sf", 1)
                done = subprocess.run(["sh", "-c", script], capture_output=True, check=False)
                assert done.returncode == 0, (command, done.stdout, done.stderr)
                answers.append(json.loads(done.stdout))
    told = [answer["schema"].removeprefix("fairtrial.") for answer in answers]
    assert told == [
        *("experiment_standing/1", "rows_taken/1", "experiment_standing/1", "experiment/1"),
        *("rows/1", "experiments/1", "experiment_standing/1", "project/1", "key_created/1"),
        "experiment_standing/1",
    ]
    shown = answers[3]
    assert [shown[kind] for kind in ("passed", "failed", "undecided")] == [1, 1, 1]
    assert len(answers[4]["rows"]) == len(answers[5]["experiments"]) == 1
