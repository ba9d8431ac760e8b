"""What the real Claude Code and Codex tell their models of a repository is what `loaded` says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.sessions.start_state.repo import Repo

from fairtrial.harness.block import CLAUDE_CODE, CODEX, block, exchanged, recorded
from fairtrial.harness.blocks.claude_code import exchanged_later, later_path
from fairtrial.harness.blocks.skills import claude_exchanged, codex_exchanged, lists_skills
from fairtrial.harness.loading.agents import loaded
from fairtrial.harness.loading.claude_code import told_later
from fairtrial.harness.loading.listing import claude_listed, codex_listed, listed
from fairtrial.harness.sources import Place
from fairtrial.model.call import ToolUse
from fairtrial.model.harness import Harness
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer
from fairtrial.testing.model_server.script import Script

AGENTS = Path(__file__).parents[3] / ".agents/node_modules/.bin"
pytestmark = pytest.mark.skipif(
    not (AGENTS / "claude").exists() or not (AGENTS / "codex").exists() or not shutil.which("git"),
    reason="needs the real Claude Code and Codex (`make agents`), and git",
)
DONE: Script = (ScriptedAnswer("Done."),)
SKILL = "---\nname: {name}\ndescription: Does {name} things\n{more}---\nThe body.\n"
MARKDOWN = """---
title: of the front matter
---
Start @docs/twice.md
<!-- a block
of a comment @docs/no1.md -->
after <!-- inline --> @docs/inline.md
<!-- one --> @docs/rest.md

  <!-- indented -->

- item @docs/item.md

  para @docs/para.md

      code @docs/no2.md

`@docs/no3.md` ~~@docs/no4.md~~ [a](@docs/no5.md) **@docs/bold.md** _@docs/em.md_

```
@docs/no6.md
<!-- in a fence -->
```

text @docs/text.md, @docs/anchor.md#part @docs/with\\ space.md @docs/plain
@docs/no7.xyz mail@docs/no8.md (@docs/no9.md) @docs/twice.md @missing.md @docs/../docs/dots.md
<div>
@docs/no10.md
</div>

@deep/1.md

<!-- never closed @docs/no11.md
tail
"""
FILES = {
    "CLAUDE.md": MARKDOWN,
    **{f"docs/no{number}.md": "NO\n" for number in range(1, 12)},
    "docs/no7.xyz": "NO\n",
    **{
        f"docs/{name}": f"IMPORTED {name}\n"
        for name in (
            *("twice.md", "inline.md", "rest.md", "item.md", "para.md", "bold.md", "em.md"),
            *("text.md", "anchor.md", "with space.md", "plain", "dots.md"),
        )
    },
    **{f"deep/{number}.md": f"DEEP {number} @{number + 1}.md\n" for number in range(1, 8)},
    "AGENTS.md": "ROOT AGENTS\n",
    "CLAUDE.local.md": "LOCAL @docs/local.md\n",
    "docs/local.md": "OF LOCAL\n",
    ".claude/CLAUDE.md": "DOT CLAUDE @rules/all.md\n",
    ".claude/rules/all.md": "---\ntitle: x\n---\n\nRULE ALL\n",
    ".claude/rules/some.md": "---\npaths: src/**, lib/**\n---\nRULE SOME\n",
    ".claude/rules/mixed.md": "---\npaths: ['**', 'src/**']\n---\nRULE MIXED\n",
    ".claude/rules/note.txt": "NO RULE\n",
    "sub/CLAUDE.md": "\ufeffSUB CLAUDE\nsecond @in.md @../docs/text.md\n",
    "sub/in.md": "WITHIN SUB\n",
    "sub/.claude/rules/sub.md": "---\npaths: '**'\n---\nRULE SUB\n",
    "sub/deep/AGENTS.md": "DEEP AGENTS\n",
    ".claude/skills/alpha/SKILL.md": SKILL.format(name="alpha", more="when_to_use: first\n"),
    ".claude/skills/folder/SKILL.md": SKILL.format(name="called", more="user-invocable: false\n"),
    ".claude/skills/hidden/SKILL.md": SKILL.format(
        name="hidden", more="disable-model-invocation: true\n"
    ),
    ".claude/skills/titled/SKILL.md": "---\nname: titled\n---\n\n## A title\n\nText\n",
    ".claude/skills/waits/SKILL.md": SKILL.format(name="waits", more="paths: src/**\n"),
    ".claude/commands/ns/go.md": "Go and do it\n",
    "sub/.claude/skills/near/SKILL.md": SKILL.format(name="near", more=""),
}


def run(agent: str, repo: Path, cwd: str, home: Path, script: Script = DONE) -> str:
    """Run an agent; return all texts of its last request."""
    config = home / agent
    config.mkdir(parents=True, exist_ok=True)
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
    }
    with ModelServer(script) as server:
        if agent == CLAUDE_CODE:
            (config / "CLAUDE.md").write_text("THE USER'S OWN\n")
            environ |= {
                "ANTHROPIC_API_KEY": "sk-" + "ant-harness-test",
                "ANTHROPIC_BASE_URL": server.url,
                "CLAUDE_CONFIG_DIR": str(config),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "CLAUDE_CODE_MAX_RETRIES": "1",
                "DISABLE_AUTOUPDATER": "1",
            }
            words = [str(AGENTS / "claude"), "-p", "Say hello.", "--model", "claude-sonnet-5-5"]
        else:
            (config / "AGENTS.md").write_text("THE USER'S OWN\n")
            (config / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": "sk-harness-test-00"}))
            environ["CODEX_HOME"] = str(config)
            words = [str(AGENTS / "codex"), "exec", "-m", "gpt-5.5", "--disable", "plugins"]
            words += ["-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"]
            words += ["-c", f"openai_base_url={server.v1_url}"]
            words += ["--dangerously-bypass-approvals-and-sandbox", "Say hello."]
        done = subprocess.run(
            words,
            cwd=repo / cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert server.calls, (done.stdout, done.stderr)
        body = server.calls[-1].body
    assert isinstance(body, dict)
    given = body["messages"] if agent == CLAUDE_CODE else body["input"]
    assert isinstance(given, list)
    return "\0".join(text for turn in given if isinstance(turn, dict) for text in _texts(turn))


def _texts(turn: dict[str, object]) -> list[str]:
    content = turn.get("content")
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, dict) and "text" in part]


def block_in(agent: str, request: str) -> str:
    """Return the text of a request that holds the instructions."""
    start = "# AGENTS.md instructions" if agent == CODEX else "<system-reminder>\nCodebase"
    return next(text for text in request.split("\0") if text.startswith(start))


def harness_of(repo: Repo) -> Harness:
    return Place(repo.root, {"PATH": os.environ["PATH"]}).current().harness


def is_as_told(agent: str, repo: Repo, cwd: str, home: Path) -> None:
    """Assert that the block of a real request is the one of `loaded`, and can be exchanged."""
    request = run(agent, repo.root, cwd, home)
    told = block_in(agent, request)
    harness, root = harness_of(repo), str(repo.root)
    texts = loaded(agent, harness, cwd)
    assert "THE USER'S OWN" in told
    assert exchanged(told, agent, texts, root, cwd) == told
    # What stands there without the user's own is what is written for a session that had none.
    bare = block(agent, texts, root, cwd)
    own = told.replace(bare[bare.index("Contents of") :], "") if agent == CLAUDE_CODE else ""
    assert agent == CODEX or own.count("Contents of ") == 1
    if agent == CLAUDE_CODE:
        assert recorded(told, agent, root) == texts
    assert_lists(agent, request, listed(agent, harness, cwd))
    listing = next(text for text in request.split("\0") if lists_skills(text))
    if agent == CLAUDE_CODE:
        again = claude_exchanged(listing, claude_listed(harness, cwd), first=True)
    else:
        again = codex_exchanged(listing, codex_listed(harness, cwd), root)
    assert again == listing


def assert_lists(agent: str, request: str, lines: tuple[str, ...]) -> None:
    """Assert that lines stand in the listing of a request in their order, and no others."""
    given = [line for line in request.split("\n") if line.startswith("- ")]
    plain = [line.partition(" (file: ")[0] if agent == CODEX else line for line in given]
    assert [line for line in plain if line in lines] == list(lines)
    known = [line for line in plain if "Does " in line and " things" in line]
    assert set(known) <= set(lines)


def repo_with(folder: Path, files: dict[str, str | bytes]) -> Repo:
    folder.mkdir()
    repo = Repo(folder)
    repo.git("init", "-q", "-b", "main")
    for path, text in files.items():
        repo.write(path, text)
    return repo


def test_claude_code_in_the_root_follows_imports_and_drops_comments(tmp_path: Path) -> None:
    repo = repo_with(tmp_path / "repo", dict(FILES))
    is_as_told(CLAUDE_CODE, repo, "", tmp_path / "home")


def test_claude_code_below_the_root_is_told_from_the_root_on(tmp_path: Path) -> None:
    repo = repo_with(tmp_path / "repo", dict(FILES))
    is_as_told(CLAUDE_CODE, repo, "sub", tmp_path / "home")


def test_claude_code_reads_agents_md_where_nothing_of_its_own_is(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "AGENTS.md": "---\nt: 1\n---\nROOT @sub/in.md\n<!-- gone -->\nend\n",
        "CLAUDE.md": "<!-- nothing but this -->\n",
        ".claude/AGENTS.md": "DOT AGENTS\n",
        "AGENTS.override.md": "OVERRIDE\n",
        ".claude/rules/r.md": "RULE\n",
        "sub/AGENTS.md": "SUB @in.md @../x.md\n",
        "sub/in.md": "IN\n",
        "sub/.claude/rules/s.md": "SUB RULE\n",
        "x.md": "X\n",
    }
    repo = repo_with(tmp_path / "repo", files)
    is_as_told(CLAUDE_CODE, repo, "sub", tmp_path / "home")


def test_claude_code_tells_what_links_share_once(tmp_path: Path) -> None:
    repo = repo_with(
        tmp_path / "repo", {"AGENTS.md": "SHARED\n", "sub/x": "", "bad.md": b"B\xff\n"}
    )
    (repo.root / "CLAUDE.md").symlink_to("AGENTS.md")
    (repo.root / "sub/CLAUDE.md").symlink_to("../AGENTS.md")
    repo.write("CLAUDE.local.md", "@bad.md\n")
    is_as_told(CLAUDE_CODE, repo, "", tmp_path / "home")


def test_claude_code_tells_of_files_below_when_it_touches_them(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "CLAUDE.md": "ROOT\n",
        "src/a.py": "x = 1\n",
        "src/CLAUDE.md": "NESTED @in.md\n<!-- gone -->\n",
        "src/in.md": "IN\n",
        "src/CLAUDE.local.md": "  LOCAL  ",
        "src/.claude/rules/n.md": "NESTED RULE\n\n",
        "src/.claude/rules/blank.md": "\n",
        ".claude/rules/p.md": "---\npaths: src/**\n---\n\nOF PATHS\n",
        ".claude/rules/q.md": "---\npaths: lib/**\n---\nOF OTHERS\n",
    }
    repo = repo_with(tmp_path / "repo", files)
    read = ToolUse("toolu_1", "Read", {"file_path": str(repo.root / "src/a.py")})
    script = (ScriptedAnswer("", tool_uses=(read,)), ScriptedAnswer("Done."))
    request = run(CLAUDE_CODE, repo.root, "", tmp_path / "home", script)
    harness, root = harness_of(repo), str(repo.root)
    found = {path: text for text in request.split("\0") if (path := later_path(text, root))}
    assert set(found) == {
        *("src/CLAUDE.md", "src/in.md", "src/CLAUDE.local.md", "src/.claude/rules/n.md"),
        ".claude/rules/p.md",
    }
    for path, text in found.items():
        assert exchanged_later(text, told_later(harness, path)) == text
    assert told_later(harness, "CLAUDE.md") is None
    assert told_later(harness, "src/.claude/rules/blank.md") is None


def test_codex_is_told_from_the_root_to_its_folder(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "AGENTS.md": b"ROOT <!-- c --> @x.md \xff\nsecond\n",
        "x.md": "NO\n",
        "sub/AGENTS.md": "HIDDEN\n",
        "sub/AGENTS.override.md": "OVERRIDE\n\n",
        "sub/deep/AGENTS.md": "HIDDEN BY A BLANK ONE\n",
        "sub/deep/AGENTS.override.md": " \n",
        "sub/deep/er/AGENTS.md": "DEEPER",
        "sub/deep/er/below/AGENTS.md": "BELOW\n",
        ".agents/skills/zed/SKILL.md": SKILL.format(name="alpha", more=""),
        ".agents/skills/nameless/SKILL.md": "---\ndescription: Does nameless things\n---\n",
        ".agents/skills/none/SKILL.md": "Does no things: without front matter\n",
        ".codex/skills/own/SKILL.md": SKILL.format(name="own", more=""),
        ".agents/skills/shy/SKILL.md": SKILL.format(name="shy", more=""),
        ".agents/skills/shy/agents/openai.yaml": "policy:\n  allow_implicit_invocation: false\n",
        "sub/.agents/skills/near/SKILL.md": SKILL.format(name="near", more=""),
    }
    repo = repo_with(tmp_path / "repo", files)
    is_as_told(CODEX, repo, "sub/deep/er", tmp_path / "home")


def test_codex_cuts_at_32_kib(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "AGENTS.md": "a" * 30_000 + "\n",
        "sub/AGENTS.md": "é" * 3_000 + "\n",
        "sub/s/AGENTS.md": "OVER\n",
    }
    repo = repo_with(tmp_path / "repo", files)
    is_as_told(CODEX, repo, "sub/s", tmp_path / "home")
