# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How long does a scan of IR-SIM take, by its own Lidar2D and by that of client/examples/irsim_lidar.py?

The maps are those that IR-SIM ships as pictures: a cave, and a floor of the data set HM3D, with the sizes, ranges and
beams of its own samples. A third world has one of each obstacle: a disc, which IR-SIM makes a polygon of 64 vertices,
a rectangle and two lines. A scan is one call of `step` of the sensor at a pose in the map.
"""

from __future__ import annotations

import pathlib
import sys
from functools import partial
from typing import Any

import irsim
import numpy as np
from irsim.world.sensors.lidar2d import Lidar2D
from numpy.typing import NDArray
from report import Goal, Report
from timing import cpu, in_turns, repeated

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "client/examples"))

from irsim_lidar import CaromLidar2D

Poses = list[NDArray[np.float64]]

PICTURE = """
world: {{height: {size}, width: {size}, obstacle_map: {picture}, mdownsample: 2}}
robot:
  - kinematics: {{name: diff}}
    shape: {{name: circle, radius: 0.2}}
    state: [{at}, {at}, 0]
    sensors:
      - {{type: lidar2d, range_max: 20, angle_range: 3.14, number: 100}}
"""
OBSTACLES = """
world: {height: 10, width: 10}
robot:
  - kinematics: {name: diff}
    shape: {name: circle, radius: 0.2}
    state: [1, 1, 0]
    sensors:
      - {type: lidar2d, range_max: 5, angle_range: 3.14, number: 200, offset: [0.1, 0.1, 0.5]}
obstacle:
  - {shape: {name: circle, radius: 1.0}, state: [5, 5, 0]}
  - {shape: {name: rectangle, length: 1.5, width: 1.2}, state: [6, 3, 1]}
  - {shape: {name: linestring, vertices: [[9, 5], [4, 0.5]]}, state: [0, 0, 0]}
  - {shape: {name: linestring, vertices: [[3, 1], [4, 8]]}, state: [0, 0, 0]}
"""
WORLDS = {
    "cave": PICTURE.format(size=50, at=5, picture="cave.png"),
    "hm3d": PICTURE.format(size=80, at=10, picture="hm3d_1.png"),
    "obstacles": OBSTACLES,
}


def sensors(folder: pathlib.Path, name: str) -> tuple[Any, Lidar2D, CaromLidar2D]:
    """The environment, the sensor of its robot, and ours in the same place."""
    path = folder / f"irsim_{name}.yaml"
    path.write_text(WORLDS[name])
    env = irsim.make(str(path), display=False, disable_all_plot=True, log_level="ERROR")
    theirs = env.robot.sensors[0]
    ours = CaromLidar2D(
        env.robot.state, theirs.obj_id, range_max=theirs.range_max, angle_range=theirs.angle_range,
        number=theirs.number, offset=theirs.get_offset(),
    )  # fmt: skip
    ours.parent = theirs.parent
    return env, theirs, ours


def poses(random: np.random.Generator, size: float, count: int) -> Poses:
    """States (x, y, heading) in the map."""
    x, y = random.uniform(0.05 * size, 0.95 * size, (2, count))
    heading = random.uniform(-np.pi, np.pi, count)
    return [np.array([[a], [b], [c]]) for a, b, c in zip(x, y, heading, strict=True)]


def _check(report: Report, name: str, theirs: Lidar2D, ours: CaromLidar2D, states: Poses) -> float:
    """The share of beams that hit; both sensors agree on each beam."""
    worst, hits = 0.0, 0.0
    for state in states:
        theirs.step(state)
        ours.step(state)
        worst = max(worst, float(np.abs(theirs.range_data - ours.range_data).max()))
        assert (theirs.valid == ours.valid).all(), f"{name}: other beams hit at {state.ravel()}"
        hits += float(ours.valid.mean())
    assert worst <= 1e-9, f"{name}: ranges differ by {worst}"
    report.figure(f"IR-SIM {name}: ranges differ by at most", worst, "units")
    return hits / len(states)


def measure(report: Report, quick: bool, folder: pathlib.Path) -> None:
    """Scans in the worlds: a row for each."""
    report.title("scans of IR-SIM")
    random = np.random.default_rng(20_261_127)
    for name in WORLDS:
        env, theirs, ours = sensors(folder, name)
        states = poses(random, env._world.width, 40 if quick else 100)
        hits = _check(report, name, theirs, ours, states)

        turns = {
            side: cpu(repeated([partial(sensor.step, state) for state in states]))
            for side, sensor in (("carom", ours), ("IR-SIM", theirs))
        }
        timings = in_turns(turns, 3 if quick else 9, len(states))
        report.timings(f"IR-SIM {name}", timings, "us a scan", per=1000)
        report.ratio(f"irsim_{name}", timings["carom"].ns / 1000, "Lidar2D", timings["IR-SIM"].ns / 1000, "us a scan",
                     Goal.at_least(20), f"{ours.number} beams, {hits:.0%} of them hit")  # fmt: skip
