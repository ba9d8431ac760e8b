"""Answers a question about opening hours; stands in for an agent that calls a model."""

import json
import sys

HOURS = {"monday": "9:00", "saturday": "10:00"}


def main() -> None:
    """Read one envelope, write one."""
    question = json.load(sys.stdin)["input"]["question"].lower()
    day = next((day for day in HOURS if day in question), None)
    answer = f"We open at {HOURS[day]}." if day else "Sorry, I do not know that."
    reply = {
        "output": answer,
        "cost_usd": 0.0004,
        "tokens": {"input": len(question.split()), "output": len(answer.split())},
        "metrics": {"characters": len(answer)},
    }
    print(json.dumps(reply))


if __name__ == "__main__":
    main()
