# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How do questions, shapes, bodies and polygons become the bytes that a server reads?

The messages and fields follow from the kinds in `_generated.layout` and from the tables of the .proto files: a column
or an option has the field with its name. What a caller leaves out is left out of the message, so that its default is
that of the server, which is that of the core.
"""

from __future__ import annotations

import functools
import itertools
import math
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._columns import column, number, refuse
from .._generated import layout
from ..polygons import Polygons, PolygonsLike
from ..shapes import Shapes, as_shapes
from . import messages
from .wire import LENGTH, Message, tag, varint

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._layout import Kind
    from .._question import Question
    from ..local import Bodies
    from ..shapes import ShapesLike

_FIXED, _VARINTS, _NUMBER, _DOUBLE, _WORD, _PLACED, _SHAPES, _POLYGONS = range(8)
_COLUMN_OPS = {("d", "double"): _FIXED, ("Q", "fixed64"): _FIXED, ("I", "uint32"): _VARINTS}
_OPTION_OPS = {"enum": _NUMBER, "uint32": _NUMBER, "bool": _NUMBER, "double": _DOUBLE, "fixed64": _WORD}
_FRAME_OPTIONS = {"coherence"}  # which a frame has, not a group
_MOST_SHAPES_KEPT = 64
_MOST_BYTES_KEPT = 1 << 16


# --- Polygons and shapes ----------------------------------------------------------------------------


class _Ring(NamedTuple):
    """The bytes around the coordinates of a ring of some size."""

    head: bytes
    middle: bytes
    end: bytes


@functools.lru_cache(4096)
def _ring(size: int, is_open: int) -> _Ring:
    fields = messages.table("Ring").by_name
    length = varint(8 * size) if size else b""
    head = fields["x"].key + length if size else b""
    middle = fields["y"].key + length if size else b""
    end = fields["open"].key + b"\1" if is_open else b""
    total = len(head) + len(middle) + len(end) + 16 * size
    return _Ring(messages.table("Polygon").by_name["rings"].key + varint(total) + head, middle, end)


class _Encoder:
    """The polygons of a list, which become messages one after the other."""

    def __init__(self, polygons: Polygons, *, moving: bool = False) -> None:
        self.polygons = polygons
        self._ids = [] if moving else polygons.id.tolist()
        self._categories = [] if moving else polygons.category.tolist()
        self._sizes = [] if moving else polygons.user_data_size.tolist()
        self._data = b"" if moving else polygons.user_data.tobytes()
        self._ends = list(itertools.accumulate(self._sizes))
        self._rules = polygons.fill_rule.tolist()
        self._solidities = polygons.solidity.tolist()
        self._is_plain = not (self._categories or self._sizes or self._rules or self._solidities)

    def head(self, i: int) -> bytes:
        """The field before the rings of polygon i."""
        id = self._ids[i] if self._ids else 0
        return _ID_KEY + varint(id) if id else b""

    def tail(self, i: int) -> bytes:
        """The fields behind the rings of polygon i."""
        if self._is_plain:
            return b""
        values: dict[str, Any] = {}
        if self._rules:
            values["fill_rule"] = self._rules[i]
        if self._solidities:
            values["solidity"] = self._solidities[i]
        if self._categories and self._categories[i] != 1:
            values["category"] = self._categories[i]
        if self._sizes:
            values["user_data"] = self._data[self._ends[i] - self._sizes[i] : self._ends[i]]
        return messages.encode("Polygon", values)

    def rings(self) -> Iterator[list[bytes]]:
        """The rings of each polygon, as pieces of bytes."""
        polygons = self.polygons
        x, y = (np.ascontiguousarray(values, "<f8").tobytes() for values in (polygons.x, polygons.y))
        sizes = polygons.ring_size.tolist()
        opens = polygons.open.tolist() or [0] * len(sizes)
        ring = at = 0
        for count in polygons.ring_count.tolist():
            parts: list[bytes] = []
            for size, is_open in zip(sizes[ring : ring + count], opens[ring : ring + count], strict=True):
                head, middle, end = _ring(size, is_open)
                stop = at + 8 * size
                parts += (head, x[at:stop], middle, y[at:stop], end)
                at = stop
            ring += count
            yield parts


def polygon_messages(polygons: Polygons, *, moving: bool = False) -> list[bytes]:
    """Returns each polygon as bytes. A shape that moves has neither id nor category nor user data."""
    encoder = _Encoder(polygons, moving=moving)
    return [encoder.head(i) + b"".join(rings) + encoder.tail(i) for i, rings in enumerate(encoder.rings())]


_ID_KEY = messages.table("Polygon").by_name["id"].key
_CAPSULE_KEYS = [messages.table("Capsule").by_name[name].key for name in ("ax", "ay", "bx", "by", "radius")]
_SHAPE = messages.table("Shape").by_name
_pack_double = struct.Struct("<d").pack


def _capsule(values: tuple[float, ...]) -> bytes:
    parts = [
        key + _pack_double(value)
        for key, value in zip(_CAPSULE_KEYS, values, strict=True)
        if value != 0 or math.copysign(1.0, value) < 0
    ]
    data = b"".join(parts)
    return _SHAPE["capsule"].key + varint(len(data)) + data


def shape_messages(shapes: Shapes) -> list[bytes]:
    """Returns each shape as bytes."""
    key = _SHAPE["polygon"].key
    made = [key + varint(len(data)) + data for data in polygon_messages(shapes.polygons, moving=True)]
    columns = (shapes.ax, shapes.ay, shapes.bx, shapes.by, shapes.radius)
    made += [_capsule(values) for values in zip(*(each.tolist() for each in columns), strict=True)]
    return made


# What was encoded last: shapes are the same objects in each tick of a simulation.
_kept: dict[tuple[int, bool], tuple[Shapes, bytes]] = {}


def shapes_field(shapes: Shapes, *, polygons: bool = False) -> bytes:
    """Returns the field `shapes`, which has the number 1 in each message: of polygons alone, or of shapes."""
    kept = _kept.get((id(shapes), polygons))
    if kept is not None and kept[0] is shapes:
        return kept[1]
    key = tag(1, LENGTH)
    each = polygon_messages(shapes.polygons, moving=True) if polygons else shape_messages(shapes)
    data = b"".join([key + varint(len(message)) + message for message in each])
    if len(data) <= _MOST_BYTES_KEPT:
        if len(_kept) >= _MOST_SHAPES_KEPT:
            _kept.clear()
        _kept[(id(shapes), polygons)] = (shapes, data)
    return data


# --- Questions --------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """How a field of a question is written. Steps are in the order of the numbers of the fields."""

    number: int  # of the field
    op: int
    key: bytes
    place: int  # of the column or the option, in those of the question
    steps: tuple[_Step, ...] = ()  # of the fields of placed shapes


class _Plan(NamedTuple):
    """The message of a kind of question."""

    number: int  # of the field of Group
    key: bytes
    steps: tuple[_Step, ...]


def _plan(kind: Kind) -> _Plan:
    group = messages.table("Group").by_name[kind.name]
    fields, placed = messages.table(group.type).by_name, messages.table("PlacedShapes").by_name
    steps: list[_Step] = []
    inner: list[_Step] = []
    for i, spec in enumerate(kind.question.columns):
        nested = spec.path.startswith("movers.") and "movers" in fields
        field = (placed if nested else fields)[spec.field]
        (inner if nested else steps).append(_Step(field.number, _COLUMN_OPS[spec.code, field.type], field.key, i))
    for i, option in enumerate(kind.question.options):
        if option.name not in _FRAME_OPTIONS:
            field = fields[option.name]
            steps.append(_Step(field.number, _OPTION_OPS[field.type], field.key, i))
    if "movers" in fields:
        inner.append(_Step(1, _SHAPES, b"", 0))
        steps.append(_Step(fields["movers"].number, _PLACED, fields["movers"].key, 0, tuple(sorted(inner))))
    elif "shapes" in fields:
        steps.append(_Step(1, _POLYGONS, b"", 0))
    return _Plan(group.number, group.key, tuple(sorted(steps)))


PLANS = {kind.number: _plan(kind) for kind in layout.KINDS}


def _put(out: Message, steps: tuple[_Step, ...], arrays: list[Any], question: Question[Any]) -> None:
    for _, op, key, place, inner in steps:
        if op == _FIXED:
            if arrays[place] is not None:
                out.fixed(key, arrays[place])
        elif op == _VARINTS:
            if arrays[place] is not None:
                out.varints(key, arrays[place])
        elif op == _NUMBER:
            out.number(key, int(question.options[place]))
        elif op == _WORD:
            if question.options[place]:
                out.add(key + int(question.options[place]).to_bytes(8, "little"))
        elif op == _DOUBLE:
            if question.options[place]:
                out.add(key + _pack_double(question.options[place]))
        elif op == _PLACED:
            placed = Message()
            _put(placed, inner, arrays, question)
            out.message(key, placed)
        else:
            assert question.shapes is not None
            data = shapes_field(question.shapes, polygons=op == _POLYGONS)
            if data:
                out.add(data)


def question_message(question: Question[Any]) -> Message:
    """Returns the message of a question, the field of its kind in a group."""
    message = Message()
    _put(message, PLANS[question.kind.number].steps, question.arrays(), question)
    return message


def coherence_of(question: Question[Any]) -> int:
    """Returns the option `coherence` of a question, which a frame has; 0 if it is not given."""
    for option, value in zip(question.kind.question.options, question.options, strict=True):
        if option.name in _FRAME_OPTIONS:
            return int(value)
    return 0


# --- Bodies, trackers and edits ---------------------------------------------------------------------

_PLACED_FIELDS = messages.table("PlacedShapes").by_name
_BODIES = messages.table("Bodies").by_name


def bodies_message(bodies: Bodies) -> Message:
    """Returns the message of bodies."""
    placed = Message()
    data = shapes_field(bodies.shapes)
    if data:
        placed.add(data)
    for field in ("shape", "x", "y", "c", "s", "angle"):
        array = bodies.columns.get(f"placed.{field}")
        if array is not None:
            put = placed.varints if field == "shape" else placed.fixed
            put(_PLACED_FIELDS[field].key, array)
    out = Message()
    out.message(_BODIES["placed"].key, placed)
    category, owner = bodies.columns.get("category"), bodies.columns.get("owner")
    if category is not None:
        out.fixed(_BODIES["category"].key, category)
    if owner is not None:
        out.varints(_BODIES["owner"].key, owner)
    return out


class Definitions(NamedTuple):
    """Definitions of trackers: definition i gives the handle handles[i] the shape shapes[shape[i]]."""

    message: Message
    shapes: list[bytes]
    shape: list[int]
    handles: list[int]


def tracker_definitions(
    shapes: ShapesLike, shape: ArrayLike | None, tracker: ArrayLike | None, first_tracker: int, mask: int | None,
    within: float,
) -> Definitions:  # fmt: skip
    """Returns the message that defines trackers: see `local.Trackers.define`."""
    made = as_shapes(shapes)
    columns = {
        name: None if value is None else np.atleast_1d(column(value, "I", name))
        for name, value in (("shape", shape), ("tracker", tracker))
    }
    if columns["shape"] is None and columns["tracker"] is not None and len(made) == 1:
        columns["shape"] = np.zeros(len(columns["tracker"]), np.uint32)
    check_number("first_tracker", first_tracker, 0, 2**32)
    if mask is not None:
        check_number("mask", mask, 1, 2**64)
    each = shape_messages(made)
    values = {
        "shapes": each,
        **columns,
        "first_tracker": first_tracker,
        "within": number(within, "within"),
        "mask": mask,
    }
    index = list(range(len(each))) if columns["shape"] is None else columns["shape"].tolist()
    handles = columns["tracker"]
    return Definitions(
        messages.build("TrackerDefinitions", values),
        each,
        index,
        list(range(first_tracker, first_tracker + len(index))) if handles is None else handles.tolist(),
    )


def check_number(name: str, value: object, least: int, limit: int) -> None:
    """Raises InvalidArgumentError unless a value is an integer in [least, limit)."""
    if not isinstance(value, int | np.integer) or not least <= value < limit:
        raise refuse(name, f"is {value!r}; accepted is [{least}, {limit - 1}]")


class Edit(NamedTuple):
    """A change of one polygon."""

    kind: str  # "add", "replace" or "remove"
    id: int
    polygon: bytes  # the message; empty for "remove"

    def message(self) -> bytes:
        """The message of the edit."""
        return messages.encode("Edit", {self.kind: self.id if self.kind == "remove" else self.polygon})


def edits_of(add: PolygonsLike | None, replace: PolygonsLike | None, remove: ArrayLike) -> list[Edit]:
    """Returns edits in the order of field paths: added, then replaced, then removed polygons."""
    made: list[Edit] = []
    for kind, given in (("add", add), ("replace", replace)):
        if given is not None:
            polygons = given if isinstance(given, Polygons) else Polygons(given)
            ids = polygons.id.tolist()
            made += [Edit(kind, id, data) for id, data in zip(ids, polygon_messages(polygons), strict=True)]
    removed = np.atleast_1d(column(remove, "Q", "remove")).tolist()
    return made + [Edit("remove", id, b"") for id in removed]


# --- Imports ----------------------------------------------------------------------------------------

CHUNK_BYTES = 1 << 20
_PIECE_VERTICES = CHUNK_BYTES // 16


def import_chunks(name: str, mode: int, polygons: Polygons) -> Iterator[bytes]:
    """Makes the messages of an import, of about 1 MiB each. A polygon that needs more is sent in pieces."""
    first: dict[str, Any] = {"name": name, "mode": mode}
    chunk: list[bytes] = []
    size = 0
    encoder = _Encoder(polygons)
    for i, rings in enumerate(encoder.rings()):
        vertices = sum(len(part) for part in rings) // 16
        pieces = [b"".join(rings)] if vertices <= _PIECE_VERTICES else _pieces(polygons, i)
        for at, piece in enumerate(pieces):
            data = encoder.head(i) + piece + (b"" if at else encoder.tail(i))
            if chunk and size + len(data) > CHUNK_BYTES:
                yield messages.encode("ImportSceneRequest", {**first, "polygons": chunk})
                first, chunk, size = {}, [], 0
            chunk.append(data)
            size += len(data)
            if at + 1 < len(pieces):
                yield messages.encode("ImportSceneRequest", {**first, "polygons": chunk, "continues": True})
                first, chunk, size = {}, [], 0
    if chunk or first:
        yield messages.encode("ImportSceneRequest", {**first, "polygons": chunk})


def _pieces(polygons: Polygons, index: int) -> list[bytes]:
    """The rings of a large polygon in pieces; each piece but the first continues the last ring of the one before."""
    first = int(polygons.ring_count[:index].sum())
    at = int(polygons.ring_size[:first].sum())
    empty = b"".join(_ring(0, 0))
    pieces, room = [b""], _PIECE_VERTICES
    for ring in range(first, first + int(polygons.ring_count[index])):
        is_open = int(polygons.open[ring]) if len(polygons.open) else 0
        left = int(polygons.ring_size[ring])
        begins = True
        while left or begins:
            if room < 2:
                pieces.append(empty if begins else b"")
                room = _PIECE_VERTICES - begins
            count = min(left, room - 1)
            head, middle, end = _ring(count, is_open if begins else 0)
            x, y = (
                np.ascontiguousarray(values[at : at + count], "<f8").tobytes() for values in (polygons.x, polygons.y)
            )
            pieces[-1] += head + x + middle + y + end
            at, left, room, begins = at + count, left - count, room - count - 1, False
    return pieces
