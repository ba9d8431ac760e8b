"""Fail when an experiment's pass rate may be below a bar: `python3 bar.py result.json 0.4`."""

import json
import sys
from pathlib import Path


def main() -> int:
    """Compare the lower end of the interval; return the exit code."""
    result = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    bar = float(sys.argv[2])
    rate = result["pass_rate"]
    if result["exit_code"] or rate["ci"] is None:
        print(f"no verdict: {result['status_reason'] or rate['reason']}")
        return 4
    low = rate["ci"]["lower"]
    print(f"passed {rate['estimate']:.1%}, 95 % interval from {low:.1%}; the bar is {bar:.0%}")
    return 0 if low >= bar else 1


if __name__ == "__main__":
    sys.exit(main())
