"""The workbench: what every verb is given. The only place that knows where things live."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.app.deferred_evals import DeferredEvals
from fairtrial.app.paths import current_folder, user_path
from fairtrial.app.remembering import Memory
from fairtrial.engine.control import Control

if TYPE_CHECKING:  # most of what there is, and a short command needs none of it
    from fairtrial.model.events import Event
    from fairtrial.ports import Clock, Prices, Surroundings, Workspace
    from fairtrial.store.opening import Store


class SystemClock:
    """The machine's own time: a `Clock`."""

    def now(self) -> datetime:
        """See `Clock.now`."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """See `Clock.monotonic`."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """See `Clock.sleep`."""
        import asyncio  # noqa: PLC0415  # 25 ms that a command which runs nothing spares

        await asyncio.sleep(seconds)


def ignore(_: Event) -> None:
    """Take an event and do nothing."""


@dataclass(frozen=True)
class Bench:
    """What every verb is given: where things are, time, and who listens.

    Attributes:
        home: Folder of the store.
        cwd: Where relative paths start.
        environ: The environment of this process.
        clock: Time.
        publish: Takes the events of a run.
        control: How a run is asked to stop.
        store_url: Database URL; None is the embedded store under `home`.
        functions: Functions that this process was handed, by the name that a spec gives them.
        memory: What was worked out and may be needed again.
        comparisons: The same for whole comparisons, which may have 100,000 rows each.
        ask: Shows a report and asks a question about it; None when there is nobody to ask.
    """

    home: Path
    cwd: Path
    environ: Mapping[str, str]
    clock: Clock = field(default_factory=SystemClock)
    publish: Callable[[Event], None] = ignore
    control: Control = field(default_factory=Control)
    store_url: str | None = None
    ask: Callable[[Any, str], bool] | None = None
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    comparisons: Memory = field(default_factory=lambda: Memory(3))

    @cached_property
    def store(self) -> Store:
        """The store, opened on first use."""
        from fairtrial.store.opening import open_store  # noqa: PLC0415  # SQLAlchemy takes 0.3 s

        return open_store(self.home, self.store_url)

    @cached_property
    def prices(self) -> Prices:
        """What models cost: the user's own prices first.

        Raises:
            UsageError: the file of the user's prices does not fit.
        """
        from fairtrial.pricing.prices import Prices as PriceList  # noqa: PLC0415  # runs only

        given = self.environ.get("FAIRTRIAL_PRICES")
        usual = self.home / "prices.json"
        own = self.path(Path(given)) if given else usual if usual.exists() else None
        prices = PriceList(own)
        prices.check()
        return prices

    def surroundings(
        self, folder: Path, workspace: Workspace, *, cache: bool = True
    ) -> Surroundings:
        """Return what tasks, graders and providers are built with.

        Args:
            folder: Where relative paths of their options start.
            workspace: Where their programs run; whoever made it closes it.
            cache: Whether models' answers are kept, and kept ones are served.
        """
        from fairtrial.ports import Surroundings  # noqa: PLC0415  # only for what runs something

        answers = self.store.answers if cache else None
        evals = DeferredEvals(self, workspace)
        return Surroundings(
            folder,
            self.environ,
            workspace,
            self.prices,
            answers,
            self.clock,
            evals,
            self.functions,
        )

    def close(self) -> None:
        """Close the store, if it was opened."""
        if "store" in self.__dict__:
            self.store.close()

    def path(self, path: Path) -> Path:
        """Return a path of the user's as an absolute one."""
        return user_path(path, self.cwd)

    def output(self, path: Path | None) -> Path | None:
        """Return where an output goes as an absolute path; None is standard output, as is `-`."""
        return None if path is None or path == Path("-") else self.path(path)


def bench_here(
    environ: Mapping[str, str] | None = None, publish: Callable[[Event], None] = ignore
) -> Bench:
    """Return the workbench of this process: its environment, its folder, its store.

    Raises:
        NotFoundError: the current folder, or the one that FAIRTRIAL_HOME starts at, is not there.
    """
    environ = dict(os.environ) if environ is None else environ
    return Bench(
        home=home_here(environ),
        cwd=current_folder(),
        environ=environ,
        publish=publish,
        store_url=environ.get("FAIRTRIAL_STORE") or None,
    )


def home_here(environ: Mapping[str, str]) -> Path:
    """Return the folder of this process's store.

    Raises:
        NotFoundError: what it starts at is not there.
    """
    given = environ.get("FAIRTRIAL_HOME")
    if given:
        return user_path(given, current_folder(), "FAIRTRIAL_HOME")
    from platformdirs import user_data_path  # noqa: PLC0415  # not needed when the home is given

    return user_data_path("fairtrial", appauthor=False)
