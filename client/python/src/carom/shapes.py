# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes that move, described about their reference point (0, 0)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import column, number, refuse
from .polygons import Polygons, PolygonsLike

if TYPE_CHECKING:
    from ._library import Handle

ShapesLike: TypeAlias = "Shapes | PolygonsLike"


class Shapes:
    """An immutable list of shapes: first polygons, then capsules, which are segments with a radius.

    `disc(radius)`, `capsule(...)` and `box(width, height)` make lists of one kind of shape; `+` joins lists.
    """

    __slots__ = ("_handle", "_lock", "ax", "ay", "bx", "by", "polygons", "radius")

    def __init__(
        self,
        polygons: PolygonsLike = (),
        *,
        ax: ArrayLike = (),
        ay: ArrayLike = (),
        bx: ArrayLike = (),
        by: ArrayLike = (),
        radius: ArrayLike = (),
    ) -> None:
        self.polygons = polygons if isinstance(polygons, Polygons) else Polygons(polygons)
        columns = {
            name: np.atleast_1d(column(value, "d", name))
            for name, value in (("ax", ax), ("ay", ay), ("bx", bx), ("by", by), ("radius", radius))
        }
        count = max(len(values) for values in columns.values())
        for name, values in columns.items():
            if len(values) not in (1, count):
                raise refuse(name, f"has {len(values)} entries, where there are {count} capsules")
            setattr(self, name, np.full(count, values[0]) if len(values) == 1 else values)
        self._lock = threading.Lock()
        self._handle: Handle | None = None

    ax: NDArray[np.float64]
    ay: NDArray[np.float64]
    bx: NDArray[np.float64]
    by: NDArray[np.float64]
    radius: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.polygons) + len(self.radius)

    def __add__(self, other: Shapes) -> Shapes:
        if len(self.radius) and len(other.polygons):
            raise refuse("shapes", "must have polygons before capsules")
        polygons = [self.polygons.rings(i) for i in range(len(self.polygons))]
        polygons += [other.polygons.rings(i) for i in range(len(other.polygons))]
        names = ("ax", "ay", "bx", "by", "radius")
        return Shapes(polygons, **{n: np.concatenate((getattr(self, n), getattr(other, n))) for n in names})

    def __repr__(self) -> str:
        return f"<{len(self.polygons)} polygons and {len(self.radius)} capsules>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self.polygons, self.ax, self.ay, self.bx, self.by, self.radius))


def _rebuild(polygons: Polygons, *columns: NDArray[np.float64]) -> Shapes:
    return Shapes(polygons, **dict(zip(("ax", "ay", "bx", "by", "radius"), columns, strict=True)))


def disc(radius: ArrayLike) -> Shapes:
    """Discs with these radii, around their reference points."""
    return Shapes(ax=0.0, ay=0.0, bx=0.0, by=0.0, radius=radius)


def capsule(ax: ArrayLike, ay: ArrayLike, bx: ArrayLike, by: ArrayLike, radius: ArrayLike) -> Shapes:
    """Capsules: all points within `radius` of the segments from a to b."""
    return Shapes(ax=ax, ay=ay, bx=bx, by=by, radius=radius)


def box(width: float, height: float) -> Shapes:
    """A box around its reference point."""
    x, y = number(width, "width") / 2, number(height, "height") / 2
    return Shapes([[(-x, -y), (x, -y), (x, y), (-x, y)]])


def as_shapes(value: ShapesLike) -> Shapes:
    """Shapes from what `Polygons` accepts; shapes as they are."""
    return value if isinstance(value, Shapes) else Shapes(value)
