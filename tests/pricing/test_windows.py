"""How much a model can read."""

from fairtrial.pricing.windows import context_window


def test_a_model_is_known_by_its_own_and_a_prefixed_name() -> None:
    assert context_window("claude-haiku-4-5") == 200_000
    assert context_window("anthropic/claude-haiku-4-5") == 200_000


def test_the_window_of_an_unknown_model_is_unknown() -> None:
    assert context_window("nobody-knows-1") is None
