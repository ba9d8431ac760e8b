"""Which program a command runs behind what starts it: `timeout 60 uv run --frozen pytest`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_PYTHON: Final = re.compile(r"(?:python|py|pypy)[\d.]*(?:\.exe)?")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?[smhd]?")

_PLAIN: Final = frozenset(
    {"sudo", "doas", "nohup", "command", "exec", "time", "env", "cross-env", "nice", "ionice"}
    | {"stdbuf", "setsid", "xvfb-run", "caffeinate", "npx", "bunx", "pnpx", "uvx", "dotenv"}
    | {"chronic", "unbuffer", "eval", "arch", "winpty", "busybox"}
)
"""Programs that run the rest of their words, after options of their own."""
_TIMED: Final = frozenset({"timeout", "gtimeout"})
_RUNNERS: Final[Mapping[str, frozenset[str]]] = {
    "uv": frozenset({"run"}),
    "poetry": frozenset({"run"}),
    "pdm": frozenset({"run"}),
    "pipenv": frozenset({"run"}),
    "rye": frozenset({"run"}),
    "hatch": frozenset({"run"}),
    "pixi": frozenset({"run"}),
    "conda": frozenset({"run"}),
    "mamba": frozenset({"run"}),
    "micromamba": frozenset({"run"}),
    "bundle": frozenset({"exec"}),
    "npm": frozenset({"exec", "x"}),
    "pnpm": frozenset({"exec", "dlx"}),
    "yarn": frozenset({"exec", "dlx", "run"}),
    "bun": frozenset({"x"}),
    "rustup": frozenset({"run"}),
    "mise": frozenset({"exec", "x"}),
    "asdf": frozenset({"exec"}),
    "direnv": frozenset({"exec"}),
    "rbenv": frozenset({"exec"}),
    "pyenv": frozenset({"exec"}),
    "coverage": frozenset({"run"}),
    "nix": frozenset({"develop", "shell"}),
}
"""Programs of which one subcommand runs the rest of its words."""
_SKIPPED_AFTER: Final = {"conda": 0, "direnv": 1, "rustup": 1}
"""Words of a runner's own that stand before the program."""
_VALUED: Final = frozenset(
    {"-n", "-u", "-k", "-s", "-p", "-c", "-C", "-e", "-w", "-o", "-i", "--with", "--extra"}
    | {"--group", "--python", "--package", "--project", "--directory", "--user", "--workdir"}
    | {"--env", "--env-file", "--name", "--prefix", "--filter", "--kill-after", "--signal", "--dir"}
)
"""Options of those programs that have a value."""
_MOST_LAYERS: Final = 6


def program_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of the program that a command runs in the end, its name without a folder.

    `python -m NAME` counts as NAME; of a script in node_modules or vendor, its name is the program.
    """
    found = tuple(words)
    for _ in range(_MOST_LAYERS):
        inner = _inner(found)
        if inner is None or not inner:
            break
        found = inner
    return (_base(found[0]), *found[1:]) if found else ()


def _base(word: str) -> str:
    name = word.replace("\\", "/").rpartition("/")[2]
    return name.removesuffix(".exe").removesuffix(".cmd")


def _inner(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the words behind one layer; None when the program is the first word."""
    name = _base(words[0])
    if name in _PLAIN or name in _TIMED:
        rest = _after_options(words[1:])
        return rest[1:] if name in _TIMED and rest and _NUMBER.fullmatch(rest[0]) else rest
    if name in _RUNNERS:
        return _run_by(name, words)
    if _PYTHON.fullmatch(name):
        return _python_module(words)
    if name in ("docker", "podman", "docker-compose", "kubectl"):
        return _in_container(words)
    return _installed_script(name, words)


def _installed_script(name: str, words: tuple[str, ...]) -> tuple[str, ...] | None:
    if len(words) > 1 and name == "php" and ("vendor/" in words[1] or words[1] == "artisan"):
        return words[1:]
    if len(words) > 1 and name == "node" and "node_modules/" in words[1]:
        return (words[1].removesuffix(".js").removesuffix(".mjs"), *words[2:])
    return None


def _run_by(name: str, words: tuple[str, ...]) -> tuple[str, ...] | None:
    rest = _after_options(words[1:])
    if not rest or rest[0] not in _RUNNERS[name]:
        return None
    inner = _after_options(rest[1:])[_SKIPPED_AFTER.get(name, 0) :]
    if name == "yarn" and rest[0] == "run":
        return None  # its scripts are looked at by their names
    if name == "coverage" and "-m" in rest[1:]:
        return rest[rest.index("-m") + 1 :]
    return inner or None


def _python_module(words: tuple[str, ...]) -> tuple[str, ...] | None:
    for place, word in enumerate(words[1:], 1):
        if word == "-m":
            return words[place + 1 :] or None
        if not word.startswith("-"):
            return None
    return None


def _in_container(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return what runs in a container: `docker compose exec -T app pytest`."""
    rest = words[1:]
    if rest[:1] == ("compose",):
        rest = rest[1:]
    rest = _after_options(rest)
    if not rest or rest[0] not in ("exec", "run"):
        return None
    inner = _after_options(rest[1:])[1:]
    return _after_options(inner) or None


def _after_options(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return what follows the options and assignments at the start."""
    place = 0
    while place < len(words):
        word = words[place]
        if word == "--":
            return words[place + 1 :]
        if word.startswith("-"):
            place += 2 if word in _VALUED else 1
        elif _ASSIGNMENT.match(word):
            place += 1
        else:
            break
    return words[place:]
