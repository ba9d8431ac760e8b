"""`eval init` as text."""

from __future__ import annotations

from fairtrial.cli.render.eval_drafts import render

__all__ = ["render"]
