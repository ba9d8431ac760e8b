"""podman or docker: which of them works here, and what it can do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairtrial.model.errors import UsageError
from fairtrial.model.isolation import Guarantee, Held, Limits

NAMES = ("podman", "docker")
_INITS = ("/usr/libexec/podman/catatonit", "/usr/lib/podman/catatonit")
LABEL = "fairtrial.owner"
_OWN_VARIABLES = (
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
    "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF",
    "CONTAINERS_REGISTRIES_CONF", "CONTAINER_HOST", "DOCKER_HOST", "DOCKER_CONFIG",
    "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY",
)  # fmt: skip
_CONTROLLERS = frozenset({"memory", "pids", "cpu"})
_INFO_LIMIT_S = 30.0
_PULL_LIMIT_S = 1800.0


@dataclass(frozen=True, slots=True)
class Engine:
    """A container engine that works here.

    Attributes:
        path: The program.
        podman: It is podman; else docker.
        rootless: Containers belong to the user, not to root.
        limits: `memory`, `pids` and `cpu`, as far as it can enforce them.
        version: Its version.
        init: It can put a first process of its own into a container.
        env: The environment of its client.
    """

    path: str
    podman: bool
    rootless: bool
    limits: frozenset[str]
    version: str
    init: bool
    env: Mapping[str, str]

    @property
    def found(self) -> str:
        """What it is, in words."""
        name = "podman" if self.podman else "docker"
        return f"{name} {self.version}{', rootless' if self.rootless else ''} at {self.path}"

    def limits_held(self, limits: Limits) -> tuple[Held, ...]:
        """Return whether it can enforce limits."""
        name = "podman" if self.podman else "docker"
        return tuple(
            Held(guarantee, holds=True, how=f"{limit:,} by {name}")
            if controller in self.limits
            else Held(guarantee, holds=False, how=f"{name} has no control group for it here")
            for guarantee, controller, limit in (
                (Guarantee.MEMORY, "memory", limits.memory_bytes),
                (Guarantee.PROCESS_COUNT, "pids", limits.processes),
                (Guarantee.CPUS, "cpu", limits.cpus),
            )
            if limit is not None
        )

    def identity(self) -> list[str]:
        """Return the options by which files of a container belong to this user."""
        user = ["--user", f"{os.getuid()}:{os.getgid()}"]
        return ["--userns", "keep-id", *user] if self.podman and self.rootless else user

    def image_id(self, image: str, *, pull: bool) -> str:
        """Return an image with the digest of its content.

        Raises:
            UsageError: it is not here, and may not or cannot be fetched.
        """
        inspect = ("image", "inspect", "--format", "{{.Id}}", image)
        done = self._ask(inspect, _INFO_LIMIT_S)
        if done.returncode != 0 and pull:
            fetched = self._ask(("pull", "--quiet", image), _PULL_LIMIT_S)
            if fetched.returncode != 0:
                why = fetched.stderr.decode(errors="replace").strip()
                raise UsageError(f"the image {image!r} could not be fetched", why=why)
            done = self._ask(inspect, _INFO_LIMIT_S)
        if done.returncode != 0:
            raise UsageError(
                f"the image {image!r} is not on this machine",
                why="an image is fetched only when asked",
                fix=f"{'podman' if self.podman else 'docker'} pull {image}",
            )
        digest = done.stdout.decode().strip()
        return f"{image}@{digest if ':' in digest else f'sha256:{digest}'}"

    def remove(self, name: str) -> None:
        """Kill and remove a container; one that is gone is fine."""
        self._ask(("rm", "--force", name), _INFO_LIMIT_S)

    def _ask(self, words: Sequence[str], limit_s: float) -> subprocess.CompletedProcess[bytes]:
        return _ask(self.path, words, self.env, limit_s)


def find_engine(environ: Mapping[str, str]) -> Engine | str:
    """Return the first engine that works, or why none does."""
    env = {name: environ[name] for name in _OWN_VARIABLES if name in environ}
    why = []
    for name in NAMES:
        path = shutil.which(name, path=environ.get("PATH"))
        if path is None:
            continue
        try:
            done = _ask(path, ("info", "--format", "{{json .}}"), env, _INFO_LIMIT_S)
        except (OSError, subprocess.TimeoutExpired) as problem:
            why.append(f"{path} does not run: {problem}")
            continue
        info = _json(done.stdout)
        engine = _podman(path, info, env) if "host" in info else _docker(path, info, env)
        if done.returncode == 0 and engine is not None:
            return engine
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        why.append(f"{path} does not work: {said or 'it says nothing of itself'}")
    return "; ".join(why) or f"none of {' and '.join(NAMES)} is on PATH"


def remove_containers(engine: str, owner: str) -> list[str]:
    """Remove the containers of an owner of places; return their names.

    Raises:
        OSError: the engine does not run.
        subprocess.SubprocessError: so.
    """
    env = {name: os.environ[name] for name in _OWN_VARIABLES if name in os.environ}
    listing = ("ps", "--all", "--filter", f"label={LABEL}={owner}", "--format", "{{.Names}}")
    done = _ask(engine, listing, env, _INFO_LIMIT_S)
    done.check_returncode()
    names = done.stdout.decode().split()
    for name in names:
        _ask(engine, ("rm", "--force", name), env, _INFO_LIMIT_S).check_returncode()
    return names


def _ask(
    path: str, words: Sequence[str], env: Mapping[str, str], limit_s: float
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603  # an engine that was found, and words of our own
        [path, *words],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=limit_s,
    )


def _json(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _podman(path: str, info: Mapping[str, Any], env: Mapping[str, str]) -> Engine | None:
    host = info["host"]
    rootless = bool(host.get("security", {}).get("rootless"))
    controllers = frozenset(host.get("cgroupControllers") or ())
    if not rootless and not controllers:  # version 1 lists none, and has all
        controllers = _CONTROLLERS
    if rootless and host.get("cgroupVersion") == "v1":
        controllers = frozenset()
    version = str(info.get("version", {}).get("Version", "of unknown version"))
    init = any(Path(place).is_file() for place in _INITS) or bool(shutil.which("catatonit"))
    return Engine(
        path,
        podman=True,
        rootless=rootless,
        limits=controllers & _CONTROLLERS,
        version=version,
        init=init,
        env=env,
    )


def _docker(path: str, info: Mapping[str, Any], env: Mapping[str, str]) -> Engine | None:
    if not info.get("ServerVersion"):
        return None
    limits = {
        name
        for name, key in (("memory", "MemoryLimit"), ("pids", "PidsLimit"), ("cpu", "CpuCfsQuota"))
        if info.get(key)
    }
    rootless = any("rootless" in option for option in info.get("SecurityOptions") or ())
    return Engine(
        path,
        podman=False,
        rootless=rootless,
        limits=frozenset(limits),
        version=str(info["ServerVersion"]),
        init=True,
        env=env,
    )
