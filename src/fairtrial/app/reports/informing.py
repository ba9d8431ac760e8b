"""Reports that inform and decide nothing."""

from __future__ import annotations

from fairtrial.model.errors import ExitCode


class Informing:
    """A report that decides nothing: having made it is success."""

    __slots__ = ()

    @property
    def exit_code(self) -> ExitCode:
        """Always 0."""
        return ExitCode.OK
