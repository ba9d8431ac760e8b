from __future__ import annotations

import pytest
from tests.sessions.story import CWD

from fairtrial.conduct.shell_words import simple_commands
from fairtrial.sessions.file_roles import role_of
from fairtrial.sessions.mutations import Territory, shell_writes


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/calc.py", "code"),
        ("contest.py", "code"),
        ("src/latest.ts", "code"),
        ("tests/helper.py", "test"),
        ("test_calc.py", "test"),
        ("calc_test.go", "test"),
        ("src/a.spec.ts", "test"),
        ("src/CalcTest.java", "test"),
        ("spec/calc_spec.rb", "test"),
        ("conftest.py", "test-config"),
        ("web/jest.config.js", "test-config"),
        ("pytest.ini", "test-config"),
        ("package.json", "config"),
        (".github/workflows/ci.yml", "config"),
        ("Makefile", "config"),
        ("requirements.txt", "config"),
        ("README.md", "docs"),
        ("docs/guide/a.py", "docs"),
        ("LICENSE", "docs"),
    ],
)
def test_what_a_file_is_for(path: str, role: str) -> None:
    assert role_of(path) == role


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("a.py", "a.py"),
        ("./b/../a.py", "a.py"),
        (f"{CWD}/src/a.py", "src/a.py"),
        ("../lib/a.py", "/home/dev/mono/lib/a.py"),
        ("/home/dev/mono/a.py", "/home/dev/mono/a.py"),
        ("/home/dev/app2/a.py", None),
        ("/srv/a.py", None),
        ("~/a.py", None),
        ("$HOME/a.py", None),
    ],
)
def test_what_is_the_sessions_own(path: str, inside: str | None) -> None:
    at = "/home/dev/mono/app" if "mono" in path or path.startswith("../") else CWD
    repo = "/home/dev/mono" if at != CWD else CWD
    assert Territory(at, repo).inside(path) == inside


def test_windows_paths() -> None:
    assert Territory("C:\\work\\app", None).inside("C:\\work\\app\\src\\a.py") == "src/a.py"
    assert Territory("C:\\work\\app", None).inside("D:\\other\\a.py") is None


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("echo a > b.py", ["update b.py"]),
        ("cat <<EOF >> b.py\nx\nEOF", ["update b.py"]),
        ("ls > /dev/null 2>&1", []),
        ("sed -i 's/a/b/' a.py b.py", ["update a.py", "update b.py"]),
        ("sed -i -e 's/a/b/' a.py", ["update a.py"]),
        ("sed 's/a/b/' a.py", []),
        ("perl -pi -e 's/a/b/' a.py", ["update a.py"]),
        ("rm -rf a b", ["delete a", "delete b"]),
        ("git rm -q a.py", ["delete a.py"]),
        ("git rm --cached a.py", []),
        ("mv a.py b.py", ["move a.py"]),
        ("git mv a.py b.py", ["move a.py"]),
        ("cp a.py b.py", ["update b.py"]),
        ("cd sub && rm a.py", ["delete sub/a.py"]),
        ("git checkout -- a.py", ["update a.py"]),
        ("git checkout main", []),
        ("pytest | tee out.py", ["update out.py"]),
        ("python - <<'E'\nopen('x.py','w').write('1')\nE", ["update x.py"]),
        ("python -c \"from pathlib import Path; Path('x.py').write_text('1')\"", ["update x.py"]),
        ("node -e \"require('fs').writeFileSync('x.js', '1')\"", ["update x.js"]),
        ("python -c \"print(open('x.py').read())\"", []),
        ("grep -rn rm .", []),
    ],
)
def test_what_a_shell_command_writes(command: str, writes: list[str]) -> None:
    found = [f"{write.kind} {write.path}" for write in shell_writes(simple_commands(command))]
    assert found == writes
