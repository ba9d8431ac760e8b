"""What a filter of recorded model calls may say."""

from __future__ import annotations

from typing import Final

from fairtrial.query.vocabulary import Field, Kind, Vocabulary

CALL_VOCABULARY: Final = Vocabulary(
    "calls",
    {
        "id": Field(Kind.TEXT, "its id, or the start of it"),
        "session": Field(Kind.TEXT, "the session it belongs to"),
        "number": Field(Kind.NUMBER, "its place in its session, or in its trial"),
        "agent": Field(Kind.TEXT, "the agent that made it: claude-code, codex"),
        "api": Field(Kind.TEXT, "the wire format: anthropic-messages, …"),
        "method": Field(Kind.TEXT, "the HTTP method"),
        "path": Field(Kind.TEXT, "path and query, without credentials"),
        "upstream": Field(Kind.TEXT, "the base URL it went to"),
        "model": Field(Kind.TEXT, "the model asked for"),
        "status": Field(Kind.NUMBER, "the HTTP status of the answer"),
        "problem": Field(Kind.TEXT, "why it ended without a whole answer"),
        "started": Field(Kind.INSTANT, "when the request came"),
        "first_byte": Field(Kind.NUMBER, "seconds until the first byte of the answer"),
        "duration": Field(Kind.NUMBER, "seconds until the last byte of the answer"),
        "tokens": Field(
            Kind.NUMBER,
            "all tokens that were read and written; `tokens.input`, `tokens.output`, "
            "`tokens.cache_read`, `tokens.cache_write` and `tokens.reasoning` are parts of them",
            keyed=True,
            whole=True,
            keys=("input", "output", "cache_read", "cache_write", "reasoning"),
        ),
        "cost": Field(Kind.NUMBER, "cost in US dollars"),
        "experiment": Field(Kind.TEXT, "the id of the experiment that made it"),
        "case": Field(Kind.TEXT, "the case of the trial that made it"),
        "condition": Field(Kind.TEXT, "the condition of the trial that made it"),
        "arm": Field(Kind.TEXT, "the arm of the trial that made it"),
        "trial": Field(Kind.NUMBER, "the number of the trial that made it"),
        "served_from": Field(Kind.TEXT, "the id of the call whose answer was served again"),
    },
    {
        "failed": "it has no good answer: an error, none at all, or a part of one",
        "ok": "it has a good answer",
        "streamed": "the answer came as server-sent events",
        "live": "a model answered it",
        "replayed": "the answer of an earlier call was served again",
        "recorded": "a trial of an experiment made it",
    },
)
