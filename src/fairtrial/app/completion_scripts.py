"""The scripts that make a shell ask fairtrial what may come next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_BASH: Final = r"""# fairtrial completion for bash
_fairtrial() {
    local reply
    COMPREPLY=()
    while IFS= read -r reply; do
        COMPREPLY+=("$reply")
    done < <("${COMP_WORDS[0]}" __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -o default -o bashdefault -o nospace -F _fairtrial fairtrial
"""

_ZSH: Final = r"""#compdef fairtrial
# fairtrial completion for zsh
_fairtrial() {
    local line value doc
    local -a values shown
    while IFS= read -r line; do
        value="${line%%$'\t'*}"
        doc="${line#*$'\t'}"
        values+=("$value")
        shown+=("$value${doc:+  -- $doc}")
    done < <("${words[1]}" __complete zsh "$LBUFFER" 2>/dev/null)
    if (( ${#values} )); then
        compadd -l -d shown -a values
    else
        _files
    fi
}
if (( $+functions[compdef] )); then
    compdef _fairtrial fairtrial
fi
"""

_FISH: Final = r"""# fairtrial completion for fish
function __fairtrial_complete
    set -l found (command fairtrial __complete fish (commandline --cut-at-cursor) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline --current-token --cut-at-cursor)
    end
end
complete -c fairtrial -f -a '(__fairtrial_complete)'
"""

SCRIPTS: Final[Mapping[str, str]] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""By the name of the shell."""
