"""Pages in one file: templates, and the hashes by which their policy names style and script."""

from __future__ import annotations

import base64
import hashlib

import jinja2

from fairtrial.interchange.experiment_exports.visible_text import one_line, shortened
from fairtrial.model.command_line import option

_TEXT_CHARACTERS = 300
_SENTENCE_CHARACTERS = 2_000


def environment_of(*packages: str) -> jinja2.Environment:
    """Return an environment with the templates of packages of `interchange`, escaping all text.

    `frame.html`, which the pages extend with their title and their main part, is there too.

    Filters: `line` (one line, cut short), `sentence` (the same, of any sensible length) and
    `case_option` (the option of a command line that names a case).
    """
    folders = ["fairtrial.interchange", *(f"fairtrial.interchange.{name}" for name in packages)]
    loaders = [jinja2.PackageLoader(folder) for folder in folders]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": _line, "sentence": _sentence, "case_option": _case_option}
    return environment


def source_of(environment: jinja2.Environment, name: str) -> str:
    """Return a file of the templates as it is."""
    assert environment.loader is not None  # noqa: S101  # set where it is made
    return environment.loader.get_source(environment, name)[0]


def csp_hash(text: str) -> str:
    """Return a style or script as a content security policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _line(text: str) -> str:
    return one_line(text, _TEXT_CHARACTERS)


def _sentence(text: str) -> str:
    return one_line(text, _SENTENCE_CHARACTERS)


def _case_option(case_id: str) -> str:
    return shortened(option("--case", case_id), _SENTENCE_CHARACTERS)
