"""Errors of whoever calls, told at their own line: where we found out helps nobody."""

from __future__ import annotations

from types import TracebackType

from fairtrial.model.errors import DefectError, FairtrialError


class AtTheCall:
    """Within it an error that says what to do loses the way it came; a defect keeps it.

    The traceback then begins with the function that entered it, and what the user's own code
    raised stays its cause.
    """

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Forget the way of an error, which goes on."""
        if isinstance(error, FairtrialError) and not isinstance(error, DefectError):
            error.__traceback__ = None
