# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of the core: questions become structs, structs of answers become arrays.

Each call needs a `carom_answers`, whose columns grow with use, so a few of them are kept for later calls. One that
arrays still look into is not among them: it is kept again when the last of these arrays ends.
"""

from __future__ import annotations

import collections
import ctypes
import struct
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._columns import DTYPES, refuse, triple
from ._library import Handle, Status, library
from .errors import FailedPreconditionError

if TYPE_CHECKING:
    from ._answers import Answers
    from ._layout import Kind, Layout
    from ._question import Question

A = TypeVar("A", bound="Answers")

_KEPT_CALLS = 16
_KEPT_ROWS = 1 << 20  # what answered more is not kept
_KEPT_BLOCKS = 64
_TYPES = {code: dtype.str for code, dtype in DTYPES.items()}
_EMPTY = {code: np.empty(0, dtype) for code, dtype in DTYPES.items()}
for _array in _EMPTY.values():
    _array.flags.writeable = False


class World:
    """A `carom_world`: what a question is asked about, and the handles that it needs."""

    __slots__ = ("_memory", "address", "handles")

    def __init__(self, scene: Handle, bodies: Handle | None, trackers: Handle | None, *keep: object) -> None:
        words = [handle.address if handle else 0 for handle in (scene, bodies, trackers)]
        self._memory = ctypes.create_string_buffer(struct.pack("<IIQQQ", 32, 0, *words), 32)
        self.address = ctypes.addressof(self._memory)
        self.handles = (scene, bodies, trackers, *keep)


class Call:
    """Memory of one call at a time: a `carom_answers`, a status, and space for scalars."""

    __slots__ = ("_blocks", "answers", "fields", "rows", "scratch", "status")

    def __init__(self) -> None:
        core = library()
        self.answers = Handle(core.make("carom_answers_create", 0), "carom_answers_destroy")
        self.status = Status()
        self.scratch = ctypes.create_string_buffer(32 * 8)
        self.fields = ctypes.create_string_buffer(1024)
        self._blocks: dict[tuple[int, tuple[int | float, ...]], tuple[int, Any]] = {}
        self.rows = 0

    def scalar_block(self, question: Question[Any]) -> int:
        """Writes the scalars of a question, and returns the address of a struct that refers to them."""
        kind = question.kind
        given = [value for value in question.columns if value is not None]
        kind.scalars.pack_into(self.scratch, 0, *given)
        key = (kind.number, question.options)
        block = self._blocks.get(key)
        if block is None:
            if len(self._blocks) >= _KEPT_BLOCKS:
                self._blocks.clear()
            layout = kind.question
            values = list(layout.defaults)
            for option, number in zip(layout.options, question.options, strict=True):
                values[option.slot] = number
            base, i = ctypes.addressof(self.scratch), 0
            for spec, value in zip(layout.columns, question.columns, strict=True):
                if value is not None:
                    values[spec.slot : spec.slot + 3] = (base + 8 * i, 1, 1)
                    i += 1
            memory = ctypes.create_string_buffer(layout.struct.pack(*values), layout.struct.size)
            block = self._blocks[key] = (ctypes.addressof(memory), memory)
        return block[0]


_calls: collections.deque[Call] = collections.deque()


def _take() -> Call:
    try:
        return _calls.pop()
    except IndexError:
        return Call()


def _keep(call: Call) -> None:
    if call.rows <= _KEPT_ROWS and len(_calls) < _KEPT_CALLS:
        call.rows = 0
        _calls.append(call)


class _View:
    """Memory of an answer as numpy takes it; the array that is made refers to the answer."""

    __slots__ = ("__array_interface__", "source")

    def __init__(self, source: object, interface: dict[str, Any]) -> None:
        self.source = source
        self.__array_interface__ = interface


class Answered:
    """The answers of one call, to one question or to a group: see `Source`."""

    __slots__ = ("_call", "questions", "world")

    def __init__(self, call: Call, world: World, questions: tuple[Question[Any], ...]) -> None:
        self._call = call
        self.world = world
        self.questions = questions

    def __del__(self) -> None:
        call = getattr(self, "_call", None)
        if call is not None:
            _keep(call)


class Part:
    """The answers to one question of a call: see `Source`."""

    __slots__ = ("_answered", "_kind", "_values")

    def __init__(self, answered: Answered, kind: Kind) -> None:
        self._answered = answered
        self._kind = kind
        self._values: tuple[Any, ...] | None = None

    def _read(self) -> tuple[Any, ...]:
        values = self._values
        if values is None:
            layout = self._kind.answers
            memory = ctypes.create_string_buffer(layout.struct.size)
            ctypes.c_uint32.from_buffer(memory).value = layout.struct.size
            call = self._answered._call
            if library().read(
                call.answers.address,
                self._kind.number,
                ctypes.addressof(memory),
                call.status.address,
            ):
                raise call.status.error()
            values = self._values = layout.struct.unpack(memory)
        return values

    def column(self, layout: Layout, path: str) -> NDArray[Any]:
        spec = layout.index[path]
        slot, values = spec.slot, self._values or self._read()
        length = values[slot + 1]
        if length == 0:
            return _EMPTY[spec.code]
        call = self._answered._call
        call.rows = max(call.rows, length)
        size = 8 if spec.code in "dQ" else 4 if spec.code == "I" else 1
        interface = {
            "version": 3,
            "shape": (length,),
            "typestr": _TYPES[spec.code],
            "data": (values[slot], True),
            "strides": ((values[slot + 2] or 1) * size,),
        }
        return np.asarray(_View(self._answered, interface))

    def number(self, layout: Layout, path: str) -> int:
        number: int = (self._values or self._read())[layout.numbers[path]]
        return number

    def version(self) -> int:
        version: int = library().version(self._answered._call.answers.address)
        return version

    def describe(self, column: int, fault: int) -> tuple[str, str]:
        core = library()
        name, text = core.column_name(column), core.fault(fault)
        return (name or b"").decode(), (text or b"").decode()

    def picture(self, question: Question[Any]) -> str:
        answered = self._answered
        return write_svg(answered.world, answered.questions, answered._call)


def pack(question: Question[Any], keep: list[object]) -> bytes:
    """Returns the struct of a question; what it refers to is added to `keep`."""
    kind = question.kind
    layout = kind.question
    values = list(layout.defaults)
    for option, number in zip(layout.options, question.options, strict=True):
        values[option.slot] = number
    for spec, array in zip(layout.columns, question.arrays(), strict=True):
        if array is not None:
            slot = spec.slot
            values[slot], values[slot + 1], values[slot + 2] = triple(array)
            keep.append(array)
    if question.shapes is not None:
        from .local import shapes_handle

        handle = shapes_handle(question.shapes)
        values[layout.pointers["movers.shapes"]] = handle.address
        keep.append(handle)
    return layout.struct.pack(*values)


def ask(world: World, question: Question[A]) -> Part:
    """Asks one question."""
    call = _take()
    kind = question.kind
    if question.scalar and kind.scalars.size == 8 * (len(question.columns) - question.columns.count(None)):
        block: int | bytes = call.scalar_block(question)
        failed = library().ask[kind.number](world.address, block, call.answers.address, call.status.address)
    else:
        keep: list[object] = []
        block = pack(question, keep)
        failed = library().ask[kind.number](world.address, block, call.answers.address, call.status.address)
    if failed:
        error = call.status.error()
        _keep(call)
        raise error
    return Part(Answered(call, world, (question,)), kind)


def _batches(questions: tuple[Question[Any], ...], keep: list[object]) -> bytes:
    batches = b""
    for question in questions:
        block = ctypes.create_string_buffer(pack(question, keep))
        keep.append(block)
        batches += struct.pack("<IIQ", question.kind.number, 0, ctypes.addressof(block))
    return batches


def ask_all(world: World, questions: tuple[Question[Any], ...]) -> list[Part]:
    """Asks questions of different kinds by one call."""
    seen: set[str] = set()
    for question in questions:
        if question.kind.name in seen:
            raise refuse("questions", f"has two of the kind {question.kind.method}; one is accepted")
        seen.add(question.kind.name)
    call = _take()
    keep: list[object] = []
    try:
        batches = _batches(questions, keep)
        if library().evaluate(world.address, batches, len(questions), call.answers.address, call.status.address):
            raise call.status.error()
    except BaseException:
        _keep(call)
        raise
    answered = Answered(call, world, questions)
    return [Part(answered, question.kind) for question in questions]


def write_svg(world: World, questions: tuple[Question[Any], ...] = (), call: Call | None = None) -> str:
    """Returns an SVG document of a scene and of what was asked about it."""
    core = library()
    keep: list[object] = []
    batches = ctypes.create_string_buffer(_batches(questions, keep) or b"\0")
    buffer = Handle(core.make("carom_buffer_create"), "carom_buffer_destroy")
    picture = struct.pack(
        "<IIQQQ", 32, 0, ctypes.addressof(batches) if questions else 0, len(questions),
        call.answers.address if call else 0,
    )  # fmt: skip
    core.call("carom_write_svg", world.address, ctypes.c_char_p(picture), buffer)
    return buffer_bytes(buffer).decode()


def buffer_bytes(buffer: Handle) -> bytes:
    """A copy of the bytes of a `carom_buffer`."""
    core = library()
    data = core.function("carom_buffer_data", ctypes.c_void_p, ctypes.c_void_p)(buffer.address)
    size = core.function("carom_buffer_size", ctypes.c_size_t, ctypes.c_void_p)(buffer.address)
    return ctypes.string_at(data, size) if size else b""


def closed(what: str) -> FailedPreconditionError:
    """The exception for an object that was closed."""
    return FailedPreconditionError(f"the {what} is closed", field=what)
