"""How the small programs of `sandbox` are started."""

from __future__ import annotations

import sys
from pathlib import Path

_FOLDER = Path(__file__).parent / "sandbox"
# Loaded as a package of their own, isolated: see how the guard of level `none` starts.
_BOOT = """
import sys
package = type(sys)("fairtrial_sandbox")
package.__path__ = [sys.argv[1]]
sys.modules["fairtrial_sandbox"] = package
from fairtrial_sandbox.{module} import main
main(*sys.argv[2:])
"""


def small_program(module: str, *words: str) -> tuple[str, ...]:
    """Return the command line of a module of `sandbox`, on this machine."""
    boot = _BOOT.format(module=module)
    return (sys.executable, "-I", "-S", "-c", boot, str(_FOLDER), *words)


def small_source(module: str, *words: str) -> tuple[str, ...]:
    """Return the same for a module without siblings, with its source as an argument.

    So it runs where our files cannot be seen; the interpreter must be.
    """
    source = (_FOLDER / f"{module}.py").read_text(encoding="utf-8")
    return (sys.executable, "-I", "-S", "-c", f"{source}\nmain(*sys.argv[1:])", *words)
