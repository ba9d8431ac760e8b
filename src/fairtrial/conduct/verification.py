"""Recognising the commands that verify code: tests, type checks, linters, builds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from fairtrial.conduct.program_names import program_words


class CheckKind(StrEnum):
    """What a command verifies."""

    TEST = "test"
    TYPECHECK = "typecheck"
    LINT = "lint"
    BUILD = "build"


_T, _C, _L, _B = CheckKind.TEST, CheckKind.TYPECHECK, CheckKind.LINT, CheckKind.BUILD

_PROGRAMS: Final[Mapping[str, CheckKind]] = {
    **dict.fromkeys(("pytest", "py.test", "tox", "nox", "unittest", "nose2", "trial"), _T),
    **dict.fromkeys(("jest", "vitest", "mocha", "ava", "jasmine", "karma", "tap", "ctest"), _T),
    **dict.fromkeys(("rspec", "phpunit", "pest", "paratest", "gotestsum", "ginkgo", "bats"), _T),
    **dict.fromkeys(("busted", "behave", "cucumber", "codeception", "runtests.py", "doctest"), _T),
    **dict.fromkeys(("mypy", "pyright", "basedpyright", "tsc", "vue-tsc", "pyre", "ty"), _C),
    **dict.fromkeys(("flow", "phpstan", "psalm", "sorbet", "srb", "svelte-check", "dialyzer"), _C),
    **dict.fromkeys(("flake8", "pylint", "eslint", "golangci-lint", "rubocop", "stylelint"), _L),
    **dict.fromkeys(("shellcheck", "ktlint", "swiftlint", "oxlint", "staticcheck", "hlint"), _L),
    **dict.fromkeys(("lint-imports", "import-linter", "bandit", "standard", "xo", "hadolint"), _L),
    **dict.fromkeys(("yamllint", "markdownlint", "actionlint", "tflint", "clang-tidy"), _L),
    **dict.fromkeys(("ninja", "webpack", "rollup", "esbuild", "tsup", "javac", "rustc"), _B),
    **dict.fromkeys(("gcc", "g++", "clang", "clang++", "cc", "c++", "py_compile"), _B),
    **dict.fromkeys(("compileall", "build", "xcodebuild", "msbuild", "kotlinc", "scalac"), _B),
}
"""Programs that verify whatever their arguments are."""

_SUBCOMMANDS: Final[Mapping[str, Mapping[str, CheckKind]]] = {
    "go": {"test": _T, "vet": _C, "build": _B, "install": _B},
    "cargo": {
        "test": _T,
        "t": _T,
        "nextest": _T,
        "check": _C,
        "c": _C,
        "clippy": _L,
        "build": _B,
        "b": _B,
        "doc": _B,
    },
    "mvn": {"test": _T, "verify": _T, "install": _T, "package": _T, "compile": _B},
    "gradle": {
        "test": _T,
        "check": _T,
        "build": _T,
        "assemble": _B,
        "classes": _B,
        "lint": _L,
        "compileJava": _B,
        "compileKotlin": _B,
        "connectedCheck": _T,
    },
    "dotnet": {"test": _T, "build": _B, "publish": _B},
    "swift": {"test": _T, "build": _B},
    "mix": {"test": _T, "compile": _B, "credo": _L, "dialyzer": _C},
    "sbt": {"test": _T, "testOnly": _T, "compile": _B},
    "flutter": {"test": _T, "analyze": _C, "build": _B},
    "dart": {"test": _T, "analyze": _C},
    "bazel": {"test": _T, "build": _B},
    "zig": {"test": _T, "build": _B},
    "stack": {"test": _T, "build": _B},
    "cabal": {"test": _T, "build": _B},
    "deno": {"test": _T, "check": _C, "lint": _L},
    "bun": {"test": _T, "build": _B},
    "playwright": {"test": _T},
    "cypress": {"run": _T},
    "rails": {"test": _T, "spec": _T},
    "rake": {"test": _T, "spec": _T},
    "artisan": {"test": _T},
    "manage.py": {"test": _T, "check": _C},
    "django-admin": {"test": _T},
    "django": {"test": _T, "check": _C},
    "hatch": {"test": _T, "build": _B},
    "ruff": {"check": _L},
    "biome": {"check": _L, "lint": _L, "ci": _L},
    "ember": {"test": _T, "build": _B},
    "ng": {"test": _T, "lint": _L, "build": _B},
    "react-scripts": {"test": _T, "build": _B},
    "craco": {"test": _T, "build": _B},
    "vite": {"build": _B},
    "next": {"build": _B, "lint": _L},
    "nuxt": {"build": _B, "typecheck": _C},
    "astro": {"build": _B, "check": _C},
    "expo": {"export": _B},
    "docker": {"build": _B},
    "pre-commit": {"run": _L},
    "poetry": {"check": _L, "build": _B},
    "uv": {"build": _B},
    "terraform": {"validate": _C},
    "helm": {"lint": _L},
    "buf": {"lint": _L},
}
"""Programs of which some subcommands verify."""

_PACKAGE_MANAGERS: Final = frozenset({"npm", "pnpm", "yarn", "bun", "composer", "deno"})
_TASK_RUNNERS: Final = frozenset(
    {"make", "gmake", "just", "task", "nx", "turbo", "rush", "lerna", "invoke", "inv", "poe"}
    | {"hatch", "pdm", "rake", "moon", "lage", "mise", "rtk", "bazelisk", "earthly", "dagger"}
)
_FORMATTERS: Final = {"black": "--check", "prettier": "--check", "isort": "--check", "gofmt": "-l"}
"""Programs that verify only with an option; else they change files."""
_ALIASES: Final = {"gradlew": "gradle", "mvnw": "mvn", "gradlew.bat": "gradle"}

_SCRIPT_NAMES: Final = (
    (re.compile(r"type-?_?checks?|check-?_?types?|tsc|types?|mypy|pyright"), _C),
    (re.compile(r"(?:[\w.-]+[:_.-])?(?:e2e|tests?|specs?|unit|integration)(?:[:_.-].*)?"), _T),
    (re.compile(r"(?:[\w.-]+[:_.-])?lint(?:[:_.-].*)?|format[:_-]check|stylecheck"), _L),
    (re.compile(r"(?:build|compile)(?:[:_.-].*)?|all"), _B),
    (re.compile(r"check|checks|verify|validate|ci|qa|precommit|pre-commit"), _T),
)
"""What scripts and targets are called that verify."""
_TEST_FILE: Final = re.compile(
    r"(?:^|/)(?:(?:run[-_]?)?(?:all[-_]?)?tests?(?:[-_][\w-]+)?|[\w-]+[._-](?:test|spec|tests))"
    r"\.(?:sh|bash|py|js|mjs|cjs|ts|mts|rb|php|pl)$|(?:^|/)test_[\w-]+\.(?:py|rb|sh)$"
    r"|(?:^|/)(?:run[-_]?tests?|check|lint)(?:\.sh)?$"
)
_INTERPRETERS: Final = re.compile(
    r"(?:python|pypy)[\d.]*|node|ruby|php|perl|tsx|ts-node|deno|bun|bash|sh|zsh"
)
_SYNTAX_ONLY: Final = {
    "node": (("--check",), ("-c",)),
    "bash": (("-n",),),
    "sh": (("-n",),),
    "php": (("-l",),),
    "ruby": (("-c",),),
}
"""Options with which an interpreter only looks at a file."""
_NO_VERIFICATION: Final = frozenset(
    {"--version", "-V", "--help", "-h", "--collect-only", "--co", "--listTests", "--list-tests"}
    | {"--init", "--showConfig", "--markers", "--fixtures", "--print-config", "-list", "--list"}
    | {"--env-info", "--watch", "--watchAll", "--fix-only", "--dry-run", "-h5"}
)
"""Options with which such a program verifies nothing, or does not end."""


def check_kind(words: Sequence[str]) -> CheckKind | None:
    """Return what a simple command verifies; None when it does not."""
    found = program_words(words)
    if not found or not _NO_VERIFICATION.isdisjoint(found[1:]):
        return None
    name, arguments = _ALIASES.get(found[0], found[0]), found[1:]
    if name in _PROGRAMS:
        return _PROGRAMS[name]
    if name in _FORMATTERS:
        option = _FORMATTERS[name]
        return _L if any(word.startswith(option) for word in arguments) else None
    if name == "ruff" and arguments[:1] == ("format",):
        return _L if "--check" in arguments or "--diff" in arguments else None
    return _by_subcommand(name, arguments) or _by_script(name, arguments)


def _by_subcommand(name: str, arguments: Sequence[str]) -> CheckKind | None:
    known = _SUBCOMMANDS.get(name)
    if known is None:
        return None
    several = name in ("mvn", "gradle", "sbt")
    for word in arguments:
        if word.startswith(("-", "+")):
            continue
        # Gradle and Maven name the module before the goal: `:app:test`.
        kind = known.get(word.rpartition(":")[2] if several else word)
        if kind is not None or not several:
            return kind
    return None


def _by_script(name: str, arguments: Sequence[str]) -> CheckKind | None:
    """Return what a script, a target of a Makefile or a file with tests verifies."""
    if name in _PACKAGE_MANAGERS:
        return _package_script(arguments)
    if name in _TASK_RUNNERS:
        return _target(name, arguments)
    if name == "cmake":
        return _B if "--build" in arguments else None
    if _INTERPRETERS.fullmatch(name):
        return _interpreted(name, arguments)
    return _T if _TEST_FILE.search(name) else None


def _interpreted(name: str, arguments: Sequence[str]) -> CheckKind | None:
    if name == "node" and "--test" in arguments:
        return _T
    if arguments[:1] in _SYNTAX_ONLY.get(name, ()):
        return _B
    file = next((word for word in arguments if not word.startswith("-")), "")
    if file.rpartition("/")[2] == "manage.py":
        return _by_subcommand("manage.py", arguments[arguments.index(file) + 1 :])
    return _T if _TEST_FILE.search(file) else None


def _package_script(arguments: Sequence[str]) -> CheckKind | None:
    plain = [word for word in arguments if not word.startswith("-")]
    if plain[:1] in (["run"], ["run-script"], ["workspace"], ["task"]):
        plain = plain[2:] if plain[0] == "workspace" else plain[1:]
        plain = plain[1:] if plain[:1] == ["run"] else plain
    elif plain[:1] in (["install"], ["ci"], ["add"], ["i"], ["remove"], ["init"], ["create"]):
        return None
    if plain[:1] in (["t"], ["tst"]):
        return _T
    # Options with a value (`--prefix web`, `-w app`) may stand before the script's name.
    return next((kind for word in plain[:3] if (kind := _named(word)) is not None), None)


def _target(name: str, arguments: Sequence[str]) -> CheckKind | None:
    plain = [word for word in arguments if not word.startswith("-") and "=" not in word]
    if not plain:
        return _B if name in ("make", "gmake") else None
    plain = plain[1:] if plain[0] in ("run", "affected") and len(plain) > 1 else plain
    for word in plain:
        # nx names the project before its target: `app:test`.
        kind = _named(word) or (_named(word.rpartition(":")[2]) if name == "nx" else None)
        if kind is not None:
            return kind
    return None


def _named(script: str) -> CheckKind | None:
    script = script if script in _PROGRAMS else script.lower()
    if script in _PROGRAMS:
        return _PROGRAMS[script]
    return next((kind for names, kind in _SCRIPT_NAMES if names.fullmatch(script)), None)
