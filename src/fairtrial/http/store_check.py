"""What looks at the store before a request is answered from it."""

from __future__ import annotations

from collections.abc import Callable

from fairtrial.app.bench import Bench


def checking(bench: Bench) -> Callable[[], None]:
    """Return what looks whether a newer program has migrated the store meanwhile.

    A route that depends on it is not answered then, so that nothing is read or written wrongly.
    """

    def check() -> None:
        bench.store.check()

    return check
