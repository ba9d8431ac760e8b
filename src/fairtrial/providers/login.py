"""The logins of the subscription CLIs: where they are. What is in them is never read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Login:
    """How a CLI is logged in.

    Attributes:
        home_variable: The variable that names its configuration folder.
        home: That folder under the user's home, when the variable is not set.
        file: The file of the login in it.
        token: The variable of a login that is in no file; None when the CLI has none.
        api_key: The variable of an API key, which the CLI takes instead of a login.
        how: What a user does to log in.
    """

    home_variable: str
    home: str
    file: str
    token: str | None
    api_key: str
    how: str

    def path(self, environ: Mapping[str, str]) -> Path | None:
        """Return where the file of the login would be; None when there is no home."""
        given, home = environ.get(self.home_variable), environ.get("HOME")
        if given:
            return Path(given) / self.file
        return Path(home) / self.home / self.file if home else None

    def found(self, environ: Mapping[str, str], exists: Callable[[Path], bool]) -> Path | None:
        """Return the file of the login; None when there is none."""
        path = self.path(environ)
        return path if path is not None and exists(path) else None

    def key(self, environ: Mapping[str, str]) -> str | None:
        """Return the name of the variable that stands in for the file; None when none is set."""
        names = (self.token, self.api_key)
        return next((name for name in names if name and environ.get(name)), None)


CLAUDE: Final = Login(
    "CLAUDE_CONFIG_DIR",
    ".claude",
    ".credentials.json",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_API_KEY",
    "run `claude` and log in there (where it keeps its login in a keychain: run "
    "`claude setup-token` and set CLAUDE_CODE_OAUTH_TOKEN)",
)
CODEX: Final = Login(
    "CODEX_HOME",
    ".codex",
    "auth.json",
    None,
    "OPENAI_API_KEY",
    'run `codex login` (with cli_auth_credentials_store = "file" in its config.toml)',
)
