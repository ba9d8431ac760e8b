"""Decode every line of a folder of transcripts to typed records with msgspec, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec


class Message(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    content: Any = None
    usage: Any = None


class Record(msgspec.Struct):
    type: str = ""
    uuid: str | None = None
    timestamp: str | None = None
    sessionId: str | None = None  # noqa: N815  # the name in the file
    message: Message | None = None


def main(folder: str) -> None:
    decoder = msgspec.json.Decoder(Record)
    count = 0
    for path in Path(folder).rglob("*.jsonl"):
        for line in path.read_bytes().split(b"\n"):
            if line:
                decoder.decode(line)
                count += 1
    print(count)


if __name__ == "__main__":
    main(sys.argv[1])
