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
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._columns import DTYPES, address, refuse, triple
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
_TRIPLE = struct.Struct("<QQQ")
_TYPES = {code: dtype.str for code, dtype in DTYPES.items()}
_EMPTY = {code: np.empty(0, dtype) for code, dtype in DTYPES.items()}
for _array in _EMPTY.values():
    _array.flags.writeable = False


class World:
    """A `carom_world`: what a question is asked about, and the handles that it needs."""

    __slots__ = ("_memory", "address", "handles")

    def __init__(
        self, scene: Handle, bodies: Handle | None, trackers: Handle | None, history: Handle | None = None,
        rotation: int = 0,
    ) -> None:  # fmt: skip
        self.handles = (scene, bodies, trackers, history)
        words = [handle.address if handle else 0 for handle in self.handles]
        self._memory = ctypes.create_string_buffer(struct.pack("<IIQQQQII", 48, 0, *words, rotation, 0), 48)
        self.address = ctypes.addressof(self._memory)


class Call:
    """Memory of one call at a time: a `carom_answers`, a status, and space for scalars and for structs of answers."""

    __slots__ = ("_blocks", "_scratch", "_structs", "answers", "handle", "lock", "rows", "status")

    def __init__(self) -> None:
        self.handle = Handle(library().make("carom_answers_create", 0), "carom_answers_destroy")
        self.answers = self.handle.address
        self.status = Status()
        self.rows = 0
        self.lock = threading.Lock()  # of the structs of answers, while one is filled
        self._scratch = ctypes.create_string_buffer(16 * 8)
        self._blocks: dict[tuple[int, tuple[int | float, ...]], tuple[int, Any]] = {}
        self._structs: dict[int, Any] = {}

    def block(self, question: Question[Any], keep: list[object]) -> int | bytes:
        """Returns a struct of the question, or its address; what it refers to is added to `keep`."""
        kind, scalars, direct = question.kind, question.scalars, question.direct
        if scalars is not None:
            kind.scalars.pack_into(self._scratch, 0, *scalars)
            memory = self._blocks.get((kind.number, question.options))
            return memory[0] if memory is not None else self._make_block(question, kind.number)
        if direct is None:
            return pack(question, keep)
        memory = self._blocks.get((-kind.number, question.options))
        block = memory[0] if memory is not None else self._make_block(question, -kind.number)
        words: list[int] = []
        for array in direct:
            words += (address(array), question.items, 1)
        kind.triples.pack_into(self._blocks[-kind.number, question.options][1], kind.offset, *words)
        return block

    def _make_block(self, question: Question[Any], number: int) -> int:
        """Makes a struct that is used again by questions with the same options. Its columns are the scalars."""
        if len(self._blocks) >= _KEPT_BLOCKS:
            self._blocks.clear()
        kind = question.kind
        memory = ctypes.create_string_buffer(kind.question.struct.pack(*_options(question)), kind.question.struct.size)
        base = ctypes.addressof(self._scratch)
        words = [word for i in range(len(kind.codes)) for word in (base + 8 * i, 1, 1)]
        kind.triples.pack_into(memory, kind.offset, *words)
        block = ctypes.addressof(memory)
        self._blocks[number, question.options] = (block, memory)
        return block

    def read(self, kind: Kind) -> Any:
        """Returns the struct of answers of a kind, filled; the next question of the kind fills it again."""
        memory = self._structs.get(kind.number)
        if memory is None:
            memory = self._structs[kind.number] = ctypes.create_string_buffer(kind.answers.struct.size)
            ctypes.c_uint32.from_buffer(memory).value = kind.answers.struct.size
        if library().read(self.answers, kind.number, memory, self.status.address):
            raise self.status.error()
        return memory


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

    def __init__(self, source: object, length: int, type: str, data: int, stride: int) -> None:
        self.source = source
        self.__array_interface__ = {
            "version": 3,
            "shape": (length,),
            "typestr": type,
            "data": (data, True),
            "strides": (stride,),
        }


class Lease:
    """What several answers of one call share: the call is kept for others when the last of them ends."""

    __slots__ = ("call",)

    def __init__(self, call: Call) -> None:
        self.call = call

    def __del__(self) -> None:
        _keep(self.call)


class Part:
    """The answers to one question of a call: see `Source`."""

    __slots__ = ("_call", "_fields", "_kind", "_lease", "_questions", "_world")

    def __init__(
        self, call: Call, kind: Kind, world: World, questions: tuple[Question[Any], ...], lease: Lease | None
    ) -> None:
        self._call = call
        self._kind = kind
        self._world = world
        self._questions = questions
        self._lease = lease
        self._fields: Any = None

    def __del__(self) -> None:
        if self._lease is None:
            _keep(self._call)

    def column(self, layout: Layout, path: str) -> NDArray[Any]:
        offset, code, size = layout.places[path]
        fields = self._fields
        if fields is None:
            fields = self._read()
        data, length, stride = _TRIPLE.unpack_from(fields, offset)
        if length == 0:
            return _EMPTY[code]
        self._call.rows = max(self._call.rows, length)
        return np.asarray(_View(self, length, _TYPES[code], data, (stride or 1) * size))

    def _read(self) -> Any:
        with self._call.lock:  # one thread fills the struct, and others read it afterwards
            if self._fields is None:
                self._fields = self._call.read(self._kind)
        return self._fields

    def number(self, layout: Layout, path: str) -> int:
        number: int = layout.struct.unpack(self._read())[layout.numbers[path]]
        return number

    def version(self) -> int:
        version: int = library().version(self._call.answers)
        return version

    def describe(self, column: int, fault: int) -> tuple[str, str]:
        core = library()
        name, text = core.column_name(column), core.fault(fault)
        return (name or b"").decode(), (text or b"").decode()

    def picture(self, question: Question[Any]) -> str:
        return write_svg(self._world, self._questions, self._call)


def _options(question: Question[Any]) -> list[int | float]:
    """The values of the struct of a question with its options, and without columns."""
    layout = question.kind.question
    values = list(layout.defaults)
    if question.options is not question.kind.zeros:
        for option, number in zip(layout.options, question.options, strict=True):
            values[option.slot] = number
    return values


def pack(question: Question[Any], keep: list[object]) -> bytes:
    """Returns the struct of a question; what it refers to is added to `keep`."""
    layout = question.kind.question
    values = _options(question)
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
    keep: list[object] = []
    block = call.block(question, keep)
    if library().ask[kind.number](world.address, block, call.answers, call.status.address):
        error = call.status.error()
        _keep(call)
        raise error
    return Part(call, kind, world, (question,), None)


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
        if library().evaluate(world.address, batches, len(questions), call.answers, call.status.address):
            raise call.status.error()
    except BaseException:
        _keep(call)
        raise
    lease = Lease(call)
    return [Part(call, question.kind, world, questions, lease) for question in questions]


def write_svg(world: World, questions: tuple[Question[Any], ...] = (), call: Call | None = None) -> str:
    """Returns an SVG document of a scene and of what was asked about it."""
    core = library()
    keep: list[object] = []
    batches = ctypes.create_string_buffer(_batches(questions, keep) or b"\0")
    buffer = Handle(core.make("carom_buffer_create"), "carom_buffer_destroy")
    picture = struct.pack(
        "<IIQQQ", 32, 0, ctypes.addressof(batches) if questions else 0, len(questions),
        call.answers if call else 0,
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
