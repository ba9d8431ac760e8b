"""What a trial's programs see of the machine: the system's programs, and nothing of anybody's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_SYSTEM = ("/usr", "/etc", "/opt", "/nix", "/gnu")
_OF_THE_ROOT = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders on an old system, links into /usr on a newer one."""

_SETTINGS_OF_THE_KERNEL = ("/proc/sys", "/proc/fs", "/proc/bus", "/proc/irq")
_SECRETS_OF_THE_KERNEL = (
    "/proc/acpi",
    "/proc/asound",
    "/proc/driver",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/mtrr",
    "/proc/scsi",
    "/proc/sched_debug",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
)

_SECRETS_OF_THE_SYSTEM = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/NetworkManager",
    "/etc/wireguard",
    "/etc/krb5.keytab",
)
"""What only an administrator may read, who may be the one that runs fairtrial."""

_SECRETS_OF_A_HOME = (
    ".ssh",
    ".aws",
    ".azure",
    ".config",
    ".docker",
    ".gnupg",
    ".kube",
    ".local/share",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".bash_history",
    ".zsh_history",
    ".python_history",
)
"""What stays hidden where a folder was made visible that holds it."""


def system_view() -> list[str]:
    """Return bwrap's options for the system: its programs, read-only, and devices of no harm."""
    options: list[str] = []
    for name in _OF_THE_ROOT:
        path = Path(name)
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            options += ["--ro-bind", name, name]
    for name in _SYSTEM:
        if Path(name).is_dir():
            options += ["--ro-bind", name, name]
    options += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm", "--tmpfs", "/run"]  # noqa: S108
    # Root stays root of the machine to the kernel's settings, whatever namespace it is in. What is
    # covered here also keeps a trial from mounting a fresh /proc in a namespace of its own.
    for name in filter(os.path.exists, _SETTINGS_OF_THE_KERNEL):
        options += ["--ro-bind", name, name]
    options += ["--dir", "/var", "--symlink", "/run", "/var/run"]
    for name in (*_SECRETS_OF_THE_KERNEL, *_SECRETS_OF_THE_SYSTEM):
        options += _hidden(Path(name))
    return options


def visible_folders(environ: Mapping[str, str], path: str, named: Iterable[str]) -> list[Path]:
    """Return the folders outside the system's that programs need.

    Args:
        environ: The environment of this process, for its home.
        path: The `PATH` of the program.
        named: What the user wants shown, too.

    They are those of `PATH`, the interpreter that runs fairtrial, and what the user names. A
    folder of `PATH` in the home is shown, what lies beside it is not.
    """
    found = [Path(name).absolute() for name in named]
    home = Path(environ.get("HOME", "/nonexistent"))
    for name in path.split(os.pathsep):
        folder = Path(name)
        if not folder.is_absolute() or not folder.is_dir() or folder == home:
            continue
        found += _around(folder)
    found += [Path(sys.base_prefix)]
    if sys.prefix != sys.base_prefix:
        found.append(Path(sys.prefix))
    shown = dict.fromkeys(real for folder in found for real in (folder, folder.resolve()))
    return [folder for folder in shown if folder.is_dir() and not _of_the_system(folder)]


def _around(folder: Path) -> list[Path]:
    """Return what the programs of a folder of `PATH` need of what lies beside it."""
    beside = folder.parent
    if (beside / "pyvenv.cfg").is_file() or folder.name == "shims":
        return [beside]  # a virtual environment; the versions that pyenv, asdf or mise keep
    return [folder, beside / "lib" / "node_modules"]


def shown(folders: Iterable[Path]) -> list[str]:
    """Return bwrap's options that show folders read-only, the outer ones first."""
    options = []
    for folder in sorted(folders, key=lambda folder: len(folder.parts)):
        options += ["--ro-bind", str(folder), str(folder)]
    return options


def hidden(folders: Iterable[Path], environ: Mapping[str, str], data: Iterable[Path]) -> list[str]:
    """Return bwrap's options that hide what must not be seen of folders that are shown."""
    home = Path(environ.get("HOME", "/nonexistent"))
    secrets = [*data, *(home / name for name in _SECRETS_OF_A_HOME)]
    inside = list(folders)
    options: list[str] = []
    done: list[Path] = []
    for secret in dict.fromkeys(real for path in secrets for real in (path, path.resolve())):
        if any(secret.is_relative_to(folder) for folder in inside) and not any(
            secret.is_relative_to(folder) for folder in done
        ):
            options += _hidden(secret)
            done.append(secret)
    return options


def _hidden(path: Path) -> list[str]:
    if path.is_symlink():
        return []  # where it leads to is hidden or not, whatever it is called
    if path.is_dir():
        return ["--tmpfs", str(path), "--remount-ro", str(path)]
    if path.exists():
        return ["--ro-bind", "/dev/null", str(path)]
    return []


def _of_the_system(folder: Path) -> bool:
    return any(folder.is_relative_to(root) for root in _ancestors())


def _ancestors() -> Iterator[Path]:
    for name in (*_SYSTEM, *_OF_THE_ROOT):
        yield Path(name)
