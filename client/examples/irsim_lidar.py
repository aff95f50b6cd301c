#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does a robot of IR-SIM scan with Carom? `CaromLidar2D` takes the place of `irsim`'s Lidar2D.

    plug_in()                         # before irsim.make: sensors of the type lidar2d are CaromLidar2D
    env = irsim.make("world.yaml")

usage: irsim_lidar.py WORLD.yaml [STEPS]      prints the nearest range of the first robot at each step
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from irsim.util.random import rng
from irsim.util.util import transform_point_with_state
from irsim.world.sensors import sensor_factory
from irsim.world.sensors.lidar2d import Lidar2D

from carom.local import Bodies, Polygons, Scene


def lines(geometries: list[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the points of the outlines of geometries, the line of each point, and the geometry of each line.

    IR-SIM casts beams at outlines alone: its discs are polygons of 64 vertices, its maps are lines.
    """
    parts, owner = shapely.get_parts(geometries, return_index=True)
    areas = shapely.get_dimensions(parts) == 2
    parts[areas] = shapely.boundary(parts[areas])
    whole, of_part = shapely.get_parts(parts, return_index=True)
    points, of_line = shapely.get_coordinates(whole, return_index=True)
    return points, of_line, owner[of_part]


def edges(geometries: list[Any]) -> tuple[Polygons, np.ndarray]:
    """Returns the edges of outlines as open chains, and the geometry of each: what a scene finds most quickly."""
    points, of_line, owner = lines(geometries)
    first = np.flatnonzero(of_line[:-1] == of_line[1:])
    pairs = points[np.stack((first, first + 1), axis=1).ravel()]
    chains = Polygons(pairs, offsets=np.arange(0, len(pairs) + 1, 2), open=True, solidity="boundary")
    return chains, owner[of_line[first]]


def outlines(geometries: list[Any]) -> tuple[Polygons, np.ndarray]:
    """Returns outlines as hollow polygons, and the geometry of each: few, since 4,096 bodies are accepted."""
    points, of_line, owner = lines(geometries)
    offsets = np.searchsorted(of_line, np.arange(len(owner) + 1))
    opened = (points[offsets[:-1]] != points[offsets[1:] - 1]).any(axis=1)
    return Polygons(points, offsets=offsets, open=opened, solidity="boundary"), owner


class CaromLidar2D(Lidar2D):  # type: ignore[misc]
    """A Lidar2D whose ranges come from a fan of Carom. Static objects are a scene, which is made once."""

    _still: Sequence[Any] = (None,)  # the geometries in the scene: none was made yet
    _scene: Scene
    _owner: np.ndarray

    def step(self, state: np.ndarray) -> None:
        if self.noise and self.angle_std > 0:  # beams that are not evenly spaced are no fan
            super().step(state)
            return
        self._state = state
        self.lidar_origin = transform_point_with_state(self.offset, state)
        x, y, angle = self.lidar_origin[:, 0].tolist()
        objects, scene, owner, against = self._seen()
        scan = scene.fans(x, y, angle + self.angle_min, self.number, None, float(self.range_max),
                          step=float(self.angle_inc), against=against)  # fmt: skip
        hits, ranges = scan.hits[0].view(np.bool_), scan.distances[0]
        if self.noise:
            ranges = ranges + hits * rng.normal(0, self.std, self.number)
        self.valid[:] = hits & (ranges >= self.range_min) & (ranges <= self.range_max)
        np.minimum(np.maximum(ranges, self.range_min), self.range_max, out=self.range_data)
        if self.has_velocity:
            found, index = scan.polygon_id[0][hits].astype(np.int64), np.full(self.number, -1)
            index[hits] = owner[found + len(self._owner) * scan.is_body[hits] if against else found]
            self._assign_velocities(index, objects)

    def _seen(self) -> tuple[list[Any], Scene, np.ndarray, Any]:
        seen = [each for each in self._env_param.objects
                if each._id != self.obj_id and each._geometry_valid and not each.unobstructed]  # fmt: skip
        seen.sort(key=lambda each: not each.static)
        still = [each._geometry for each in seen if each.static]
        if len(still) != len(self._still) or not all(map(operator.is_, still, self._still)):
            polygons, self._owner = edges(still)
            self._still, self._scene = still, Scene.from_polygons(polygons)
        if len(seen) == len(still):
            return seen, self._scene, self._owner, None
        polygons, owner = outlines([each._geometry for each in seen[len(still) :]])
        bodies = Bodies(polygons, np.zeros(len(polygons)), np.zeros(len(polygons)))
        return seen, self._scene.with_bodies(bodies), np.append(self._owner, owner + len(still)), "both"


def plug_in() -> None:
    """Makes IR-SIM create a CaromLidar2D for each sensor of the type lidar2d."""
    sensor_factory.Lidar2D = CaromLidar2D


def main() -> None:
    import irsim

    plug_in()
    env = irsim.make(sys.argv[1], display=False, disable_all_plot=True)
    for step in range(int(sys.argv[2]) if len(sys.argv) > 2 else 10):
        env.step()
        print(step, env.robot.lidar.range_data.min())


if __name__ == "__main__":
    main()
