# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Bodies with their poses by tick: the same arguments for a history in this process and for a body set of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import column, refuse
from .shapes import Shapes, as_shapes

if TYPE_CHECKING:
    from .shapes import ShapesLike

MAX_TICK = 2**53
MAX_KEEP_TICKS = 256
_DEFAULT_KEEP_TICKS = 64
Columns = dict[str, "NDArray[Any] | None"]


def whole(name: str, value: object, least: int, most: int) -> int:
    """Returns an argument that is an integer in [least, most]."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise refuse(name, f"is {value!r}; accepted is [{least}, {most}]")
    return int(value)


class DefinedBodies(NamedTuple):
    """The bodies of a history: body i is shapes[shape[i]]."""

    shapes: Shapes
    columns: Columns  # `shape`, `category` and `owner`; None: not given
    keep_ticks: int

    def __len__(self) -> int:
        shape = self.columns["shape"]
        return len(self.shapes) if shape is None else len(shape)


def define(
    shapes: ShapesLike, shape: ArrayLike | None, category: ArrayLike | None, owner: ArrayLike | None,
    keep_ticks: int | None,
) -> DefinedBodies:  # fmt: skip
    """Returns the bodies of a history. Numbers count for all bodies beside the column `shape` or the list of shapes."""
    made = as_shapes(shapes)
    columns: Columns = {"shape": None if shape is None else np.atleast_1d(column(shape, "I", "shape"))}
    count = len(made) if columns["shape"] is None else len(columns["shape"])
    for name, value, code in (("category", category, "Q"), ("owner", owner, "I")):
        array = None if value is None else column(value, code, name)
        if array is not None and array.ndim == 0:
            array = np.full(count, array)
        if array is not None and len(array) != count:
            raise refuse(name, f"has {len(array)} entries; there are {count} bodies")
        columns[name] = array
    most = _DEFAULT_KEEP_TICKS if keep_ticks is None else whole("keep_ticks", keep_ticks, 1, MAX_KEEP_TICKS)
    return DefinedBodies(made, columns, most)


class Poses(NamedTuple):
    """The poses of all bodies at one tick."""

    tick: int
    numbers: Columns  # `x`, `y`, `c`, `s` and `angle`; None: not given
    bits: Columns  # `alive` and `teleported`, in words of 64 bits; None: not given


def _words(flags: ArrayLike | None, name: str, count: int) -> NDArray[np.uint64] | None:
    """One flag a body as bits: that of body i is bit i % 64 of word i / 64."""
    if flags is None:
        return None
    array = np.atleast_1d(column(flags, "B", name))
    if len(array) != count:
        raise refuse(name, f"has {len(array)} entries, where x has {count}")
    padded = np.zeros((count + 63) // 64 * 64, np.bool_)
    padded[:count] = array != 0
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)


def pose(
    tick: int, x: ArrayLike, y: ArrayLike, c: ArrayLike | None, s: ArrayLike | None, angle: ArrayLike | None,
    alive: ArrayLike | None, teleported: ArrayLike | None,
) -> Poses:  # fmt: skip
    """Returns the poses of a tick. The core, or the server, checks numbers and the number of bodies."""
    number = whole("tick", tick, 0, MAX_TICK)
    numbers: Columns = {}
    count = -1
    for name, value in (("x", x), ("y", y), ("c", c), ("s", s), ("angle", angle)):
        array = None if value is None else np.atleast_1d(column(value, "d", name))
        count = len(array) if array is not None and count < 0 else count
        if array is not None and len(array) != count:
            raise refuse(name, f"has {len(array)} entries, where x has {count}")
        numbers[name] = array
    for name in ("x", "y"):
        if numbers[name] is None:
            raise refuse(name, "is required")
    bits: Columns = {"alive": _words(alive, "alive", count), "teleported": _words(teleported, "teleported", count)}
    return Poses(number, numbers, bits)


def choose_rotation(value: object) -> int:
    """Returns the number of a `BodyRotation`; 0 for None, the default."""
    from ._generated.layout import CHOICES

    choices = CHOICES["carom_body_rotation"]
    if value is None:
        return 0
    if isinstance(value, str) and value in choices:
        return choices[value]
    if isinstance(value, int) and not isinstance(value, bool) and value in choices.values():
        return int(value)
    raise refuse("rotation", f"is {value!r}; accepted are {', '.join(map(repr, choices))}")
