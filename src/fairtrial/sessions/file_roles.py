"""What a file of a repository is for, told by its path alone."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class FileRole(StrEnum):
    """What a file is for."""

    CODE = "code"
    TEST = "test"
    TEST_CONFIG = "test-config"
    """Decides which tests run, and how: `pytest.ini`, `jest.config.js`, `conftest.py`."""
    CONFIG = "config"
    DOCS = "docs"


_TEST_CONFIG: Final = re.compile(
    r"(?:^|/)(?:pytest\.ini|tox\.ini|noxfile\.py|conftest\.py|\.coveragerc|phpunit\.xml(?:\.dist)?"
    r"|(?:jest|vitest|karma|playwright|cypress|ava)\.(?:config|setup|workspace)[\w.]*"
    r"|\.mocharc(?:\.\w+)?|\.rspec)$"
)
_TEST: Final = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|e2e)/|(?:^|/)test_[^/]*\.\w+$"
    r"|[^/]+(?:_test|_tests|_spec|\.test|\.spec|-test|-spec)\.\w+$|[^/]*[A-Za-z\d](?:Test|Tests|Spec)\.\w+$"
)
_DOCS: Final = re.compile(
    r"\.(?:md|mdx|rst|txt|adoc|org|tex|png|jpe?g|gif|svg|ico|webp|pdf|log|out|csv|tsv)$"
    r"|(?:^|/)(?:docs?|plans?|\.claude|\.codex|\.cursor|notes)/"
    r"|(?:^|/)(?:LICEN[CS]E|CHANGELOG|README|AUTHORS|NOTICE|CODEOWNERS|TODO)[^/]*$",
    re.IGNORECASE,
)
_CONFIG: Final = re.compile(
    r"\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|lock|env|properties|editorconfig|xml|plist|tf|tfvars)$"
    r"|(?:^|/)(?:\.[^/]+|Dockerfile[^/]*|Makefile|Justfile|Procfile|\.github/.*|go\.(?:mod|sum)"
    r"|requirements[^/]*\.txt|Gemfile|Pipfile|[^/]+\.config\.\w+)$",
    re.IGNORECASE,
)


def role_of(path: str) -> FileRole:
    """Return what the file of a path, relative to its repository, is for."""
    path = path.replace("\\", "/")
    if _TEST_CONFIG.search(path):
        return FileRole.TEST_CONFIG
    if path.endswith("requirements.txt"):
        return FileRole.CONFIG
    if _DOCS.search(path):
        return FileRole.DOCS
    if _CONFIG.search(path):
        return FileRole.CONFIG
    return FileRole.TEST if _TEST.search(path) else FileRole.CODE
