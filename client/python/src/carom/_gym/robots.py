# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Where are the robots, what do their lidars measure, and what do their actions change?

`Robots` has the state of all environments in columns, and is what one environment and a vector of environments have in
common. A step asks one slide and one fan of each robot: one batch of each kind for each map and thread.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._columns import refuse
from .._generated.answers import Slides
from ..shapes import disc
from .headings import HEADING_BITS, HEADINGS, UNIT, cosines_and_sines
from .maps import Map
from .task import Task

GOAL_ENTRIES = 3  # of an observation, behind those of the beams
_STARTS = 512  # places that are tried for the start of an episode
_GOALS = 32  # places that are tried for its goal, before all are
_NEAR = 2.0**-60  # [length] the least divisor

Floats = NDArray[np.float64]
Index = slice | NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Part:
    """Robots in one map, which one batch asks."""

    map: Map
    index: Index
    count: int


def _below(raw: NDArray[np.uint64], limit: int) -> NDArray[np.int64]:
    """Integers in [0, limit), for limits up to 2^32, of raw numbers of 64 bits."""
    return (((raw >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32)).astype(np.int64)


def _length(x: Floats, y: Floats) -> Floats:
    """Lengths of vectors, with each operation rounded once: the same on every machine, unlike hypot."""
    length: Floats = np.sqrt(x * x + y * y)
    return length


def _blocked(slides: Slides) -> NDArray[np.bool_]:
    """Whether each slide met something that blocked it: whether one of its legs has a hit."""
    hits = slides.has_hit
    if len(hits) == len(slides) and bool((slides.legs == 1).all()):
        return hits.astype(np.bool_)
    before = np.zeros(len(hits) + 1, np.int64)
    np.cumsum(hits, out=before[1:], dtype=np.int64)
    offsets = slides.offsets
    blocked: NDArray[np.bool_] = before[offsets[1:]] != before[offsets[:-1]]
    return blocked


class Robots:
    """Robots with lidars, each in one of the maps. One thread at a time."""

    def __init__(self, maps: Sequence[Map], count: int, task: Task, threads: int = 1, recorded: int = 0) -> None:
        self.maps, self.count, self.task, self.threads = maps, count, task, threads
        self.x, self.y, self.goal_x, self.goal_y, self.distance = (np.zeros(count) for _ in range(5))
        self.heading, self.map, self.steps = (np.zeros(count, np.int64) for _ in range(3))
        self.blocked = np.zeros(count, np.bool_)
        self.paths: list[list[tuple[float, float, bool]]] = [[] for _ in range(recorded)]
        self._disc = disc(task.radius)
        self._cosine, self._sine = cosines_and_sines()
        self._parts = self._split(slice(0, count))
        self._pool = concurrent.futures.ThreadPoolExecutor(threads) if threads > 1 else None

    def close(self) -> None:
        """Ends the threads. No step may follow."""
        if self._pool is not None:
            self._pool.shutdown()

    # --- Batches ------------------------------------------------------------------------------------

    def _split(self, index: Index) -> list[Part]:
        """Groups robots by their maps, and the groups by threads."""
        if len(self.maps) == 1 and isinstance(index, slice):
            groups: list[tuple[int, Index, int]] = [(0, index, self.count)]
        else:
            robots = np.arange(self.count)[index]
            robots = robots[np.argsort(self.map[robots], kind="stable")]
            maps, firsts = np.unique(self.map[robots], return_index=True)
            pieces = np.split(robots, firsts[1:])
            groups = [(int(map), piece, len(piece)) for map, piece in zip(maps, pieces, strict=True)]
        size = -(-sum(count for _, _, count in groups) // self.threads)
        parts = []
        for map, group, count in groups:
            for begin in range(0, count, size):
                end = min(begin + size, count)
                inside = slice(begin, end) if isinstance(group, slice) else group[begin:end]
                parts.append(Part(self.maps[map], inside, end - begin))
        return parts

    def _each(self, function: Callable[[Part], None], parts: list[Part]) -> None:
        if self._pool is None or len(parts) < 2:
            for part in parts:
                function(part)
        else:
            for _ in self._pool.map(function, parts):
                pass

    # --- The start of episodes ----------------------------------------------------------------------

    def spawn(self, robots: NDArray[np.int64], generators: Sequence[np.random.Generator]) -> None:
        """Starts an episode of each of these robots, robot i with the random numbers of generators[i].

        Raises InvalidArgumentError if no goal is as far away as `goal_distance` requires from 512 places of a map.
        """
        for robot in robots.tolist():
            map, start, goal, heading = self._episode(generators[robot].bit_generator)
            places = self.maps[map]
            self.map[robot], self.heading[robot] = map, heading
            self.x[robot], self.y[robot] = places.x[start], places.y[start]
            self.goal_x[robot], self.goal_y[robot] = places.x[goal], places.y[goal]
            if robot < len(self.paths):
                self.paths[robot] = [(float(places.x[start]), float(places.y[start]), False)]
        self.steps[robots] = 0
        self.blocked[robots] = False
        self.distance[robots] = _length(self.goal_x[robots] - self.x[robots], self.goal_y[robots] - self.y[robots])
        if len(self.maps) > 1:
            self._parts = self._split(slice(0, self.count))

    def _episode(self, generator: Any) -> tuple[int, int, int, int]:
        """Draws a map, two of its places and a heading."""
        task = self.task
        raw = generator.random_raw(2)
        map = int(_below(raw[:1], len(self.maps))[0])
        heading = int(raw[1]) >> (64 - HEADING_BITS)
        places = self.maps[map]
        for _ in range(_STARTS):
            raw = generator.random_raw(2 + _GOALS)
            start = int(_below(raw[:1], len(places))[0])
            goals = _below(raw[2:], len(places))
            for candidates in (goals, None):
                x, y = (places.x, places.y) if candidates is None else (places.x[candidates], places.y[candidates])
                distance = _length(x - places.x[start], y - places.y[start])
                fit = (distance >= task.least_goal_distance) & (distance <= task.largest_goal_distance)
                found = np.flatnonzero(fit)
                if len(found):
                    if candidates is None:
                        return map, start, int(found[_below(raw[1:2], len(found))[0]]), heading
                    return map, start, int(candidates[found[0]]), heading
        accepted = f"[{task.least_goal_distance:g}, {task.largest_goal_distance:g}]"
        raise refuse("goal_distance", f"is {accepted}, and maps[{map}] has no such way from {_STARTS} of its places")

    # --- Steps --------------------------------------------------------------------------------------

    def observe(self, robots: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """Returns the observations of all robots; of these alone, in their rows, if `robots` is given."""
        observed = np.zeros((self.count, self.task.beams + GOAL_ENTRIES), np.float32)
        parts = self._parts if robots is None else self._split(robots)
        self._each(lambda part: self._observe(part, observed), parts)
        return observed

    def step(self, actions: Floats, still: NDArray[np.bool_]) -> tuple[NDArray[np.float32], Floats]:
        """Moves all robots but those that stand still; returns observations and progress [length] to the goals.

        actions: (count, 2) in [-1, 1]: speed and turn
        """
        task, before = self.task, self.distance.copy()
        actions = np.where(still[:, np.newaxis], 0.0, actions)
        turns = np.rint(actions[:, 1] * task.turn_steps).astype(np.int64)
        self.heading = (self.heading + turns) % HEADINGS
        length = actions[:, 0] * task.step_length
        dx, dy = length * self._cosine[self.heading], length * self._sine[self.heading]
        observed = np.empty((self.count, task.beams + GOAL_ENTRIES), np.float32)

        def advance(part: Part) -> None:
            index = part.index
            slides = part.map.scene.slide(self._disc, self.x[index], self.y[index], dx[index], dy[index], strict=True)
            self.x[index], self.y[index], self.blocked[index] = slides.x, slides.y, _blocked(slides)
            self._observe(part, observed)

        self._each(advance, self._parts)
        self.steps += ~still
        recorded = len(self.paths)
        places = zip(self.x[:recorded].tolist(), self.y[:recorded].tolist(), self.blocked.tolist(), strict=False)
        for path, place, stands in zip(self.paths, places, still.tolist(), strict=False):
            if not stands:
                path.append(place)
        return observed, before - self.distance

    def _observe(self, part: Part, observed: NDArray[np.float32]) -> None:
        task, index = self.task, part.index
        observed[index, : task.beams] = self.scan(part) / task.range
        heading = self.heading[index]
        c, s = self._cosine[heading], self._sine[heading]
        x, y = self.goal_x[index] - self.x[index], self.goal_y[index] - self.y[index]
        distance = _length(x, y)
        self.distance[index] = distance
        divisor = np.maximum(distance, _NEAR)
        observed[index, task.beams] = distance / (distance + task.range)
        observed[index, task.beams + 1] = (c * x + s * y) / divisor
        observed[index, task.beams + 2] = (c * y - s * x) / divisor

    def scan(self, part: Part) -> Floats:
        """Returns how far each beam of each of these robots reaches [length]: (robots, beams)."""
        task, index = self.task, part.index
        scans = part.map.scene.fans(
            self.x[index], self.y[index], self.heading[index] * UNIT + task.first_angle, task.beams, None,
            task.range, step=task.angle_step, strict=True,
        )  # fmt: skip
        return scans.distances.reshape(part.count, task.beams)

    def part_of(self, robot: int) -> Part:
        """One robot as a part."""
        return Part(self.maps[int(self.map[robot])], slice(robot, robot + 1), 1)
