"""A session's row out of the facts of its files and the model calls that are its own."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from fairtrial.model.session import MAIN, Session, TranscriptFacts, Unread
from fairtrial.store.codec import to_json, to_micros, to_text

_TITLE = 200
_SEARCHED = 128 * 1024
_FACTS = msgspec.json.Decoder(TranscriptFacts)
# Crockford's, in lower case as in no other id: these do not sort by time.
_ALPHABET = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdefghjkmnpqrstvwxyz")


def session_ref(agent: str, native_id: str) -> str:
    """Return the id of the session that an agent calls so: always the same."""
    digest = hashlib.sha256(f"{agent}\0{native_id}".encode()).digest()[:16]
    return "ses_" + base64.b32encode(digest).decode().rstrip("=").translate(_ALPHABET)


def usage_key(message_id: str) -> int:
    """Return the key of a model call, of 63 bits."""
    digest = hashlib.blake2b(message_id.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


def pack_facts(facts: TranscriptFacts) -> bytes:
    """Return facts as they are stored."""
    return msgspec.json.encode(facts)


def unpack_facts(data: bytes) -> TranscriptFacts:
    """Return the facts that `pack_facts` was given."""
    return _FACTS.decode(data)


def row_of(
    files: Sequence[tuple[TranscriptFacts, Mapping[str, Any]]],
    sums: Sequence[Mapping[str, Any]],
    now: int,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of a session and of its body.

    Args:
        files: The facts and the rows of its files.
        sums: The sums of its model calls, by model, in the order they came.
        now: When it is read, in microseconds since 1970.
    """
    ordered = sorted(files, key=lambda found: (found[0].thread != MAIN, found[1]["id"]))
    facts = [found for found, _ in ordered]
    main = facts[0]
    ended = max((found.ended_at for found in facts if found.ended_at), default=None)
    started = min((found.started_at for found in facts if found.started_at), default=None)
    changed = {path for found in facts for path in found.changed}
    row = {
        "agent_version": main.agent_version,
        "cwd": to_text(main.cwd),
        "repo": to_text(ordered[0][1]["repo"]),
        "branch": to_text(main.branch),
        "commit": main.commit,
        "started_at": None if started is None else to_micros(started),
        "ended_at": None if ended is None else to_micros(ended),
        "sorted_at": now if ended is None else to_micros(ended),
        "state": main.state.value,
        "turns": main.counts.turns,
        "calls": sum(found.counts.calls for found in facts),
        "failures": sum(found.counts.failures for found in facts),
        "denials": sum(found.counts.denials for found in facts),
        "changed_files": len(changed),
        "compactions": sum(found.counts.compactions for found in facts),
        "parent": None if main.parent is None else session_ref(main.agent, main.parent),
        "relation": None if main.relation is None else main.relation.value,
        "parser_version": min(int(found["version"]) for _, found in ordered),
        **_spent(sums),
    }
    return row, _body(ordered)


def _spent(sums: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    models = [found["model"] for found in sums if found["model"] is not None]
    spent: dict[str, Any] = {"models": to_json(models).decode()}
    total: int | None = None
    for part in ("input", "output", "cache_read", "cache_write", "reasoning"):
        known = [found[part] for found in sums if found[part] is not None]
        spent[f"tokens_{part}"] = sum(known) if known else None
        if known and part != "reasoning":
            total = (total or 0) + sum(known)
    spent["tokens_total"] = total
    priced = bool(sums) and all(found["priced"] == found["calls"] for found in sums)
    spent["cost_usd"] = sum(found["cost_usd"] or 0.0 for found in sums) if priced else None
    return spent


def _body(ordered: Sequence[tuple[TranscriptFacts, Mapping[str, Any]]]) -> dict[str, Any]:
    main = ordered[0][0]
    unread = merged([found.unread for found, _ in ordered])
    prompts = "\n".join(str(row["prompts"] or "") for _, row in ordered)
    searched = f"{prompts}\n{main.final_text or ''}"[:_SEARCHED].casefold()
    return {
        "first_prompt": to_text(main.first_prompt),
        "final_text": to_text(main.final_text),
        "searched": to_text(searched),
        "unread": to_json(unread).decode(),
        "troubled": bool(
            unread.unknown_records
            or unread.unknown_fields
            or unread.bad_lines
            or unread.clipped_lines
        ),
    }


def merged(parts: Sequence[Unread]) -> Unread:
    """Return what was not understood in several files together."""
    records: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    for part in parts:
        records.update(part.unknown_records)
        fields.update(part.unknown_fields)
    return Unread(
        records=sum(part.records for part in parts),
        unknown_records=dict(records),
        unknown_fields=dict(fields),
        bad_lines=sum(part.bad_lines for part in parts),
        clipped_lines=sum(part.clipped_lines for part in parts),
    )


def title_of(session: Session) -> str:
    """Return the first line of what a session was asked."""
    lines = (session.first_prompt or "").strip().splitlines()
    return lines[0][:_TITLE] if lines else ""
