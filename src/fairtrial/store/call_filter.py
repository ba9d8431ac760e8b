"""What a filter of recorded model calls means in SQL."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Final

from sqlalchemy import Integer, cast, func, or_
from sqlalchemy import case as when

from fairtrial.query.expression import Compare, Operator
from fairtrial.store.filtering import Condition, Filterable, compared, of_start
from fairtrial.store.tables import model_call

# `reasoning` is a part of `output`.
_PARTS: Final = ("input", "output", "cache_read", "cache_write")
_known = [model_call.c[f"tokens_{part}"] for part in _PARTS]
_total = when(
    (
        or_(*(column.is_not(None) for column in _known)),
        reduce(add, (func.coalesce(column, 0) for column in _known)),
    )
)


def _tokens(found: Compare) -> Condition:
    column = _total if found.key is None else model_call.c[f"tokens_{found.key}"]
    return compared(cast(column, Integer), found.operator, found.value)


def _contains(text: str) -> Condition:
    names = ("path", "model", "problem", "upstream", "session", "agent", "case_id")
    return or_(*(compared(model_call.c[name], Operator.CONTAINS, text) for name in names))


CALLS: Final = Filterable(
    {
        "id": of_start(model_call.c.ref),
        "session": of_start(model_call.c.session),
        "number": model_call.c.number,
        "agent": model_call.c.agent,
        "api": model_call.c.api,
        "method": model_call.c.method,
        "path": model_call.c.path,
        "upstream": model_call.c.upstream,
        "model": model_call.c.model,
        "status": model_call.c.status,
        "problem": model_call.c.problem,
        "started": model_call.c.started_at,
        "first_byte": model_call.c.first_byte_s,
        "duration": model_call.c.duration_s,
        "tokens": _tokens,
        "cost": model_call.c.cost_usd,
        "experiment": of_start(model_call.c.experiment),
        "case": model_call.c.case_id,
        "condition": model_call.c.condition,
        "arm": model_call.c.arm,
        "trial": model_call.c.trial,
        "served_from": of_start(model_call.c.served_from),
    },
    {
        "failed": model_call.c.failed,
        "ok": ~model_call.c.failed,
        "streamed": model_call.c.streamed,
        "live": model_call.c.served_from.is_(None),
        "replayed": model_call.c.served_from.is_not(None),
        "recorded": model_call.c.experiment.is_not(None),
    },
    _contains,
)
