"""Trials on their way: kept in a file until it is known what they belong to.

Who decides, how many arms there are, and which cases have one id and two contents is known only
when all were read. A file may hold hundreds of megabytes, so they wait outside of memory.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final

import msgspec

from fairtrial.app.pushing.bars import PASSED, Bars, Seen
from fairtrial.app.pushing.bodies import LONGEST_NAME, case_of, short_name, short_text, trial_of
from fairtrial.interchange.results.contract import FoundTrial, Notes
from fairtrial.model.case import DEFAULT_CONDITION
from fairtrial.model.json import Json, canonical_json
from fairtrial.model.trial import MAIN_ARM

_IN_MEMORY: Final = 8 * 1024 * 1024
_MARK: Final = 8
_LARGEST_NUMBER: Final = 100_000
_Key = tuple[str, str]


class Kept(msgspec.Struct):
    """A trial as it waits.

    Attributes:
        case: What it says of its case.
        trial: What it says of itself.
        arm: Its arm.
        model: Its model.
        number: The tool's number of it.
        passed: The tool's own verdict.
        reason: Why that is so.
        named: Its case has a name of its own, and not only that of its input.
        stands_in: Something else stands for its input.
        transcript: The transcript of the session that it was.
    """

    case: dict[str, Any]
    trial: dict[str, Any]
    arm: str | None = None
    model: str | None = None
    number: int | None = None
    passed: bool | None = None
    reason: str | None = None
    named: bool = True
    stands_in: bool = False
    transcript: str | None = None


_DECODER: Final = msgspec.json.Decoder(Kept)


@dataclass(slots=True)
class Spool:
    """The trials of one run.

    Attributes:
        notes: Counts what does not fit.
        seen: The values of each grader.
        arms: Arms that were named, in the order they came.
        models: Models that were named.
        verdicts: Trials to which the tool gave a verdict of its own.
        trials: How many there are.
        transcripts: Transcripts of sessions that trials were.
    """

    notes: Notes
    seen: dict[str, Seen] = field(default_factory=dict)
    arms: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    verdicts: int = 0
    trials: int = 0
    transcripts: list[str] = field(default_factory=list)
    _contents: dict[_Key, bytes] = field(default_factory=dict)
    _several: set[_Key] = field(default_factory=set)
    _hashes: Any = field(default_factory=hashlib.sha256)
    _file: IO[bytes] = field(
        default_factory=lambda: tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  # closed by `close`
    )

    def add(self, found: FoundTrial) -> None:
        """Keep a trial; one that no store could hold is counted as lost."""
        try:
            self._add(found)
        except (RecursionError, ValueError, OverflowError):
            named = short_name(found.id or "") or f"trial {self.trials + 1}"
            self.notes.add("trials that are nested too deeply, or are no JSON", named, lost=True)

    def _add(self, found: FoundTrial) -> None:
        case = case_of(found)
        where = f"case {case['id']}"
        kept = Kept(
            case,
            trial_of(found, self.notes, where),
            short_name(found.arm) if found.arm else None,
            short_name(found.model) if found.model else None,
            found.trial,
            found.passed,
            short_text(found.reason) if found.reason else None,
            bool(found.id),
            found.stands_in,
        )
        line = msgspec.json.encode(kept)
        self._hashes.update(line)
        if found.transcript is not None:
            # Where it lies is no part of what was found.
            kept.transcript = str(found.transcript)
            self.transcripts.append(kept.transcript)
            line = msgspec.json.encode(kept)
        self._file.write(line + b"\n")
        self._note_case(case)
        for name, score in kept.trial.get("scores", {}).items():
            self.seen.setdefault(name, Seen()).add(score["value"])
        if kept.arm is not None:
            self.arms.setdefault(kept.arm)
        if kept.model is not None:
            self.models.setdefault(kept.model)
        self.verdicts += found.passed is not None
        self.trials += 1

    def close(self) -> None:
        """Remove what was kept."""
        self._file.close()

    @property
    def n_cases(self) -> int:
        """How many cases there are, those with one id and several contents once."""
        return len(self._contents)

    @property
    def several(self) -> int:
        """How many ids stand for cases with several contents."""
        return len(self._several)

    @property
    def digest(self) -> str:
        """SHA-256 of all trials, as they were read."""
        found: str = self._hashes.hexdigest()
        return found

    def all_arms(self) -> list[str]:
        """Return the arms: those that were named, else the models where there are several."""
        if self.arms:
            return list(self.arms)
        return list(self.models) if len(self.models) > 1 else [MAIN_ARM]

    def arrange(self, order: Sequence[str]) -> None:
        """Put the arms into an order; those that are not in it come after."""
        wanted = [short_name(arm) for arm in order]
        known = [arm for arm in wanted if arm in self.arms]
        self.arms = dict.fromkeys([*known, *self.arms])

    def rows(
        self, bars: Bars, sessions: Mapping[str, str], notes: Notes, *, matched: bool = False
    ) -> Iterator[dict[str, Json]]:
        """Yield each trial as a row that the API takes.

        Args:
            bars: What decides.
            sessions: Ids of sessions by their transcripts.
            notes: Counts what does not fit.
            matched: The cases are stored already; rows name them by id, or else by their input.
        """
        by_model = not self.arms and len(self.models) > 1
        arms = self.all_arms()
        taken: dict[tuple[str, str, str], int] = {}
        self._file.seek(0)
        for line in self._file:
            kept = _DECODER.decode(line)
            if not matched:
                self._rename(kept.case)
            arm = (kept.model if by_model else kept.arm) or arms[-1]
            condition = kept.case.get("condition", DEFAULT_CONDITION)
            place = (kept.case["id"], condition, arm)
            number = _number(kept, taken.get(place, 0), notes)
            taken[place] = taken.get(place, 0) | 1 << number
            row = {**kept.case, **kept.trial, "arm": arm, "trial": number}
            if bars.own:
                row["scores"] = {**row.get("scores", {}), PASSED: _verdict(kept)}
            _hold_against(kept, row, bars, notes)
            session = sessions.get(kept.transcript or "")
            if session is not None and isinstance(row.get("output"), dict):
                row["output"] = {**row["output"], "session": session}
            if matched and not kept.named:
                del row["id"]
            if matched and kept.stands_in:
                del row["input"]
            yield row

    def _note_case(self, case: dict[str, Json]) -> None:
        key = (case["id"], case.get("condition", DEFAULT_CONDITION))
        digest = hashlib.blake2b(canonical_json(case), digest_size=_MARK).digest()
        if self._contents.setdefault(key, digest) != digest:
            self._several.add(key)

    def _rename(self, case: dict[str, Json]) -> None:
        """Give a case whose id stands for several contents a name of its own."""
        if (case["id"], case.get("condition", DEFAULT_CONDITION)) not in self._several:
            return
        mark = hashlib.blake2b(canonical_json(case), digest_size=_MARK // 2).hexdigest()
        name = str(case["id"])[: LONGEST_NAME - len(mark) - 1]
        case["id"] = f"{name}~{mark}"


def _number(kept: Kept, taken: int, notes: Notes) -> int:
    """Return the number of a trial; bits of `taken` are the numbers of those before it."""
    number = kept.number
    if number is not None and (number > _LARGEST_NUMBER or taken >> number & 1):
        notes.add("trials with the number of another one: renumbered", kept.case["id"])
        number = None
    if number is None:
        number = taken.bit_count() + 1
        while taken >> number & 1:
            number += 1
    return number


def _hold_against(kept: Kept, row: dict[str, Json], bars: Bars, notes: Notes) -> None:
    """Note a trial whose verdict is another one here than the tool's."""
    if kept.passed is None or bars.own or "problem" in row:
        return
    values = [row.get("scores", {}).get(name, {}).get("value") for name in bars.deciding]
    if None in values:
        return
    passes = all(
        bar.passes(value) for bar, value in zip(bars.deciding.values(), values, strict=True)
    )
    if passes is not kept.passed:
        notes.add("trials whose verdict is another one here than the tool's", f"case {row['id']}")


def _verdict(kept: Kept) -> dict[str, Json]:
    if kept.passed is None:
        return {"value": None, "reason": kept.reason or "the tool gave no verdict"}
    body: dict[str, Json] = {"value": float(kept.passed)}
    if kept.reason:
        body["reason"] = kept.reason
    return body
