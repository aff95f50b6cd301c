# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Polygons as columns, from what people have: lists, arrays with offsets, GeoJSON, shapely.

Polygons([[(0, 0), (4, 0), (4, 3)]])                      one list of points a polygon
Polygons([[outer, hole]])                                 or one list of rings a polygon
Polygons(points, offsets=[0, 3, 7])                       an array (n, 2), polygon i at offsets[i]
Polygons({"type": "FeatureCollection", ...})              GeoJSON
Polygons([shapely.box(0, 0, 1, 1)])                       anything with a `__geo_interface__`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import column, refuse
from ._generated.enums import FillRule, Solidity

PolygonsLike: TypeAlias = "Polygons | Mapping[str, Any] | Iterable[Any] | NDArray[Any]"
_Ring: TypeAlias = "tuple[NDArray[np.float64], bool]"


@dataclass
class _Rings:
    """The rings that are read, polygon after polygon."""

    parts: list[NDArray[np.float64]] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    ids: list[int | None] = field(default_factory=list)

    def add(self, rings: Sequence[_Ring], id: int | None) -> None:
        for points, is_open in rings:
            self.parts.append(points)
            self.sizes.append(len(points))
            self.open.append(is_open)
        self.counts.append(len(rings))
        self.ids.append(id)


def _points(value: object, path: str) -> NDArray[np.float64]:
    try:
        points = np.asarray(value, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise refuse(path, f"must be points (x, y): {error}") from None
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise refuse(path, f"has the shape {points.shape}; points (x, y), of the shape (n, 2), are accepted")
    return points[:, :2]


def _depth(value: object) -> int:
    """The number of nested sequences, down to the first number; at most 4."""
    depth = 0
    while (
        depth < 4
        and not isinstance(value, str | bytes | Mapping | np.generic)
        and (isinstance(value, np.ndarray) or hasattr(value, "__getitem__"))
    ):
        if isinstance(value, np.ndarray):
            return depth + value.ndim
        depth += 1
        if not len(value):  # type: ignore[arg-type]
            break
        value = value[0]
    return depth


def _list(value: object, path: str) -> Any:
    """An array of GeoJSON, which is a sequence."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
        raise refuse(path, f"is {type(value).__name__}; an array is accepted")
    return value


# The geometries of GeoJSON (RFC 7946): how deep the points are, and whether rings are open chains.
_GEOMETRIES = {
    "Polygon": (1, False),
    "MultiPolygon": (2, False),
    "LineString": (0, True),
    "LinearRing": (0, False),
    "MultiLineString": (1, True),
}


def _geometry(rings: _Rings, value: object, path: str, id: int | None) -> None:
    kind = value.get("type") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(kind, str) or path.count(".geometr") > 16:
        raise refuse(path, f"is {type(value).__name__}; an object of GeoJSON, nested at most 16 deep, is accepted")
    if kind == "FeatureCollection":
        for i, feature in enumerate(_list(value.get("features", ()), f"{path}.features")):
            _geometry(rings, feature, f"{path}.features[{i}]", None)
    elif kind == "Feature":
        own = value.get("id")
        own = own if isinstance(own, int) and not isinstance(own, bool) and 0 <= own < 2**64 else None
        if value.get("geometry") is not None:
            _geometry(rings, value["geometry"], f"{path}.geometry", own)
    elif kind == "GeometryCollection":
        for i, geometry in enumerate(_list(value.get("geometries", ()), f"{path}.geometries")):
            _geometry(rings, geometry, f"{path}.geometries[{i}]", None)
    elif kind in _GEOMETRIES:
        depth, is_open = _GEOMETRIES[kind]
        coordinates = _list(value.get("coordinates", ()), f"{path}.coordinates")
        polygons = [coordinates] if depth == 1 and not is_open else coordinates
        if depth == 0:
            polygons = [[coordinates]]
        elif is_open:
            polygons = [[line] for line in coordinates]
        for i, polygon in enumerate(polygons):
            place = f"{path}.coordinates[{i}]" if depth == 2 else f"{path}.coordinates"
            made = [
                (_points(ring, f"{place}[{j}]"), is_open)
                for j, ring in enumerate(_list(polygon, place))
                if len(_list(ring, f"{place}[{j}]"))
            ]
            if made:
                rings.add(made, id if len(polygons) == 1 else None)
    else:
        raise refuse(path, f"has the type {kind!r}; polygons and lines of GeoJSON are accepted")


def _one(rings: _Rings, value: object, path: str) -> None:
    interface = getattr(value, "__geo_interface__", None)
    if interface is not None:
        _geometry(rings, interface, path, None)
    elif isinstance(value, Mapping):
        _geometry(rings, value, path, None)
    else:
        depth = _depth(value)
        if depth == 2:
            rings.add([(_points(value, path), False)], None)
        elif depth == 3:
            parts: Any = value
            rings.add([(_points(ring, f"{path}[{i}]"), False) for i, ring in enumerate(parts)], None)
        else:
            raise refuse(path, "must be a list of points (x, y), or of rings of points")


class Polygons:
    """An immutable list of polygons, each with an id, rings, a category and bytes of user data.

    ids: one a polygon, different; those of GeoJSON features, or 0, 1, 2 and so on, if absent
    categories: bits that are compared with the masks of questions; 1 if absent; one for all, or one a polygon
    solidity: "boundary" makes hollow polygons, walls without an inside; for all, or one a polygon
    fill_rule: "even_odd" or "non_zero"; for all, or one a polygon
    open: whether rings are open chains; lines of GeoJSON are
    user_data: bytes of each polygon, which scenes keep and never read

    Raises InvalidArgumentError that names the place. Not checked here, but by the scene: NaN and limits.
    """

    __slots__ = (
        "category", "fill_rule", "id", "open", "ring_count", "ring_size", "solidity", "user_data",
        "user_data_size", "x", "y",
    )  # fmt: skip

    def __init__(
        self,
        data: PolygonsLike,
        *,
        offsets: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        categories: ArrayLike | None = None,
        solidity: Solidity | Literal["solid", "boundary"] | ArrayLike | None = None,
        fill_rule: FillRule | Literal["even_odd", "non_zero"] | ArrayLike | None = None,
        open: bool | ArrayLike | None = None,
        user_data: Sequence[bytes] | None = None,
    ) -> None:
        if isinstance(data, Polygons):
            for name in self.__slots__:
                setattr(self, name, getattr(data, name))
        elif offsets is not None:
            self._from_offsets(data, offsets)
        else:
            self._from_geometries(data)
        count = len(self)
        if ids is not None:
            self.id = _each(ids, "Q", "ids", count)
        if categories is not None:
            self.category = _each(categories, "Q", "categories", count)
        if solidity is not None:
            self.solidity = _each(_named(solidity, Solidity, "solidity"), "B", "solidity", count)
        if fill_rule is not None:
            self.fill_rule = _each(_named(fill_rule, FillRule, "fill_rule"), "B", "fill_rule", count)
        if open is not None:
            rings = len(self.ring_size)
            self.open = _each(open, "B", "open", rings)
            if solidity is None:  # open chains have no inside
                self.solidity = np.full(count, Solidity.BOUNDARY if self.open.any() else 0, np.uint8)
        if user_data is not None:
            if isinstance(user_data, bytes) or not all(isinstance(each, bytes) for each in user_data):
                raise refuse("user_data", "must be a list of bytes, one a polygon")
            if len(user_data) != count:
                raise refuse("user_data", f"has {len(user_data)} entries, where there are {count} polygons")
            self.user_data_size = np.array([len(each) for each in user_data], np.uint32)
            self.user_data = np.frombuffer(b"".join(user_data), np.uint8)

    def _blank(self, count: int) -> None:
        self.id = np.arange(count, dtype=np.uint64)
        self.category = np.empty(0, np.uint64)
        self.open = np.empty(0, np.uint8)
        self.solidity = np.empty(0, np.uint8)
        self.fill_rule = np.empty(0, np.uint8)
        self.user_data_size = np.empty(0, np.uint32)
        self.user_data = np.empty(0, np.uint8)

    def _from_offsets(self, data: object, offsets: ArrayLike) -> None:
        points = _points(data, "polygons")
        ends = np.atleast_1d(column(offsets, "Q", "offsets")).astype(np.int64)
        if len(ends) < 1 or ends[0] != 0 or ends[-1] != len(points) or (np.diff(ends) < 1).any():
            raise refuse("offsets", f"must ascend from 0 to {len(points)}, the number of points")
        self._blank(len(ends) - 1)
        self.x, self.y = points[:, 0], points[:, 1]
        self.ring_size = np.diff(ends).astype(np.uint32)
        self.ring_count = np.ones(len(ends) - 1, np.uint32)

    def _from_geometries(self, data: Any) -> None:
        rings = _Rings()
        interface = getattr(data, "__geo_interface__", None)
        if interface is not None or isinstance(data, Mapping):
            _geometry(rings, interface if interface is not None else data, "polygons", None)
        elif isinstance(data, str | bytes) or not isinstance(data, Iterable):
            raise refuse(
                "polygons",
                f"is {type(data).__name__}; a list of polygons, GeoJSON or shapely is accepted",
            )
        else:
            for i, each in enumerate(data):
                _one(rings, each, f"polygons[{i}]")
        self._blank(len(rings.counts))
        points = np.concatenate(rings.parts) if rings.parts else np.empty((0, 2))
        self.x, self.y = points[:, 0], points[:, 1]
        self.ring_size = np.array(rings.sizes, np.uint32)
        self.ring_count = np.array(rings.counts, np.uint32)
        if any(rings.open):
            self.open = np.array(rings.open, np.uint8)
            firsts = np.cumsum(self.ring_count) - self.ring_count
            self.solidity = np.where(self.open[firsts] == 1, Solidity.BOUNDARY, Solidity.SOLID).astype(np.uint8)
        if rings.ids and all(id is not None for id in rings.ids):
            self.id = np.array(rings.ids, np.uint64)

    def __len__(self) -> int:
        return len(self.ring_count)

    def __repr__(self) -> str:
        return f"<{len(self)} polygons, {len(self.x)} vertices>"

    def rings(self, index: int) -> list[NDArray[np.float64]]:
        """The rings of a polygon, as arrays of points (n, 2)."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"polygon {index} of {len(self)}")
        index %= len(self)
        first = int(self.ring_count[:index].sum())
        ends = np.cumsum(self.ring_size, dtype=np.int64)
        result = []
        for ring in range(first, first + int(self.ring_count[index])):
            begin, end = int(ends[ring] - self.ring_size[ring]), int(ends[ring])
            result.append(np.stack((self.x[begin:end], self.y[begin:end]), axis=1))
        return result


def _each(value: object, code: str, name: str, count: int) -> NDArray[Any]:
    """A column with one entry for each of `count`."""
    array = column(value, code, name)
    if array.ndim == 0:
        return np.full(count, array)
    if len(array) != count:
        raise refuse(name, f"has {len(array)} entries, where there are {count}")
    return array


def _named(value: object, enum: Any, name: str) -> object:
    if isinstance(value, str):
        try:
            return int(enum[value.upper()])
        except KeyError:
            names = ", ".join(repr(each.name.lower()) for each in enum)
            raise refuse(name, f"is {value!r}; accepted are {names}") from None
    return value
