"""A line that shows how a run stands: live on a terminal, every 30 seconds elsewhere."""

from __future__ import annotations

import dataclasses
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairtrial.analysis.progress import Judging, Progress, eta_s
from fairtrial.app.bench import Bench
from fairtrial.cli import garbage, streams
from fairtrial.cli.harmless import harmless
from fairtrial.cli.render.words import duration, money, percent, reused, spent
from fairtrial.model.events import Event, JudgingStarted, Noted, RunStarted
from fairtrial.model.verdict import Verdict

if TYPE_CHECKING:
    from rich.text import Text

PLAIN_EVERY_S = 30.0
LIVE_EVERY_S = 0.1


@contextmanager
def watched(bench: Bench) -> Iterator[Bench]:
    """Show the events of a run on standard error while the block runs."""
    progress = Progress()
    told: set[str] = set()

    def see(event: Event) -> None:
        if isinstance(event, RunStarted | JudgingStarted):
            garbage.resume()
        elif isinstance(event, Noted) and event.text not in told:
            told.add(event.text)
            streams.tell(f"{harmless(event.text)}\n")
        progress.see(event)
        if isinstance(event, RunStarted | JudgingStarted):
            line.begin()

    shown = dataclasses.replace(bench, publish=see)
    if "store" in bench.__dict__:
        shown.__dict__["store"] = bench.store
    line = StatusLine(progress, live=sys.stderr.isatty())
    try:
        with line:
            yield shown
    finally:
        if "store" in shown.__dict__:  # opened while it ran; whoever owns the bench closes it
            bench.__dict__["store"] = shown.store


class StatusLine:
    """Prints a run's progress from a thread of its own, so that no trial waits for a terminal."""

    def __init__(self, progress: Progress, *, live: bool) -> None:
        self._progress = progress
        self._live = live
        self._started = time.monotonic()
        self._judge: Judging | None = None
        self._experiment = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def begin(self) -> None:
        """Count the time from now if what goes on is another run or judging than before."""
        progress = self._progress
        if progress.judging is not None:
            if progress.judging is not self._judge:
                self._judge, self._started = progress.judging, time.monotonic()
        elif progress.experiment_id != self._experiment:
            self._experiment, self._started = progress.experiment_id, time.monotonic()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _show(self) -> None:
        if self._live:
            self._show_live()
            return
        while not self._over.wait(PLAIN_EVERY_S):
            if self._under_way():
                streams.tell(self.text() + "\n")

    def _show_live(self) -> None:
        while not self._under_way():  # nothing to show yet; most plans take no time
            if self._over.wait(LIVE_EVERY_S):
                return
        from rich.console import Console  # noqa: PLC0415  # takes 50 ms, off the main thread
        from rich.live import Live  # noqa: PLC0415

        with Live(
            console=Console(stderr=True, highlight=False),
            get_renderable=self._renderable,
            refresh_per_second=1 / LIVE_EVERY_S,
            transient=True,
        ):
            self._over.wait()

    def _renderable(self) -> Text:
        from rich.text import Text  # noqa: PLC0415  # loaded with Live

        return Text(self.text(), no_wrap=True, overflow="ellipsis")

    def _under_way(self) -> bool:
        judging = self._progress.judging
        return bool(self._progress.planned or (judging is not None and judging.planned))

    def text(self) -> str:
        """Return the line."""
        progress = self._progress
        self.begin()
        if progress.judging is not None:
            return self._judging(progress.judging)
        done, planned = progress.done, progress.planned
        parts = [f"{progress.name}  {_share(done, planned)}"]
        # A narrow terminal cuts the end off: what is waited for comes first.
        left = eta_s(progress.recorded, planned - done, time.monotonic() - self._started)
        if progress.draining is not None:
            parts.append("finishing what runs")
        elif left is not None and done < planned:
            parts.append(f"{duration(left)} left")
        parts += spent(progress.cost_usd, progress.grading_cost_usd)
        rate = progress.pass_rate()
        if rate is not None:
            estimate, interval = rate
            low, high = percent(interval.lower), percent(interval.upper)
            parts.append(f"passed {percent(estimate)} [{low}, {high}]")
        undecided = progress.verdicts[Verdict.UNDECIDED]
        if undecided:
            causes = ", ".join(f"{n} {cause}" for cause, n in sorted(progress.causes.items()))
            parts.append(f"{undecided} undecided ({causes})")
        if progress.retries:
            parts.append(f"{progress.retries} retries")
        for source, calls in progress.reused.items():
            parts.append(reused(source, calls, None))
        if progress.saved_usd:
            parts.append(f"saved {money(progress.saved_usd)}")
        return "  ".join(parts)

    def _judging(self, judging: Judging) -> str:
        done, planned = judging.done, judging.planned
        parts = [f"{judging.name}  {_share(done, planned)} judged"]
        left = eta_s(done, planned - done, time.monotonic() - self._started)
        if left is not None and done < planned:
            parts.append(f"{duration(left)} left")
        if judging.cost_usd:
            parts.append(money(judging.cost_usd))
        return "  ".join(parts)


def _share(done: int, planned: int) -> str:
    return f"{_bar(done / planned if planned else 0.0)} {done:,}/{planned:,}"


def _bar(share: float, width: int = 20) -> str:
    full = round(share * width)
    return "━" * full + "─" * (width - full)
