# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How is a question asked that is larger than a frame? In parts about one version, whose answers are joined.

A scene in this process has no limit of items or of rows, so a scene of a server should need none: `ask` cuts a question
at the limits that servers have by default, and cuts a part in halves if a server refuses it as too large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._answers import MoveAnswers
from .._question import Question
from ..errors import ResourceExhaustedError
from .channel import Addresses
from .forks import Operation
from .frames import Picture
from .operations import evaluate

if TYPE_CHECKING:
    from .._answers import Answers, Source
    from .._layout import Layout
    from .base import SceneBase

A = TypeVar("A", bound="Answers")
MOST_QUERIES = 65536  # of a frame; each beam of a fan is one
MOST_BYTES = 3 << 20  # of the columns of a frame; a message has at most 4 MiB
_ALWAYS_FIT = 16384  # items of any kind with all of their columns, but for fans


class _Cutter:
    """A question whose items become questions of their own."""

    def __init__(self, question: Question[Any]) -> None:
        self._question = question
        self._columns = question.arrays()
        specs = question.kind.question.columns
        self._place = {spec.path: i for i, spec in enumerate(specs)}
        self._options = [value or None for value in question.options]
        for path, first in (("movers.shape", 0), ("tracker", self._option("first_tracker"))):
            place = self._place.get(path)
            if place is not None and self._columns[place] is None:
                self._columns[place] = np.arange(first, first + question.items, dtype=np.uint64).astype(np.uint32)
        pushes = self._columns[self._place["pushes"]] if "pushes" in self._place else None
        self._pushes = None if pushes is None else np.concatenate(([0], np.cumsum(pushes, dtype=np.int64)))

    def _option(self, name: str) -> int:
        options = self._question.kind.question.options
        return next((int(value) for spec, value in zip(options, self._question.options, strict=True)
                     if spec.name == name), 0)  # fmt: skip

    def ends(self) -> list[int]:
        """Returns where the parts end: each has as many items as a frame takes, at least one."""
        items = self._question.items
        beams = self._columns[self._place["beams"]] if "beams" in self._place else None
        weights = np.ones(items) if beams is None else beams.astype(np.float64)
        own = sum(column.nbytes for column in self._columns if column is not None) / max(items, 1)
        weights = np.maximum(weights / MOST_QUERIES, own / MOST_BYTES)
        total = np.cumsum(weights)
        ends: list[int] = []
        begin = 0
        while begin < items:
            used = total[begin - 1] if begin else 0.0
            end = int(np.searchsorted(total, used + 1 + 1e-9, side="right"))
            ends.append(max(end, begin + 1))
            begin = ends[-1]
        return ends

    def part(self, begin: int, end: int) -> Question[Any]:
        """Returns the question of the items [begin, end)."""
        question = self._question
        columns = []
        for spec, column in zip(question.kind.question.columns, self._columns, strict=True):
            if column is None or (question.kind.name, spec.name) == ("body_contacts", "mass"):
                columns.append(column)
            elif self._pushes is not None and spec.name in ("dx", "dy"):
                columns.append(column[self._pushes[begin] : self._pushes[end]])
            else:
                columns.append(column[begin:end])
        return Question(question.kind, question.answers, tuple(columns), tuple(self._options), question.shapes)


class _Joined:
    """The answers to the parts of a question, as those to all of it: a `Source`."""

    __slots__ = ("_parts", "_starts")

    def __init__(self, parts: list[Answers], starts: list[int]) -> None:
        self._parts = parts
        self._starts = starts

    def column(self, layout: Layout, path: str) -> NDArray[Any]:
        if path == "clear":
            return self._clear()
        columns = [part._column(path) for part in self._parts]
        if path in ("truncated", "stuck", "error_index"):
            columns = [column + np.uint32(start) for column, start in zip(columns, self._starts, strict=True)]
        joined = np.concatenate(columns)
        joined.setflags(write=False)
        return joined

    def _clear(self) -> NDArray[np.uint64]:
        """The bits of all items, in words of 64."""
        bits = np.concatenate([part.is_clear for part in self._parts if isinstance(part, MoveAnswers)])
        padded = np.zeros((len(bits) + 63) // 64 * 64, np.bool_)
        padded[: len(bits)] = bits
        words: NDArray[np.uint64] = np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)
        words.setflags(write=False)
        return words

    def number(self, layout: Layout, path: str) -> int:
        return sum(part._number(path) for part in self._parts)

    def version(self) -> int:
        return self._parts[0].version

    def picture(self, question: Question[Any]) -> str:
        return self._parts[0]._source.picture(question)

    def describe(self, column: int, fault: int) -> tuple[str, str]:
        found = [part._source.describe(column, fault) for part in self._parts]
        return next((each for each in found if each[1]), found[0])


def ask(
    addresses: Addresses, scene: SceneBase, question: Question[A], picture: Picture | None, out: A | None
) -> Operation[A]:
    """Answers a question about a scene, in parts if it is larger than a frame."""
    begin, version = 0, scene.version
    cutter = _Cutter(question) if _may_be_large(question) else None
    ends = [question.items] if cutter is None else cutter.ends()
    parts: list[Answers] = []
    starts: list[int] = []
    while True:
        end = ends[0] if ends else 0
        is_whole = end - begin == question.items
        if not is_whole and cutter is None:
            cutter = _Cutter(question)
        part: Question[Any] = question if is_whole or cutter is None else cutter.part(begin, end)
        try:
            answer = yield from evaluate(addresses, scene.asked((part,), version), picture)
            group = answer.groups[0]
            group.check()
        except ResourceExhaustedError as error:
            if error.retry_after is not None or end - begin < 2:
                raise
            ends.insert(0, begin + (end - begin) // 2)
            continue
        if is_whole:
            return _given(question, group.part(question), out)
        parts.append(group[part])
        starts.append(begin)
        version = group.version
        begin = ends.pop(0)
        if not ends:
            return _given(question, _Joined(parts, starts), out)


def _may_be_large(question: Question[Any]) -> bool:
    """Whether a question may be larger than a frame."""
    return question.items > _ALWAYS_FIT or (question.items > 1 and question.kind.name == "fans")


def _given(question: Question[A], source: Source, out: A | None) -> A:
    """The answers, in those that the caller gave."""
    if out is None:
        return question.answers(question, source)
    out._replace(question, source)
    return out
