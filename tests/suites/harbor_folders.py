"""Task folders in Harbor's form, as its own examples have it: an image, tests and a solution."""

from __future__ import annotations

from pathlib import Path

TASK_TOML = """\
version = "1.0"

[metadata]
author_name = "A"
difficulty = "easy"
category = "programming"
tags = ["trivial"]

[verifier]
timeout_sec = 120.0

[agent]
timeout_sec = 120.0

[environment]
build_timeout_sec = 600.0
cpus = 1
memory_mb = 256
storage_mb = 10240
"""
DOCKERFILE = """\
FROM {image}
WORKDIR /app
COPY greeting.txt /app/greeting.txt
RUN echo built > /app/built.txt && mkdir -p /srv/data && echo kept > /srv/data/there
"""
TEST_SH = """\
#!/bin/sh
if grep -q 'Hello, world!' /app/hello.txt && grep -q kept /srv/data/there \\
    && grep -q expected /tests/fixtures/expected.txt; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
SOLVE_SH = """\
#!/bin/sh
cat /solution/answer.txt > hello.txt
"""


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name.endswith(".sh"):
            path.chmod(0o755)
    return folder


def harbor_task(folder: Path, image: str, **changed: str | None) -> Path:
    """Write a task folder; a file is changed or, with None, left out by its path."""
    files: dict[str, str | None] = {
        "task.toml": TASK_TOML,
        "instruction.md": "Write `Hello, world!` into hello.txt.\n",
        "environment/Dockerfile": DOCKERFILE.format(image=image),
        "environment/greeting.txt": "hi\n",
        "tests/test.sh": TEST_SH,
        "tests/fixtures/expected.txt": "expected\n",
        "solution/solve.sh": SOLVE_SH,
        "solution/answer.txt": "Hello, world!\n",
        **changed,
    }
    return write_files(folder, {name: text for name, text in files.items() if text is not None})
