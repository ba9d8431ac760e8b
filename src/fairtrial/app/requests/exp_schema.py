"""Options of `exp schema`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Print the JSON Schema of the spec file, for editors.

    With the schema in a file, an editor completes and checks a spec: in YAML, put
    `# yaml-language-server: $schema=spec.schema.json` on the first line.
    """

    output: Path | None = option(None, short="-o", metavar="FILE")
    """File to write (default: standard output)"""


EXAMPLES = ("fairtrial exp schema -o spec.schema.json",)
