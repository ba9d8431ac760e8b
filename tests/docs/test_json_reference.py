"""`docs/reference/json.md` describes exactly what `--json` prints."""

from __future__ import annotations

import contextlib
import functools
import http.client
import io
import json
import os
import re
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.docs.conftest import ROOT, Terminal

from fairtrial.app.bench import bench_here
from fairtrial.app.requests.exp_ab import Request as AbRequest
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.spec_files import build_request
from fairtrial.app.verbs import VERBS
from fairtrial.cli.main import main
from fairtrial.cli.watching import Wake, watched_runs
from fairtrial.cli.watching_ab import watched_ab
from fairtrial.model.call import ToolUse
from fairtrial.model.errors import UsageError
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer

PAGE = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
SIMPLE: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
}


def objects() -> Mapping[str, Mapping[str, str]]:
    """Return the types of the keys of every object that the page describes, by its title."""
    found: dict[str, dict[str, str]] = {}
    for section in re.split(r"^##+ ", PAGE, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+|…) \| (.*?) \|", body, re.MULTILINE)
        found[title] = {}
        for names, kind in rows:
            for name in re.findall(r"\w+", names) or ["…"]:
                found[title][name] = re.sub(r"\[(.*?)\]\(.*?\)", r"<\1>", kind)
    return found


OBJECTS = objects()
BY_THE_API = {
    "fairtrial.experiment_standing/1",
    "fairtrial.rows_taken/1",
    "fairtrial.projects/1",
    "fairtrial.project/1",
    "fairtrial.cases/1",
}
"""What no command prints; the tests of the API hold its answers against their schemas."""


def keys_of(title: str) -> dict[str, str]:
    """Return an object's keys with their types, those of an object it includes too."""
    keys = dict(OBJECTS[title])
    included = keys.pop("…", "").strip("<>")
    return {**(keys_of(included) if included else {}), **keys}


def problems(value: Any, kind: str, place: str) -> Iterator[str]:
    """Yield where a value is not what the page says."""
    if kind.endswith(" or null") and value is None:
        return
    kind = kind.removesuffix(" or null")
    if kind.startswith("list of ") and isinstance(value, list):
        for entry in value:
            yield from problems(entry, kind.removeprefix("list of "), f"{place}[]")
    elif kind.startswith("map of ") and isinstance(value, dict):
        for name, entry in value.items():
            yield from problems(entry, kind.removeprefix("map of "), f"{place}.{name}")
    elif kind.startswith("<") and isinstance(value, dict):
        yield from _problems_of_object(value, keys_of(kind.strip("<>")), place)
    elif kind != "any" and type(value) not in SIMPLE.get(kind, ()):
        yield f"{place} is {value!r}, not {kind}"


def _problems_of_object(
    value: Mapping[str, Any], keys: Mapping[str, str], place: str
) -> Iterator[str]:
    stray = sorted(set(value) ^ set(keys))
    if stray:
        yield f"{place}: {stray} stand in one of page and output only"
    for name in set(value) & set(keys):
        yield from problems(value[name], keys[name], f"{place}.{name}")


AGENT = """
import json, os, sys
case = json.load(sys.stdin)
if case["case_id"] == "crash":
    sys.exit("broken on purpose")
luck = "lucky" if case["trial"] == 1 else "unlucky"
print(json.dumps({"output": luck, "cost_usd": 0.1, "tokens": {"input": 1},
                  "metrics": {"steps": 2}, "spans": [{"name": "look"}]}))
"""
SWEEPING = """
def answer(n, solves):
    return str(n) if isinstance(n, dict) or n < solves else "wrong"
"""
SPEC: Mapping[str, Any] = {
    "dataset": "d",
    "task": {"kind": "command", "command": ["python3", "agent.py"], "envelope": True},
    "graders": ["exact"],
    "trials": 2,
    "seed": 1,
}
AB = (
    "exp ab --repo all --since 3650d --anchor anchors.py --behavior finds --a none --b house"
    " --provider answers.json"
)
COMMANDS = (
    "dataset add d a.jsonl",
    "dataset add d b.jsonl",
    "dataset add swept swept.jsonl",
    "dataset list",
    "dataset list d",
    "dataset show d",
    "dataset show d --case flaky",
    "dataset export d -o d.csv",
    "dataset diff d@1 d@2",
    "exp run spec.json --dry-run",
    "exp run spec.json",
    "exp run down.json",
    "exp run down.json --resume --dry-run",
    "exp metrics --arm a=true --arm b=true --pairs 2 --name measured",
    "exp show measured",
    "exp run spec.json --name again",
    "exp compare d again --gate",
    "exp compare d again --pairwise one.json --pairwise two.json --labels winners.jsonl",
    "exp compare d again --labels-a people-a.jsonl --labels-b people-b.jsonl --min-labels 2",
    "exp compare down again",
    "exp regrade d --name regraded",
    "exp regrade d -g random.json --k 2 --name regraded",
    "grader calibrate one-output.json --labels people-a.jsonl -e d",
    "grader calibrate one-output.json --labels people-a.jsonl -e d --split all",
    "grader check one-output.json -n 1",
    "exp run gated.json",
    "exp run arms.json --seq 2 --name tries",
    "exp run arms.json --stop-early --looks 2 --name looks",
    "exp run matrix.json --plan",
    "exp run matrix.json --name cells",
    "exp run matrix.json --reuse all --name copied",
    "exp show copied --case crash",
    "exp show tries --case crash",
    "exp aa spec.json --name twice",
    "exp aa d again",
    "exp compare d again",
    "exp run spec.json --series loop",
    "exp run spec.json --series loop --name next",
    "exp plateau --series loop",
    "exp plateau d again next --gate chain",
    "exp session new --name one",
    "exp session note idea",
    "exp run spec.json",
    "exp run spec.json",
    "exp session summary",
    "exp sweep low.json high.json -d swept -g exact --guard d --seed 1",
    "exp status",
    "exp aa down.json --name nothing",
    "exp baseline set d",
    "exp baseline show again",
    "exp gate again --rules gated.json",
    "exp gate --set gated.json",
    "exp baseline clear",
    "exp power --effect 0.1 --cases 100",
    "exp power --from d",
    "exp show d",
    "exp show d --case crash",
    "exp show d --where score<2 -n 1",
    "prune outputs --keep 100 --dry-run",
    "prune cache --older-than 900d --yes",
    "completion bash",
    "exp show d --case flaky",
    "exp list -n 1",
    "exp list",
    "exp status",
    "exp status d",
    "exp export d --to html -o d.html",
    "exp export d again --to markdown",
    "exp schema -o schema.json",
    "exp labels d -o labels.jsonl",
    "proxy -- python3 calls.py",
    "serve --port 0",
    "mcp --http --port 0",
    "push results.jsonl gone.jsonl",
    "push results.jsonl --dry-run",
    "key create one",
    "key list",
    "key revoke one",
    "calls list -n 1",
    "calls list",
    "calls show latest#1",
    "calls show latest#2",
    "calls show latest#2 --body events",
    "calls show latest#3",
    "exp replay latest#1 --vary model=claude-haiku-4-5 --n 1 --dry-run",
    "exp replay latest#1 --vary model=claude-haiku-4-5 --n 1",
    "exp run asks.json --record --name asks",
    "exp run asks.json --replay asks --replay-until 1 --name asks-again",
    "exp show asks-again --case flaky",
    "sessions sync --path transcripts",
    "sessions list -n 1",
    "sessions show latest",
    "sessions flags",
    "sessions flags latest",
    "sessions decisions latest --anchor anchors.py",
    "sessions stats",
    "sessions export latest --to markdown",
    "sessions checkout latest before",
    "eval init --sessions latest --repo shop --verifier true",
    "eval init latest --repo shop --verifier true",
    "eval new latest --repo shop --verifier true --name two --hidden-test cart.py",
    "eval import shop/evals/failures",
    "eval import evals/told",
    "eval export told --to harbor -o exported --base-image base:1",
    "eval export told --to harbor -o nowhere",
    "eval list --all",
    "eval show one",
    "eval run told --command true --level none --trials 1 --dry-run",
    "eval run told --command true --level none --trials 1",
    "eval run told --command rm --level none --trials 1",
    "eval report told",
    "eval report told --to markdown",
    "eval validate one --level none -k 1",
    "eval rm one",
    f"{AB} --dry-run",
    AB,
    "sessions rm latest",
    "harness show house",
    "harness show house --agent codex",
    "harness diff none house",
    "harness save house.json --from house",
    "cache show",
    "cache prune --older-than 30d",
    "init --agent claude-code --dry-run",
    "demo",
    "doctor",
    "exp show no-such-experiment",
    "exp run spec.json --trials none",
)


ANCHORS = """
from fairtrial.model.decision_point import DecisionPoint

class Finds:
    name, summary, rubric = "finds", "it does", "Bad: it does."

    def points(self, session, events):
        yield DecisionPoint(self.name, 1, "did", (2,), bad=True)

class Fails(Finds):
    name = "fails"

    def points(self, session, events):
        raise ValueError("no")

ANCHORS = [Finds, Fails]
"""
CALLS = """
import json, os, urllib.error, urllib.request
base = os.environ["ANTHROPIC_BASE_URL"]
body = {"model": "claude-sonnet-5-5", "max_tokens": 9, "system": "Be kind.",
        "tools": [{"name": "look", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "look", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "seen"}]}]}
for stream in (False, True):
    data = json.dumps({**body, "stream": stream}).encode()
    headers = {"content-type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(base + "/v1/messages", data, headers)).read()
urllib.request.urlopen(base + "/v1/models").read()
try:
    urllib.request.urlopen(base + "/nothing")
except urllib.error.HTTPError as error:
    error.close()
"""


def prepare(terminal: Terminal) -> None:
    """Write what the commands work on."""
    terminal.write("agent.py", AGENT)
    terminal.write("house/AGENTS.md", "Be kind.\n")
    terminal.write("house/.agents/skills/x/SKILL.md", "---\ndescription: Does x\n---\n")
    told = {"type": "user", "sessionId": "3f0c7a52-8a5e-4b1d-9f5e-6d2f5c1b7a10", "version": "2.1"}
    told["cwd"] = str(terminal.folder / "shop")
    asked = {**told, "uuid": "u1", "message": {"role": "user", "content": "No, that is wrong."}}
    lines = [{**told, "type": "hologram"}, {**asked, "new": 1}, {**asked, "uuid": "u2"}]
    context = {"gitStatus": f"Status:\n?? x\n\nRecent commits:\n{shop(terminal)} one"}
    began = {"type": "session_context", "context": context}
    lines.insert(0, {**told, "type": "attachment", "uuid": "u0", "attachment": began})
    terminal.write("transcripts/one.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
    results = [{"id": "one", "input": 1, "score": 1, "odd": 1}, {"id": "two", "score": None}]
    terminal.write("results.jsonl", "\n".join(map(json.dumps, results)))
    terminal.write("calls.py", CALLS)
    terminal.write("anchors.py", ANCHORS)
    answers = [
        {"match": ["Bad: it does.", "fine"], "reply": {"reason": "r", "choice": "good"}},
        {"match": "Bad: it does.", "reply": {"reason": "r", "choice": "bad"}},
        {"match": "Be kind", "reply": "fine"},
        {"reply": "no"},
    ]
    terminal.write("answers.json", json.dumps({"kind": "fake", "rules": answers}))
    terminal.write("spec.json", json.dumps(SPEC))
    rules = [
        {"pass_rate": {"at_least": 1}},
        {"delta": {"broken": {"at_most": 0}}},
        {"tag": "none", "mean": {"at_least": 1}},
    ]
    asks = {"kind": "command", "command": ["python3", "calls.py"]}
    terminal.write("asks.json", json.dumps({**SPEC, "trials": 1, "task": asks}))
    terminal.write("gated.json", json.dumps({**SPEC, "name": "gated", "gate": rules}))
    other = {**SPEC["task"], "command": ["python3", "agent.py", "other"]}
    unarmed = {key: value for key, value in SPEC.items() if key != "task"}
    terminal.write("arms.json", json.dumps({**unarmed, "arms": {"a": SPEC["task"], "b": other}}))
    cells = [{"name": "b", "command": ["python3", "agent.py", "b"]}]
    terminal.write("matrix.json", json.dumps({**SPEC, "variants": cells}))
    coin = "test $(od -An -N1 -i /dev/urandom) -gt 127 && echo 1 || exit 3"
    terminal.write("random.json", json.dumps({"kind": "command", "command": coin}))
    down = {**SPEC, "name": "down", "retries": 0, "stop_after_infra": 1, "concurrency": 1}
    terminal.write(
        "down.json", json.dumps({**down, "task": {"kind": "http", "url": "http://127.0.0.1:1"}})
    )
    flaky: dict[str, Any] = {
        "id": "flaky",
        "input": 1,
        "expected": "lucky",
        "tags": ["t"],
        "split": "test",
    }
    swept = [{"id": f"s{n}", "input": n, "expected": str(n)} for n in range(30)]
    terminal.write("swept.jsonl", "\n".join(json.dumps(case) for case in swept))
    for name, solves in (("low", 5), ("high", 30)):
        arguments = {"solves": solves}
        task = {"kind": "python", "function": "sweeping:answer", "arguments": arguments}
        terminal.write(f"{name}.json", json.dumps(task))
    terminal.write("sweeping.py", SWEEPING)
    crash = {"id": "crash", "input": {}, "metadata": {"why": 1}}
    for name, cases in {"a": [flaky], "b": [{**flaky, "input": 2}, crash]}.items():
        terminal.write(f"{name}.jsonl", "\n".join(json.dumps(case) for case in cases))
    terminal.write("evals/told/tasks/one/task.toml", '[verifier]\ncommand = "true"\n')
    terminal.write("evals/told/tasks/one/instruction.md", "Do it.\n")
    prepare_opinions(terminal)


def shop(terminal: Terminal) -> str:
    """Make a repository with one commit, and return its hash."""
    terminal.write("shop/cart.py", "items = []\n")
    git = "git -C shop -c user.name=T -c user.email=t@example.com"
    terminal.type(f"git init -q shop && {git} add -A && {git} commit -qm one")
    return terminal.type("git -C shop rev-parse HEAD").strip()


def prepare_opinions(terminal: Terminal) -> None:
    """Write judges, and what people say."""
    for name in ("one", "two"):
        judge = {"kind": "pairwise", "name": name, "rubric": "better", "provider": "fake"}
        terminal.write(f"{name}.json", json.dumps(judge))
    one = {"kind": "judge", "rubric": "It is right.", "provider": "fake", "choices": ["yes", "no"]}
    terminal.write("one-output.json", json.dumps(one))
    winners = [{"caseId": "flaky", "winner": "b"}, {"caseId": "crash", "winner": "a"}]
    terminal.write("winners.jsonl", json.dumps(winners))
    for arm, value in (("a", "pass"), ("b", "fail")):
        labels = [{"caseId": "flaky", "value": value}, {"caseId": "crash", "value": "fail"}]
        terminal.write(f"people-{arm}.jsonl", json.dumps(labels))


def answers(command: str) -> Sequence[Any]:
    """Return what a command prints with `--json`: an object, or one a line.

    What another program runs beside prints its own on standard output.
    """
    if command.startswith(("serve", "mcp")):
        return served(command)
    words, beside, program = command.partition(" -- ")
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        main([*words.split(), "--json", *(["--", *program.split()] if beside else [])])
    if beside:
        return [json.loads(line) for line in err.getvalue().splitlines()]
    return [json.loads(out.getvalue())]


JSON = "application/json"
TOLD = {"session.id": "told", "event.name": "claude_code.user_prompt", "prompt": "Hello"}
RECORD = {
    "resourceLogs": [
        {
            "scopeLogs": [
                {
                    "logRecords": [
                        {
                            "attributes": [
                                {"key": key, "value": {"stringValue": value}}
                                for key, value in TOLD.items()
                            ]
                        }
                    ]
                }
            ]
        }
    ]
}


class Asked(io.StringIO):
    """What a server prints; each address that it tells is asked something, then it is stopped."""

    def write(self, text: str) -> int:
        if "serve_started" in text or "mcp_started" in text:
            threading.Thread(target=self._ask, args=(json.loads(text)["url"],)).start()
        return super().write(text)

    def _ask(self, url: str) -> None:
        connection = http.client.HTTPConnection(urlsplit(url).netloc)
        with contextlib.closing(connection):
            connection.request("GET", "/v2/health", headers={"Host": "elsewhere.example"})
            connection.getresponse().read()
            connection.request("POST", "/v1/logs", json.dumps(RECORD), {"Content-Type": JSON})
            connection.getresponse().read()
        os.kill(os.getpid(), signal.SIGINT)


def served(command: str) -> Sequence[Any]:
    """Return what a server prints, one object a line."""
    out = Asked()
    with contextlib.redirect_stdout(out):
        main([*command.split(), "--json"])
    return [json.loads(line) for line in out.getvalue().splitlines()]


class Once:
    """A source of a watch that quits before it waits."""

    def wait(self, _folders: object) -> Wake:
        return Wake.QUIT

    def close(self) -> None:
        """There is nothing to end."""


def watched(terminal: Terminal) -> Sequence[Any]:
    """Return what `--watch` prints with `--json`: for a run, a spec that is none, and an A/B."""
    build = functools.partial(build_request, Request, {"spec": "spec.json"}, terminal.folder)
    out = io.StringIO()
    for made in (build, _refuse):
        with contextlib.redirect_stdout(out), contextlib.closing(bench_here()) as bench:
            watched_runs(bench, build(), made, as_json=True, source=Once())
    options = {"a": "none", "b": "house", "repo": "all", "provider": "fake", "watch": True}
    with contextlib.redirect_stdout(out), contextlib.closing(bench_here()) as bench:
        request = build_request(AbRequest, options, terminal.folder)
        watched_ab(bench, request, as_json=True, source=Once())
    return [json.loads(line) for line in out.getvalue().splitlines()]


def _refuse() -> Request:
    raise UsageError("half written")


def test_every_key_that_is_printed_is_described_and_the_other_way_round(
    terminal: Terminal,
) -> None:
    prepare(terminal)
    seen = set()
    look = ScriptedAnswer("There.", tool_uses=(ToolUse("t2", "look", {"at": "it"}),))
    with ModelServer([look]) as server:
        for name, url in (("ANTHROPIC", server.url), ("OPENAI", server.v1_url)):
            terminal.monkeypatch.setenv(f"{name}_BASE_URL", url)
        for command in COMMANDS:
            for answer in answers(command):
                seen.add(answer["schema"])
                assert next(iter(answer)) == "schema"
                assert list(problems(answer, f"<{answer['schema']}>", command)) == []
        for answer in watched(terminal):
            seen.add(answer["schema"])
            assert list(problems(answer, f"<{answer['schema']}>", "exp run --watch")) == []
    assert seen | BY_THE_API == {title for title in OBJECTS if "/" in title}


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_is_tried_and_in_the_table(verb: Any) -> None:
    assert any(command.startswith(verb.name) for command in COMMANDS)
    assert f"`{verb.name}`" in PAGE
