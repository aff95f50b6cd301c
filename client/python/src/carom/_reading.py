# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""The polygons of a scene as columns."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
from numpy.typing import NDArray

from ._library import Handle, Status, library
from .errors import CaromError
from .polygons import Polygons

_POLYGON = struct.Struct("<IIIIQQQQQ")
_RING = struct.Struct("<IIQQQQQQ")


def _points(data: int, length: int, stride: int) -> NDArray[np.float64]:
    memory = (ctypes.c_double * ((length - 1) * stride + 1)).from_address(data)
    return np.array(np.ctypeslib.as_array(memory)[::stride])


def read_polygons(scene: Handle) -> Polygons:
    """Returns the polygons of a scene, in ascending order of their ids."""
    core, status = library(), Status()
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    polygon_of = core.function("carom_scene_polygon", ctypes.c_uint32, pointer, size, pointer, pointer)
    ring_of = core.function("carom_scene_ring", ctypes.c_uint32, pointer, size, size, pointer, pointer)
    count = core.function("carom_scene_polygon_count", size, pointer)(scene.address)
    polygon, ring = (ctypes.create_string_buffer(made.size) for made in (_POLYGON, _RING))
    columns: dict[str, list[int]] = {name: [] for name in ("id", "category", "fill_rule", "solidity", "ring_count")}
    sizes, opens, xs, ys = [], [], [np.empty(0)], [np.empty(0)]
    data: list[bytes] = []

    def check(failed: int) -> None:
        if failed:
            error: CaromError = status.error()
            raise error

    for index in range(count):
        struct.pack_into("<I", polygon, 0, _POLYGON.size)
        check(polygon_of(scene.address, index, ctypes.addressof(polygon), status.address))
        _, fill_rule, solidity, _, id, category, rings, bytes_count, bytes_at = _POLYGON.unpack(polygon)
        values = (id, category, fill_rule, solidity, rings)
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
        data.append(ctypes.string_at(bytes_at, bytes_count) if bytes_count else b"")
        for number in range(rings):
            struct.pack_into("<I", ring, 0, _RING.size)
            check(ring_of(scene.address, index, number, ctypes.addressof(ring), status.address))
            _, is_open, x, length, x_stride, y, _, y_stride = _RING.unpack(ring)
            sizes.append(length)
            opens.append(is_open)
            xs.append(_points(x, length, x_stride or 1))
            ys.append(_points(y, length, y_stride or 1))
    made = Polygons([])
    made.id = np.array(columns["id"], np.uint64)
    made.category = np.array(columns["category"], np.uint64)
    made.fill_rule = np.array(columns["fill_rule"], np.uint8)
    made.solidity = np.array(columns["solidity"], np.uint8)
    made.ring_count = np.array(columns["ring_count"], np.uint32)
    made.ring_size = np.array(sizes, np.uint32)
    made.open = np.array(opens, np.uint8)
    made.x, made.y = np.concatenate(xs), np.concatenate(ys)
    made.user_data_size = np.array([len(each) for each in data], np.uint32)
    made.user_data = np.frombuffer(b"".join(data), np.uint8)
    return made
