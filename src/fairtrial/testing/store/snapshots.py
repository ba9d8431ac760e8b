"""The contract of a `SnapshotStore`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fairtrial.model.errors import NotFoundError
from fairtrial.model.snapshot import LeftOut, LeftOutReason, Moment, Snapshot
from fairtrial.ports.snapshots import SnapshotStore
from fairtrial.testing.store.facts import NOON

FIRST = Snapshot(
    id="snap_01J0000000000000000000000A",
    agent="claude-code",
    native_id="1b2c",
    moment=Moment.START,
    taken_at=NOON,
    root="/r/ünï\udcff",
    repository="r-0123456789abcdef",
    head="a" * 40,
    branch="main",
    index_tree=None,
    worktree_tree="b" * 40,
    commit="c" * 40,
    left_out=(
        LeftOut(LeftOutReason.LARGE, "big.bin", 1, 2**40),
        LeftOut(LeftOutReason.IGNORED),
    ),
)
SECOND = replace(
    FIRST,
    id="snap_01J0000000000000000000000B",
    moment=Moment.STOP,
    taken_at=NOON + timedelta(seconds=1),
    head=None,
    branch=None,
    index_tree="d" * 64,
    left_out=(),
)
OTHER = replace(FIRST, id="snap_01J0000000000000000000001C", agent="codex")


class SnapshotStoreContract:
    """Subclass it in a test module, name the class `Test…`, and override `snapshots`."""

    @pytest.fixture
    def snapshots(self) -> SnapshotStore:
        """Return an empty store."""
        raise NotImplementedError

    def test_a_snapshot_comes_back_whole(self, snapshots: SnapshotStore) -> None:
        snapshots.save([SECOND, FIRST, OTHER])
        assert list(snapshots.of_session("claude-code", "1b2c")) == [FIRST, SECOND]
        assert list(snapshots.of_session("codex", "1b2c")) == [OTHER]
        assert list(snapshots.of_session("codex", "1b2")) == []

    def test_saving_twice_keeps_the_first(self, snapshots: SnapshotStore) -> None:
        snapshots.save([])
        snapshots.save([FIRST])
        snapshots.save([replace(FIRST, branch="other"), SECOND, SECOND])
        assert list(snapshots.newest(9)) == [SECOND, FIRST]
        assert list(snapshots.newest(1)) == [SECOND]

    def test_one_is_found_by_its_id_or_a_prefix(self, snapshots: SnapshotStore) -> None:
        snapshots.save([FIRST, SECOND, OTHER])
        assert snapshots.find(FIRST.id) == FIRST
        assert snapshots.find("snap_01j0000000000000000000001") == OTHER
        with pytest.raises(NotFoundError, match="fits several"):
            snapshots.find("snap_01J000000000000000000000")
        with pytest.raises(NotFoundError, match="there is no snapshot"):
            snapshots.find("snap_01K")

    def test_forgotten_ones_are_gone(self, snapshots: SnapshotStore) -> None:
        snapshots.save([FIRST, SECOND])
        snapshots.forget([FIRST, OTHER])
        snapshots.forget([])
        assert list(snapshots.newest(9)) == [SECOND]
