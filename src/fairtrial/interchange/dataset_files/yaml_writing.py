"""Writes a case as YAML that reads well and means the same to every YAML reader."""

from __future__ import annotations

import re

import yaml

from fairtrial.interchange.dataset_files.yaml_documents import BOOL, NULL, NUMBER
from fairtrial.model.json import Json

_PRINTABLE = re.compile("[\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*")


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Quotes what YAML 1.1 or this program's reader would take for something else than text."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  # the name is PyYAML's
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if not _PRINTABLE.fullmatch(text):
        style = '"'
    elif "\n" in text.rstrip("\n") and not text[0].isspace():
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
for _pattern in (NULL, BOOL, NUMBER):
    _Dumper.add_implicit_resolver("tag:yaml.org,2002:not-text", _pattern, None)


def dump_case(said: dict[str, Json]) -> str:
    """Return a list of one case; several written one after the other are one list."""
    text: str = yaml.dump(
        [said],
        Dumper=_Dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=100,
    )
    return text
