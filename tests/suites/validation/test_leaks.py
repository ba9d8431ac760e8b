"""In how many forms, and in how many places, what is hidden is found."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from tests.suites.validation.trial import REFERENCE, a_good_task, a_repo

from fairtrial.model.eval_task import EvalTask
from fairtrial.suites.validation.findings import Checked, State
from fairtrial.suites.validation.leaks import check_leaks
from fairtrial.suites.validation.unpacking import unpacked
from fairtrial.suites.validation.visible_content import Piece

_SECRET = b"".join(
    b"assert add(%d, %d) == %d, 'the sum of two numbers'\n" % (n, n, 2 * n) for n in range(20, 30)
)
_PATH = "tests/test_secret.py"


@pytest.fixture
def task(tmp_path: Path) -> EvalTask:
    repo = a_repo(tmp_path / "repo")
    task = a_good_task(repo)
    task.verifier.hidden[_PATH] = _SECRET  # type: ignore[index]  # of this task alone
    return task


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_repo(tmp_path / "workspace")


def checked(task: EvalTask, root: Path, **environ: str) -> Checked:
    return check_leaks(task, root, {"PATH": os.environ["PATH"], **environ})


def texts(checked: Checked) -> list[str]:
    return [finding.text for finding in checked.problems]


def _tar(data: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        entry = tarfile.TarInfo("deep/inside.py")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def _zip(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.py", data)
    return packed.getvalue()


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda data: data,
    "windows": lambda data: data.replace(b"\n", b"\r\n"),
    "indented": lambda data: b"    " + data.replace(b"\n", b"\n    "),
    "commented out": lambda data: b"# " + data.replace(b"\n", b"\n# "),
    "shuffled": lambda data: b"\n".join(sorted(data.split(b"\n"), reverse=True)),
    "half": lambda data: data[: len(data) // 2 + 60],
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": lambda data: zstandard.ZstdCompressor().compress(data),
    "zip": _zip,
    "tar.gz": _tar,
    "gzip in zip": lambda data: _zip(gzip.compress(data)),
    "base64": base64.b64encode,
    "base64 further on": lambda data: base64.b64encode(b"ab" + data),
    "json": lambda data: json.dumps({"cell": data.decode()}).encode(),
    "patch": lambda data: b"+" + data.replace(b"\n", b"\n+"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_is_found_in_any_form(task: EvalTask, root: Path, form: str) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "notes").write_bytes(FORMS[form](_SECRET))
    found = checked(task, root)
    assert len(found.problems) == 1
    assert found.problems[0].text.startswith("docs/notes")
    assert f"the hidden file {_PATH}" in found.problems[0].text
    assert found.problems[0].fix == 'add "docs/notes" to hidden in [verifier] of task.toml'


def test_a_clean_workspace_has_no_leak(task: EvalTask, root: Path) -> None:
    found = checked(task, root)
    assert (found.state, found.warnings) == (State.PASSED, ())
    assert found.facts["secrets"] == 2


def test_a_few_lines_that_files_of_a_kind_share_are_only_told(task: EvalTask, root: Path) -> None:
    (root / "test_other.py").write_bytes(b"\n".join(_SECRET.split(b"\n")[:3]))
    found = checked(task, root)
    assert found.state is State.PASSED
    assert found.warnings[0].text == f"test_other.py shares lines with the hidden file {_PATH}"


def git(root: Path, *words: str, stdin: bytes = b"") -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@x")
    done = subprocess.run(
        ["git", *who, *words], cwd=root, check=True, capture_output=True, input=stdin
    )
    return done.stdout.decode().strip()


def _committed(root: Path) -> None:
    (root / "x.py").write_bytes(_SECRET)
    git(root, "add", "x.py")
    git(root, "commit", "-q", "-m", "x")
    git(root, "rm", "-q", "x.py")
    git(root, "commit", "-q", "-m", "gone")


def _loose(root: Path) -> None:
    git(root, "hash-object", "-w", "--stdin", stdin=_SECRET)


def _packed(root: Path) -> None:
    _committed(root)
    git(root, "gc", "-q")


def _unreachable_in_a_pack(root: Path) -> None:
    name = git(root, "hash-object", "-w", "--stdin", stdin=_SECRET)
    git(root, "pack-objects", "-q", ".git/objects/pack/pack", stdin=f"{name}\n".encode())
    (root / ".git" / "objects" / name[:2] / name[2:]).unlink()


def _stashed(root: Path) -> None:
    (root / "calc.py").write_bytes(_SECRET)
    git(root, "stash", "-q")


def _told_in_a_message(root: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-F", "-", stdin=_SECRET)


def _in_another_repository(root: Path) -> None:
    git(root, "init", "-q", "--bare", "deep/mirror.git")
    git(root / "deep" / "mirror.git", "hash-object", "-w", "--stdin", stdin=_SECRET)


@pytest.mark.parametrize(
    "put",
    [
        _committed,
        _loose,
        _packed,
        _unreachable_in_a_pack,
        _stashed,
        _told_in_a_message,
        _in_another_repository,
    ],
)
def test_every_object_of_git_is_looked_at(
    task: EvalTask, root: Path, put: Callable[[Path], None]
) -> None:
    put(root)
    problems = texts(checked(task, root))
    assert any(".git holds" in text and _PATH in text for text in problems), problems


def test_variables_and_further_content_are_looked_at(task: EvalTask, root: Path) -> None:
    assert texts(checked(task, root, LC_NOTE=_SECRET.decode())) == [
        f"the variable LC_NOTE holds the hidden file {_PATH}"
    ]
    found = check_leaks(
        task, root, {"PATH": os.environ["PATH"]}, [Piece("/opt/x in the image", _SECRET)]
    )
    assert texts(found) == [f"/opt/x in the image holds the hidden file {_PATH}"]


def test_a_compiled_copy_is_told(task: EvalTask, root: Path) -> None:
    cache = root / "tests" / "__pycache__"
    cache.mkdir(parents=True)
    (cache / "test_secret.cpython-311.pyc").write_bytes(b"\0")
    (cache / "test_other.cpython-311.pyc").write_bytes(b"\0")
    found = checked(task, root)
    (warning,) = found.warnings
    assert warning.text.startswith("tests/__pycache__/test_secret.cpython-311.pyc is a compiled")


def test_names_that_are_no_text_are_told_all_the_same(task: EvalTask, root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/copy\xe4.py")).write_bytes(_SECRET)
    found = checked(task, root)
    assert found.problems[0].line.startswith("copy\\udce4.py holds the hidden file")
    json.dumps(found.content(), ensure_ascii=False).encode()


def test_many_leaks_are_summed_up(task: EvalTask, root: Path) -> None:
    for number in range(14):
        (root / f"copy-{number:02}").write_bytes(_SECRET)
    found = texts(checked(task, root))
    assert len(found) == 11
    assert found[-1] == "and 4 more of this kind"


def test_the_reference_is_a_secret_though_its_code_may_stand_elsewhere(
    task: EvalTask, root: Path
) -> None:
    (root / "other.py").write_text("def add(a, b):\n    return a + b\n")
    assert texts(checked(task, root)) == []
    (root / "fix.diff").write_text(REFERENCE)
    assert texts(checked(task, root)) == ["fix.diff holds reference.patch"]


def test_links_lead_nowhere_and_what_cannot_be_read_is_told(task: EvalTask, root: Path) -> None:
    (root / "loop").symlink_to(".")
    (root.parent / "outside").write_bytes(_SECRET)
    (root / "out").symlink_to(root.parent / "outside")
    os.mkfifo(root / "pipe")
    assert checked(task, root).state is State.PASSED


@pytest.mark.parametrize(
    "start", [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PK\3\4"]
)
def test_what_only_begins_like_an_archive_is_read_as_it_is(start: bytes) -> None:
    assert list(unpacked(start + b"no")) == [("", start + b"no")]


def test_a_bomb_is_unpacked_in_part_only() -> None:
    bomb = gzip.compress(b"\0" * (80 * 1024 * 1024))
    sizes = [len(data) for _, data in unpacked(bomb)]
    assert sizes == [len(bomb), 64 * 1024 * 1024]
