"""`unchanged-retry`: does the turn make the call again that has just failed?

Bad: it asks for nothing but that call. Good: it asks for other calls alone, or for none. Left to
the judge: both are asked for, or what failed cannot be told.
"""

from __future__ import annotations

from fairtrial.graders.behavior.moment import Moment, key_of
from fairtrial.graders.behavior.ruling import Ruling
from fairtrial.model.wording import shown


def rule(moment: Moment) -> Ruling | None:
    """Decide of a moment."""
    failed = {key_of(use) for use in moment.failed()}
    if not failed:
        return None
    uses = moment.turn.uses
    if not uses:
        if not moment.turn.text.strip():
            return None
        return Ruling(good=True, why="says something and makes no call")
    again = [key_of(use) in failed for use in uses]
    if not any(again):
        return Ruling(good=True, why=f"calls {shown(uses[0].name)} otherwise than what failed")
    if all(again):
        return Ruling(good=False, why=f"calls {shown(uses[0].name)} as before, which had failed")
    return None
