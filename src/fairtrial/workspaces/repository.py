"""fairtrial's own git repository beside a trial's files: what has changed is asked of it.

Whatever repository lies among the files has no say: its hooks, settings and attributes could run
programs or hide changes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fairtrial.model.errors import Undecidable
from fairtrial.workspaces.sandbox.differing import add_all
from fairtrial.workspaces.starting import small_source

# `info/attributes` goes before the files' own: contents are compared as they are.
_ATTRIBUTES = "* -text !eol !filter !ident !working-tree-encoding !diff !merge\n"
_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.excludesFile": "/dev/null",
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.fileMode": "true",
    "core.logAllRefUpdates": "false",
    "core.quotePath": "true",
    "gc.auto": "0",
}
_WILD = re.compile(r"(?<!\\)[*?\[]")
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"


def environment(git: str, work_tree: str) -> dict[str, str]:
    """Return what git is told: where things are, and nothing of any user's."""
    return {
        "GIT_DIR": git,
        "GIT_WORK_TREE": work_tree,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
        **{f"GIT_CONFIG_KEY_{at}": name for at, name in enumerate(_SETTINGS)},
        **{f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(_SETTINGS.values())},
        "LC_ALL": "C",
    }


def diff_command(base: str, leaving_out: Sequence[str]) -> tuple[str, ...]:
    """Return the program that prints what differs from a tree, run in the files' folder."""
    excluded = (f":(exclude,literal){path}" for path in leaving_out)
    return small_source("differing", base, *excluded)


def apply_command(leaving_out: Sequence[str]) -> tuple[str, ...]:
    """Return the program that applies a patch from standard input, run in the files' folder.

    git itself refuses paths that lead out of the folder, also by a symbolic link. A file that is
    left out stays, so a folder in its place is left out too, and a file in place of its folder.
    """
    patterns = dict.fromkeys(pattern for given in leaving_out for pattern in _in_place_of(given))
    excluded = (f"--exclude={pattern}" for pattern in patterns)
    return ("git", "apply", "--whitespace=nowarn", *excluded, "-")


def _in_place_of(pattern: str) -> Iterator[str]:
    yield pattern
    yield f"{pattern}/*"
    above = pattern.split("/")[:-1]
    for length in range(1, len(above) + 1):
        if not _WILD.search(above[length - 1]):
            yield "/".join(above[:length])
        else:
            break


def new_repository(folder: Path, alternate: str | None = None, index: Path | None = None) -> None:
    """Make an empty repository.

    Args:
        folder: Where; it does not exist yet.
        alternate: Where more objects are, as git will see it.
        index: An index to begin with: files that it knows are not read again.
    """
    for name in ("objects/info", "refs/heads", "info"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(_CONFIG)
    (folder / "info" / "attributes").write_text(_ATTRIBUTES)
    if alternate is not None:
        (folder / "objects" / "info" / "alternates").write_text(f"{alternate}/objects\n")
    if index is not None and index.exists():
        shutil.copyfile(index, folder / "index")


def record_tree(git: Path, files: Path, environ: Mapping[str, str]) -> str:
    """Put files into a new repository; return the id of their tree.

    Args:
        git: Where the repository is to be; it does not exist yet.
        files: A folder of files that are trusted not to change meanwhile.
        environ: Where `PATH` is taken from.

    Raises:
        Undecidable: git is not there, or cannot read the files.
    """
    new_repository(git)
    env = {**environment(str(git), str(files)), "PATH": environ.get("PATH", "/usr/bin:/bin")}
    try:
        add_all(str(files), env)
        return _git(env, files, "write-tree").decode().strip()
    except FileNotFoundError:
        raise Undecidable("git is not on PATH: install it") from None
    except subprocess.CalledProcessError as problem:
        said = problem.stderr.decode(errors="replace").strip()
        raise Undecidable(f"git could not read the prepared files: {said}") from None


def _git(env: Mapping[str, str], cwd: Path, *words: str) -> bytes:
    done = subprocess.run(  # noqa: S603
        ["git", *words],  # noqa: S607  # the user's git
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return done.stdout
