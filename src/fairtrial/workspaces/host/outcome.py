"""Between the port's words and the lane's: calls to frames, frames to results and problems."""

from __future__ import annotations

import errno
import math
import os

from fairtrial.model.errors import TaskError, TrialProblem, Undecidable
from fairtrial.model.task import ProcessUsage
from fairtrial.ports import ProcessCall, ProcessResult
from fairtrial.workspaces.host import wire


def request(call: ProcessCall) -> bytes:
    """Return the head of the request that runs a program.

    Raises:
        TaskError: no system could start such a call.
    """
    if not call.argv or not call.argv[0]:
        raise TaskError("the command is empty: name a program to run")
    for name in call.env:
        if not name or "=" in name:
            raise TaskError(f"{name!r} cannot be the name of an environment variable: rename it")
    words = [str(call.cwd), *call.argv, *map("=".join, call.env.items())]
    text = "\0".join(words)
    if text.count("\0") >= len(words):
        word = next(word for word in words if "\0" in word)
        raise TaskError(
            f"{word!r} holds a NUL character, which no argument, variable or path may: "
            "pass such data on standard input"
        )
    limit = math.inf if call.time_limit_s is None else call.time_limit_s
    # Encoded in one go: word by word, it took a third of what this process does for a program.
    return wire.pack_request(limit, call.max_output_bytes, len(call.argv), os.fsencode(text))


def result(call: ProcessCall, frame: wire.Frame) -> ProcessResult:
    """Return what a lane's answer says.

    Raises:
        TaskError: the program could not be started.
        Undecidable: the machine failed us.
    """
    if frame.kind == wire.FAILED:
        raise _not_started(call, *wire.unpack_failure(frame.head))
    if frame.kind != wire.DONE:
        trace = frame.head.decode(errors="replace")
        raise Undecidable(f"the process that runs programs has a defect: {trace}")
    done = wire.Done.unpack(frame.head)
    if done.survivors:
        raise Undecidable(
            f"{done.survivors} processes of {call.argv[0]!r} cannot be killed (stuck in the "
            "kernel, or of another user): end them, then run this again"
        )
    ended = done.returncode
    return ProcessResult(
        stdout=frame.payload.data,
        usage=ProcessUsage(
            exit_status=ended if ended >= 0 else None,
            signal=-ended if ended < 0 else None,
            cpu_s=done.cpu_s,
            max_rss_bytes=done.max_rss_bytes,
            stderr_tail=_text(done.stderr_tail, cut=bool(done.flags & wire.TAIL_CUT)),
        ),
        duration_s=done.duration_s,
        timed_out=bool(done.flags & wire.TIMED_OUT),
        truncated=bool(done.flags & wire.TRUNCATED),
        killed=done.killed,
    )


def _text(tail: bytes, *, cut: bool) -> str:
    if cut:  # do not begin in the middle of a character
        start = next((at for at in range(min(4, len(tail))) if tail[at] & 0xC0 != 0x80), 0)
        tail = tail[start:]
    return tail.decode(errors="replace")


def _not_started(call: ProcessCall, stage: int, error: int, where: bytes) -> TrialProblem:
    path = os.fsdecode(where)
    cause = os.strerror(error)
    if stage == wire.BAD_CWD:
        return TaskError(
            f"the working directory {path!r} cannot be entered ({cause}): "
            "create it, or correct the task's `cwd`"
        )
    if stage == wire.NOT_FOUND:
        search = call.env.get("PATH", os.defpath)
        return TaskError(
            f"program {path!r} was not found in PATH ({search}): install it, or give its path"
        )
    if error in {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}:
        return Undecidable(f"the machine could not start {path!r} ({cause}): run less at once")
    advice = {
        errno.ENOENT: "it does not exist, or the interpreter that its first line names does not: "
        "correct the path or the first line",
        errno.EACCES: f"it is not executable: run `chmod +x {path}`, or name its interpreter first",
        errno.ENOEXEC: "it is no program of this machine: a script needs a first line such as "
        "`#!/bin/sh`",
        errno.E2BIG: "its arguments and environment are too long: pass large data on standard "
        "input",
    }
    return TaskError(
        f"program {path!r} could not be started ({cause}): "
        + advice.get(error, "see whether it starts in a terminal")
    )
