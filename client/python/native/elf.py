# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does a shared library show, and what does it need? `read` tells, for 64-bit ELF of the lowest byte first."""

import dataclasses
import pathlib
import struct

_DYNAMIC, _SYMBOLS, _NEEDED_VERSIONS = 6, 11, 0x6FFFFFFE  # types of sections
_UNDEFINED, _ABSOLUTE = 0, 0xFFF1  # sections of symbols; versions are absolute symbols
_NEEDED, _SONAME = 1, 14  # tags of entries of the dynamic section


@dataclasses.dataclass
class Library:
    soname: str = ""
    needed: set[str] = dataclasses.field(default_factory=set)
    symbols: set[str] = dataclasses.field(default_factory=set)  # those that it defines
    versions: set[str] = dataclasses.field(default_factory=set)  # of what it needs, as GLIBC_2.17


@dataclasses.dataclass
class _Section:
    kind: int
    offset: int
    size: int
    strings: int  # index of the section with its strings


def _sections(data: bytes) -> list[_Section]:
    start, entry, count = struct.unpack_from("<Q10xHH", data, 0x28)
    result = []
    for i in range(count):
        _, kind, _, _, offset, size, link = struct.unpack_from("<IIQQQQI", data, start + i * entry)
        result.append(_Section(kind, offset, size, link))
    return result


def read(path: pathlib.Path) -> Library:
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is no 64-bit ELF file of the lowest byte first")
    library = Library()
    sections = _sections(data)
    for section in sections:
        base = sections[section.strings].offset if section.strings < len(sections) else 0

        def text(index: int, base: int = base) -> str:
            return data[base + index : data.index(b"\0", base + index)].decode()

        end = section.offset + section.size
        if section.kind == _SYMBOLS:
            for at in range(section.offset, end, 24):
                name, _, _, where = struct.unpack_from("<IBBH", data, at)
                if name and where not in (_UNDEFINED, _ABSOLUTE):
                    library.symbols.add(text(name))
        elif section.kind == _DYNAMIC:
            for at in range(section.offset, end, 16):
                tag, value = struct.unpack_from("<QQ", data, at)
                if tag == _NEEDED:
                    library.needed.add(text(value))
                elif tag == _SONAME:
                    library.soname = text(value)
        elif section.kind == _NEEDED_VERSIONS:
            at, more = section.offset, True
            while more:
                _, count, _, first, following = struct.unpack_from("<HHIII", data, at)
                entry = at + first
                for _ in range(count):
                    name, step = struct.unpack_from("<8xII", data, entry)
                    library.versions.add(text(name))
                    entry += step
                at, more = at + following, following != 0
    return library
