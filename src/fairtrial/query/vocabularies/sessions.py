"""What a filter of sessions may say."""

from __future__ import annotations

from typing import Final

from fairtrial.model.flag import FlagLevel
from fairtrial.model.session import Relation, SessionState
from fairtrial.query.vocabulary import Field, Kind, Vocabulary

_STATES: Final = tuple(state.value for state in SessionState)

SESSION_VOCABULARY: Final = Vocabulary(
    "sessions",
    {
        "agent": Field(Kind.TEXT, "the agent: claude-code, codex, …"),
        "version": Field(Kind.TEXT, "the agent's version"),
        "state": Field(Kind.WORD, "how it stands", _STATES),
        "repo": Field(Kind.TEXT, "its git repository: the path, or the last part of it"),
        "cwd": Field(Kind.TEXT, "the folder it started in: the path, or the last part of it"),
        "branch": Field(Kind.TEXT, "the git branch it started on"),
        "commit": Field(Kind.TEXT, "the commit it started on, or the start of its hash"),
        "model": Field(Kind.TEXT, "a model that answered in it"),
        "flag": Field(Kind.TEXT, "a flag that is on it"),
        "level": Field(Kind.WORD, "the level of a flag that is on it", tuple(FlagLevel)),
        "started": Field(Kind.INSTANT, "when it started"),
        "ended": Field(Kind.INSTANT, "when the last thing in it happened"),
        "duration": Field(Kind.NUMBER, "seconds from its start to its end"),
        "turns": Field(Kind.NUMBER, "prompts of the user"),
        "calls": Field(Kind.NUMBER, "tool calls"),
        "failures": Field(Kind.NUMBER, "tool calls that failed"),
        "denials": Field(Kind.NUMBER, "tool calls that were refused"),
        "files": Field(Kind.NUMBER, "files that were changed"),
        "compactions": Field(Kind.NUMBER, "times that the conversation was replaced by a summary"),
        "tokens": Field(Kind.NUMBER, "all tokens"),
        "cost": Field(Kind.NUMBER, "cost in US dollars"),
        "prompt": Field(Kind.TEXT, "its first prompt"),
        "answer": Field(Kind.TEXT, "its last text"),
        "parent": Field(Kind.TEXT, "the id of the session that it came from"),
        "relation": Field(
            Kind.WORD, "what it is to its parent", tuple(kind.value for kind in Relation)
        ),
        "id": Field(Kind.TEXT, "its id, or the agent's own id"),
    },
    {
        "flagged": "has a flag of level warn",
        "noted": "has a flag of any level",
        "clean": "has no flag",
        "finished": "ended with a text of the agent: completed, or a question",
        "subagent": "was started by another session",
        "fork": "was forked from another session",
        "unread": "holds records or lines that were not understood",
    },
)
