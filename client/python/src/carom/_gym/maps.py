# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Where can a robot be? Maps as scenes, with the places of each that a robot reaches from all others.

The places are points of a lattice over the bounds of the map, which a disc of the radius of the robot reaches from one
another along the lattice: the largest such set. Start and goal of an episode are two of its places, so every goal can
be reached, no robot starts in a closed room, and an episode starts without a search for free space.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._columns import refuse
from ..local import Scene
from ..polygons import Polygons
from .task import integer

MAX_PLACES = 1 << 18  # of a lattice, free or not
MAX_MAPS = 65536


@dataclasses.dataclass(frozen=True)
class Map:
    """A scene with its places, in the order of rows of a lattice."""

    scene: Scene
    x: NDArray[np.float64]  # [length]
    y: NDArray[np.float64]  # [length]

    def __len__(self) -> int:
        """The number of places."""
        return len(self.x)


def read_maps(maps: object, radius: float) -> list[Map]:
    """Makes maps of scenes, or of what `Polygons` accepts; `rooms()` if `maps` is None.

    Raises InvalidArgumentError with the path `maps[i]` for a map without two places of a robot of this radius.
    Cost: for each map some 0.5 microseconds for each place of its lattice, of which there are at most 2^18.
    """
    given: Any = rooms() if maps is None else maps
    if isinstance(given, Scene | Polygons | Mapping) or hasattr(given, "__geo_interface__"):
        given = [given]
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or not 1 <= len(given) <= MAX_MAPS:
        raise refuse("maps", f"must be a scene, or a list of 1 to {MAX_MAPS} scenes")
    made = []
    for index, each in enumerate(given):
        scene = each if isinstance(each, Scene) else Scene.from_polygons(each)
        x, y = _places(scene, radius)
        if len(x) < 2:
            raise refuse(f"maps[{index}]", f"has no free space for robots with the radius {radius:g}")
        made.append(Map(scene, x, y))
    return made


def _places(scene: Scene, radius: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The places of a map. Their distance is half of the radius, doubled until there are at most MAX_PLACES."""
    min_x, min_y, max_x, max_y = scene.bounds
    width, height = max_x - min_x, max_y - min_y
    nothing = np.empty(0)
    if not (width > 0 and height > 0):
        return nothing, nothing
    spacing = radius / 2
    while (width / spacing) * (height / spacing) > MAX_PLACES:
        spacing *= 2
    columns, rows = int(width // spacing), int(height // spacing)
    x = np.tile(min_x + spacing * (np.arange(columns) + 0.5), rows)
    y = np.repeat(min_y + spacing * (np.arange(rows) + 0.5), columns)
    free = scene.overlap_circles(x, y, radius, strict=True).counts == 0
    index = np.arange(columns * rows).reshape(rows, columns)
    a = np.concatenate((index[:, :-1].ravel(), index[:-1].ravel()))
    b = np.concatenate((index[:, 1:].ravel(), index[1:].ravel()))
    near = free[a] & free[b]
    a, b = a[near], b[near]
    open = scene.overlap_capsules(x[a], y[a], x[b], y[b], radius, strict=True).counts == 0
    kept = _largest_component(columns * rows, free, a[open], b[open])
    return x[kept], y[kept]


def _largest_component(
    count: int, free: NDArray[np.bool_], a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The free points of the largest component of the graph with the edges from a to b; the first of the largest ones.

    A label is the least point of a component that is known so far. Each round joins the components at both ends of
    each edge, so their number at least halves where it can, and there are O(log n) rounds.
    """
    label = np.arange(count)
    while True:
        one, other = label[a], label[b]
        if np.array_equal(one, other):
            break
        np.minimum.at(label, np.maximum(one, other), np.minimum(one, other))
        while not np.array_equal(label, shorter := label[label]):
            label = shorter
    points = np.flatnonzero(free)
    if not len(points):
        return points
    largest = int(np.bincount(label[points]).argmax())
    kept: NDArray[np.int64] = points[label[points] == largest]
    return kept


# --- The built-in map ---------------------------------------------------------------------------------------

_PER_UNIT = 16  # coordinates of rooms are multiples of 1/16, but for the corners of octagons, of 1/256
_ROOM, _HALF_WALL, _DOOR, _MARGIN = 8 * _PER_UNIT, 2, 24, 16


def _box(x0: int, y0: int, x1: int, y1: int) -> list[tuple[float, float]]:
    corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    return [(x / _PER_UNIT, y / _PER_UNIT) for x, y in corners]


def _octagon(x: int, y: int, radius: int) -> list[tuple[float, float]]:
    a, b = radius, radius * 7 / 16
    corners = ((a, b), (b, a), (-b, a), (-a, b), (-a, -b), (-b, -a), (b, -a), (a, -b))
    return [((x + u) / _PER_UNIT, (y + v) / _PER_UNIT) for u, v in corners]


def rooms(seed: int = 0, *, columns: int = 3, rows: int = 2) -> Polygons:
    """Returns a map of rooms, each 8 by 8, with a door of 1.5 to every room beside it, and with columns.

    seed: in [0, 2^63); other seeds place doors and columns elsewhere. The polygons have equal bits on every machine:
        they are made of integers, from the raw numbers of PCG64.
    columns, rows: the number of rooms in both directions, in [1, 64]

    The map spans [-1/8, 8 columns + 1/8] by [-1/8, 8 rows + 1/8], and walls are 1/4 thick.
    """
    columns, rows = integer("columns", columns, 1, 64), integer("rows", rows, 1, 64)
    raw = np.random.PCG64(integer("seed", seed, 0, 2**63 - 1))
    made: list[list[tuple[float, float]]] = []

    def below(limit: int) -> int:
        """A random integer in [0, limit)."""
        return (int(raw.random_raw()) >> 32) * limit >> 32

    def wall(begin: int, end: int, at: int, upright: bool) -> None:
        x0, y0, x1, y1 = begin, at - _HALF_WALL, end, at + _HALF_WALL
        made.append(_box(y0, x0, y1, x1) if upright else _box(x0, y0, x1, y1))

    for upright, across, along in ((True, columns, rows), (False, rows, columns)):
        for line in range(across + 1):
            at = line * _ROOM
            if line in (0, across):
                wall(-_HALF_WALL, along * _ROOM + _HALF_WALL, at, upright)
                continue
            begin = 0
            for room in range(along):
                door = room * _ROOM + _MARGIN + below(_ROOM - 2 * _MARGIN - _DOOR)
                wall(begin, door, at, upright)
                begin = door + _DOOR
            wall(begin, along * _ROOM, at, upright)
    for room in range(columns * rows):
        left, low = room % columns * _ROOM, room // columns * _ROOM
        for quarter in range(4):
            x = left + quarter % 2 * 64 + 24 + below(17)
            y = low + quarter // 2 * 64 + 24 + below(17)
            size, kind = 6 + below(9), below(4)  # half of the columns are left out
            if kind < 2:
                made.append(_octagon(x, y, size) if kind else _box(x - size, y - size, x + size, y + size))
    return Polygons(made)
