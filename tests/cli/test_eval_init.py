"""`eval init` and `eval new`: sessions that went wrong become eval tasks."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, Outcome
from tests.sessions.start_state.rebuilt import began, claude_in, codex_in, edited, patched, wrote
from tests.sessions.start_state.repo import Repo, repo_in
from tests.sessions.transcripts import OTHER, Claude

from fairtrial.model.eval_task import EvalTask, RepoStart
from fairtrial.model.snapshot import Moment, Snapshot
from fairtrial.sessions.readers.claude_code.reader import AGENT
from fairtrial.store.opening import open_store
from fairtrial.suites.folders import read_task
from fairtrial.suites.starting import Sources, write_start
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles, Occasion

PROMPT = "Fix the total of the cart: it is too high."
VERIFIER = ("--verifier", "python3 -m pytest -q")
INIT = ("eval", "init", "--sessions", *VERIFIER)
JUST_NOW = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path


@pytest.fixture
def repo(home: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with a change that is not committed; the current folder."""
    repo = repo_in(home / "shop")
    repo.write("cart.py", "def total(prices):\n    return sum(prices)\n")
    repo.write("tests/test_cart.py", "from cart import total\n\nassert total([1]) == 1\n")
    repo.commit("one")
    repo.write("cart.py", "def total(prices):\n    return sum(prices) + 1\n")
    monkeypatch.chdir(repo.root)
    return repo


def failing(
    repo: Repo, prompt: str = PROMPT, session: str | None = None, at: datetime = JUST_NOW
) -> Claude:
    """Return a session that edits a file and verifies nothing, which is a failure."""
    claude = claude_in(repo.root, at)
    if session is not None:
        claude.session = session
    began(claude, repo)
    claude.records[-1]["message"]["content"] = prompt
    before = (repo.root / "cart.py").read_text()
    edited(claude, repo.root / "cart.py", before, before.replace("+ 1", "+ 2"))
    claude.said("Done.")
    return claude


def synced(fairtrial: Command, home: Path, *sessions: Claude) -> None:
    for claude in sessions:
        claude.write(home / "claude")
    assert fairtrial("sessions", "sync").code == 0


def made(done: Outcome) -> list[dict[str, Any]]:
    assert done.code == 0, done.out + done.err
    found: list[dict[str, Any]] = done.json["tasks"]
    return found


def task_of(told: dict[str, Any], repo: Repo) -> EvalTask:
    return read_task(Path(told["folder"]), repo.root)


def start_of(task: EvalTask) -> RepoStart:
    assert isinstance(task.start, RepoStart)
    return task.start


def laid_out(task: EvalTask, folder: Path) -> Repo:
    """Write the workspace of a task as its agent finds it."""
    folder.mkdir(parents=True)
    home = Path(os.environ["FAIRTRIAL_HOME"])
    with open_store(home, None) as store:
        files = GitSnapshotFiles(home, os.environ)
        write_start(task, None, folder, Sources(os.environ, store.snapshots.find, files))
    return Repo(folder)


def near_miss(task: EvalTask, folder: Path) -> Repo:
    """Write the workspace of a task with its session's change applied."""
    repo = laid_out(task, folder)
    patch = folder.parent / "near.patch"
    patch.write_bytes(task.near_misses["session"].encode("utf-8", "surrogateescape"))
    repo.git("apply", "--whitespace=nowarn", str(patch))
    return repo


def taken(repo: Repo, native_id: str, moment: Moment, at: datetime) -> Snapshot:
    """Take a snapshot as the hooks do, and keep it."""
    home = Path(os.environ["FAIRTRIAL_HOME"])
    snapshot_id = f"snap_{native_id[:8]}{moment}"
    occasion = Occasion(snapshot_id, AGENT, native_id, moment, at)
    snapshot = GitSnapshotFiles(home, os.environ).take(repo.root, occasion)
    with open_store(home, None) as store:
        store.snapshots.save([snapshot])
    return snapshot


def test_a_failed_session_becomes_a_task_that_can_be_run(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    synced(fairtrial, home, failing(repo))
    repo.write("cart.py", "everything is different now\n")
    done = fairtrial(*INIT, "--json")
    (told,) = made(done)
    assert (told["suite"], told["name"]) == ("failures", "fix-the-total-of-the-cart")
    assert Path(told["folder"]) == repo.root / "evals/failures/tasks" / told["name"]
    assert (told["grade"], told["near_miss"], told["notes"]) == ("base-exact", True, [])
    task = task_of(told, repo)
    assert task.instruction == f"{PROMPT}\n"
    assert task.verifier.command is not None
    assert task.verifier.command.line == VERIFIER[1]
    assert task.tags == ("no-verification",)
    assert task.origin is not None
    assert task.origin.flags == task.tags
    start = start_of(task)
    assert (Path(start.repo), start.commit) == (repo.root, repo.git("rev-parse", "HEAD"))
    assert "+ 1" in start.patch
    ready = near_miss(task, home / "ready")
    assert "+ 2" in (ready.root / "cart.py").read_text()
    listed = (repo.root / "evals/failures/README.md").read_text()
    assert "near_misses/" in listed
    with open_store(Path(os.environ["FAIRTRIAL_HOME"]), None) as store:
        (kept,) = store.suites.tasks(str(repo.root), "failures")
        assert kept.task == task


def test_a_second_time_only_what_is_new_is_drafted(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    synced(fairtrial, home, failing(repo))
    (first,) = made(fairtrial(*INIT, "--json"))
    instruction = Path(first["folder"]) / "instruction.md"
    instruction.write_text("Edited by hand.\n")
    later = failing(repo, "Round the prices of the cart.", OTHER)
    synced(fairtrial, home, later)
    done = fairtrial(*INIT, "--json").json
    assert [one["name"] for one in done["tasks"]] == ["round-the-prices-of-the-cart"]
    assert [one["task"] for one in done["left_out"]] == [first["name"]]
    assert instruction.read_text() == "Edited by hand.\n"
    third = fairtrial(*INIT)
    assert third.code == 0
    assert "0 tasks drafted in evals/failures" in third.out
    assert "it is the task" in third.out


def test_hidden_tests_are_copied_and_kept_from_the_agent(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    before = "from cart import total\n\nassert total([1]) == 1\n"
    claude = failing(repo)
    edited(claude, repo.root / "tests/test_cart.py", before, "assert True\n")
    claude.said("Done.")
    synced(fairtrial, home, claude)
    newer = f"{before}assert total([]) == 0  # the newer one\n"
    repo.write("tests/test_cart.py", newer)
    (told,) = made(fairtrial(*INIT, "--hidden-test", "tests/*", "--json"))
    task = task_of(told, repo)
    assert told["hidden"] == ["tests/test_cart.py"]
    assert task.verifier.hidden == {"tests/test_cart.py": newer.encode()}
    assert task.verifier.patterns == ("tests/*",)
    ready = near_miss(task, home / "ready")
    assert not (ready.root / "tests").exists()
    assert ready.git("log", "--all", "--format=%h", "--", "tests") == ""
    assert "test_cart" not in task.near_misses["session"]
    done = fairtrial(*INIT, "--suite", "other", "--hidden-test", "nothing/*")
    assert (done.code, "no file fits 'nothing/*'" in done.err) == (64, True)
    assert not (repo.root / "evals/other").exists()


def test_a_snapshot_is_the_start_and_outlasts_its_session(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    odd = os.fsdecode(b"caf\xe9.bin")
    repo.write(odd, bytes(range(256)))
    claude = failing(repo)
    first = taken(repo, claude.session, Moment.START, JUST_NOW - timedelta(minutes=1))
    repo.write("cart.py", "by the agent, also with commands\n")
    repo.write(odd, bytes(range(255, -1, -1)))
    (repo.root / "made.txt").write_text("new\n")
    taken(repo, claude.session, Moment.STOP, JUST_NOW + timedelta(minutes=1))
    repo.git("checkout", "-q", "cart.py")
    (repo.root / "made.txt").unlink()
    synced(fairtrial, home, claude)
    (told,) = made(fairtrial(*INIT, "--json"))
    assert (told["grade"], told["snapshot"]) == ("exact", first.id)
    task = task_of(told, repo)
    ready = near_miss(task, home / "ready")
    assert (ready.root / "cart.py").read_text() == "by the agent, also with commands\n"
    assert (ready.root / odd).read_bytes() == bytes(range(255, -1, -1))
    assert (ready.root / "made.txt").read_text() == "new\n"

    removed = fairtrial("sessions", "rm", claude.session, "--json").json
    assert removed["kept_snapshots"] == {first.id: f"failures/{task.name}"}
    due = fairtrial("prune", "snapshots", "--keep", "0", "--dry-run", "--json").json
    assert due["removed"]["snapshots"] == 0
    fairtrial("prune", "snapshots", "--keep", "0", "--yes")
    laid_out(task, home / "still")
    done = fairtrial("eval", "rm", task.name, "--json").json
    assert done["snapshots"] == [first.id]
    assert not (home / "store/snapshots" / first.repository / "refs" / first.id).exists()
    again = fairtrial("eval", "import", told["folder"])
    assert "is not in this store: it cannot be run here" in again.out


def test_edits_without_a_snapshot_are_done_again_as_far_as_they_are_told(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    repo.write("win.txt", b"one\r\ntwo\r\n")
    repo.write("latin.txt", b"caf\xe9 one\n")
    head = repo.commit("two")
    codex = codex_in(repo.root, head, JUST_NOW)
    codex.prompt("Rewrite the files of the shop.")
    patched(
        codex,
        {
            "win.txt": {"type": "update", "unified_diff": "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"},
            "new/made.py": {"type": "add", "content": "made = 1\n"},
            "tests/test_cart.py": {"type": "delete", "content": ""},
            "latin.txt": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-caf\ufffd one\n+b\n"},
        },
    )
    patched(codex, {"cart.py": {"type": "update", "unified_diff": "", "move_path": "basket.py"}})
    codex.said("Done.")
    codex.write(home / "codex")
    fairtrial("sessions", "sync")
    done = fairtrial("eval", "new", "latest", *VERIFIER, "--json")
    (told,) = made(done)
    assert any("latin.txt" in note for note in told["notes"])
    ready = near_miss(task_of(told, repo), home / "ready")
    assert (ready.root / "win.txt").read_bytes() == b"one\r\nTWO\r\n"
    assert (ready.root / "new/made.py").read_text() == "made = 1\n"
    assert not (ready.root / "tests/test_cart.py").exists()
    assert (ready.root / "basket.py").read_text().startswith("def total")
    assert not (ready.root / "cart.py").exists()
    assert (ready.root / "latin.txt").read_bytes() == b"caf\xe9 one\n"


def test_what_contradicts_its_commit_is_left_out_or_refused(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    codex = codex_in(repo.root, repo.git("rev-parse", "HEAD"), JUST_NOW)
    codex.prompt("Change the file a bit.")
    patched(codex, {"cart.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-never\n+there\n"}})
    codex.said("Done.")
    codex.write(home / "codex")
    fairtrial("sessions", "sync")
    done = fairtrial(*INIT)
    assert done.code == 4
    assert "contradicts the commit" in done.out
    named = fairtrial("eval", "init", "--sessions", "latest", *VERIFIER)
    assert (named.code, "contradicts the commit" in named.err) == (77, True)
    assert fairtrial("eval", "new", "latest", *VERIFIER).code == 77
    assert not (repo.root / "evals").exists()


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("yes, go on", "says too little"),
        ("/review the cart", "is a slash command: /review"),
        ("[Image #1] [Image #2]", "images or files alone"),
        ("ok", "says too little"),
        ("x" * 40_000, "is too long"),
    ],
)
def test_prompts_that_tell_nothing_alone_are_left_out(
    fairtrial: Command, home: Path, repo: Repo, prompt: str, why: str
) -> None:
    synced(fairtrial, home, failing(repo, prompt))
    done = fairtrial(*INIT, "--json")
    assert done.code == 4
    (left,) = done.json["left_out"]
    assert why in left["reason"]
    named = fairtrial("eval", "new", "latest", *VERIFIER)
    assert (named.code, why in named.err) == (64, True)
    (home / "told.md").write_text("Fix the cart.\n")
    told = ("--instruction-file", str(home / "told.md"))
    (task,) = made(fairtrial("eval", "new", "latest", *VERIFIER, *told, "--json"))
    assert task["name"] == "fix-the-cart"


def test_equal_prompts_on_equal_starts_are_one_task(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    later = failing(repo, session=OTHER, at=JUST_NOW + timedelta(minutes=5))
    synced(fairtrial, home, failing(repo), later)
    done = fairtrial(*INIT, "--json").json
    assert [one["name"] for one in done["tasks"]] == ["fix-the-total-of-the-cart"]
    (left,) = done["left_out"]
    assert "same prompt and the same start" in left["reason"]
    assert task_of(done["tasks"][0], repo).origin != left["session"]


def test_sessions_of_worktrees_and_links_are_of_the_repository_and_no_others(
    fairtrial: Command, home: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("commit", "-q", "-am", "two")
    repo.git("worktree", "add", "-q", str(home / "side"), "-b", "side")
    (home / "link").symlink_to(repo.root)
    other = repo_in(home / "other")
    other.write("cart.py", "x = 1 + 1\n")
    other.commit()
    sessions = []
    for number, (root, prompt) in enumerate(
        [
            (home / "side", "Work in the side tree."),
            (home / "link", "Work by the link."),
            (other.root, "Work elsewhere."),
        ]
    ):
        claude = claude_in(root, JUST_NOW + timedelta(minutes=number))
        claude.session = f"{number}1111111-2222-4333-8444-555555555555"
        began(claude, Repo(root))
        claude.records[-1]["message"]["content"] = prompt
        before = (root / "cart.py").read_text()
        edited(claude, root / "cart.py", before, before.replace("+ 1", "+ 2"))
        claude.said("Done.")
        sessions.append(claude)
    synced(fairtrial, home, *sessions)
    repo.git("worktree", "remove", "--force", str(home / "side"))
    found = made(fairtrial(*INIT, "--dry-run", "--json"))
    names = {one["name"] for one in found}
    assert "work-elsewhere" not in names
    assert "work-by-the-link" in names
    assert not (repo.root / "evals").exists()
    monkeypatch.chdir(home)
    (elsewhere,) = made(fairtrial(*INIT, "--repo", str(other.root), "--json"))
    assert elsewhere["name"] == "work-elsewhere"
    assert Path(elsewhere["folder"]).is_relative_to(other.root)


def test_secrets_are_in_no_file_of_a_task(fairtrial: Command, home: Path, repo: Repo) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5"
    claude = failing(repo, f"Fix the cart with the token {secret} please.")
    wrote(claude, repo.root / "made.py", None, f'token = "{secret}"\n')
    claude.said("Done.")
    synced(fairtrial, home, claude)
    (told,) = made(fairtrial(*INIT, "--json"))
    for path in Path(told["folder"]).rglob("*"):
        assert path.is_dir() or secret not in path.read_text()


@pytest.mark.parametrize("snapshots", [False, True])
def test_suites_are_in_no_workspace(
    fairtrial: Command, home: Path, repo: Repo, *, snapshots: bool
) -> None:
    synced(fairtrial, home, failing(repo))
    (first,) = made(fairtrial(*INIT, "--json"))
    repo.write("evals/mine.py", "of the repository\n")
    repo.commit("with evals")
    repo.write("cart.py", "def total(prices):\n    return sum(prices) + 1\n\n")
    later = failing(repo, "Round the prices.", OTHER, JUST_NOW + timedelta(minutes=9))
    if snapshots:
        taken(repo, later.session, Moment.START, JUST_NOW + timedelta(minutes=8))
        repo.write("evals/failures/tasks/more/task.toml", "# the answer\n")
        repo.write("evals/new/tasks/more/task.toml", "# the answer\n")
        repo.write("made.py", "made = 1\n")
        taken(repo, later.session, Moment.STOP, JUST_NOW + timedelta(minutes=10))
    synced(fairtrial, home, later)
    (second,) = made(fairtrial(*INIT, "--json"))
    assert (second["name"], second["snapshot"] is not None) == ("round-the-prices", snapshots)
    assert "answer" not in task_of(second, repo).near_misses["session"]
    ready = near_miss(task_of(second, repo), home / "ready")
    assert not (ready.root / "evals/failures").exists()
    assert (ready.root / "evals/mine.py").exists()
    assert "evals/failures" not in ready.git("ls-tree", "-r", "--name-only", "HEAD")
    assert (Path(first["folder"]) / "task.toml").is_file()


def test_without_what_is_needed_it_says_so(
    fairtrial: Command, home: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = fairtrial(*INIT)
    assert (done.code, "went wrong" in done.err, "sessions sync" in done.err) == (66, True, True)
    nothing = fairtrial("eval", "init", *VERIFIER)
    assert (nothing.code, "--sessions" in nothing.err) == (64, True)
    for words, what in (
        (("eval", "init", "--sessions", "--verifier", "  "), "--verifier is empty"),
        ((*INIT, "--setup", ""), "--setup is empty"),
        ((*INIT, "--suite", "../up"), "cannot be the name of a suite"),
        ((*INIT, "--since", "soon"), "--since"),
        ((*INIT, "--where", "flag ="), "a value is expected"),
        (("eval", "init", "--sessions"), "--verifier"),
    ):
        done = fairtrial(*words)
        assert (done.code, what in done.err) == (64, True), done.err
    assert fairtrial("eval", "init", "--sessions", "ses_none", *VERIFIER).code == 66
    bare = home / "bare.git"
    repo.git("clone", "-q", "--bare", str(repo.root), str(bare))
    for folder in (home, bare):
        monkeypatch.chdir(folder)
        done = fairtrial(*INIT)
        assert (done.code, "in no git repository" in done.err) == (66, True)


def test_a_commit_that_is_gone_leaves_the_session_out(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    codex = codex_in(repo.root, "ab" * 20, JUST_NOW)
    codex.prompt("Change the file a bit.")
    patched(codex, {"made.py": {"type": "add", "content": "made = 1\n"}})
    codex.said("Done.")
    codex.write(home / "codex")
    fairtrial("sessions", "sync")
    done = fairtrial(*INIT)
    assert (done.code, "is not in the repository any more" in done.out) == (4, True)
    assert not (repo.root / "evals").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user whom a folder's mode can hinder")
def test_a_folder_that_cannot_be_written_is_named(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    synced(fairtrial, home, failing(repo))
    repo.root.chmod(0o555)
    try:
        done = fairtrial(*INIT)
    finally:
        repo.root.chmod(0o755)
    assert (done.code, "cannot be written" in done.err) == (64, True)


def test_a_file_where_the_suite_would_be_is_named(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    synced(fairtrial, home, failing(repo))
    repo.write("evals", "a file\n")
    done = fairtrial(*INIT)
    assert (done.code, "cannot be written" in done.err) == (64, True)
    assert (repo.root / "evals").read_text() == "a file\n"


def test_what_stops_it_in_the_middle_leaves_whole_tasks(
    fairtrial: Command, home: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = failing(repo, "Round the prices.", OTHER, JUST_NOW + timedelta(minutes=5))
    synced(fairtrial, home, failing(repo), later)
    writes = iter([True, False])
    real = Path.rename

    def stopped(path: Path, target: Path) -> Path:
        if path.name.endswith(".partial") and not next(writes):
            raise KeyboardInterrupt
        return real(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", stopped)
        assert fairtrial(*INIT).code == 130
    tasks = repo.root / "evals/failures/tasks"
    assert [path.name for path in tasks.iterdir()] == ["round-the-prices"]
    (told,) = made(fairtrial(*INIT, "--json"))
    assert told["name"] == "fix-the-total-of-the-cart"
    assert len(fairtrial("eval", "list", "--json").json["tasks"]) == 2


def test_at_most_as_many_as_are_asked_for(fairtrial: Command, home: Path, repo: Repo) -> None:
    later = failing(repo, "Round the prices.", OTHER, JUST_NOW + timedelta(minutes=5))
    old = failing(
        repo, "Long ago.", OTHER.replace("9", "8"), datetime.now(UTC) - timedelta(days=20)
    )
    synced(fairtrial, home, failing(repo), later, old)
    done = fairtrial(*INIT, "--limit", "1")
    assert "  round-the-prices  (" in done.out
    assert "More sessions went wrong: raise --limit" in done.out
    rest = fairtrial(*INIT, "--where", "flag = no-verification", "--json").json
    assert [one["name"] for one in rest["tasks"]] == ["fix-the-total-of-the-cart"]
    assert not rest["more"]
    assert fairtrial(*INIT, "--where", "flag = looping", "--since", "60d").code == 66


def test_names_are_readable_in_any_language(fairtrial: Command, home: Path, repo: Repo) -> None:
    sessions = []
    for number, prompt in enumerate(
        ["Répare le café – s'il te plaît", "修复购物车的合计", "Fix it up"]
    ):
        at = JUST_NOW + timedelta(minutes=number)
        native = f"{number}2222222-2222-4333-8444-555555555555"
        sessions.append(failing(repo, prompt, native, at))
    synced(fairtrial, home, *sessions)
    tasks = made(fairtrial(*INIT, "--json"))
    names = [one["name"] for one in tasks]
    assert names[::2] == ["fix-it-up", "repare-le-cafe-s-il-te-plait"]
    assert names[1].startswith("ses-")
    assert task_of(tasks[1], repo).instruction == "修复购物车的合计\n"


def test_a_name_is_taken_once(fairtrial: Command, home: Path, repo: Repo) -> None:
    synced(fairtrial, home, failing(repo))
    new = ("eval", "new", "latest", *VERIFIER, "--protected", "tests/*", "--setup", "true")
    (told,) = made(fairtrial(*new, "--name", "mine", "--json"))
    task = task_of(told, repo)
    assert task.verifier.protected == ("tests/*",)
    assert task.setup is not None
    done = fairtrial(*new, "--name", "Mine")
    assert (done.code, "there is a task Mine" in done.err) == (64, True)
    done = fairtrial(*new)
    assert (done.code, "is the task mine already" in done.err) == (64, True)
    (second,) = made(fairtrial(*new, "--name", "again", "--json"))
    assert second["digest"] == told["digest"]
    assert fairtrial(*new, "--name", "a/b").code == 64
    assert fairtrial(*new, "--name", "x", "--instruction-file", "none.md").code == 66


def test_sessions_of_trials_are_no_candidates(
    fairtrial: Command, home: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRTRIAL_HOME", str(repo.root / ".fairtrial"))
    place = repo.root / ".fairtrial/workspaces/one/files"
    place.mkdir(parents=True)
    claude = claude_in(place, JUST_NOW)
    began(claude, repo)
    claude.records[-1]["message"]["content"] = PROMPT
    before = (repo.root / "cart.py").read_text()
    edited(claude, place / "cart.py", before, before.replace("+ 1", "+ 2"))
    claude.said("Done.")
    synced(fairtrial, home, claude)
    assert fairtrial("sessions", "list", "--where", "is:flagged", "--json").json["sessions"]
    assert fairtrial(*INIT).code == 66
