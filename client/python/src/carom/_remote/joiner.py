# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How do the messages by which a server sends a scene become `Polygons`?

A polygon that is larger than a message arrives in pieces: the first ring of a piece continues the last ring of the
piece before it.
"""

from __future__ import annotations

import numpy as np

from ..errors import InternalError
from ..polygons import Polygons
from . import messages, wire
from .wire import Range, Ranges

_POLYGON = messages.table("Polygon")
_RING = messages.table("Ring")
_ID, _RINGS, _RULE, _SOLIDITY, _CATEGORY, _DATA = range(1, 7)


class Joiner:
    """Polygons that arrive one after the other."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._rules: list[int] = []
        self._solidities: list[int] = []
        self._categories: list[int] = []
        self._data: list[bytes] = []
        self._counts: list[int] = []
        self._sizes: list[int] = []
        self._open: list[int] = []
        self._x: list[bytes] = []
        self._y: list[bytes] = []
        self._continues = False  # whether the next polygon is a piece of the last one

    def add(self, data: bytes, where: list[Range], continues: bool) -> None:
        """Takes the polygons of one message. `continues`: the next message continues the last one of them."""
        if not where and (continues or self._continues):
            raise InternalError("the server sent a piece of a polygon without the next one")
        for begin, end in where:
            found = wire.scan(data, begin, end, _POLYGON.wires)
            if self._continues:
                if wire.last_number(data, found, _ID) != self._ids[-1] or not self._counts[-1]:
                    raise InternalError("the server sent a piece of another polygon")
            else:
                self._begin(data, found)
            self._rings(data, found)
            self._continues = False
        self._continues = continues

    def _begin(self, data: bytes, found: Ranges) -> None:
        self._ids.append(wire.last_number(data, found, _ID))
        self._rules.append(min(wire.last_number(data, found, _RULE), 255))
        self._solidities.append(min(wire.last_number(data, found, _SOLIDITY), 255))
        category = wire.last_bytes(data, found, _CATEGORY)
        self._categories.append(int.from_bytes(category, "little") if category else 1)
        self._data.append(wire.last_bytes(data, found, _DATA))
        self._counts.append(0)

    def _rings(self, data: bytes, found: Ranges) -> None:
        for number, (begin, end) in enumerate(found.get(_RINGS, ())):
            ring = wire.scan(data, begin, end, _RING.wires)
            x, y = (wire.joined(data, ring.get(field, [])) for field in (1, 2))
            if len(x) != len(y) or len(x) % 8:
                raise InternalError("the server sent a ring with columns of unequal length")
            self._x.append(x)
            self._y.append(y)
            if self._continues and number == 0:
                self._sizes[-1] += len(x) // 8
            else:
                self._counts[-1] += 1
                self._sizes.append(len(x) // 8)
                self._open.append(int(wire.last_number(data, ring, 3) != 0))

    def finish(self) -> Polygons:
        """Returns the polygons."""
        if self._continues or not all(self._sizes) or not all(self._counts):
            raise InternalError("the server sent a polygon without its end, or a ring without vertices")
        made = Polygons([])
        made.id = np.array(self._ids, np.uint64)
        made.fill_rule = np.array(self._rules, np.uint8)
        made.solidity = np.array(self._solidities, np.uint8)
        made.category = np.array(self._categories, np.uint64)
        made.ring_count = np.array(self._counts, np.uint32)
        made.ring_size = np.array(self._sizes, np.uint32)
        made.open = np.array(self._open, np.uint8)
        made.x, made.y = (wire.fixed_column(b"".join(parts), wire.DOUBLE) for parts in (self._x, self._y))
        made.user_data_size = np.array([len(each) for each in self._data], np.uint32)
        made.user_data = np.frombuffer(b"".join(self._data), np.uint8)
        return made
