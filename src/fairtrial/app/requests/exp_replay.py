"""Options of `exp replay`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from fairtrial.app.caching_options import Caching
from fairtrial.app.requests.exp_run import NEWEST, Limits, Name, Trials
from fairtrial.schema.fields import JSON_OR_FILE, group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Replay recorded model calls with another model, system prompt or field, and compare.

    Every call is put to the real API again, with your own key, in two arms: A sends the recorded
    request, or the first value of what is varied, and B the other one. The grader same_action says
    of each reply whether it takes the first action of the recorded one. No tool is run.

    A call is named as in `calls show`: its id, a unique prefix of 6 or more characters, or its
    place in a session, `latest#-1`.
    """

    calls: tuple[str, ...] = option((), positional=True, metavar="CALL")
    """Recorded calls to replay"""
    vary: tuple[str, ...] = option((), metavar="KEY=B|KEY=A,B")
    """Field of the request to vary: model, system, tools or any other, with dots between names
    (thinking.budget_tokens). One value: A sends the recorded request, B this value; two: A and B.
    @FILE takes a value from a file, null takes the field out, and a comma within a value is
    written \\,"""
    session: str | None = option(None, metavar="SESSION")
    """Also replay the last model calls of this session: its id, a prefix, or latest"""
    limit: Annotated[int, Meta(ge=1, le=10_000)] = option(20, metavar="N")
    """With --session: how many calls"""
    n: Trials = option(5, metavar="N")
    """Replies a call and arm"""
    graders: tuple[Mapping[str, Any] | str, ...] = option(
        (), flag="--grader", short="-g", metavar=JSON_OR_FILE
    )
    """Further grader of the replies, beside same_action"""
    criterion: str | None = option(None, metavar="TEXT")
    """Let a judge say of each reply whether it meets this criterion; @FILE takes it from a file"""
    judge_model: str | None = option(None, metavar="MODEL")
    """Model of the judge of --criterion (default: the provider's own choice)"""
    upstream: str | None = option(None, metavar="URL")
    """Base URL of the API that is called (default: where the call went when it was recorded)"""
    name: Name | None = option(None, metavar="NAME")
    """Name of the experiment and its dataset (default: replay-CALL, after the first call)"""
    limits: Limits = group(Limits)
    max_cost: Annotated[float, Meta(gt=0)] | None = option(None, metavar="USD")
    """Do not start when more than this is expected or a model has no known price, and start no
    reply that would pass it (default: no limit)"""
    caching: Caching = group(Caching)
    resume: str | None = option(None, metavar="EXPERIMENT", bare=NEWEST)
    """Continue an interrupted replay: finished replies are kept, only the rest run (no value: the
    newest unfinished one; with calls and --vary, the newest of the same)"""
    dry_run: bool = option(default=False)
    """Show the calls, the arms and what they change, and what it may cost; call no model, and need
    no key"""


EXAMPLES = (
    "fairtrial exp replay latest#-1 --vary model=claude-haiku-4-5 --dry-run",
    "fairtrial exp replay latest#-1 --vary model=claude-sonnet-4-5,claude-haiku-4-5",
    "fairtrial exp replay --session latest --vary system=@prompt.md --n 3 --max-cost 2",
)
