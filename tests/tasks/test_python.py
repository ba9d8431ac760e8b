"""Python tasks: how a function is found, called, blamed and given up on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fairtrial.model.errors import InfraError, TaskError, TrialTimeout, UsageError
from fairtrial.model.task import TaskResult, Tokens
from fairtrial.testing.task import call_of

RunTask: TypeAlias = Callable[..., list[Any]]
Module: TypeAlias = Callable[[str], str]


_RESULT = "import fairtrial.model.task as t; return t.TaskResult"
_CLASS = "class C"
_INFRA = "import fairtrial.model.errors as e; raise e.InfraError"


def _python(name: str, function: str = "f", **options: Any) -> dict[str, Any]:
    return {"kind": "python", "function": f"{name}:{function}", **options}


@pytest.mark.parametrize(
    ("source", "arguments", "output"),
    [
        ("def f(x): return [x]", {}, ["in"]),
        ("async def f(x): return [x]", {}, ["in"]),
        ("f = lambda x: x", {}, "in"),
        ("def f(x, call): return [x, call.seed, call.case.expected]", {}, ["in", 7, None]),
        ("def f(x, *, context): return context.case.id", {}, "c1"),
        ("async def f(x, told): return told.trial", {}, 1),
        ("def f(x, model='m'): return model", {}, "m"),
        ("def f(x, model='m'): return model", {"model": "n"}, "n"),
        ("def f(x, call, k): return [call.seed, k]", {"k": 2}, [7, 2]),
        ("def f(*args, **names): return [list(args), names]", {"k": 1}, [["in"], {"k": 1}]),
        ("class C:\n async def __call__(self, x): return x\nf = C()", {}, "in"),
        ("import functools\nasync def g(x): return x\nf = lambda x: g(x)", {}, "in"),
        ("def f(x): return (1, 2)", {}, [1, 2]),
        ("def f(x): return None", {}, None),
        ("f = repr", {}, "'in'"),
    ],
)
def test_a_function_is_called_as_it_wants(
    run_task: RunTask, module: Module, source: str, arguments: dict[str, Any], output: Any
) -> None:
    (result,) = run_task(_python(module(source), arguments=arguments), call_of("in", expected="no"))
    assert result == TaskResult(output)


def test_methods_are_found_and_modules_may_import_their_neighbours(
    run_task: RunTask, module: Module, tmp_path: Path
) -> None:
    (tmp_path / "neighbour_of_it.py").write_text("value = 3")
    source = "class C:\n @staticmethod\n def f(x):\n  import neighbour_of_it as n; return n.value"
    (result,) = run_task(_python(module(source), "C.f"), call_of("x"))
    assert result.output == 3
    del sys.modules["neighbour_of_it"]


def test_a_result_may_say_more_than_the_output(run_task: RunTask, module: Module) -> None:
    source = (
        "from fairtrial.model.task import TaskResult, Tokens\n"
        "def f(x): return TaskResult(x, cost_usd=0.5, tokens=Tokens(input=2), metrics={'m': 1})\n"
    )
    (result,) = run_task(_python(module(source)), call_of("x"))
    assert result == TaskResult("x", cost_usd=0.5, tokens=Tokens(input=2), metrics={"m": 1})


@pytest.mark.parametrize("prefix", ["", "async "])
def test_a_function_that_changes_its_input_changes_nothing_else(
    run_task: RunTask, module: Module, prefix: str
) -> None:
    name = module(f"{prefix}def f(x, k):\n x.append(1); k.append(1); return [x, k]")
    call = call_of([0])
    results = run_task(_python(name, arguments={"k": []}), call, call, call)
    assert [result.output for result in results] == [[[0, 1], [1]]] * 3
    assert call.case.input == [0]


def test_blocking_calls_run_at_once(run_task: RunTask, module: Module) -> None:
    name = module(
        "import threading\n"
        "together = threading.Barrier(100)\n"
        "def f(x): together.wait(20); return x\n"
    )
    results = run_task(_python(name), *(call_of(n) for n in range(100)))
    assert [result.output for result in results] == list(range(100))


@pytest.mark.parametrize("prefix", ["", "async "])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('bad\\nnews')", "ValueError: bad news (module_of_"),
        ("import json; json.loads('{')", "json.decoder.JSONDecodeError: Expecting"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt ("),
        ("raise StopIteration", "StopIteration"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
        ("return {1}", "the function's value is not JSON: builtins.set"),
        ("return [float('nan')]", "nan is no JSON number at [0]"),
        (f"{_RESULT}(1, cost_usd=-1)", "bad TaskResult: Expected 'float' >= 0.0 - at '$.cost_usd'"),
        (f"{_RESULT}(1, cost_usd=1e308)", "bad TaskResult: Expected 'float' <= 1"),
        (f"{_RESULT}(1, cost_usd=float('nan'))", "not JSON: nan"),
        (f"{_RESULT}(1, cost_usd='free')", "$.cost_usd"),
        (f"{_RESULT}(1, tokens=t.Tokens(input=10**30))", "$.tokens.input"),
        (f"{_RESULT}(1, tokens=t.Tokens(output='many'))", "$.tokens.output"),
        (f"{_RESULT}(1, tokens='many')", "$.tokens"),
        (f"{_RESULT}(1, metrics=[1])", "$.metrics"),
        (f"{_RESULT}(1, metrics={{'a': 10**400}})", "an integer of more than 1024 bits"),
        (f"{_RESULT}(1, spans='x')", "$.spans"),
        (f"{_RESULT}(1, error=5)", "$.error"),
        (f"{_RESULT}({{1}})", "not JSON"),
        (f"{_CLASS}(list):\n  def __iter__(self): 1 / 0\n return C([1])", "ZeroDivisionError"),
        (f"{_CLASS}(dict):\n  def items(self): 1 / 0\n return C(a=1)", "cannot be read"),
        (f"{_INFRA}('x', kind='odd')", "ValueError: kind must be one of rate_limit, "),
        (f"{_INFRA}('x', kind='server', retry_after='soon')", "TypeError"),
        (f"{_INFRA}('x', kind='server', retry_after=float('nan'))", "must be seconds"),
    ],
)
def test_whatever_a_function_does_ends_only_its_own_trial(
    run_task: RunTask, module: Module, prefix: str, body: str, message: str
) -> None:
    name = module(f"{prefix}def f(x):\n if x == 'ok': return x\n {body}\n")
    bad, good = run_task(_python(name), call_of("bad"), call_of("ok"))
    assert type(bad) is TaskError
    assert message in str(bad)
    assert good == TaskResult("ok")


def test_blame_names_the_innermost_line_of_the_users_own_code(
    run_task: RunTask, module: Module
) -> None:
    name = module("import json\n\ndef g(x):\n    json.loads(x)\n\ndef f(x):\n    g(x)\n")
    (bad,) = run_task(_python(name), call_of("{"))
    assert str(bad).endswith(f"({name}.py:4 in g)")


def test_a_function_may_name_the_kind_of_its_problem(run_task: RunTask, module: Module) -> None:
    name = module(
        "from fairtrial.model.errors import InfraError\n"
        "def f(x): raise InfraError('slow down', kind='rate_limit', retry_after=2)\n"
    )
    (bad,) = run_task(_python(name), call_of("x"))
    assert type(bad) is InfraError
    assert bad.retry_after == 2


@pytest.mark.parametrize(
    "source",
    [
        "import time\ndef f(x): time.sleep(3)",
        "import asyncio\nasync def f(x): await asyncio.sleep(3)",
        "import asyncio\nf = lambda x: asyncio.sleep(3)",
        "import asyncio\nasync def f(x):\n try: await asyncio.sleep(3)\n finally: raise KeyError",
        "import asyncio as a\nasync def f(x):\n try: await a.sleep(3)\n except: return 1",
    ],
)
def test_over_the_time_limit(run_task: RunTask, module: Module, source: str) -> None:
    start = time.monotonic()
    (late,) = run_task(_python(module(source)), call_of("x", limit_s=0.2))
    assert type(late) is TrialTimeout
    assert str(late) == "over the time limit of 0.2 s"
    assert time.monotonic() - start < 2


@pytest.mark.parametrize(
    ("source", "function", "message"),
    [
        ("", "f", "has no function 'f'"),
        ("def parse(x): ...", "prase", "did you mean 'parse'?"),
        ("f = 3", "f", "is int, not a function"),
        ("def f(): ...", "f", "cannot be called with the case input"),
        ("def f(a, b, c): ...", "f", "its parameters are (a, b, c)"),
        ("import absent_package", "f", "install what 'absent_package' belongs to"),
        ("x = 1 / 0", "f", "ZeroDivisionError: division by zero (module_of_"),
        ("raise SystemExit(1)", "f", "SystemExit: 1"),
        ("def f(:", "f", "SyntaxError"),
    ],
)
def test_what_cannot_be_called_is_told_before_the_run(
    run_task: RunTask, module: Module, source: str, function: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        run_task(_python(module(source), function), call_of("x"))
    assert message in str(caught.value)
    assert caught.value.where == "spec, option 'function'"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("task.py:run", "write task:run"),
        ("task.run", "write task:run"),
        ("dir/task.py:run", "modules are found in the spec's folder"),
        ("task", "write module:function"),
        ("absent_module:f", "put absent_module.py into"),
        ("json.absent:f", "there is no module 'json.absent'"),
    ],
)
@pytest.mark.usefixtures("module")
def test_a_name_that_leads_nowhere(run_task: RunTask, written: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        run_task({"kind": "python", "function": written}, call_of("x"))
    assert message in str(caught.value)


def test_arguments_must_fit_the_function(run_task: RunTask, module: Module) -> None:
    name = module("def f(x, model='m'): ...")
    with pytest.raises(UsageError, match=r"cannot be called with the case input and modle=…"):
        run_task(_python(name, arguments={"modle": 1}), call_of("x"))


_STUCK = """
import asyncio, sys, time
from pathlib import Path
from fairtrial.model.errors import TrialTimeout
from fairtrial.ports import Surroundings
from fairtrial.tasks.registry import build_task, task_spec
from fairtrial.testing.task import call_of

async def main():
    surroundings = Surroundings(Path(sys.argv[1]), {}, None)
    spec = task_spec({"kind": "python", "function": "stuck:f"}, "spec")
    task = build_task(spec, surroundings, "spec")
    try:
        await task.run(call_of("x", limit_s=0.2))
    except TrialTimeout:
        print(task.function.threads.abandoned, flush=True)
    await task.close()

asyncio.run(main())
"""


@pytest.mark.parametrize("body", ["time.sleep(600)", "\n while True: pass"])
def test_the_program_ends_although_a_call_never_does(tmp_path: Path, body: str) -> None:
    (tmp_path / "stuck.py").write_text(f"import time\ndef f(x): {body}")
    argv = [sys.executable, "-c", _STUCK, str(tmp_path)]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")


def test_variables_of_a_call_are_set_for_it_alone(run_task: RunTask, module: Module) -> None:
    name = module(
        "import os, time\n"
        "def f(x):\n"
        "    before = os.environ['WHERE']\n"
        "    time.sleep(0.02)\n"
        "    return [before, os.environ['WHERE']]\n"
    )
    calls = [replace(call_of("in"), environ={"WHERE": str(n)}) for n in range(3)]
    results = run_task(_python(name), *calls)
    assert [result.output for result in results] == [["0", "0"], ["1", "1"], ["2", "2"]]
    assert "WHERE" not in os.environ
