# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does `carom.farm` refuse, and does it name the argument, the chunk and the items?"""

from __future__ import annotations

import pathlib
import sys
import types
from typing import Any

import numpy as np
import pytest
from farm_runs import ITEMS, assert_same, make_scene, points, reach, segments

import carom
from carom import Scene, farm


@pytest.fixture(scope="module")
def scene() -> Scene:
    return make_scene(1)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("by", {"columns": {**segments(), "by": np.zeros(3)}}),
        ("ax", {"columns": {name: [] for name in ("ax", "ay", "bx", "by")}}),
        ("by", {"columns": {name: [1.0] for name in ("ax", "ay", "bx")}}),
        ("columns", {"columns": {}}),
        ("columns", {"columns": [1.0]}),
        ("columns", {"columns": {1: [1.0]}}),
        ("az", {"columns": {**segments(), "az": np.zeros(ITEMS)}}),
        ("mask", {"columns": {**segments(), "mask": np.ones(ITEMS, np.uint64)}}),
        ("ax", {"columns": {**segments(), "ax": 1.0}}),
        ("ax", {"columns": {**segments(), "ax": ["a"] * ITEMS}}),
        ("ax", {"columns": {**segments(), "ax": [None] * ITEMS}}),
        ("ax", {"columns": {**segments(), "ax": np.zeros((ITEMS, 2))}}),
        ("scene", {"columns": {**segments(), "scene": np.zeros(ITEMS, int)}}),
        ("scene", {"scene": 7}),
        ("scene", {"scene": []}),
        ("scene[0]", {"scene": [7]}),
        ("scene", {"scene": "/nowhere/none.carom"}),
        ("mode", {"options": {"mode": "some"}}),
        ("colour", {"options": {"colour": 1}}),
        ("masks", {"options": {"masks": np.ones(ITEMS, np.uint64)}}),
        ("ax", {"options": {"ax": 1.0}}),
        ("fields", {"fields": None}),
        ("fields", {"dense": "fraction"}),
        ("fields", {"fields": ("fraction", "colour")}),
        ("fields", {"fields": ()}),
        ("dense", {"fields": None, "dense": "colour"}),
        ("question", {"question": "casts"}),
        ("question", {"question": 7}),
        ("question", {"question": "move"}),
        ("question", {"question": "body_contacts"}),
        ("question", {"question": "sees"}),
        ("chunk", {"chunk": 0}),
        ("chunk", {"chunk": -5}),
        ("chunk", {"chunk": 1.5}),
        ("processes", {"processes": -1}),
        ("attempts", {"attempts": 0}),
        ("in_flight", {"in_flight": 0}),
        ("send", {"send": "file"}),
        ("start_method", {"start_method": "fork"}),
        ("worker_timeout", {"worker_timeout": 0}),
        ("cache_bytes", {"cache_bytes": 0}),
        ("client", {"client": "tcp://127.0.0.1:1"}),
        ("lazy", {"lazy": True, "out": "x"}),
    ],
)
def test_arguments_are_refused_by_name(scene: Scene, field: str, change: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {
        "scene": scene, "question": "cast", "columns": segments(), "fields": "fraction", "processes": 0, **change,
    }  # fmt: skip
    with pytest.raises(carom.CaromError) as caught:
        farm.map_batches(**arguments)
    assert caught.value.field == field


def test_scenes_of_a_list_are_checked(scene: Scene) -> None:
    for numbers, field in (([0, 0, 2, 9], "scene[2]"), ([0, -1, 0, 0], "scene[1]"), ([0.0] * 4, "scene")):
        with pytest.raises(carom.InvalidArgumentError) as caught:
            farm.map_batches(
                [scene, scene], "locate", {**points(4), "scene": numbers}, fields="polygon_id", processes=0
            )
        assert caught.value.field == field
    placed = scene.with_bodies(carom.Bodies(carom.disc(1.0), [1.0], [1.0]))
    with pytest.raises(carom.InvalidArgumentError, match="scene: has bodies"):
        farm.map_batches(placed, "locate", points(4), fields="polygon_id", processes=0)


def test_a_function_that_workers_cannot_import_is_named(scene: Scene, monkeypatch: Any) -> None:
    module = types.ModuleType("only_here")
    exec("def double(scene, x, y):\n    return {'x': 2 * x}", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    assert_same(farm.map_batches(scene, module.double, points(), processes=0), {"x": 2 * points()["x"]})
    with pytest.raises(carom.InvalidArgumentError, match=r"question: cannot be loaded.*only_here.*chunk 0"):
        farm.map_batches(scene, module.double, points(), processes=1)


def test_rows_of_beams_need_one_number_of_beams(scene: Scene) -> None:
    columns = {**points(10), "angle": np.zeros(10), "beams": [4] * 7 + [5] * 3}
    settings: Any = {"options": {"fov": 1.0, "range": 9.0}, "processes": 0, "chunk": 3}
    with pytest.raises(carom.InvalidArgumentError, match=r"beams\[7\]: is 5, where item 0 has 4.*chunk 2"):
        farm.map_batches(scene, "fans", columns, dense="distances", **settings)
    assert len(farm.map_batches(scene, "fans", columns, fields="distances", **settings)["distances"]) == 43


def test_functions_that_cannot_be_pickled_are_refused(scene: Scene) -> None:
    import threading

    lock = threading.Lock()

    def waits(scene: Scene, x: Any, y: Any) -> dict[str, Any]:
        with lock:
            return {"x": x}

    with pytest.raises(carom.InvalidArgumentError, match="question: cannot be pickled"):
        farm.map_batches(scene, waits, points(), processes=2)
    with pytest.raises(carom.InvalidArgumentError, match="lock: cannot be pickled"):
        farm.map_batches(scene, reach, segments(), options={"lock": lock}, processes=2)


def test_a_bundle_that_is_replaced_is_noticed(scene: Scene, tmp_path: pathlib.Path) -> None:
    """A worker never answers from a file that differs from the one of the caller."""
    path = tmp_path / "map.carom"
    scene.save(path)
    batches = farm.iter_batches(path, "locate", points(), fields="polygon_id", chunk=100, processes=0)
    make_scene(2).save(path)
    with pytest.raises(carom.FailedPreconditionError, match=r"scene\[0\]: .*differs.*chunk 0, items 0 to 99"):
        next(batches)
