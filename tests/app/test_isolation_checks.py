"""What `doctor` says of isolation, and of what killed runs have left."""

from __future__ import annotations

import os
from pathlib import Path

from tests.workspaces.levels import needs_bwrap, new_id

from fairtrial.app.bench import Bench
from fairtrial.app.isolation_checks import isolation_checks
from fairtrial.workspaces.places import Places


def test_a_level_that_does_not_work_is_no_problem_and_says_what_it_needs(tmp_path: Path) -> None:
    checks = list(isolation_checks(Bench(tmp_path, tmp_path, {"PATH": str(tmp_path)})))
    assert [(check.name, check.ok) for check in checks] == [
        ("level bwrap", None),
        ("level image", None),
    ]
    assert "bubblewrap" in checks[0].found
    assert "install podman or docker" in checks[1].found


@needs_bwrap
def test_a_level_that_works_says_what_it_can_limit(tmp_path: Path) -> None:
    bwrap, _ = isolation_checks(Bench(tmp_path, tmp_path, dict(os.environ)))
    assert (bwrap.name, bwrap.ok) == ("level bwrap", True)
    assert bwrap.found.startswith("works: a sandbox was made; files are ")
    assert "; memory can" in bwrap.found
    assert "; the number of processes can" in bwrap.found


def test_what_a_killed_run_left_is_removed_and_told(tmp_path: Path) -> None:
    places = Places(tmp_path / "workspaces" / "live", new_id)
    place = places.new()
    os.close(places._lock)  # as the kernel does when a process dies
    *_, leftovers = isolation_checks(Bench(tmp_path, tmp_path, {"PATH": ""}))
    assert leftovers.name == "leftovers"
    assert str(place.parent) in leftovers.found
    assert not place.exists()


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "workspaces").write_text("no folder")
    (check,) = isolation_checks(Bench(tmp_path, tmp_path, dict(os.environ)))
    assert check.ok is None
    assert "could not be tried" in check.found
