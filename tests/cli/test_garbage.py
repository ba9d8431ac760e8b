import gc
from collections.abc import Iterator

import pytest

from fairtrial.cli import garbage


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    threshold = gc.get_threshold()
    yield
    gc.set_threshold(*threshold)
    gc.unfreeze()


def test_a_run_looks_for_garbage_again() -> None:
    usual = gc.get_threshold()
    garbage.postpone()
    assert gc.get_threshold()[0] > 100 * usual[0]
    garbage.resume()
    assert gc.get_threshold()[0] <= 1000
    assert gc.get_freeze_count() > 0


def test_who_did_not_postpone_is_left_alone() -> None:
    gc.set_threshold(123, 4, 5)
    garbage.resume()
    assert gc.get_threshold() == (123, 4, 5)
    assert gc.get_freeze_count() == 0


def test_the_exit_passes_over_what_is_there() -> None:
    garbage.leave()
    assert gc.get_freeze_count() > 0
