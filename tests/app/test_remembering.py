"""Facts that a process remembers."""

from __future__ import annotations

from fairtrial.app.remembering import Memory


def test_a_fact_is_found_once() -> None:
    memory, asked = Memory(), []

    def find() -> str:
        asked.append(1)
        return "fact"

    assert [memory.of("key", find) for _ in range(3)] == ["fact"] * 3
    assert len(asked) == 1


def test_what_was_not_used_for_the_longest_time_is_forgotten() -> None:
    memory = Memory(most=2)
    for name in ("a", "b"):
        memory.keep(name, name)
    assert memory.get("a") == "a"
    memory.keep("c", "c")
    assert [memory.get(name) for name in ("a", "b", "c")] == ["a", None, "c"]
