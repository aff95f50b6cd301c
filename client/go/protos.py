# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the .proto files with their comments, for generate.py.

The parser accepts what these files use: messages with fields and `oneof`, enumerations and services, none of them
nested. It stops at anything else.
"""

from __future__ import annotations

import pathlib
import re

FIELD = re.compile(r"(?:(optional|repeated) )?(\w+) (\w+) = (\d+);")
VALUE = re.compile(r"(\w+) = (\d+);")
OPEN = re.compile(r"(message|enum|service|oneof) (\w+) \{(\})?")
INITIALS = {"id": "ID", "ids": "IDs", "us": "US", "ns": "NS"}
SHORT = {"ax", "ay", "bx", "by", "dx", "dy", "vx", "vy"}


class Protos:
    """Messages with their fields (number, name, type, label), enumerations, and comments by dotted names."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.messages: dict[str, list[tuple[int, str, str, str]]] = {}
        self.enums: dict[str, dict[str, int]] = {}
        self.comments: dict[str, str] = {}
        for path in sorted(folder.glob("*.proto")):
            self._read(path.read_text())

    def _read(self, text: str) -> None:
        around: list[tuple[str, str]] = []
        about: list[str] = []
        pending = ""
        for line in map(str.strip, text.splitlines()):
            if line.startswith("//"):
                about.append(line[2:].removeprefix(" "))
                continue
            if not line:
                about = []
                continue
            pending = f"{pending} {line}".strip()
            if pending == "}":
                around.pop()
            elif opened := OPEN.fullmatch(pending):
                what, name, closed = opened.groups()
                if not closed:
                    around.append((what, name))
                if what == "message":
                    self.messages[name] = []
                elif what == "enum":
                    self.enums[name] = {}
                self.comments[name] = "\n".join(about)
            elif pending.endswith(";"):
                if around:
                    self._member(around, pending, "\n".join(about))
            else:
                continue  # a statement of several lines
            pending, about = "", []

    def _member(self, around: list[tuple[str, str]], statement: str, about: str) -> None:
        what, name = around[-1]
        if what == "service":
            return
        match = VALUE.fullmatch(statement) if what == "enum" else FIELD.fullmatch(statement)
        if match is None:
            raise SystemExit(f"generate.py: {statement!r} is not expected in a .proto file")
        if what == "enum":
            self.enums[name][match[1]] = int(match[2])
            self.comments[f"{name}.{match[1]}"] = about
            return
        message = around[0][1]
        label = "oneof" if what == "oneof" else match[1] or ""
        self.messages[message].append((int(match[4]), match[3], match[2], label))
        self.comments[f"{message}.{match[3]}"] = about


def camel(name: str) -> str:
    """The Go name of a field: polygon_id is PolygonID, and ax is AX."""
    return "".join(
        INITIALS.get(part) or (part.upper() if part in SHORT else part.capitalize()) for part in name.split("_")
    )


def prefix_of(enum: str) -> str:
    """The prefix of the values of an enumeration, such as CAST_MODE_ for CastMode."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", enum).upper() + "_"


def comment(text: str, indent: str) -> str:
    """A comment of Go."""
    return "".join(f"{indent}// {line}".rstrip() + "\n" for line in text.split("\n"))
