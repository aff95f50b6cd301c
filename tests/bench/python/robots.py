# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How far do the beams of robots reach that are spread over many maps? Beside shapely, pymunk and numpy.

Each map is a square of 50 units with 50 to 200 convex polygons of 3 to 8 vertices, which keep clear of one another.
The robots of a map scan at the same time: 64 beams all around, of 20 units each. What a side needs beside the poses
of the robots, trees and spaces included, is made before the clock runs. Polygons are convex because Chipmunk has no
other ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymunk
import shapely
from numpy.typing import NDArray
from report import Goal, Report
from timing import cpu, in_turns, repeated

from carom.local import Polygons, Scene

Floats = NDArray[np.float64]
SIDE, RANGE, BEAMS = 50.0, 20.0, 64
STEP = 2 * math.pi / BEAMS
SEED = 20_261_127


@dataclass(frozen=True)
class Map:
    """Polygons, and robots in free space."""

    points: Floats  # (n, 2), counter-clockwise
    offsets: NDArray[np.int64]
    x: Floats
    y: Floats
    angle: Floats

    def rings(self) -> list[Floats]:
        return [self.points[a:b] for a, b in zip(self.offsets, self.offsets[1:], strict=False)]

    def ends(self) -> tuple[Floats, Floats]:
        """The start and the end of each edge."""
        following = np.arange(1, len(self.points) + 1)
        following[self.offsets[1:] - 1] = self.offsets[:-1]
        return self.points, self.points[following]

    def directions(self) -> Floats:
        """Unit vectors along the beams, of the shape (robots, beams, 2)."""
        angles = self.angle[:, None] + STEP * np.arange(BEAMS)
        return np.stack((np.cos(angles), np.sin(angles)), axis=-1)


def make_map(random: np.random.Generator, robots: int) -> Map:
    """A polygon in each of some cells of a grid. Robots stand near corners of cells, which no polygon reaches."""
    count = int(random.integers(50, 201))
    cells = math.ceil(math.sqrt(count))
    size = SIDE / cells
    cell = random.permutation(cells * cells)[:count]
    centre = (np.stack((cell % cells, cell // cells), axis=1) + 0.5) * size
    corners = random.integers(3, 9, count)
    offsets = np.concatenate(([0], np.cumsum(corners)))
    polygon = np.repeat(np.arange(count), corners)
    within = np.arange(offsets[-1]) - offsets[polygon]
    turn = 2 * math.pi * (within + random.uniform(0, 0.8, len(within))) / corners[polygon]
    radius = (random.uniform(0.15, 0.45, count) * size)[polygon]
    points = centre[polygon] + radius[:, None] * np.stack((np.cos(turn), np.sin(turn)), axis=1)
    x, y = (size * (random.integers(1, cells, robots) + random.uniform(-0.1, 0.1, robots)) for _ in range(2))
    return Map(points, offsets, x, y, random.uniform(-math.pi, math.pi, robots))


# --- The sides: a function makes what a map needs, and returns the function that scans ------------

Scan = Callable[[], Floats]


def with_carom(map: Map) -> Scan:
    scene = Scene.from_polygons(Polygons(map.points, offsets=map.offsets))

    def scan() -> Floats:
        return scene.fans(map.x, map.y, map.angle, BEAMS, None, RANGE, step=STEP).distances

    return scan


def _beams(map: Map) -> tuple[Any, Any]:
    """The beams of all robots as lines of shapely, and their starts as points."""
    starts = np.repeat(np.stack((map.x, map.y), axis=1), BEAMS, axis=0)
    ends = starts + RANGE * map.directions().reshape(-1, 2)
    return shapely.linestrings(np.stack((starts, ends), axis=1)), shapely.points(starts)


def with_shapely_polygons(map: Map) -> Scan:
    """A tree of polygons: the intersection of each beam with each polygon that it meets."""
    polygons = np.array([shapely.Polygon(ring) for ring in map.rings()])
    tree = shapely.STRtree(polygons)
    shapely.prepare(polygons)

    def scan() -> Floats:
        lines, points = _beams(map)
        beam, polygon = tree.query(lines)
        meets = shapely.intersects(polygons[polygon], lines[beam])
        beam, polygon = beam[meets], polygon[meets]
        reach = np.full(len(lines), RANGE)
        parts = shapely.intersection(lines[beam], polygons[polygon])
        np.minimum.at(reach, beam, shapely.distance(points[beam], parts))
        return reach.reshape(-1, BEAMS)

    return scan


def with_shapely_edges(map: Map) -> Scan:
    """A tree of edges: the intersection of each beam with each edge that it meets."""
    edges = shapely.linestrings(np.stack(map.ends(), axis=1))
    tree = shapely.STRtree(edges)

    def scan() -> Floats:
        lines, points = _beams(map)
        beam, edge = tree.query(lines, predicate="intersects")
        reach = np.full(len(lines), RANGE)
        parts = shapely.intersection(lines[beam], edges[edge])
        np.minimum.at(reach, beam, shapely.distance(points[beam], parts))
        return reach.reshape(-1, BEAMS)

    return scan


def with_pymunk(map: Map) -> Scan:
    """The static polygons of a space: a call a beam."""
    space = pymunk.Space()
    for ring in map.rings():
        space.add(pymunk.Poly(space.static_body, [(float(x), float(y)) for x, y in ring]))
    everything = pymunk.ShapeFilter()

    def scan() -> Floats:
        first = space.segment_query_first
        ends = np.stack((map.x, map.y), axis=1)[:, None] + RANGE * map.directions()
        reach = []
        for x, y, targets in zip(map.x.tolist(), map.y.tolist(), ends.tolist(), strict=True):
            start = (x, y)
            for end in targets:
                hit = first(start, end, 0, everything)
                reach.append(RANGE if hit is None else hit.alpha * RANGE)
        return np.array(reach).reshape(-1, BEAMS)

    return scan


def _meet(directions: Floats, start: Floats, edge: Floats, cross: Floats) -> Floats:
    """How far each of some beams from (0, 0) reaches, among edges that begin at `start`, by broadcasting."""
    across = directions[:, :1] * edge[:, 1] - directions[:, 1:] * edge[:, 0]
    along = directions[:, 1:] * start[:, 0] - directions[:, :1] * start[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = cross / across
        along /= across
    distance[~((distance >= 0) & (along >= 0) & (along <= 1))] = RANGE
    nearest: Floats = np.minimum(distance.min(axis=1), RANGE)
    return nearest


def with_numpy(map: Map) -> Scan:
    """All beams of a robot against all edges of its map."""
    start, end = map.ends()
    edge = end - start

    def scan() -> Floats:
        reach = np.empty((len(map.x), BEAMS))
        for i, directions in enumerate(map.directions()):
            near = start - (map.x[i], map.y[i])
            reach[i] = _meet(directions, near, edge, near[:, 0] * edge[:, 1] - near[:, 1] * edge[:, 0])
        return reach

    return scan


def with_numpy_culled(map: Map) -> Scan:
    """All beams of a robot against the edges that face it and begin in reach of the longest edge and beam."""
    start, end = map.ends()
    edge = end - start
    reachable = (RANGE + np.sqrt((edge**2).sum(axis=1)).max()) ** 2

    def scan() -> Floats:
        reach = np.empty((len(map.x), BEAMS))
        for i, directions in enumerate(map.directions()):
            near = start - (map.x[i], map.y[i])
            cross = near[:, 0] * edge[:, 1] - near[:, 1] * edge[:, 0]
            kept = np.flatnonzero((cross < 0) & (near[:, 0] ** 2 + near[:, 1] ** 2 <= reachable))
            reach[i] = _meet(directions, near[kept], edge[kept], cross[kept])
        return reach

    return scan


# --- The rows -------------------------------------------------------------------------------------

SIDES: dict[str, tuple[str, Callable[[Map], Scan]]] = {
    "carom": ("carom", with_carom),
    "shapely, polygons": ("shapely", with_shapely_polygons),
    "shapely, edges": ("shapely", with_shapely_edges),
    "pymunk": ("pymunk", with_pymunk),
    "numpy, all edges": ("numpy", with_numpy),
    "numpy, culled": ("numpy", with_numpy_culled),
}
GOALS = {"shapely": 30.0, "pymunk": 30.0, "numpy": 20.0}


def measure(report: Report, quick: bool) -> None:
    """Robots with lidars in 100 maps: a row for each peer, in its faster form."""
    maps, robots = (20, 10) if quick else (100, 10)
    report.title(f"{maps * robots:,} robots with {BEAMS} beams in {maps} maps")
    random = np.random.default_rng(SEED)
    worlds = [make_map(random, robots) for _ in range(maps)]
    scans = {name: [make(world) for world in worlds] for name, (_, make) in SIDES.items()}
    ours = [scan().copy() for scan in scans["carom"]]
    for name, each in scans.items():
        worst = max(float(np.abs(scan() - mine).max()) for scan, mine in zip(each, ours, strict=True))
        assert worst <= 1e-9, f"{name} differs by {worst}"
        report.figure(f"robots: {name} differs by at most", worst, "units")

    units = maps * robots * BEAMS
    timings = in_turns({name: cpu(repeated(each)) for name, each in scans.items()}, 3 if quick else 5, units)
    report.timings("robots", timings, "ns a beam")
    hits = float(np.mean([(each < RANGE).mean() for each in ours]))
    for peer, bound in GOALS.items():
        name, best = min(
            ((side, timings[side]) for side, (of, _) in SIDES.items() if of == peer), key=lambda each: each[1].ns
        )
        report.ratio(f"robots_beside_{peer}", timings["carom"].ns, name, best.ns, "ns a beam", Goal.at_least(bound),
                     f"{hits:.0%} of the beams hit")  # fmt: skip
