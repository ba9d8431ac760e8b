"""`calls show`: one recorded model call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from fairtrial.app.bench import Bench
from fairtrial.app.reports.call import CallReport, StreamEvent
from fairtrial.app.requests.calls_show import Request
from fairtrial.model.call import Api, ModelReply
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import CallBody, RecordedCall
from fairtrial.wire.apis import read_reply, read_stream
from fairtrial.wire.asked import as_call
from fairtrial.wire.failures import FailedAnswerError, MalformedAnswerError
from fairtrial.wire.sse import SseSplitter


def calls_show(bench: Bench, request: Request) -> CallReport:
    """Return one call with its payloads.

    Raises:
        NotFoundError: the reference names no call, or several.
    """
    store = bench.store.calls
    call = store.find(request.call)
    body = store.body(call.id)
    api = Api(call.api) if call.api is not None else None
    asked = _json(body.request)
    reply, trouble = (None, None) if api is None else _reply(api, call, body)
    return CallReport(
        call=call,
        body=body,
        asked=as_call(api, asked) if api is not None and isinstance(asked, Mapping) else None,
        reply=reply,
        trouble=call.problem or trouble,
        part=request.body,
        request=asked,
        response=None if call.streamed else _json(body.response),
        events=_events(body.response) if call.streamed else None,
    )


def _reply(api: Api, call: RecordedCall, body: CallBody) -> tuple[ModelReply | None, str | None]:
    if not body.response:
        return None, None
    try:
        read = read_stream if call.streamed else read_reply
        return read(api, body.response), None
    except (FailedAnswerError, MalformedAnswerError) as error:
        return None, str(error)


def _json(data: bytes) -> Json:
    if not data:
        return None
    try:
        return json.loads(data)
    except ValueError:
        return data.decode("utf-8", "backslashreplace")


def _events(data: bytes) -> Sequence[StreamEvent]:
    splitter = SseSplitter()
    return [
        StreamEvent(event.name, _json(event.data))
        for event in [*splitter.feed(data), *splitter.end()]
    ]
