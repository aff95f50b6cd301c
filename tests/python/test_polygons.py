# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Do `Polygons` and `Shapes` read lists, arrays, GeoJSON and shapely, and refuse what is none of these?"""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import missing
from hypothesis import given, settings
from hypothesis import strategies as st

from carom import CaromError, InvalidArgumentError
from carom.local import Polygons, Scene, Shapes, box, capsule, disc

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]
HOLE = [(1, 1), (1, 2), (2, 2), (2, 1)]
TRIANGLE = [(9, 0), (10, 0), (9, 1)]


def rings_of(polygons: Polygons) -> list[list[list[list[float]]]]:
    """The rings of all polygons, as lists."""
    return [[ring.tolist() for ring in polygons.rings(i)] for i in range(len(polygons))]


def lists(*rings: Any) -> list[Any]:
    return [[[float(x), float(y)] for x, y in ring] for ring in rings]


# --- Forms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([], []),
        ([SQUARE, TRIANGLE], [lists(SQUARE), lists(TRIANGLE)]),
        ([[SQUARE, HOLE], [TRIANGLE]], [lists(SQUARE, HOLE), lists(TRIANGLE)]),
        ([[SQUARE, HOLE], TRIANGLE], [lists(SQUARE, HOLE), lists(TRIANGLE)]),
        ((tuple(each) for each in (SQUARE, TRIANGLE)), [lists(SQUARE), lists(TRIANGLE)]),
        ([np.array(SQUARE), np.array(TRIANGLE, np.float32)], [lists(SQUARE), lists(TRIANGLE)]),
        (np.array([SQUARE, HOLE]), [lists(SQUARE), lists(HOLE)]),
        (np.array([[SQUARE, HOLE]], ">f8"), [lists(SQUARE, HOLE)]),
        ([[(0, 0, 5), (1, 0, 5), (1, 1, 5)]], [lists([(0, 0), (1, 0), (1, 1)])]),
        ([[(3, 4)]], [lists([(3, 4)])]),
    ],
)
def test_lists_and_arrays(data: Any, expected: list[Any]) -> None:
    polygons = Polygons(data)
    assert rings_of(polygons) == expected
    assert polygons.id.tolist() == list(range(len(expected)))


def test_an_array_with_offsets() -> None:
    points = np.array(SQUARE + TRIANGLE, float)
    polygons = Polygons(points, offsets=[0, 4, 7])
    assert rings_of(polygons) == [lists(SQUARE), lists(TRIANGLE)]
    assert polygons.x.base is points, "points are not copied"
    assert repr(polygons) == "<2 polygons, 7 vertices>"
    assert len(Polygons(np.empty((0, 2)), offsets=[0])) == 0
    for wrong in ([0, 4], [0, 4, 4, 7], [0, 5, 4, 7], [1, 7], [], 7, [0, 7, 2**63 + 7], [0.0, 7.0], [[0, 7]]):
        with pytest.raises(InvalidArgumentError, match="offsets"):
            Polygons(points, offsets=wrong)
    with pytest.raises(InvalidArgumentError, match=r"polygons: has the shape \(3, 4\)"):
        Polygons(np.zeros((3, 4)), offsets=[0, 3])


def test_polygons_of_polygons_take_other_attributes() -> None:
    first = Polygons([SQUARE, TRIANGLE], ids=[5, 6], categories=2, user_data=[b"a", b"bc"])
    again = Polygons(first, categories=[4, 8])
    assert rings_of(again) == rings_of(first)
    assert again.id.tolist() == [5, 6]
    assert (first.category.tolist(), again.category.tolist()) == ([2, 2], [4, 8])
    assert again.user_data.tobytes() == b"abc"
    assert rings_of(pickle.loads(pickle.dumps(again))) == rings_of(first)
    assert again.rings(-1)[0].tolist() == lists(TRIANGLE)[0]
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"polygon {index} of 2"):
            again.rings(index)


def test_attributes() -> None:
    polygons = Polygons([SQUARE, TRIANGLE], solidity="boundary", fill_rule="non_zero", open=True)
    assert (polygons.solidity.tolist(), polygons.fill_rule.tolist(), polygons.open.tolist()) == ([2, 2], [2, 2], [1, 1])
    assert Polygons([SQUARE, TRIANGLE], open=[True, False]).solidity.tolist() == [2, 2]
    assert Polygons([SQUARE, TRIANGLE], open=False).solidity.tolist() == [0, 0]
    walls = Scene.from_polygons([[(0, 0), (4, 0)]], open=True)
    assert walls.cast([2, 2], [-1, 1], [2, 3], [1, 3]).counts.tolist() == [1, 0]
    large = [1, 2**64 - 1]
    assert Polygons([SQUARE, TRIANGLE], ids=large, categories=tuple(large)).id.tolist() == large


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ids": [1]}, "ids: has 1 entries, where there are 2"),
        ({"ids": [1, -1]}, "ids: has an entry outside of"),
        ({"ids": [1, 2**64]}, "ids: "),
        ({"ids": [1.0, 2.0]}, "ids: has the type float64"),
        ({"ids": ["a", "b"]}, "ids: has the type"),
        ({"categories": [[1, 2]]}, "categories: has 2 dimensions"),
        ({"solidity": "hollow"}, "solidity: is 'hollow'; accepted are 'solid', 'boundary'"),
        ({"fill_rule": [1, 256]}, "fill_rule: has an entry outside of"),
        ({"open": [1, 0, 1]}, "open: has 3 entries, where there are 2"),
        ({"user_data": [b""]}, "user_data: has 1 entries, where there are 2 polygons"),
        ({"user_data": ["a", "b"]}, "user_data: must be a list of bytes"),
        ({"user_data": b"ab"}, "user_data: must be a list of bytes"),
    ],
)
def test_attributes_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        Polygons([SQUARE, TRIANGLE], **options)


@pytest.mark.parametrize(
    ("data", "options", "path"),
    [
        ([SQUARE, [(0, 0), (np.nan, 0), (1, 1)]], {}, r"polygons\[1\].rings\[0\].x\[1\]"),
        ([[SQUARE, [(0, 0), (1, 2.0**54), (1, 1)]]], {}, r"polygons\[0\].rings\[1\].y\[1\]"),
        ([SQUARE, TRIANGLE], {"ids": [4, 4]}, r"polygons\[1\].id"),
        ([SQUARE], {"solidity": [3]}, r"polygons.*solidity"),
        ([SQUARE], {"open": True, "solidity": "solid"}, r"polygons\[0\]"),
        ([SQUARE], {"user_data": [b"x" * 4097]}, r"polygons\[0\].user_data"),
        ([[]], {}, r"polygons\[0\]"),
        ([[SQUARE, []]], {}, r"polygons\[0\]"),
        ([[(0, 0), (10**400, 0), (1, 1)]], {}, r"polygons\[0\]"),
        ([SQUARE], {"version": -1}, "version"),
        ([SQUARE], {"version": 2**64}, "version"),
        ([SQUARE], {"version": "1"}, "version"),
    ],
)
def test_what_a_scene_refuses_has_a_path(data: Any, options: dict[str, Any], path: str) -> None:
    with pytest.raises(CaromError, match=path):
        Scene.from_polygons(data, **options)


# --- GeoJSON and shapely ------------------------------------------------------------------------------


def feature(geometry: Any, **more: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": None, **more}


def geometry(kind: str, coordinates: Any) -> dict[str, Any]:
    return {"type": kind, "coordinates": coordinates}


def test_geojson() -> None:
    collection = {
        "type": "FeatureCollection",
        "features": [
            feature(geometry("Polygon", [SQUARE, HOLE]), id=30),
            feature(geometry("Polygon", [TRIANGLE]), id=2**64 - 1),
        ],
    }
    polygons = Polygons(json.loads(json.dumps(collection)))
    assert rings_of(polygons) == [lists(SQUARE, HOLE), lists(TRIANGLE)]
    assert polygons.id.tolist() == [30, 2**64 - 1]
    assert rings_of(Polygons(geometry("MultiPolygon", [[SQUARE, HOLE], [TRIANGLE]]))) == rings_of(polygons)
    line = Polygons(geometry("LineString", SQUARE))
    assert (rings_of(line), line.open.tolist(), line.solidity.tolist()) == ([lists(SQUARE)], [1], [2])
    lines = Polygons(geometry("MultiLineString", [SQUARE, TRIANGLE]))
    assert (rings_of(lines), lines.open.tolist()) == ([lists(SQUARE), lists(TRIANGLE)], [1, 1])
    both = Polygons({"type": "GeometryCollection", "geometries": [
        geometry("Polygon", [SQUARE]), geometry("LineString", TRIANGLE), geometry("Polygon", []),
    ]})  # fmt: skip
    assert (len(both), both.open.tolist(), both.solidity.tolist()) == (2, [0, 1], [1, 2])
    assert len(Polygons([geometry("Polygon", [SQUARE]), SQUARE, feature(geometry("MultiPolygon", [[HOLE]]))])) == 3
    assert len(Polygons(feature(None))) == 0
    mixed = [feature(geometry("Polygon", [SQUARE]), id=3), feature(geometry("Polygon", [TRIANGLE]), id="a")]
    assert Polygons({"type": "FeatureCollection", "features": mixed}).id.tolist() == [0, 1]
    assert Scene.from_polygons(both).locate(1, 1).polygon_id.tolist() == [0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "polygons: is dict"),
        ({"type": "Point", "coordinates": [1, 2]}, "polygons: has the type 'Point'"),
        ({"type": ["Polygon"]}, "polygons: is dict"),
        (feature({"type": "Circle"}), "polygons.geometry: has the type 'Circle'"),
        (feature(3), "polygons.geometry: is int"),
        ({"type": "FeatureCollection", "features": None}, "polygons.features: is NoneType"),
        ({"type": "FeatureCollection", "features": [3]}, r"polygons.features\[0\]: is int"),
        ({"type": "GeometryCollection", "geometries": "no"}, "polygons.geometries: is str"),
        (geometry("Polygon", 3), "polygons.coordinates: is int"),
        (geometry("Polygon", [3]), r"polygons.coordinates\[0\]: is int"),
        (geometry("Polygon", [[(0, 0), (1,)]]), r"polygons.coordinates\[0\]: must be points"),
        (geometry("Polygon", [["ab", "cd"]]), r"polygons.coordinates\[0\]: must be points"),
        (geometry("MultiPolygon", [SQUARE]), r"polygons.coordinates\[0\]"),
        ([feature(geometry("Polygon", SQUARE))], r"polygons\[0\].geometry.coordinates\[0\]"),
    ],
)
def test_geojson_that_is_refused(data: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        Polygons(data)


def test_nesting_without_an_end_is_refused() -> None:
    rings: list[Any] = []
    rings.append(rings)
    collection: dict[str, Any] = {"type": "GeometryCollection"}
    collection["geometries"] = [collection]
    for endless in (rings, [rings], collection, [collection]):
        with pytest.raises(InvalidArgumentError, match="polygons"):
            Polygons(endless)


def test_shapely() -> None:
    try:
        import shapely
    except ImportError:
        missing("shapely is not installed")
    ring = shapely.Polygon(SQUARE, [HOLE])
    polygons = Polygons([ring, shapely.box(9, 0, 10, 1), shapely.LineString([(0, 5), (9, 5)])])
    assert rings_of(polygons)[0] == lists([*SQUARE, SQUARE[0]], [*HOLE, HOLE[0]])
    assert polygons.open.tolist() == [0, 0, 0, 1]
    scene = Scene.from_polygons(polygons)
    assert scene.polygons().ring_size.tolist() == [4, 4, 4, 2], "the closing vertex is dropped"
    assert scene.locate([0.5, 1.5, 9.5], [0.5, 1.5, 0.5]).polygon_id.tolist() == [0, 1]
    assert len(Polygons(shapely.MultiPolygon([ring, shapely.box(9, 0, 10, 1)]))) == 2
    with pytest.raises(InvalidArgumentError, match=r"polygons\[0\]: has the type 'Point'"):
        Polygons([shapely.Point(1, 2)])


# --- Shapes --------------------------------------------------------------------------------------------


def test_shapes() -> None:
    shapes = box(2, 4) + disc([1, 2]) + capsule(0, 0, [1, 2], 0, 0.5)
    assert repr(shapes) == "<1 polygons and 4 capsules>"
    assert len(shapes) == 5
    assert shapes.radius.tolist() == [1, 2, 0.5, 0.5]
    assert rings_of(shapes.polygons) == [lists([(-1, -2), (1, -2), (1, 2), (-1, 2)])]
    assert (shapes.bx.tolist(), shapes.ax.tolist()) == ([0, 0, 1, 2], [0, 0, 0, 0])
    scene = Scene.from_polygons([SQUARE])
    found = scene.nearest(shapes, np.full(5, 10.0), 0, shape=np.arange(5))
    assert found.distance.tolist() == [5, 5, 4, 5.5, 5.5]
    with pytest.raises(InvalidArgumentError, match="shapes: must have polygons before capsules"):
        disc(1) + box(1, 1)
    with pytest.raises(InvalidArgumentError, match="bx: has 2 entries, where there are 3 capsules"):
        capsule(0, 0, [1, 2], [1, 2, 3], 1)
    for width, name in (("2", "width"), ([1, 2], "width"), (None, "width")):
        with pytest.raises(InvalidArgumentError, match=name):
            box(width, 1)  # type: ignore[arg-type]
    for wrong, path in (
        (disc(-1), r"capsules.radius\[0\]"),
        (disc([1, np.nan]), r"capsules.radius\[1\]"),
        (box(np.nan, 1), r"polygons\[0\]"),
        (Shapes([[(0, 0), (np.inf, 1)]]), r"polygons\[0\]"),
    ):
        with pytest.raises(InvalidArgumentError, match=path):
            scene.nearest(wrong, 0, 0)
    circle = [(np.cos(a), np.sin(a)) for a in np.linspace(0, 6, 4097)]
    with pytest.raises(CaromError, match="shapes"):
        scene.nearest([circle], 0, 0)


# --- Anything --------------------------------------------------------------------------------------------

words = st.sampled_from(["type", "coordinates", "features", "geometry", "geometries", "id", "Polygon", "MultiPolygon",
                         "FeatureCollection", "Feature", "GeometryCollection", "LineString", "x"])  # fmt: skip
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3) | words
junk = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(words, inner, max_size=4)
        | st.fixed_dictionaries({"type": words, "coordinates": inner, "features": inner, "geometries": inner})
    ),
    max_leaves=25,
)
numbers = st.integers(-3, 3) | st.floats(width=16) | st.just(2**60)
points = st.lists(st.tuples(numbers, numbers), max_size=4)


@given(junk | st.lists(points | st.lists(points, max_size=2), max_size=3))
@settings(max_examples=400)
def test_anything_is_a_scene_or_an_error_of_the_package(data: Any) -> None:
    try:
        scene = Scene.from_polygons(data)
    except CaromError as error:
        if not error.field:
            raise
        return
    assert np.isfinite(scene.polygons().x).all()
    assert (scene.locate(0.0, 0.0).counts <= len(scene)).all()
