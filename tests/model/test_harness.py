"""What two harnesses are told apart by."""

from fairtrial.model.harness import Harness


def test_a_digest_is_of_paths_and_texts() -> None:
    one = Harness({"AGENTS.md": "a", "CLAUDE.md": "b"}, "git:HEAD")
    assert one.digest == Harness({"CLAUDE.md": "b", "AGENTS.md": "a"}, "elsewhere").digest
    assert one.digest != Harness({"AGENTS.md": "b", "CLAUDE.md": "a"}, "git:HEAD").digest
    assert one.digest != Harness({"AGENTS.md": "ab"}, "git:HEAD").digest
