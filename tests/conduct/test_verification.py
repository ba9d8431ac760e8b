from __future__ import annotations

import pytest

from fairtrial.conduct.program_names import program_words
from fairtrial.conduct.shell_words import simple_commands
from fairtrial.conduct.verification import check_kind
from fairtrial.model.session import MAIN, Result, ResultStatus
from fairtrial.sessions.verdicts import Verdict, verdict_of

KINDS = {
    "test": """
pytest -q
python -m pytest
uv run --frozen pytest
timeout 60 npx -y jest src
npm test
npm t
npm run test:unit -- --run
npm --prefix web test
yarn workspace app test
pnpm -r test
bun test
deno test
go test ./...
cargo nextest run
bundle exec rspec
make test
make -C sub check
mvn -q package
./gradlew :app:test
dotnet test
docker compose exec -T app pytest
./run_tests.sh
python test_calc.py
node --test
python manage.py test
python -m unittest discover
coverage run -m pytest
poetry run python -m pytest
conda run -n env pytest
./node_modules/.bin/vitest run
node node_modules/jest/bin/jest.js
php vendor/bin/phpunit
php artisan test
env -u A pytest
sudo -u me pytest
tox -e py311
mise run test:integration
""",
    "typecheck": """
npx tsc --noEmit
mypy src
go vet ./...
cargo check
npm run typecheck
pnpm type-check
""",
    "lint": """
ruff check .
ruff format --check
eslint .
prettier --check .
cargo clippy
npm run lint
golangci-lint run
""",
    "build": """
npm run build
go build ./...
make
cargo build --release
dotnet build
cmake --build out
node --check a.js
bash -n install.sh
python -m py_compile a.py
gcc -o a a.c
""",
}
NOTHING = """
ls tests
cat test_calc.py
grep -rn test .
git commit -m test
git checkout tests
npm install
npm ci
npm run dev
pip install pytest
pytest --version
pytest --collect-only
tsc --init
ruff format .
prettier --write .
black .
echo test
cd tests
make clean
python calc.py
node server.js
go run .
find . -name test
ssh host pytest
"""


@pytest.mark.parametrize(
    ("command", "kind"),
    [(line, kind) for kind, lines in KINDS.items() for line in lines.strip().splitlines()],
)
def test_what_verifies(command: str, kind: str) -> None:
    (found,) = simple_commands(command)
    assert check_kind(found.words) == kind


@pytest.mark.parametrize("command", NOTHING.strip().splitlines())
def test_what_does_not(command: str) -> None:
    assert [check_kind(found.words) for found in simple_commands(command)] == [None]


def test_programs_behind_what_starts_them() -> None:
    assert program_words(("env", "A=1", "nice", "-n", "5", "/usr/bin/pytest", "-q")) == (
        "pytest",
        "-q",
    )
    assert program_words(("sudo",)) == ("sudo",)


def verdict(command: str, text: str, code: int | None, status: ResultStatus | None = None) -> str:
    if status is None:
        status = ResultStatus.FAIL if code else ResultStatus.OK
    result = Result(2, None, MAIN, call_id="a", status=status, exit_code=code, text=text)
    for found in simple_commands(command):
        kind = check_kind(found.words)
        if kind is not None:
            return verdict_of(kind, found, program_words(found.words)[0], result)
    raise AssertionError(command)


@pytest.mark.parametrize(
    ("command", "text", "code", "expected"),
    [
        # its own exit code decides
        ("pytest", "anything", 0, "pass"),
        ("pytest", "3 passed in 0.1s", 1, "fail"),
        ("cd a && pytest", "", 1, "fail"),
        ("pytest", "", 5, "norun"),
        ("pytest", "ERROR: file or directory not found: x", 4, "norun"),
        ("pytest", "", 127, "norun"),
        ("python -m pytest", "/usr/bin/python: No module named pytest", 1, "norun"),
        ("npm test", 'npm error Missing script: "test"', 1, "norun"),
        ("npm test", "No tests found, exiting with code 0", 0, "norun"),
        ("make test", "make: *** No rule to make target 'test'.  Stop.", 2, "norun"),
        ("pytest", "bwrap: execvp sandbox: No such file or directory", 1, "norun"),
        # the printed exit code
        ('pytest; echo "exit: $?"', "1 passed in 1.0s\nexit: 0", 0, "pass"),
        ('pytest; echo "exit: $?"', "…\nexit: 1", 0, "fail"),
        ("pytest | tail; echo ${PIPESTATUS[0]}", "…\n1", 0, "fail"),
        # the output, where another program's exit code is told
        ("pytest 2>&1 | tail -3", "=== 2 failed, 1 passed in 0.21s ===", 0, "fail"),
        ("pytest 2>&1 | tail -3", "2 failed, 1 passed, 1 warning in 3.21s (0:00:03)", 0, "fail"),
        ("pytest 2>&1 | tail -3", "3 passed, 1 warning in 0.21s", 0, "pass"),
        ("pytest | head -5", "FAILED test_a.py::test_b - assert 1", 0, "fail"),
        ("pytest | tail", "1 error in 0.10s", 0, "fail"),
        ("pytest || true", "no tests ran in 0.01s", 0, "norun"),
        ("pytest | grep zzz", "", 1, "unknown"),
        ("python -m unittest 2>&1 | tail -3", "Ran 3 tests in 0.001s\n\nOK", 0, "pass"),
        ("python -m unittest | tail -3", "FAILED (failures=1)", 0, "fail"),
        ("npx jest | tail", "Tests:       1 failed, 2 passed, 3 total", 0, "fail"),
        ("npx jest | tail", "Tests:       3 passed, 3 total", 0, "pass"),
        (
            "npx vitest run | tail",
            " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)",
            0,
            "fail",
        ),
        (
            "npx vitest run | tail",
            " Test Files  1 passed (1)\n      Tests  3 passed (3)",
            0,
            "pass",
        ),
        ("npx mocha | tail", "  2 passing (4ms)\n  1 failing", 0, "fail"),
        ("npx mocha | tail", "  3 passing (4ms)", 0, "pass"),
        ("go test ./... | tail", "ok  \texample.com/a\t0.003s", 0, "pass"),
        (
            "go test ./... | tail",
            "--- FAIL: TestAdd (0.00s)\nFAIL\texample.com/a\t0.003s",
            0,
            "fail",
        ),
        ("cargo test | tail", "test result: ok. 3 passed; 0 failed; 0 ignored", 0, "pass"),
        ("cargo test | tail", "test result: FAILED. 2 passed; 1 failed; 0 ignored", 0, "fail"),
        ("cargo test | tail", "error[E0308]: mismatched types", 0, "fail"),
        ("rspec | tail", "3 examples, 0 failures", 0, "pass"),
        ("rspec | tail", "3 examples, 1 failure", 0, "fail"),
        ("phpunit | tail", "OK (3 tests, 3 assertions)", 0, "pass"),
        ("phpunit | tail", "FAILURES!\nTests: 3, Assertions: 3, Failures: 1.", 0, "fail"),
        ("mvn test | tail", "[INFO] BUILD SUCCESS", 0, "pass"),
        ("mvn test | tail", "Tests run: 3, Failures: 1, Errors: 0, Skipped: 0", 0, "fail"),
        ("./gradlew test | tail", "BUILD FAILED in 3s", 0, "fail"),
        ("dotnet test | tail", "Passed!  - Failed:     0, Passed:     3", 0, "pass"),
        ("dotnet test | tail", "Failed!  - Failed:     1, Passed:     2", 0, "fail"),
        ("npx tsc | head", "a.ts(1,7): error TS2322: Type 'string' is …", 0, "fail"),
        ("npx tsc | head", "", 0, "pass"),
        ("mypy . | tail -1", "Success: no issues found in 3 source files", 0, "pass"),
        ("mypy . | tail -1", "Found 2 errors in 1 file (checked 3 source files)", 0, "fail"),
        ("ruff check . | tail", "All checks passed!", 0, "pass"),
        ("ruff check . | tail", "Found 3 errors.", 0, "fail"),
        ("npx eslint . | tail", "✖ 3 problems (1 error, 2 warnings)", 0, "fail"),
        ("npx eslint . | tail", "✖ 2 problems (0 errors, 2 warnings)", 0, "unknown"),
        ("npx eslint . | tail", "", 0, "pass"),
        ("go build ./... | head", "./a.go:3:2: undefined: x", 0, "fail"),
        ("npm run build | tail", "✓ built in 1.2s", 0, "pass"),
        # one command, two verifications: each is told by its own
        ("pytest -q; ruff check .", "3 passed in 0.1s\nFound 2 errors.", 1, "pass"),
        ("ruff check . && pytest -q", "All checks passed!\n1 failed in 0.1s", 1, "pass"),
        ("pytest -q && git commit -m x", "nothing to commit", 1, "unknown"),
    ],
)
def test_how_it_ended(command: str, text: str, code: int, expected: str) -> None:
    assert verdict(command, text, code) == expected


@pytest.mark.parametrize(
    "status", [ResultStatus.DENIED, ResultStatus.INTERRUPTED, ResultStatus.RUNNING]
)
def test_what_was_cut_off_has_no_verdict(status: ResultStatus) -> None:
    assert verdict("pytest", FAILED, None, status) == Verdict.NONE


FAILED = "1 failed in 0.1s"


def test_an_exit_code_may_be_missing() -> None:
    assert verdict("pytest", "", None, ResultStatus.OK) == Verdict.PASS
    assert verdict("pytest", "", None, ResultStatus.FAIL) == Verdict.FAIL


def test_only_the_end_of_an_output_counts() -> None:
    text = f"1 failed in 0.1s\n{'x' * 5_000}\n3 passed in 0.1s"
    assert verdict("pytest | cat", text, 0) == Verdict.PASS
    assert verdict("pytest | cat", "x" * 10_000_000, 0) == Verdict.UNKNOWN
