# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How do the small messages of a server become bytes, and bytes messages: summaries, requests, statuses?

A message is a dict with the names of the .proto files. Columns of numbers are arrays; an absent field is left out of
what is written, and has its default in what is read, None for a message. The messages with many columns, questions
and answers, have their own code in encode.py and decode.py.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._generated.wire_tables import MESSAGES
from . import wire
from .wire import FIXED32, FIXED64, LENGTH, PACKABLE, VARINT, Message, Ranges, tag, varint

_WIRES = {
    "double": FIXED64, "fixed64": FIXED64, "float": FIXED32, "uint64": VARINT, "uint32": VARINT, "int32": VARINT,
    "sint32": VARINT, "int64": VARINT, "bool": VARINT, "enum": VARINT,
}  # fmt: skip
_DEFAULTS: dict[str, Any] = {"double": 0.0, "float": 0.0, "bool": False, "string": "", "bytes": b""}
_COLUMN_TYPES: dict[str, np.dtype[Any]] = {"double": wire.DOUBLE, "fixed64": wire.WORD, "float": wire.FLOAT}


class Field(NamedTuple):
    """A field of a message."""

    number: int
    name: str
    type: str
    label: str  # "repeated", "optional", "oneof" or empty
    key: bytes  # the bytes before a value; of a column, before the packed entries

    @property
    def is_message(self) -> bool:
        """Whether the values are messages."""
        return self.type in MESSAGES


class Table:
    """The fields of a message."""

    __slots__ = ("by_name", "fields", "wires")

    def __init__(self, name: str) -> None:
        self.fields: list[Field] = []
        self.wires: dict[int, int] = {}
        for number, field, type, label in MESSAGES[name]:
            kind = _WIRES.get(type, LENGTH)
            is_column = label == "repeated" and kind != LENGTH
            self.fields.append(Field(number, field, type, label, tag(number, LENGTH if is_column else kind)))
            self.wires[number] = kind + PACKABLE if is_column else kind
        self.by_name = {field.name: field for field in self.fields}


@functools.cache
def table(name: str) -> Table:
    """The fields of the message with a name of the .proto files."""
    return Table(name)


# --- Writing ----------------------------------------------------------------------------------------


def encode(name: str, values: Mapping[str, Any]) -> bytes:
    """Returns a message as bytes. A message in it is a dict or, if it is encoded already, bytes."""
    return build(name, values).join()


def build(name: str, values: Mapping[str, Any]) -> Message:
    """As `encode`, for a part of another message."""
    out = Message()
    for field in table(name).fields:
        value = values.get(field.name)
        if value is None:
            continue
        if field.label == "repeated":
            _put_all(out, field, value)
        else:
            _put(out, field, value)
    return out


def _put_all(out: Message, field: Field, values: Any) -> None:
    if field.is_message or field.type in ("string", "bytes"):
        for value in values:
            _put_length(out, field, value)
    elif field.type in _COLUMN_TYPES:
        out.fixed(field.key, values)
    else:
        out.varints(field.key, values)


def _put_length(out: Message, field: Field, value: Any) -> None:
    if isinstance(value, str):
        out.data(field.key, value.encode())
    elif isinstance(value, bytes):
        out.data(field.key, value)
    elif isinstance(value, Message):
        out.message(field.key, value)
    else:
        out.message(field.key, build(field.type, value))


def _put(out: Message, field: Field, value: Any) -> None:
    present = bool(field.label)
    if field.type == "double":
        if present or value != 0 or math.copysign(1.0, value) < 0:
            out.add(field.key + struct.pack("<d", value))
    elif field.type == "fixed64":
        if present or value:
            out.add(field.key + struct.pack("<Q", value))
    elif field.type in _WIRES:
        if present or value:
            whole = int(value) << 1 ^ int(value) >> 31 if field.type == "sint32" else int(value)
            out.add(field.key + varint(whole & 0xFFFFFFFFFFFFFFFF))
    elif field.is_message or present or value:
        _put_length(out, field, value)


# --- Reading ----------------------------------------------------------------------------------------


def ranges(name: str, data: bytes) -> Ranges:
    """Returns where the values of the fields of a message are."""
    return wire.scan(data, 0, len(data), table(name).wires)


def decode(name: str, data: bytes, found: Ranges | None = None, without: str = "") -> dict[str, Any]:
    """Returns a message. Messages in it are dicts; those of `repeated` fields are lists. Raises InternalError.

    found: what `ranges` returned, where the caller has it; without: a field that is left out
    """
    where = ranges(name, data) if found is None else found
    return {field.name: _value(field, data, where) for field in table(name).fields if field.name != without}


def _value(field: Field, data: bytes, found: Ranges) -> Any:
    where = found.get(field.number, [])
    if field.label == "repeated":
        if field.is_message:
            return [decode(field.type, data[begin:end]) for begin, end in where]
        if field.type in ("string", "bytes"):
            return [_scalar(field.type, data[begin:end]) for begin, end in where]
        return _column(field.type, wire.joined(data, where))
    if not where:
        return None if field.is_message or field.label else _DEFAULTS.get(field.type, 0)
    if field.is_message:
        return decode(field.type, wire.joined(data, where))
    begin, end = where[-1]
    return _scalar(field.type, data[begin:end])


def _column(type: str, raw: bytes) -> Any:
    if type in _COLUMN_TYPES:
        return wire.fixed_column(raw, _COLUMN_TYPES[type])
    if type == "bool":
        return wire.flags(raw)
    return wire.integers(raw, np.uint64 if type == "uint64" else np.uint32)


def _scalar(type: str, raw: bytes) -> Any:
    if type == "string":
        return raw.decode("utf-8", "replace")
    if type == "bytes":
        return raw
    if type in ("double", "fixed64"):
        return struct.unpack("<d" if type == "double" else "<Q", raw)[0]
    if type == "float":
        return struct.unpack("<f", raw)[0]
    value, _ = wire.read_varint(raw, 0, len(raw))
    if type == "bool":
        return value != 0
    if type == "sint32":
        return (value & 0xFFFFFFFF) >> 1 ^ -(value & 1)
    if type in ("int32", "enum", "int64"):
        bits = 64 if type == "int64" else 32
        value &= (1 << bits) - 1
        return value - (1 << bits) if value >> (bits - 1) else value
    return value & 0xFFFFFFFF if type == "uint32" else value
