"""How much a model can read at once."""

from __future__ import annotations

from fairtrial.pricing.prices import names_of


def context_window(model: str) -> int | None:
    """Return how many tokens a model can read and write in one call; None when it is not known.

    Newer releases of a model may take more than the list says.
    """
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415  # 0.2 s

    for name in names_of(model):
        try:
            _, found = get_snapshot().find_provider_model(name, None, None, None)
        except LookupError:
            continue
        return found.context_window
    return None
