"""What a form on a page sends."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from fastapi import Request

from fairtrial.model.errors import UsageError

_MOST_FIELDS: Final = 50


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form; of several with one name, the last.

    Raises:
        UsageError: it is no form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise UsageError("this takes a form of its page", where="Content-Type")
    try:
        text = (await request.body()).decode()
        fields = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise UsageError("the form could not be read") from None
    return dict(fields)
