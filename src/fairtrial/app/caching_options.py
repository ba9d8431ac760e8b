"""The option of every verb that calls models and can do without."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Caching:
    """Whether models' answers are kept."""

    no_cache: bool = option(default=False)
    """Ask every model anew and keep no answer; else a question that was asked before, in the same
    words and for the same trial, is answered from the cache, at no cost"""
