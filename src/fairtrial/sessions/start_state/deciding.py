"""What each file was before a session: the commit's, another content, not there, or unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fairtrial.model.session import ChangeKind, FileChange
from fairtrial.model.start_state import Conflict, Evidence, Override, Unknown
from fairtrial.sessions.start_state.reversing import reversed_data
from fairtrial.sessions.start_state.sightings import Sighting
from fairtrial.sessions.start_state.status import Listed
from fairtrial.sessions.start_state.texts import Texts, bytes_of, fits, is_pointer
from fairtrial.sessions.start_state.untouched import Untouched
from fairtrial.workspaces.reading_git import Entry

_PLAIN = "100644"
_LINK = "120000"


@dataclass(frozen=True, slots=True)
class Facts:
    """What files are held against.

    Attributes:
        tree: The files of the commit.
        blobs: The contents of those that the session touched, by hash.
        listed: What the recorded git status lists, by path.
        is_whole: Whether that lists all; a file that it does not list was as in the commit.
        changes: All changes of each file that the transcript tells, with their events.
        commands: Events that ran commands which may have changed any file.
        shell: Files that commands wrote, and the event of the first that did.
        untouched: The files as they are now.
        texts: Compares texts.
        raw: Whether the transcript tells texts with the line ends that they have.
    """

    tree: Mapping[str, Entry]
    blobs: Mapping[str, bytes]
    listed: Mapping[str, Listed]
    is_whole: bool
    changes: Mapping[str, Sequence[tuple[int, FileChange]]]
    commands: Sequence[int]
    shell: Mapping[str, int]
    untouched: Untouched
    texts: Texts
    raw: bool

    def base(self, path: str) -> bytes | None:
        """Return the content that the commit has for a file; None when it has none."""
        entry = self.tree.get(path)
        return None if entry is None else self.blobs.get(entry.hash)

    def listing(self, path: str) -> Listed | None:
        """Return what the status lists that is a file, or a folder around it."""
        if path in self.listed:
            return self.listed[path]
        parts = path.split("/")
        heads = ("/".join(parts[:place]) + "/" for place in range(1, len(parts)))
        return next((self.listed[head] for head in heads if head in self.listed), None)

    def is_clean(self, path: str) -> bool:
        """Return whether git said that a file was as in the commit, or not there in both."""
        return self.is_whole and self.listing(path) is None


@dataclass
class Findings:
    """What was decided so far."""

    overrides: dict[str, Override] = field(default_factory=dict)
    unknown: dict[str, Unknown] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)

    def doubt(self, path: str, reason: str, event: int | None = None) -> None:
        """List a file as unknown; the first reason stays."""
        self.unknown.setdefault(path, Unknown(path, reason, event))


class Deciding:
    """Decides file by file."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._decided: set[str] = set()
        self.found = Findings()

    def seen(self, path: str, sighting: Sighting) -> None:
        """Decide a file that the transcript tells of."""
        self._decided.add(path)
        if sighting.absent:
            self._absent(path, sighting)
        elif sighting.text is not None or sighting.data is not None:
            self._present(path, sighting)
        else:
            self._changed(path, sighting)

    def _present(self, path: str, sighting: Sighting) -> None:
        facts, base = self._facts, self._facts.base(path)
        if self._is_base(base, sighting):
            if path in facts.listed:
                reason = "git listed it as changed, but its text is that of the commit"
                self.found.doubt(path, f"{reason}: its mode or line ends differed", sighting.event)
            return
        why = self._explained(path, sighting)
        if base is not None and facts.is_clean(path) and not is_pointer(base):
            if why is None:
                self._conflict(
                    path, sighting, "git listed no change of it, but it differs from the commit"
                )
            return
        by_shell = self._by_shell(path, sighting)
        listing = facts.listing(path)
        if base is None and facts.is_whole and listing is None and by_shell:
            return  # a command made it
        if listing is not None and listing.is_deleted and path in facts.listed:
            self._gone_but_there(path, sighting, why)
            return
        if by_shell:
            self.found.doubt(
                path, "a command changed it before the transcript tells of it", sighting.event
            )
            return
        self._override(path, sighting, base)
        if why is not None:
            self.found.doubt(path, why, sighting.event)

    def _is_base(self, base: bytes | None, sighting: Sighting) -> bool:
        if base is None:
            return False
        if sighting.data is not None:
            return sighting.data == base
        return sighting.text is not None and self._facts.texts.same(base, sighting.text)

    def _gone_but_there(self, path: str, sighting: Sighting, why: str | None) -> None:
        if why is None:
            self._conflict(path, sighting, "git listed it as deleted, but it was there")
        else:
            self._remove(path, Evidence.STATUS, None)

    def _override(self, path: str, sighting: Sighting, base: bytes | None) -> None:
        facts, evidence = self._facts, sighting.evidence or Evidence.EDIT
        data, text = sighting.data, sighting.text or ""
        still = facts.untouched.at(path)
        if data is None and still is not None and facts.texts.same(still.data, text):
            data = still.data
        if data is None:
            like = base if base is not None else facts.untouched.like(path)
            data, reason = bytes_of(text, like, raw=facts.raw)
            if reason is not None:
                self.found.doubt(path, reason, sighting.event)
        if data is not None:
            override = Override(path, data, self._mode(path), evidence, sighting.event)
            self.found.overrides[path] = override

    def _mode(self, path: str) -> str:
        entry = self._facts.tree.get(path)
        if entry is None:
            return self._facts.untouched.mode(path)
        return _PLAIN if entry.mode == _LINK else entry.mode

    def _absent(self, path: str, sighting: Sighting) -> None:
        facts = self._facts
        listing = facts.listed.get(path)
        why = self._explained(path, sighting)
        if path not in facts.tree:
            if listing is not None and not listing.is_deleted:
                if why is None:
                    self._conflict(path, sighting, "git listed it, but it was not there")
                else:
                    self.found.doubt(
                        path, "git listed it, and it was gone before it was made", sighting.event
                    )
            return
        if listing is not None and listing.is_deleted:
            self._remove(path, Evidence.STATUS, None)
        elif facts.is_clean(path):
            if why is None and sighting.evidence is not None and _tells_absence(sighting):
                self._conflict(
                    path,
                    sighting,
                    "the commit has it and git listed no change, but it was not there",
                )
        elif why is None and _tells_absence(sighting):
            self._remove(path, Evidence.CREATED, sighting.event)
        else:
            self.found.doubt(
                path, "it was written whole; what it held before is not told", sighting.event
            )

    def _remove(self, path: str, evidence: Evidence, event: int | None) -> None:
        if path in self._facts.tree:
            self.found.overrides[path] = Override(path, None, _PLAIN, evidence, event)

    def _changed(self, path: str, sighting: Sighting) -> None:
        facts, base, change = self._facts, self._facts.base(path), sighting.change
        if not facts.is_clean(path) and self._reversed(path, sighting, base):
            return
        if base is None:
            if path not in facts.tree:
                self.found.doubt(
                    path, "it was changed, and what it held before is not told", sighting.event
                )
            return
        diff = "" if change is None or change.kind is ChangeKind.DELETE else change.diff
        if diff and not fits(base, diff):
            self._unfitting(path, sighting)
        elif not diff and not facts.is_clean(path):
            self.found.doubt(
                path, "it was changed, and what it held before is not told", sighting.event
            )
        elif not facts.is_clean(path):
            self.found.doubt(
                path, "the commit fits where it was edited; the rest is not told", sighting.event
            )

    def _reversed(self, path: str, sighting: Sighting, base: bytes | None) -> bool:
        """Take back what the agent changed from what it left; return whether that can be done."""
        facts = self._facts
        changes = [change for _, change in facts.changes.get(path, ())]
        if not changes or path in facts.shell or (base is not None and is_pointer(base)):
            return False
        last = facts.changes[path][-1][0]
        after = facts.untouched.left(path)
        if changes[-1].kind is ChangeKind.DELETE and changes[-1].before is not None:
            after = (changes.pop().before or "").encode(errors="replace")
        if after is None or any(change.kind is not ChangeKind.UPDATE for change in changes):
            return False
        before = reversed_data(after, [change.diff for change in changes])
        if before is None:
            return False
        if before != base:
            override = Override(path, before, self._mode(path), Evidence.REVERSED, sighting.event)
            self.found.overrides[path] = override
            why = self._explained(path, sighting)
            between = any(sighting.event < event < last for event in facts.commands)
            if why is not None or between:
                reason = why or "a command that ran between its changes may have changed it"
                self.found.doubt(path, reason, sighting.event)
        return True

    def _unfitting(self, path: str, sighting: Sighting) -> None:
        why = self._explained(path, sighting)
        if why is None:
            self._conflict(path, sighting, "its first diff does not fit the commit")
        elif not self._facts.is_clean(path):
            self.found.doubt(path, why, sighting.event)

    def _by_shell(self, path: str, sighting: Sighting) -> bool:
        """Return whether a command is known to have written a file before it was seen."""
        first = self._facts.shell.get(path)
        return first is not None and first < sighting.event

    def _explained(self, path: str, sighting: Sighting) -> str | None:
        """Return why a file may have changed between the start and the first sight of it."""
        if self._by_shell(path, sighting):
            return "a command changed it before the transcript tells of it"
        if sighting.command is not None:
            return "a command that ran before may have changed it"
        if sighting.turn > 1:
            return "it may have been changed between two prompts"
        return None

    def _conflict(self, path: str, sighting: Sighting, reason: str) -> None:
        self.found.conflicts.append(Conflict(path, reason, sighting.event))

    def by_shell(self, path: str, event: int) -> None:
        """Decide a file that a command wrote, and of which nothing else is told."""
        if path in self._decided:
            return
        self._decided.add(path)
        listing = self._facts.listed.get(path)
        if listing is not None and listing.is_deleted:
            self._remove(path, Evidence.STATUS, None)
        elif not self._facts.is_clean(path):
            self.found.doubt(
                path, "a command changed it, and what it held before is not told", event
            )

    def listed(self, path: str, listing: Listed) -> None:
        """Decide a file that the status lists, and that nothing else tells of."""
        if path in self._decided:
            return
        if listing.is_deleted:
            self._remove(path, Evidence.STATUS, None)
            return
        for each in self._facts.untouched.below(path):
            if each not in self._decided and not self.untouched(each):
                self.found.doubt(each, "git listed it as changed, and its content is not told")
        if path.endswith("/"):
            self.found.doubt(path, "git did not know this folder; which files it held is not told")

    def differs_now(self, path: str, *, listed: bool) -> None:
        """Decide a file that differs from the commit now, when no status tells what did then.

        Args:
            path: The file.
            listed: Whether to list it when nothing can be told of then.
        """
        if path in self._decided or path in self._facts.listed or self.untouched(path):
            return
        if self._facts.untouched.was_gone(path):
            self._remove(path, Evidence.UNTOUCHED, None)
        elif listed:
            self.found.doubt(path, "it differs from the commit now; whether it did is not told")

    def untouched(self, path: str) -> bool:
        """Take a file as it is now when it is older than the session; return whether it is."""
        still = self._facts.untouched.at(path)
        if still is None:
            return False
        entry = self._facts.tree.get(path)
        if entry is None or entry.mode != still.mode or self._facts.base(path) != still.data:
            override = Override(path, still.data, still.mode, Evidence.UNTOUCHED)
            self.found.overrides[path] = override
        return True


def _tells_absence(sighting: Sighting) -> bool:
    """Return whether it is sure that there was no file: Codex adds over files that are there."""
    return sighting.evidence is Evidence.COPY or _is_create(sighting.change)


def _is_create(change: FileChange | None) -> bool:
    return change is not None and change.kind is ChangeKind.ADD and change.created
