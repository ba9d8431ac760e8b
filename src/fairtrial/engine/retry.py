"""Whether and when a try is made again."""

from __future__ import annotations

import math
import random

from fairtrial.model.errors import InfraError

BASE_S = 1.0
CAP_S = 60.0
LONGEST_RETRY_AFTER_S = 300.0
"""A server that asks for more is not waited for: the trial ends undecided and can be resumed."""


HOPELESS = frozenset({"login", "quota"})
"""Kinds of problems that no other trial would be spared: they end the run."""


def tries_allowed(problem: InfraError, retries: int) -> int:
    """Return how many tries a trial may have that met this problem.

    A refused login and a spent quota are never tried again and a failed setup once: they rarely
    mend themselves.
    """
    match problem.kind:
        case "login" | "quota":
            return 1
        case "setup":
            return min(1 + retries, 2)
        case _:
            return 1 + retries


def wait_before(problem: InfraError, tries: int, randomness: random.Random) -> float | None:
    """Return the seconds to wait before the next try, or None to give up.

    Full jitter: uniform between 0 and min(60 s, 1 s * 2^(tries - 1)), which spreads the tries of
    many trials best (Brooker, "Exponential Backoff And Jitter", 2015). A `Retry-After` of the
    server is the least that is waited.

    Args:
        problem: What the last try met.
        tries: How many tries there were, at least 1.
        randomness: The source of the jitter.
    """
    jitter = randomness.uniform(0.0, min(CAP_S, math.ldexp(BASE_S, min(tries - 1, 10))))
    if problem.retry_after is None:
        return jitter
    if problem.retry_after > LONGEST_RETRY_AFTER_S:
        return None
    return problem.retry_after + jitter
