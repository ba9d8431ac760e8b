"""What filters may say: a module for each kind of thing that is filtered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fairtrial.query.vocabularies.calls import CALL_VOCABULARY
from fairtrial.query.vocabularies.experiments import EXPERIMENT_VOCABULARY
from fairtrial.query.vocabularies.rows import ROW_VOCABULARY
from fairtrial.query.vocabularies.sessions import SESSION_VOCABULARY
from fairtrial.query.vocabulary import Vocabulary

VOCABULARIES: Final[Mapping[str, Vocabulary]] = {
    found.of: found
    for found in (SESSION_VOCABULARY, EXPERIMENT_VOCABULARY, ROW_VOCABULARY, CALL_VOCABULARY)
}
"""All vocabularies, by what they filter."""
