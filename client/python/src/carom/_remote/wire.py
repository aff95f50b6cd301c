# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How do numbers and columns become bytes of the protobuf wire format, and bytes columns?

Columns are written and read as whole arrays. What is written has the bytes that protobuf writes. The reader accepts
every message that protobuf accepts, also with unknown fields, unpacked columns and columns in several pieces, and
raises InternalError for anything else.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InternalError

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
PACKABLE = 8  # added to the wire type of a column: its values may also be packed
_GROUP, _GROUP_END = 3, 4
_MOST_VARINT_BYTES = 10
_MOST_NESTED_GROUPS = 100

Range = tuple[int, int]  # begin and end of the bytes of a value
Ranges = dict[int, list[Range]]  # the values of a message, by the number of the field, in their order

EMPTY: dict[str, NDArray[Any]] = {
    "d": np.empty(0, np.float64), "Q": np.empty(0, np.uint64), "I": np.empty(0, np.uint32), "B": np.empty(0, np.uint8),
}  # fmt: skip
for _array in EMPTY.values():
    _array.flags.writeable = False

IS_LITTLE = sys.byteorder == "little"
DOUBLE, WORD, FLOAT = np.dtype("<f8"), np.dtype("<u8"), np.dtype("<f4")

# What becomes of each entry of a column of bool that takes one byte.
BOOL_TABLE = bytes([0]) + bytes([1]) * 255
_SMALL = [bytes([value]) for value in range(128)]


# --- Writing ----------------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    """Returns a number in [0, 2^64) as a varint."""
    if value < 128:
        return _SMALL[value]
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(number: int, wire: int) -> bytes:
    """Returns the bytes before a value."""
    return varint(number << 3 | wire)


def varint_column(array: NDArray[Any]) -> bytes | NDArray[np.uint8]:
    """Returns unsigned integers, at least one, as varints."""
    largest = int(array.max())
    if largest < 128:
        return array.astype(np.uint8)
    count = (largest.bit_length() + 6) // 7
    shifts = np.arange(0, 7 * count, 7, dtype=np.uint64)
    rest = array.astype(np.uint64)[:, None] >> shifts
    used = rest != 0
    used[:, 0] = True
    bytes_of = (rest & np.uint64(127)).astype(np.uint8)
    bytes_of[:, :-1] |= used[:, 1:].astype(np.uint8) << 7
    result: NDArray[np.uint8] = bytes_of[used]
    return result


class Message:
    """A message that is written: pieces of bytes in their order, and their number of bytes.

    The pieces may be arrays, which are copied once, when `join` makes the bytes of the outermost message.
    """

    __slots__ = ("parts", "size")

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.size = 0

    def add(self, data: bytes) -> None:
        """Appends bytes as they are."""
        self.parts.append(data)
        self.size += len(data)

    def number(self, key: bytes, value: int) -> None:
        """Appends a varint, unless it is 0, which an absent field means."""
        if value:
            self.add(key + varint(value))

    def data(self, key: bytes, data: bytes) -> None:
        """Appends bytes, a text or an encoded message, also if they are empty."""
        self.add(key + varint(len(data)))
        if data:
            self.add(data)

    def message(self, key: bytes, inner: Message) -> None:
        """Appends a message, also if it is empty."""
        head = key + varint(inner.size)
        self.parts.append(head)
        self.parts += inner.parts
        self.size += len(head) + inner.size

    def fixed(self, key: bytes, array: NDArray[Any]) -> None:
        """Appends a column of numbers of a fixed size, unless it is empty."""
        size = array.nbytes
        if size:
            head = key + varint(size)
            self.parts.append(head)
            self.parts.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")))
            self.size += len(head) + size

    def varints(self, key: bytes, array: NDArray[Any]) -> None:
        """Appends a column of unsigned integers, unless it is empty."""
        if len(array):
            packed = varint_column(array)
            head = key + varint(len(packed))
            self.parts.append(head)
            self.parts.append(packed)
            self.size += len(head) + len(packed)

    def join(self) -> bytes:
        """Returns the bytes of the message."""
        return b"".join(self.parts)


# --- Reading ----------------------------------------------------------------------------------------


def malformed(what: str) -> InternalError:
    """The exception for bytes that are no message."""
    return InternalError(f"the server sent a malformed message: {what}")


def read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Returns the varint at a place, below 2^64, and the place behind it."""
    if at + 2 < end and data[at + 1] < 128 <= data[at]:  # two bytes, as most lengths of columns have
        return data[at] & 127 | data[at + 1] << 7, at + 2
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift >= 7 * _MOST_VARINT_BYTES:
            raise malformed("a varint of more than 10 bytes")
    raise malformed("it ends in a varint")


def scan(data: bytes, at: int, end: int, wires: dict[int, int]) -> Ranges:
    """Returns where the values of a message are: bytes [at, end) of `data`.

    `wires` has the wire type of each field, plus PACKABLE for a column of numbers. Other fields, and values of
    another wire type, are left out. A packed column is one range, with the bytes that its entries have one by one.
    """
    found: Ranges = {}
    while at < end:
        key = data[at]
        at += 1
        if key >= 128:
            key, at = read_varint(data, at - 1, end)
        wire, number = key & 7, key >> 3
        begin = at
        if wire == LENGTH:
            size = data[at] if at < end else 128
            at += 1
            if size >= 128:
                size, at = read_varint(data, at - 1, end)
            begin = at
            at += size
        elif wire == VARINT:
            at = read_varint(data, at, end)[1]
        elif wire == FIXED64:
            at += 8
        elif wire == FIXED32:
            at += 4
        elif wire == _GROUP:
            at = _skip_group(data, at, end)
        else:
            raise malformed(f"the wire type {wire}")
        if at > end or number == 0 or key >= 1 << 32:
            raise malformed("it is cut short" if at > end else f"the field {number}")
        known = wires.get(number, -1)
        if known == wire or (known >= PACKABLE and wire in (LENGTH, known - PACKABLE)):
            ranges = found.get(number)
            if ranges is None:
                found[number] = [(begin, at)]
            else:
                ranges.append((begin, at))
    return found


def _skip_group(data: bytes, at: int, end: int) -> int:
    """Returns the place behind a group, an old form of message, and of the groups in it."""
    depth = 1
    while depth:
        key, at = read_varint(data, at, end)
        wire = key & 7
        if wire == _GROUP:
            depth += 1
        elif wire == _GROUP_END:
            depth -= 1
        elif wire == VARINT:
            at = read_varint(data, at, end)[1]
        elif wire == LENGTH:
            size, at = read_varint(data, at, end)
            at += size
        else:
            at += {FIXED64: 8, FIXED32: 4}.get(wire, 1 << 62)
        if depth > _MOST_NESTED_GROUPS or at > end:
            raise malformed("a group")
    return at


def joined(data: bytes, ranges: list[Range]) -> bytes:
    """Returns the bytes of a field: a message or a column in pieces is that of the joined bytes."""
    if len(ranges) == 1:
        begin, end = ranges[0]
        return data[begin:end]
    return b"".join([data[begin:end] for begin, end in ranges])


def last_number(data: bytes, ranges: Ranges, number: int) -> int:
    """Returns the value of a field of one varint; 0 if it is absent."""
    found = ranges.get(number)
    if found is None:
        return 0
    begin, end = found[-1]
    return read_varint(data, begin, end)[0]


def last_bytes(data: bytes, ranges: Ranges, number: int) -> bytes:
    """Returns the value of a field of text or bytes; empty if it is absent."""
    found = ranges.get(number)
    if found is None:
        return b""
    begin, end = found[-1]
    return data[begin:end]


def fixed_column(raw: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Returns a column of numbers of a fixed size. The type has the byte order of the wire."""
    if len(raw) % dtype.itemsize:
        raise malformed("a column with a part of an entry")
    array: NDArray[Any] = np.frombuffer(raw, dtype)
    return array if IS_LITTLE else array.astype(dtype.newbyteorder("="))


def _bytes(raw: bytes) -> NDArray[np.uint8]:
    """The bytes of varints."""
    if raw and raw[-1] >= 128:
        raise malformed("a column that ends in a varint")
    return np.frombuffer(raw, np.uint8)


def integers(raw: bytes, dtype: type[np.unsignedinteger[Any]] = np.uint32) -> NDArray[Any]:
    """Returns a column of varints, modulo the range of the type."""
    if raw.isascii():  # each entry takes one byte
        return np.frombuffer(raw, np.uint8).astype(dtype)
    array = _bytes(raw)
    last = (array < 128).nonzero()[0]
    if (array[1:] & array[:-1]).tobytes().isascii():  # each entry takes one byte or two
        both = array.astype(np.uint16)
        before = np.empty_like(both)
        before[0], before[1:] = 0, both[:-1]
        continues = before >> 7
        both <<= continues * 7
        before &= 127
        both |= before * continues
        return both.take(last).astype(dtype)
    first = np.empty_like(last)
    first[0], first[1:] = 0, last[:-1] + 1
    return _long_integers(array, first, last - first, dtype)


def _long_integers(
    array: NDArray[np.uint8], first: NDArray[np.intp], more: NDArray[np.intp], dtype: type[np.unsignedinteger[Any]]
) -> NDArray[Any]:
    """Varints of any size: `first` has the place of the first byte of each, `more` the number of further bytes."""
    longest = int(more.max())
    if longest >= _MOST_VARINT_BYTES:
        raise malformed("a varint of more than 10 bytes")
    result = (array[first] & 127).astype(dtype)
    for k in range(1, longest + 1):
        if 7 * k >= 8 * result.itemsize:
            break
        longer = np.flatnonzero(more >= k)
        result[longer] |= (array[first[longer] + k] & 127).astype(dtype) << dtype(7 * k)
    return result


def count_of(raw: bytes) -> int:
    """Returns the number of entries of a column of varints."""
    return len(raw) if raw.isascii() else int(np.count_nonzero(_bytes(raw) < 128))


def flags(raw: bytes) -> NDArray[np.uint8]:
    """Returns a column of bool as 0 and 1."""
    if raw.isascii():
        return np.frombuffer(raw.translate(BOOL_TABLE), np.uint8)
    result: NDArray[np.uint8] = (integers(raw, np.uint64) != 0).astype(np.uint8)
    return result


def mapped(raw: bytes, table: bytes) -> NDArray[np.uint8]:
    """Returns a column of an enumeration through a table of 256 bytes; its entries of 255 are not accepted."""
    if not raw.isascii():
        values = integers(raw, np.uint64)
        raw = np.minimum(values, 255).astype(np.uint8).tobytes()
    numbers = raw.translate(table)
    if b"\xff" in numbers:
        raise malformed("a number of no enumeration")
    return np.frombuffer(numbers, np.uint8)
