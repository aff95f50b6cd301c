# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How the structs of carom.h lie in memory, for the generated module `layout`."""

from __future__ import annotations

import struct
from typing import NamedTuple

Number = int | float


class Column(NamedTuple):
    """A column of a struct: three values of its format, namely address, length and stride."""

    path: str  # such as `scope.masks`
    code: str  # of an element: d, Q, I or B, as in the module `struct`
    slot: int  # index of the address among the values
    optional: bool

    @property
    def name(self) -> str:
        """The name of the argument: the last part of the path."""
        return self.path.rpartition(".")[2]


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

    level: str  # "item", "entry", "edge" or "list": what its rows belong to
    where: str  # the column that is 0 where a row has no meaning, or empty


class Layout:
    """A struct as a format of the module `struct`, with the slots of its members."""

    __slots__ = ("columns", "defaults", "index", "numbers", "options", "pointers", "rows", "struct")

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
        self.rows = {column.path: AnswerColumn(*row) for column, row in zip(self.columns, rows, strict=False)}


class Kind:
    """A kind of question: its names, the structs of its questions and answers, and its function."""

    __slots__ = ("answers", "function", "method", "name", "number", "question", "scalars")

    def __init__(self, name: str, method: str, number: int, function: str, question: Layout, answers: Layout) -> None:
        self.name = name  # as in field paths, such as `segments`
        self.method = method  # as in Python, such as `cast`
        self.number = number
        self.function = function
        self.question = question
        self.answers = answers
        # All that one item needs, if that is floats alone; else a struct of no size.
        required = [column.code for column in question.columns if not column.optional]
        alone = set(required) == {"d"} and not question.pointers
        self.scalars = struct.Struct(f"<{len(required)}d" if alone else "<")
