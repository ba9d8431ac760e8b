"""Small agents, as programs: each asks a model, runs its tools, and prints every answer."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_START: Final = """
import json, os, sys
case = json.load(sys.stdin)
late = int(os.environ.get("CHANGES_AT", "0"))
def system(turn):
    return "Be brief." + (" Hurry." if late and turn >= late else "")
"""

ANTHROPIC: Final = (
    _START
    + """
import anthropic
client = anthropic.Anthropic(api_key="test-key-123456", max_retries=2)
messages, answers = [{"role": "user", "content": f"Solve {case}."}], []
tools = [{"name": "step", "input_schema": {"type": "object"}}]
for turn in range(1, 9):
    asked = dict(model="claude-sonnet-5", max_tokens=64, system=system(turn), tools=tools)
    if os.environ.get("STREAMS"):
        with client.messages.stream(**asked, messages=messages) as stream:
            reply = stream.get_final_message()
    else:
        reply = client.messages.create(**asked, messages=messages)
    answers.append(reply.to_dict())
    messages.append({"role": "assistant", "content": reply.to_dict()["content"]})
    uses = [part for part in reply.content if part.type == "tool_use"]
    if not uses:
        break
    done = [{"type": "tool_result", "tool_use_id": use.id, "content": "ok"} for use in uses]
    messages.append({"role": "user", "content": done})
print(json.dumps(answers))
"""
)

OPENAI: Final = (
    _START
    + """
import openai
client = openai.OpenAI(api_key="test-key-123456", max_retries=2)
messages, answers = [{"role": "user", "content": f"Solve {case}."}], []
tools = [{"type": "function", "function": {"name": "step", "parameters": {"type": "object"}}}]
for turn in range(1, 9):
    told = [{"role": "system", "content": system(turn)}, *messages]
    reply = client.chat.completions.create(model="gpt-5.2", messages=told, tools=tools)
    answers.append(reply.to_dict())
    said = reply.choices[0].message
    messages.append(said.to_dict())
    if not said.tool_calls:
        break
    messages += [
        {"role": "tool", "tool_call_id": use.id, "content": "ok"} for use in said.tool_calls
    ]
print(json.dumps(answers))
"""
)

PLAIN: Final = (
    _START
    + """
# No SDK: it starts in a tenth of the time.
import time, urllib.error, urllib.request
from concurrent.futures import ThreadPoolExecutor
def ask(text, turn=1):
    body = {"model": "claude-sonnet-5", "max_tokens": 64, "system": system(turn)}
    body["messages"] = [{"role": "user", "content": text}]
    for wait in (0.01, 0.01, None):
        request = urllib.request.Request(
            os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
            json.dumps(body).encode(),
            {"content-type": "application/json", "x-api-key": "k", "anthropic-version": "1"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)["content"][0]["text"]
        except urllib.error.HTTPError as error:
            if wait is None or error.code != 529:
                raise
            time.sleep(wait)
answers = []
for turn in range(1, 1 + int(os.environ.get("CALLS", "3"))):
    if os.environ.get("FAILS_FIRST") and turn == 1 and not os.path.exists("tried-%s" % case):
        open("tried-%s" % case, "w").close()
        ask("thrown away"), sys.exit(75)
    answers.append(ask(f"case {case} turn {turn}", turn))
if os.environ.get("SIDE_BY_SIDE"):
    order = sorted(range(4), reverse=os.environ["SIDE_BY_SIDE"] == "backwards")
    with ThreadPoolExecutor(4) as pool:
        found = {n: pool.submit(ask, f"case {case} part {n}") for n in order}
    answers += [found[n].result() for n in range(4)]
    answers.append(ask(f"case {case} sum"))
print(json.dumps(answers))
"""
)


def write_agents(folder: Path) -> None:
    """Write the agents into a folder."""
    for name, text in (("anthropic", ANTHROPIC), ("openai", OPENAI), ("plain", PLAIN)):
        (folder / f"{name}_agent.py").write_text(text, encoding="utf-8")
