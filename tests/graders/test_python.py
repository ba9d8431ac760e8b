from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.model.score import Score

Ask = Callable[..., Score]
Write = Callable[[str], str]

SOURCE = """
import asyncio, sys, time
from fairtrial.model.errors import GraderError
from fairtrial.model.grader import Grade

def same(output, expected):
    return output == expected

def length(output):
    return len(output) / 10

def whole(subject):
    return {"score": subject.trial, "reason": subject.case.metadata["repo"]}

async def later(output, expected=None):
    await asyncio.sleep(0)
    return Grade(0.25, "later")

class Judge:
    async def __call__(self, output, expected):
        return 1

    def method(self, output, expected):
        return Grade(None, "cannot tell")

judge = Judge()

def spoil(output, expected):
    output.append(1)
    expected.clear()
    return 1.0

def crash(output, expected):
    raise KeyError("plan")

def leave(output, expected):
    sys.exit(3)

def stop(output, expected):
    raise StopIteration

async def leave_later(output, expected):
    sys.exit(3)

def unsure(output, expected):
    raise GraderError("no key")

def wait(output, expected):
    time.sleep(0.5)

async def wait_later(output, expected):
    await asyncio.sleep(60)

async def own_timeout(output, expected):
    raise TimeoutError("mine")

class Broken(Exception):
    def __str__(self):
        raise ValueError

def broken(output, expected):
    raise Broken

def text(output, expected):
    return "good"

def nothing(output, expected):
    pass

def infinite(output, expected):
    return Grade(float("inf"))

def named(*, input, output, expected, metadata):
    told = (input, output, expected, metadata)
    return told == ("question", "out", "exp", {"repo": "r"})

def costly(output):
    return Grade(1, "judged", 0.25, {"by": "a model"})

def three(a, b, c):
    return 1

def alike(output, expected):
    import numpy
    return numpy.array([1, 2]).all()

def unlike(output, expected):
    return Grade(output == expected, "they differ")

number = 3
"""


@pytest.mark.parametrize(
    ("function", "value", "reason"),
    [
        ("same", 0.0, "returned False"),
        ("length", 0.3, "0.3 is below 0.5"),
        ("whole", 1.0, "r"),
        ("named", 1.0, "returned True"),
        ("alike", 1.0, "returned True"),
        ("unlike", 0.0, "they differ"),
        ("later", 0.25, "later"),
        ("judge", 1.0, None),
        ("judge.method", None, "cannot tell"),
        ("crash", None, "raised KeyError: 'plan' (@.py:34 in crash)"),
        ("leave", None, "raised SystemExit: 3 (@.py:37 in leave)"),
        ("leave_later", None, "raised SystemExit: 3 (@.py:43 in leave_later)"),
        ("stop", None, "raised StopIteration (@.py:40 in stop)"),
        ("unsure", None, "no key"),
        ("own_timeout", None, "raised TimeoutError: mine (@.py:55 in own_timeout)"),
        ("broken", None, "raised @.Broken: (its message cannot be shown) (@.py:62 in broken)"),
        ("text", None, 'answered \'good\', not a number or {"score": number, "reason": text}'),
        ("nothing", None, 'answered null, not a number or {"score": number, "reason": text}'),
        ("infinite", None, "answered inf, which is not finite"),
    ],
)
def test_answers(
    ask: Ask, module: Write, function: str, value: float | None, reason: str | None
) -> None:
    name = module(SOURCE)
    score = ask({"kind": "python", "function": f"{name}:{function}"}, "out", "exp")
    assert score.value == value
    assert score.reason == (None if reason is None else reason.replace("@", name))


@pytest.mark.parametrize("function", ["wait", "wait_later"])
def test_too_slow_is_no_failure(ask: Ask, module: Write, function: str) -> None:
    start = time.monotonic()
    spec = {"kind": "python", "function": f"{module(SOURCE)}:{function}", "timeout": 0.05}
    assert ask(spec, "out").reason == "no answer within 0.05 s"
    assert time.monotonic() - start < 5


def test_what_a_function_changes_stays_its_own(ask: Ask, module: Write) -> None:
    output, expected = [0], {"a": 1}
    assert ask({"kind": "python", "function": f"{module(SOURCE)}:spoil"}, output, expected).passed
    assert (output, expected) == ([0], {"a": 1})


def test_what_a_grade_cost_and_led_to_it_is_kept(ask: Ask, module: Write) -> None:
    score = ask({"kind": "python", "function": f"{module(SOURCE)}:costly"}, "out", "exp")
    assert (score.value, score.cost_usd, score.detail) == (1.0, 0.25, {"by": "a model"})


def test_a_function_of_the_library_may_grade(ask: Ask) -> None:
    assert ask({"kind": "python", "function": "operator:eq"}, 3, 3).passed


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("@:three", r"the function's signature is \(a, b, c\)"),
        ("@:number", "has no function 'number'"),
        ("@:nosuch", "has no function 'nosuch'"),
        ("nosuchmodule:f", "'nosuchmodule' could not be imported"),
        ("@", "names no function"),
        ("graders/x.py:f", "names no function"),
    ],
)
def test_what_cannot_be_called_is_told_before_the_run(
    ask: Ask, module: Write, function: str, message: str
) -> None:
    spec = {"kind": "python", "function": function.replace("@", module(SOURCE))}
    with pytest.raises(UsageError, match=message):
        ask(spec, 1)


def test_a_module_that_crashes_on_import_tells_where(ask: Ask, module: Write) -> None:
    name = module("import sys\nsys.exit(1)\n")
    with pytest.raises(UsageError, match="could not be imported") as caught:
        ask({"kind": "python", "function": f"{name}:f"}, 1)
    assert caught.value.why == f"SystemExit: 1 ({name}.py:2 in <module>)"
