"""Options of the eval tasks that are made of sessions."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Checking:
    """What the tasks are checked by, and how their workspaces are made ready."""

    verifier: str = option(metavar="CMD")
    """The command that says whether a workspace is as it should be, by its exit status: `npm test`;
    it is run by /bin/sh in the workspace"""
    hidden_tests: tuple[str, ...] = option((), flag="--hidden-test", metavar="GLOB")
    """Files of the repository that only the verifier may see: they are copied into the task as they
    are now, kept from the agent, and put back for the verifier; a star matches slashes too"""
    protected: tuple[str, ...] = option((), metavar="GLOB")
    """Files that are put back as they were before the verifier runs, since changing them would
    satisfy it: tests, and what configures them"""
    setup: str | None = option(None, metavar="CMD")
    """The command that makes a workspace ready for the agent, with the network: `npm ci`; files
    that git ignores are in no workspace before it"""
    suite: str = option("failures", metavar="NAME")
    """The suite, in evals/NAME of the repository"""
