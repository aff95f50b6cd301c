# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How do the bytes of a server become the columns of `carom._generated.answers`?

Each column has the name, the type and the numbers that it has in carom.h, where the messages differ: FIELDS lists the
names, and the enumerations are mapped by their names. Bytes are split into columns at once, and a column becomes an
array when it is read first. A server is not trusted: columns that do not fit together raise InternalError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._generated import enums, layout
from .._generated.wire_tables import ENUMS, ITEM_COLUMNS
from .._layout import Kind
from ..errors import InternalError
from . import messages, wire
from .wire import EMPTY, Range, Ranges

if TYPE_CHECKING:
    from .._layout import Layout

# Names of fields that are not those of the columns, by message.
FIELDS: dict[str, dict[str, str]] = {
    "AreaAnswers": {"areas": "area"},
    "ContactAnswers": {
        "fixed_split_x": "fixed_x", "fixed_split_y": "fixed_y", "mover_split_x": "mover_x", "mover_split_y": "mover_y",
    },
    "FanAnswers": {"hits": "hit", "distances": "distance"},
    "MoveAnswers": {
        "touch_id": "first_polygon_id", "touch_low": "low", "touch_high": "high", "touch_has_edge": "first_has_edge",
        "touch_ring": "first_ring", "touch_edge": "first_edge", "touch_normal_x": "first_normal_x",
        "touch_normal_y": "first_normal_y",
    },
    "SlideAnswers": {"legs": "counts", "leg_x": "from_x", "leg_y": "from_y", "leg_dx": "dx", "leg_dy": "dy"},
}  # fmt: skip

# Columns that may be absent, and then are empty: each is absent where its leader, one of them, is.
_EMPTY_GROUPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "CastAnswers": (("reflection_x", "reflection_y"), ("passed",), ("soft_length",)),
    "LocateAnswers": (("is_body",),),
    "OverlapAnswers": (("is_body",), ("touching",), ("edge_counts",)),
    "DistanceAnswers": (
        ("is_body",),
        ("distance", "point_x", "point_y", "mover_point_x", "mover_point_y", "has_edge", "ring", "edge"),
    ),
    "ContactAnswers": (("is_body",), ("fixed_split_x", "fixed_split_y", "mover_split_x", "mover_split_y")),
    "SweepAnswers": (("safe_x", "safe_y"),),
    "FanAnswers": (("is_body",),),
    "MoveAnswers": (
        ("edge_counts",), ("quiet_radius",),
        ("touches", "touch_id", "touch_low", "touch_high", "touch_has_edge", "touch_ring", "touch_edge",
         "touch_normal_x", "touch_normal_y"),
    ),
}  # fmt: skip
# Columns that may be absent, and then are 0 in each row.
_ZERO_GROUPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "CastAnswers": (
        ("is_body",),
        ("point_x", "point_y", "normal_x", "normal_y"),
        ("feature", "ring", "edge"),
        ("exit_fraction", "has_exit_edge", "exit_ring", "exit_edge", "exit_normal_x", "exit_normal_y"),
    ),
    "SweepAnswers": (("is_body",),),
    "ArcAnswers": (("is_body",),),
    "SlideAnswers": (("is_body",),),
    "AreaAnswers": (("is_body",),),
    "MoveAnswers": (("touch_has_edge", "touch_ring", "touch_edge", "touch_normal_x", "touch_normal_y"),),
}
# Entries of a contact point, not of a row, and their names in the second point of a row.
_POINT_COLUMNS = ("point_x", "point_y", "point_depth", "polygon_feature", "mover_feature")


def _table(message: str, enum: Any, unspecified: str | None) -> bytes:
    """The numbers of carom.h by those of the messages; 255 where a server sends none."""
    result = bytearray(b"\xff" * 256)
    for name, number in ENUMS[message].items():
        own = unspecified if name == "UNSPECIFIED" else name
        if own is not None:
            result[number] = enum[own]
    return bytes(result)


_ENUM_TABLES = {
    "feature": _table("Feature", enums.Feature, "NONE"),
    "location": _table("Location", enums.Location, None),
    "kind": _table("ContactKind", enums.ContactKind, None),
}
_PIECE_KINDS = _table("AreaPieceKind", enums.AreaPieceKind, None)
_NUMBER_OF_COLUMN = {name: number for number, name in enumerate(ITEM_COLUMNS)}


_ITEM, _ENTRY, _EDGE, _UNCLEAR, _LIST, _WORD = range(6)
_LEVELS = {"item": _ITEM, "entry": _ENTRY, "edge": _EDGE, "unclear": _UNCLEAR, "list": _LIST, "word": _WORD}
_DTYPES = {"d": wire.DOUBLE, "Q": wire.WORD}


class _Spec:
    """How a column of answers is read."""

    __slots__ = ("code", "dtype", "leader", "level", "number", "point", "table", "zero")

    def __init__(self, number: int, code: str, level: str, table: bytes | None) -> None:
        self.number = number  # of the field
        self.code = code
        self.level = _LEVELS[level]
        self.dtype = _DTYPES.get(code)  # of entries of a fixed size; None: varints
        self.table = table  # the numbers of carom.h, for an enumeration
        self.point = 0  # 1 or 2: of the first or the second point of a contact
        self.leader: _Spec | None = None  # this column may be absent where that one is
        self.zero = False  # whether an absent column is 0 in each row, not empty


class Form:
    """How the answers of a kind are read."""

    __slots__ = ("counts", "errors", "key", "kind", "message", "rows", "specs")

    def __init__(self, kind: Kind) -> None:
        field = messages.table("GroupAnswer").by_name[kind.name]
        self.kind = kind
        self.key = field.number
        self.message = field.type
        fields, names = messages.table(field.type).by_name, FIELDS.get(field.type, {})
        self.specs: dict[str, _Spec] = {}
        for column in kind.answers.columns:
            path = column.path
            second = path.startswith("second_")
            found = fields.get(names.get(path, path.removeprefix("second_")))
            if found is not None:
                level, table = kind.answers.rows[path].level, _ENUM_TABLES.get(path)
                if field.type == "AreaAnswers" and path == "kind":
                    table = _PIECE_KINDS
                spec = self.specs[path] = _Spec(found.number, column.code, level, table)
                if second or (field.type == "ContactAnswers" and path in _POINT_COLUMNS):
                    spec.point = 1 + second
        for groups, zero in ((_EMPTY_GROUPS, False), (_ZERO_GROUPS, True)):
            for group in groups.get(field.type, ()):
                for path in group:
                    spec = self.specs[path]
                    spec.leader, spec.zero = self.specs[group[0]], zero
        self.errors = fields["errors"].number
        self.counts = self.specs.get("legs") or self.specs.get("counts")
        # The column whose length is the number of entries.
        rows = {"SlideAnswers": "leg_x", "BounceAnswers": "ax", "RayBounceAnswers": "x"}
        self.rows = self.specs.get(rows.get(field.type, "polygon_id"))


FORMS = {kind.number: Form(kind) for kind in layout.KINDS}
_BY_ANY = {"CastAnswers", "SweepAnswers", "ArcAnswers"}  # whose counts have no entries in the mode ANY


class Columns:
    """The answers of one kind in a message, checked as a whole; `column` reads and checks one of them."""

    __slots__ = ("_data", "_errors", "_ranges", "form", "items", "rows", "texts")

    def __init__(self, form: Form, data: bytes, where: list[Range], items: int) -> None:
        if len(where) == 1:
            begin, end = where[0]
        else:  # none, or a message in pieces
            data = wire.joined(data, where)
            begin, end = 0, len(data)
        self.form = form
        self.items = items
        self._data = data
        self._ranges: Ranges = wire.scan(data, begin, end, messages.table(form.message).wires)
        self._errors: dict[str, NDArray[Any]] | None = None
        self.texts: dict[tuple[int, int], str] = {}  # the messages of errors of items, by column and fault
        self.rows = 0
        self._check()

    # --- What must fit ------------------------------------------------------------------------------

    def _misfit(self, path: str) -> InternalError:
        return InternalError("does not fit the question or the other columns", field=f"{self.form.kind.name}.{path}")

    def _check(self) -> None:
        """Checks the number of items, and that the counts are those of the rows."""
        form = self.form
        if form.rows is not None:
            self.rows = len(self._raw(form.rows.number)) // 8
        if form.message == "MoveAnswers":
            words = self._read(form.specs["clear"])
            clear = int(np.bitwise_count(words).sum())
            beyond = self.items % 64
            if len(words) != (self.items + 63) // 64 or (beyond and len(words) and int(words[-1]) >> beyond):
                raise self._misfit("clear")
            counts = self._read(form.specs["counts"])
            fits = len(counts) + clear == self.items
        elif form.message == "SeeAnswers":
            counts = self._read(form.specs["counts"])
            fits = len(counts) == self.items
            self.rows = self._bodies_seen(counts) if fits else 0
        elif form.counts is not None:
            counts = self._read(form.counts)
            fits = len(counts) == self.items
        else:
            item = form.specs.get("visible") or form.specs["x"]
            counts = EMPTY["I"]
            fits = self._length(item) == self.items
        # Counts of at most 255 do not overflow, and their own type is added faster than a wider one.
        total = int(counts.sum(dtype=np.uint32 if len(counts) < 1 << 24 and counts.max(initial=0) < 256 else np.uint64))
        if form.message in _BY_ANY and self.rows == 0:
            fits = fits and (not len(counts) or int(counts.max()) <= 1)
        else:
            fits = fits and (form.counts is None or total == self.rows)
        if not fits:
            raise self._misfit("counts" if form.counts is not None else "x")

    def _bodies_seen(self, counts: NDArray[Any]) -> int:
        """Checks the bits of items against their counts, and returns the number of all of them."""
        words = self._read(self.form.specs["seen"])
        width, rest = divmod(len(words), max(self.items, 1))
        if rest:
            raise self._misfit("seen")
        bits = np.bitwise_count(words).reshape(self.items, width).sum(axis=1, dtype=np.uint64)
        if not np.array_equal(bits, counts):
            raise self._misfit("seen")
        return int(bits.sum())

    def _length(self, spec: _Spec) -> int:
        raw = self._raw(spec.number)
        return wire.count_of(raw) if spec.dtype is None else len(raw) // 8

    # --- Columns ------------------------------------------------------------------------------------

    def _raw(self, number: int) -> bytes:
        where = self._ranges.get(number)
        if where is None:
            return b""
        if len(where) == 1:
            begin, end = where[0]
            return self._data[begin:end]
        return wire.joined(self._data, where)

    def _read(self, spec: _Spec) -> NDArray[Any]:
        raw = self._raw(spec.number)
        if not raw:
            return EMPTY[spec.code]
        dtype = spec.dtype
        if dtype is not None:
            return wire.fixed_column(raw, dtype)
        if spec.code == "I":
            values = wire.integers(raw)
            values.setflags(write=False)
            return values
        return wire.flags(raw) if spec.table is None else wire.mapped(raw, spec.table)

    def column(self, path: str) -> NDArray[Any]:
        """Returns a column of carom.h. Raises InternalError if it does not fit the others."""
        spec = self.form.specs.get(path)
        if spec is None:
            return self._error_columns()[path]
        if spec.point:
            return self._points(path, spec)
        values = self._read(spec)
        level = spec.level
        expected = self.rows if level == _ENTRY else self.items if level == _ITEM else self._expected(level)
        if len(values) == expected or level in (_LIST, _WORD):
            return values
        leader = spec.leader
        if len(values) or leader is None or self._raw(leader.number):
            raise self._misfit(path)
        if spec.zero and self._is_asked(level):
            values = np.zeros(expected, values.dtype)
            values.flags.writeable = False
        return values

    def _expected(self, level: int) -> int:
        """The number of entries of a column that are neither of items nor of rows."""
        if level == _UNCLEAR:
            return self._length(self.form.specs["counts"])
        if level == _EDGE:
            return int(self._read(self.form.specs["edge_counts"]).sum(dtype=np.uint64))
        return 0

    def _is_asked(self, level: int) -> bool:
        """Whether an absent column has rows: that of a touch has none unless the moves are sweeps."""
        return level != _UNCLEAR or bool(self._raw(self.form.specs["touches"].number))

    def _points(self, path: str, spec: _Spec) -> NDArray[Any]:
        """The first, or the second, contact point of each row, from a column with an entry for each point."""
        counts = self._read(self.form.specs["point_counts"])
        values = self._read(spec)
        ends = np.cumsum(counts, dtype=np.int64)
        ok = len(counts) == self.rows and bool(((counts == 1) | (counts == 2)).all())
        if not ok or len(values) != (int(ends[-1]) if len(ends) else 0):
            raise self._misfit(path)
        if spec.point == 1:
            result: NDArray[Any] = values[ends - counts]
        else:
            result = np.zeros(self.rows, values.dtype)
            both = counts == 2
            result[both] = values[ends[both] - 1]
        result.flags.writeable = False
        return result

    # --- Errors of items ----------------------------------------------------------------------------

    def _error_columns(self) -> dict[str, NDArray[Any]]:
        if self._errors is None:
            indices: list[int] = []
            columns: list[int] = []
            faults: list[int] = []
            for begin, end in self._ranges.get(self.form.errors, ()):
                error = messages.decode("ItemError", self._data[begin:end])
                number = _NUMBER_OF_COLUMN.get(error["field"])
                ascends = not indices or indices[-1] < error["index"]
                if number is None or not ascends or error["index"] >= self.items:
                    raise self._misfit("errors")
                # A fault that a later server may send counts as NOT_ACCEPTED, which is 0 in carom.h.
                fault = error["fault"] - 1 if 0 < error["fault"] < len(ENUMS["ItemFault"]) else 0
                indices.append(error["index"])
                columns.append(number)
                faults.append(fault)
                self.texts[number, fault] = error["message"]
            self._errors = {
                "error_index": np.array(indices, np.uint32),
                "error_column": np.array(columns, np.uint8),
                "error_fault": np.array(faults, np.uint8),
            }
            for values in self._errors.values():
                values.setflags(write=False)
        return self._errors

    def describe(self, column: int, fault: int) -> tuple[str, str]:
        """Returns the name of the column of an item in error, and what is wrong."""
        self._error_columns()
        return ITEM_COLUMNS[column], self.texts.get((column, fault), "")

    def all(self, of: Layout) -> dict[str, NDArray[Any]]:
        """Reads every column."""
        return {path: self.column(path) for path in of.index}
