"""Chats of older releases of Gemini CLI, which are one document each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.sessions.readers.test_gemini import AT, HEADER, answer, call, user
from tests.sessions.transcripts import SESSION, untouched

from fairtrial.model.session import Call, Prompt, Result, Said, SessionEvent, Usage
from fairtrial.sessions.readers.gemini.reader import GeminiReader

READER = GeminiReader()


def written(folder: Path, *messages: Any, **fields: Any) -> Path:
    chats = folder / ".gemini" / "tmp" / "1c98" / "chats"
    chats.mkdir(parents=True)
    path = chats / "session-2025-10-01T12-53-11111111.json"
    document = {**HEADER, "lastUpdated": AT, "messages": list(messages), **fields}
    path.write_text(json.dumps(document, indent=2))
    return path


def test_a_document_is_read_as_the_lines_of_later_releases_are(tmp_path: Path) -> None:
    ran = call("c1", "run_shell_command", {"command": "pytest"}, "1 failed\nExit Code: 1")
    asked = {"id": "u1", "timestamp": AT, "type": "user", "content": "Fix it"}
    messages = (asked, answer("m1", "I look.", ran), answer("m2", "Done."))
    path = written(tmp_path, *messages, user("u2", {"text": "And?"}), directories=["/r"])
    (found,) = READER.files(tmp_path)
    assert found.path == str(path)
    transcript = READER.start(path, untouched)
    events: list[SessionEvent] = []
    for line in READER.source(str(path)).lines(0):
        events += transcript.feed(line.data or b"")
    kinds = [Prompt, Usage, Said, Call, Result, Usage, Said, Prompt]
    assert [type(event) for event in events] == kinds
    facts = transcript.facts()
    assert (facts.native_id, facts.cwd, facts.first_prompt) == (SESSION, "/r", "Fix it")
    assert (facts.counts.turns, facts.counts.failures, facts.unread.records) == (2, 1, 5)
    assert facts.unread.bad_lines == 0


def test_a_document_is_recognised() -> None:
    assert READER.recognises([{**HEADER, "messages": []}])
