"""Terminal-bench's task folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites.harbor_folders import write_files

from fairtrial.interchange.eval_tasks.terminal_bench import is_terminal_bench, read
from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import FolderStart

TASK = """\
instruction: |-
  Write "Hello" into hello.txt.
author_name: A
difficulty: easy
category: software_engineering
tags: [file-operations]
parser_name: pytest
max_agent_timeout_sec: 360.0
max_test_timeout_sec: 30.0
"""
COMPOSE = """\
services:
  client:
    build:
      dockerfile: Dockerfile
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: [sh, -c, sleep infinity]
    environment:
      - TEST_DIR=${T_BENCH_TEST_DIR}
    volumes:
      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}
"""


def a_task(folder: Path, **changed: str | None) -> Path:
    files: dict[str, str | None] = {
        "task.yaml": TASK,
        "docker-compose.yaml": COMPOSE,
        "Dockerfile": "FROM base:1\nWORKDIR /app\nCOPY data.txt /app/\n",
        "data.txt": "1\n",
        "run-tests.sh": "#!/bin/bash\npytest $TEST_DIR/test_outputs.py -rA\n",
        "tests/test_outputs.py": "def test_it(): ...\n",
        "solution.sh": "echo Hello > hello.txt\n",
        **changed,
    }
    return write_files(folder, {name: text for name, text in files.items() if text is not None})


def test_a_folder_is_read(tmp_path: Path) -> None:
    folder = a_task(tmp_path / "hello-world")
    assert is_terminal_bench(folder)
    found = read(folder)
    task = found.task
    assert (task.name, task.instruction) == ("hello-world", 'Write "Hello" into hello.txt.\n')
    assert isinstance(task.start, FolderStart)
    assert task.start.dockerfile is not None
    assert sorted(task.verifier.hidden) == ["test.sh", "test_outputs.py"]
    assert task.verifier.command is not None
    assert task.verifier.command.env == {"TEST_DIR": "/tests"}
    assert task.verifier.command.time_limit_s == 30.0
    assert task.agent_limit_s == 360.0
    assert task.solution == {"solve.sh": b"echo Hello > hello.txt\n"}
    assert task.tags == ("file-operations",)
    assert sorted(found.environment) == ["Dockerfile", "data.txt"]
    assert found.lost == ()


def test_the_oldest_form_has_descriptions(tmp_path: Path) -> None:
    text = "descriptions:\n  - key: hard\n    description: h\n  - key: base\n    description: b\n"
    assert read(a_task(tmp_path / "t", **{"task.yaml": text})).task.instruction == "b\n"


def test_a_solution_of_commands_becomes_a_program(tmp_path: Path) -> None:
    steps = "- command: echo a > b\n  min_timeout_sec: 1.0\n- command: echo c > d\n"
    changed = {"solution.sh": None, "solution.yaml": steps}
    found = read(a_task(tmp_path / "t", **changed))
    assert found.task.solution == {"solve.sh": b"#!/bin/sh\nset -e\necho a > b\necho c > d\n"}
    typed = "- command: vim\n- command: ':wq'\n  append_enter: false\n"
    found = read(a_task(tmp_path / "u", **{**changed, "solution.yaml": typed}))
    assert found.task.solution == {}
    assert "types keys" in found.lost[0]


def test_what_is_lost_is_told(tmp_path: Path) -> None:
    text = TASK.replace("pytest", "swebench") + "run_tests_in_same_shell: true\nodd: 1\n"
    changed = {"task.yaml": text, "run-tests.sh": "curl -LsSf https://x/uv | sh\n"}
    lost = read(a_task(tmp_path / "t", **changed)).lost
    assert len(lost) == 4
    assert "1 key of task.yaml mean nothing here: odd" in lost[-1]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"task.yaml": "instruction: [\n"}, "no YAML"),
        ({"task.yaml": "- a\n"}, "a table of keys"),
        ({"task.yaml": "difficulty: easy\n"}, "told nothing"),
        ({"task.yaml": TASK + "max_test_timeout_sec: soon\n"}, "max_test_timeout_sec must be"),
        ({"run-tests.sh": None}, r"no run-tests\.sh"),
        ({"Dockerfile": None}, "no Dockerfile"),
        ({"docker-compose.yaml": COMPOSE + "  db:\n    image: db\n"}, "2 services"),
        ({"docker-compose.yaml": COMPOSE + "    ports: ['80']\n"}, "needs ports"),
        ({"docker-compose.yaml": COMPOSE + "      - /etc:/etc\n"}, "mounts /etc"),
        ({"docker-compose.yaml": "services:\n  client:\n    build: sub\n"}, "built in 'sub'"),
        ({"docker-compose.yaml": "x"}, "a table of keys"),
        ({"docker-compose.yaml": "services:\n  client: 1\n"}, "must be a table"),
    ],
)
def test_what_does_not_fit_is_refused(
    changed: dict[str, str | None], told: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=told):
        read(a_task(tmp_path / "t", **changed))
