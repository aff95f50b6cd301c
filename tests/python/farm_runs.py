# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What do the tests of `carom.farm` run? Scenes and items from fixed seeds, and functions that workers import."""

from __future__ import annotations

import os
import pathlib
import signal
from typing import Any

import numpy as np

from carom import Scene

SEED = 20260817
ITEMS = 5000


def make_scene(seed: int) -> Scene:
    """Boxes, some of which overlap, in a square of 200."""
    corners = np.random.default_rng(seed).integers(0, 190, (150, 2))
    boxes = [[(x, y), (x + 9, y), (x + 9, y + 9), (x, y + 9)] for x, y in corners.tolist()]
    return Scene.from_polygons(boxes)


def segments(count: int = ITEMS) -> dict[str, Any]:
    """Segments in that square."""
    ends = np.random.default_rng(SEED).uniform(0, 200, (4, count))
    return dict(zip(("ax", "ay", "bx", "by"), ends, strict=True))


def points(count: int = ITEMS) -> dict[str, Any]:
    """Points in that square."""
    at = np.random.default_rng(SEED + 1).uniform(0, 200, (2, count))
    return {"x": at[0], "y": at[1]}


def assert_same(a: dict[str, Any], b: dict[str, Any]) -> None:
    """Equal names, types, shapes and bytes."""
    assert list(a) == list(b)
    for name, values in a.items():
        assert (values.dtype, values.shape) == (b[name].dtype, b[name].shape), name
        assert np.ascontiguousarray(values).tobytes() == np.ascontiguousarray(b[name]).tobytes(), name


# --- Functions --------------------------------------------------------------------------------------------------------


def reach(scene: Scene, ax: Any, ay: Any, bx: Any, by: Any, scale: float = 1.0) -> dict[str, Any]:
    """How far each segment reaches."""
    hits = scene.cast(ax, ay, bx, by, detail="fraction")
    return {"reach": scale * hits.dense("fraction", 1.0) * np.hypot(bx - ax, by - ay), "hit": hits.hit}


def near(scene: Scene, x: Any, y: Any) -> dict[str, Any]:
    """The polygons that contain points, as entries."""
    found = scene.locate(x, y)
    return {"counts": found.counts, "polygon": found.polygon_id}


def divide(scene: Scene, x: Any, y: Any) -> dict[str, Any]:
    """Raises an exception at an item with x above 1e9."""
    if (x > 1e9).any():
        raise ZeroDivisionError("no such place")
    return {"x": x}


def die_once(scene: Scene, x: Any, y: Any, folder: str = "") -> dict[str, Any]:
    """Kills its process at the item with x = 1e6, the first time."""
    if (x == 1e6).any() and not os.path.exists(f"{folder}/died"):
        pathlib.Path(folder, "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"x": x, "process": np.full(len(x), os.getpid())}


def die_always(scene: Scene, x: Any, y: Any) -> dict[str, Any]:
    """Ends its process at the item with x = 1e6."""
    if (x == 1e6).any():
        os._exit(7)
    return {"x": x}


def other_types(scene: Scene, x: Any, y: Any) -> dict[str, Any]:
    """Returns another type than before if the first item has x = 1e6."""
    return {"x": x.astype(np.float32) if x[0] == 1e6 else x}
