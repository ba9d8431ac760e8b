"""Options of `cache show`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """Show how many answers of models are kept, and how much room they take.

    An answer is kept under the whole question: provider, model, messages, options and the number of
    the trial. It is served when exactly that is asked again, unless a command has --no-cache.
    """


EXAMPLES = ("fairtrial cache show", "fairtrial cache show --json")
