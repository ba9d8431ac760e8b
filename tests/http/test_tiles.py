"""The tiles of an experiment: what each number is, and which way is better."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.http.conftest import Server
from tests.http.test_pages import look

from fairtrial.cli.main import main


@pytest.fixture
def pair(folder: Path) -> None:
    """Two experiments: `first` tells a secret once in four cases, `second` three times."""
    cases = [{"id": f"c{n}", "input": n, "expected": "ok"} for n in range(4)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    main(["dataset", "add", "d", "cases.jsonl"])
    for name, leaks in (("first", 1), ("second", 3)):
        (folder / "agent.py").write_text(
            f"print('ok', 'secret' if int(input()) < {leaks} else 'nothing')"
        )
        spec = {
            "dataset": "d",
            "name": name,
            "task": {"kind": "command", "command": ["python3", "agent.py"]},
            "graders": [
                "contains",
                {"kind": "contains", "name": "leak", "values": "secret", "not": True},
            ],
        }
        (folder / "spec.json").write_text(json.dumps(spec))
        assert main(["exp", "run", "spec.json"]) == 0


def tiles(text: str) -> dict[str, str]:
    """Return the words of each tile by its heading."""
    found = text.split('<div class="tiles"')[1].split("<section", maxsplit=1)[0].split("<h2>")[1:]
    words = [" ".join(re.sub(r"<[^>]+>", " ", tile).split()) for tile in found]
    return {tile.split()[0]: tile for tile in words}


@pytest.mark.usefixtures("pair")
def test_what_had_better_not_happen_is_counted_and_more_of_it_is_worse(server: Server) -> None:
    text = look(server, "/experiments/second").body.decode()
    found = tiles(text)
    assert found["leak"] == "leak 3 +50.0 points of 4 trials hit it"
    assert found["Pass"].startswith("Pass rate 25.0 % −50.0 points 95 % interval")
    assert found["contains"] == "contains 100 % ±0 points"
    assert re.search(r'class="change down"[^>]*>\+50\.0 points', text)
    listed = look(server, "/experiments").body.decode()
    assert re.search(r"leak</bdi> <b>3 hit</b>", listed)
    first = tiles(look(server, "/experiments/first").body.decode())
    assert first["leak"] == "leak 1 of 4 trials hit it"


def test_two_arms_are_not_told_as_one(server: Server, folder: Path) -> None:
    (folder / "cases.jsonl").write_text('{"id": "a", "input": "x", "expected": "x"}\n')
    main(["dataset", "add", "d", "cases.jsonl"])
    arms = {
        name: {"kind": "command", "command": ["echo", said]}
        for name, said in (("right", "x"), ("wrong", "no"))
    }
    graders = ["contains", {"kind": "contains", "name": "again"}]
    spec = {"dataset": "d", "name": "both", "arms": arms, "graders": graders}
    (folder / "spec.json").write_text(json.dumps(spec))
    main(["exp", "run", "spec.json"])
    text = look(server, "/experiments/both").body.decode()
    found = tiles(text)
    assert found["Pass"].startswith("Pass rate 0 % −100.0 points")
    assert "Automatic (its arm right)" in text
    assert "Its first arm, <bdi>right</bdi>" in text
    assert "baseline</button>" not in text
    wrong, right = (
        look(server, f'/experiments/both?row=["a","default","{arm}"]'.replace('"', "%22"))
        for arm in ("wrong", "right")
    )
    assert b"Didn&#39;t get it done; the baseline did." in wrong.body
    assert b"Got it done." in right.body
    assert text.count(">Regressed</span>") == 1
    assert ">Same</span>" not in text
    assert "arm wrong" in found["Pass"]
    assert found["contains"] == "contains 50.0 % over all arms"
    exp = server.ask("/v2/experiments").json["experiments"][0]["id"]
    address = f"/compare?a={exp}%3Aright&amp;b={exp}%3Awrong"
    assert address in text
    assert look(server, address.replace("&amp;", "&")).status == 200
    main(["exp", "run", "-d", "d", "--task", json.dumps(arms["right"]), "-g", "contains"])
    later = server.ask("/v2/experiments").json["experiments"][0]["id"]
    text = look(server, f"/experiments/{exp}?baseline={later}").body.decode()
    assert f'<option value="{later}" selected>' in text
    assert "as given" in text
    beside = look(server, f"/side-by-side?ids={exp}:right,{exp}:wrong").body.decode()
    assert "passed</span> <b>100 %</b>" in beside
    assert "contains</bdi> <b>–</b>" in beside
