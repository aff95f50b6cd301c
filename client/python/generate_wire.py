# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Writes `wire_tables.py`, the fields of the messages of a server, for generate.py.

The tables follow from the .proto files alone, which a small parser reads, so that a build needs neither protoc nor
protobuf. The parser accepts what these files use: messages with fields, `oneof` and enumerations, enumerations and
services. It stops at anything else.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

SCALARS = {"double", "float", "uint64", "fixed64", "uint32", "int32", "sint32", "int64", "bool", "string", "bytes"}
FIELD = re.compile(r"(?:(optional|repeated) )?(\w+) (\w+) = (\d+)")
RPC = re.compile(r"rpc (\w+) ?\( ?(stream )?(\w+) ?\) returns \( ?(stream )?(\w+) ?\)")
VALUE = re.compile(r"(\w+) = (\d+)")
Field = tuple[int, str, str, str]
# What may begin inside of what; "": outside of all definitions.
NESTING = {("", "message"), ("", "enum"), ("", "service"), ("message", "oneof"), ("message", "enum")}


def statements(text: str) -> Iterator[str]:
    """The parts of a file that end with `;`, `{` or `}`, without comments and strings, with single spaces."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"[^"\n]*"', "", text)
    for part in re.findall(r"[^;{}]*[;{}]", text):
        yield " ".join(part.split())


class Tables:
    """What the files define."""

    def __init__(self) -> None:
        self.messages: dict[str, list[Field]] = {}
        self.enums: dict[str, dict[str, int]] = {}
        self.methods: dict[str, str] = {}
        self._path: list[tuple[str, str]] = []  # the definitions around the statement: what, name

    def read(self, text: str) -> None:
        """Adds what a file defines."""
        for statement in statements(text):
            if statement == "}":
                self._path.pop()
            elif statement.endswith("{"):
                self._open(statement.removesuffix("{").strip())
            elif self._path:
                self._member(statement.removesuffix(";").strip())
            elif not re.match(r"(syntax|package|import|option) ?", statement):
                raise SystemExit(f"generate.py: {statement!r} is not expected in a .proto file")

    def _open(self, head: str) -> None:
        what, _, name = head.partition(" ")
        around = self._path[-1][0] if self._path else ""
        if (around, what) not in NESTING:
            raise SystemExit(f"generate.py: {head!r} is not expected in a .proto file")
        if what == "message":
            self.messages[name] = []
        elif what == "enum":
            self.enums[name] = {}
        self._path.append((what, name))

    def _member(self, statement: str) -> None:
        what, name = self._path[-1]
        pattern = {"message": FIELD, "oneof": FIELD, "enum": VALUE, "service": RPC}[what]
        match = pattern.fullmatch(statement)
        if match is None:
            raise SystemExit(f"generate.py: {statement!r} is not expected in the {what} {name} of a .proto file")
        if what == "enum":
            self.enums[name][match[1]] = int(match[2])
        elif what == "service":
            self.methods[match[1]] = f"/carom.v1.{name}/{match[1]}"
        else:
            label = "oneof" if what == "oneof" else match[1] or ""
            message = next(outer for kind, outer in self._path if kind == "message")
            self.messages[message].append((int(match[4]), match[3], match[2], label))


def prefix_of(enum: str) -> str:
    """The prefix of the values of an enumeration, such as CAST_MODE_ for CastMode."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", enum).upper() + "_"


def item_columns(source: str) -> list[str]:
    """The names of the columns of items in error, in the order of their numbers, from core/src/base/batch.cc."""
    match = re.search(r"kNames\[kItemColumnCount\] = \{([^}]*)\}", source)
    if match is None:
        raise SystemExit("generate.py: core/src/base/batch.cc has no names of columns")
    return re.findall(r'"(\w+)"', match[1])


def wire_module(protos: pathlib.Path, batch: pathlib.Path) -> str:
    """The text of the module, from the folder of the .proto files and from core/src/base/batch.cc."""
    tables = Tables()
    for path in sorted(protos.glob("*.proto")):
        tables.read(path.read_text())
    known = SCALARS | tables.messages.keys() | tables.enums.keys()
    out = [
        "# SPDX-FileCopyrightText: The Carom authors\n# SPDX-License-Identifier: Apache-2.0\n"
        "# Written by generate.py from the .proto files.\n",
        '"""The messages of a server: number, name, type and label of each field, in the order of the numbers."""\n',
        "MESSAGES: dict[str, tuple[tuple[int, str, str, str], ...]] = {",
    ]
    for name, fields in sorted(tables.messages.items()):
        out.append(f"    {name!r}: (")
        for number, field, type, label in sorted(fields):
            if type not in known:
                raise SystemExit(f"generate.py: the type {type} of {name}.{field} is not known")
            out.append(f"        {(number, field, 'enum' if type in tables.enums else type, label)!r},")
        out.append("    ),")
    out.append("}")
    out.append("ENUMS: dict[str, dict[str, int]] = {")
    for name, values in sorted(tables.enums.items()):
        short = {value.removeprefix(prefix_of(name)): number for value, number in values.items()}
        out.append(f"    {name!r}: {short!r},")
    out.append("}")
    out.append(f"METHODS: dict[str, str] = {tables.methods!r}")
    out.append(f"ITEM_COLUMNS = {tuple(item_columns(batch.read_text()))!r}")
    return "\n".join(out) + "\n"
