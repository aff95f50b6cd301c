# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How the structs of carom.h lie in memory, for the generated module `layout`."""

from __future__ import annotations

import keyword
import operator
import re
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

Number = int | float


class Column(NamedTuple):
    """A column of a struct: three values of its format, namely address, length and stride."""

    path: str  # such as `scope.masks`
    code: str  # of an element: d, Q, I or B, as in the module `struct`
    slot: int  # index of the address among the values
    optional: bool

    @property
    def field(self) -> str:
        """The name of the field of a message: the last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def name(self) -> str:
        """The name of the argument: that of the field, with `_` behind a word that Python reserves."""
        return self.field + "_" if keyword.iskeyword(self.field) else self.field


class Option(NamedTuple):
    """A number of a struct."""

    path: str
    slot: int
    enum: str  # name of its enumeration, or empty

    @property
    def name(self) -> str:
        """The name of the argument: the last part of the path."""
        return self.path.rpartition(".")[2]


class AnswerColumn(NamedTuple):
    """What generate.py states about a column of answers."""

    level: str  # "item", "entry", "edge", "unclear", "word" or "list": what its rows belong to
    where: str  # the column that is 0 where a row has no meaning, or empty


def _offsets(format: str) -> list[int]:
    """The offset of each value of a format of single letters, with numbers before `x` alone."""
    offsets, offset = [], 0
    for count, code in re.findall(r"(\d*)([a-zA-Z])", format):
        if code != "x":
            offsets.append(offset)
        offset += struct.calcsize(f"<{count}{code}")
    return offsets


class Layout:
    """A struct as a format of the module `struct`, with the slots of its members."""

    __slots__ = ("columns", "defaults", "index", "numbers", "options", "places", "pointers", "rows", "struct")

    def __init__(
        self,
        format: str,
        defaults: list[Number],
        columns: tuple[tuple[str, str, int, bool], ...],
        options: tuple[tuple[str, int, str], ...],
        pointers: tuple[tuple[str, int], ...],
        rows: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.struct = struct.Struct(format)
        self.defaults = defaults
        self.columns = tuple(Column(*column) for column in columns)
        self.options = tuple(Option(*option) for option in options)
        self.pointers = dict(pointers)
        self.index = {column.path: column for column in self.columns}
        self.numbers = {option.path: option.slot for option in self.options}
        offsets = _offsets(format)
        self.places = {
            column.path: (offsets[column.slot], column.code, struct.calcsize(column.code)) for column in self.columns
        }
        self.rows = {column.path: AnswerColumn(*row) for column, row in zip(self.columns, rows, strict=False)}


class Kind:
    """A kind of question: its names, the structs of its questions and answers, and its function."""

    __slots__ = (
        "answers", "codes", "defaults", "function", "method", "name", "number", "offset", "only_floats", "pick",
        "question", "scalars", "triples", "types", "zeros",
    )  # fmt: skip

    def __init__(self, name: str, method: str, number: int, function: str, question: Layout, answers: Layout) -> None:
        self.name = name  # as in field paths, such as `segments`
        self.method = method  # as in Python, such as `cast`
        self.number = number
        self.function = function
        self.question = question
        self.answers = answers
        # The arguments of a caller who gives no option, and the numbers that they stand for.
        self.defaults = tuple(
            [False if option.name in ("reflect", "quiet_radii") else None for option in question.options]
        )
        self.zeros = (0,) * len(question.options)
        # What is required of a question, where that is columns alone: takes these from all columns. They follow one
        # another in the struct. `scalars` packs one item, each number in 8 bytes.
        self.pick: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None
        required = [i for i, column in enumerate(question.columns) if not column.optional]
        self.codes = "".join(question.columns[i].code for i in required)
        self.only_floats = set(self.codes) == {"d"}
        self.types = tuple([float if code == "d" else int for code in self.codes])
        self.scalars = struct.Struct("<" + "".join(["d" if code == "d" else "Q" for code in self.codes]))
        self.triples = struct.Struct(f"<{3 * len(required)}Q")
        self.offset = 0
        if len(required) > 1 and not question.pointers:
            self.pick = operator.itemgetter(*required)
            self.offset = question.places[question.columns[required[0]].path][0]
            last = question.places[question.columns[required[-1]].path][0]
            assert last == self.offset + 24 * (len(required) - 1)
