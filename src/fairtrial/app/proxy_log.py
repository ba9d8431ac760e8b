"""The process that describes and stores what `proxy` records: `python -m fairtrial.app.proxy_log`.

Its one argument is the session of calls whose client names none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from fairtrial.app.bench import bench_here
from fairtrial.app.proxy import new_call_id
from fairtrial.model.recorded_call import RecordedCall
from fairtrial.recording.call_log import CallLog
from fairtrial.recording.describing import Describer
from fairtrial.recording.log_process import serve_log


def main(session: str) -> None:
    """Work until standard input ends."""
    bench = bench_here()
    try:

        def make_log(recorded: Callable[[RecordedCall], None]) -> CallLog:
            describer = Describer(new_call_id, bench.prices)
            return CallLog(bench.store.calls, describer, session, recorded)

        serve_log(make_log, sys.stdin.buffer, sys.stdout.buffer)
    finally:
        bench.close()


if __name__ == "__main__":
    main(sys.argv[1])
