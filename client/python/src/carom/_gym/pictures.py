# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does an episode look like? As an SVG document of its whole way, or as an image of its last step."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .._generated.enums import FillRule, Solidity
from ..local import Scene
from ..polygons import Polygons
from .headings import UNIT
from .robots import Robots

_MARGIN = 16  # [pixels]
_STYLE = """
.even,.nonzero{fill:#24315a;stroke:#7c93d8;stroke-width:1.4}
.even{fill-rule:evenodd}.nonzero{fill-rule:nonzero}
.hollow{fill:none;stroke:#f0a95b;stroke-width:2.5}
.scan{fill:#ffd166;fill-opacity:.14;stroke:#ffd166;stroke-width:.7;stroke-opacity:.5}
.hit{fill:none;stroke:#fff6d6;stroke-width:4;stroke-linecap:round}
.path{fill:none;stroke:#7fd4ff;stroke-width:2;stroke-linejoin:round}
.start{fill:none;stroke:#7fd4ff;stroke-width:1.5;stroke-dasharray:4 3}
.blocked{fill:none;stroke:#ff4d6d;stroke-width:5;stroke-linecap:round}
.goal{fill:#8dff9e;fill-opacity:.25;stroke:#8dff9e;stroke-width:2}
.robot{fill:#2fd6c3;stroke:#0b1020;stroke-width:1}
.ahead{stroke:#0b1020;stroke-width:2;stroke-linecap:round}
"""
_FREE, _WALL, _WAY, _BEAM, _GOAL, _ROBOT = (
    (11, 16, 32), (92, 112, 178), (127, 212, 255), (96, 84, 52), (141, 255, 158), (47, 214, 195),
)  # fmt: skip

Pairs = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Shot:
    """What a picture shows of an environment."""

    scene: Scene
    path: Pairs  # (steps + 1, 2)
    blocked: Pairs  # (n, 2) where the robot was blocked
    goal: tuple[float, float]
    goal_radius: float
    radius: float
    angle: float  # [radians] of the robot
    ends: Pairs  # (beams, 2) of the beams
    hits: NDArray[np.bool_]  # whether each beam ends at something


def shot(robots: Robots, robot: int) -> Shot:
    """Takes the state of a robot, and asks for its scan once more."""
    task, part = robots.task, robots.part_of(robot)
    path = robots.paths[robot] if robot < len(robots.paths) else []
    ways = np.array([place[:2] for place in path] or [(robots.x[robot], robots.y[robot])])
    stops = np.array([place[:2] for place in path if place[2]]).reshape(-1, 2)
    angle = float(robots.heading[robot]) * UNIT
    distances = robots.scan(part)[0]
    angles = angle + task.first_angle + np.arange(task.beams) * task.angle_step
    directions = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    return Shot(
        part.map.scene, ways, stops, (float(robots.goal_x[robot]), float(robots.goal_y[robot])), task.goal_radius,
        task.radius, angle, ways[-1] + distances[:, np.newaxis] * directions, distances < task.range,
    )  # fmt: skip


# --- SVG ----------------------------------------------------------------------------------------------------


class _Paper:
    """Turns coordinates into pixels of a picture, with y down, at most `width` wide and four times as high."""

    def __init__(self, points: Pairs, width: int) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        extent = np.maximum(high - low, 1e-9)
        inner = width - 2 * _MARGIN
        self.scale = min(inner / float(extent[0]), 4 * inner / float(extent[1]))
        self.width, self.height = (round(float(side) * self.scale) + 2 * _MARGIN for side in extent)
        self.low, self.high = low, high

    def pixels(self, points: Pairs) -> list[str]:
        """The points, such as `12.5 30`."""
        x = (points[:, 0] - self.low[0]) * self.scale + _MARGIN
        y = (self.high[1] - points[:, 1]) * self.scale + _MARGIN
        return [f"{u:.2f} {v:.2f}" for u, v in zip(x.tolist(), y.tolist(), strict=True)]

    def line(self, points: Pairs, closed: bool = False) -> str:
        """Points joined by lines, as the data of a path."""
        return "M" + "L".join(self.pixels(points)) + ("Z" if closed else "")

    def circle(self, name: str, center: Iterable[float], radius: float) -> str:
        """A circle of at least three pixels."""
        x, y = self.pixels(np.array([tuple(center)]))[0].split()
        return f'<circle class="{name}" cx="{x}" cy="{y}" r="{max(radius * self.scale, 3):.2f}"/>'


def _walls(paper: _Paper, polygons: Polygons) -> list[str]:
    drawn, ends = [], np.cumsum(polygons.ring_size, dtype=np.int64)
    ring = 0
    for i, count in enumerate(polygons.ring_count.tolist()):
        data = ""
        for _ in range(count):
            inside = slice(int(ends[ring] - polygons.ring_size[ring]), int(ends[ring]))
            points = np.stack((polygons.x[inside], polygons.y[inside]), axis=1)
            data += paper.line(points, not polygons.open[ring])
            ring += 1
        name = "nonzero" if polygons.fill_rule[i] == FillRule.NON_ZERO else "even"
        name = "hollow" if polygons.solidity[i] == Solidity.BOUNDARY else name
        drawn.append(f'<path class="{name}" d="{data}"/>')
    return drawn


def svg(taken: Shot, width: int) -> str:
    """Returns an SVG document: the map, the way, where the robot was blocked, the last scan and the goal."""
    polygons = taken.scene.polygons()
    corners = np.stack((polygons.x, polygons.y), axis=1)
    paper = _Paper(np.concatenate((corners, taken.path)), width)
    ahead = np.array((np.cos(taken.angle), np.sin(taken.angle))) * taken.radius
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {paper.width} {paper.height}" '
        f'width="{paper.width}" height="{paper.height}">',
        f"<style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#0b1020"/>',
        *_walls(paper, polygons),
        f'<path class="scan" d="{paper.line(np.concatenate((taken.path[-1:], taken.ends)), True)}"/>',
        f'<path class="hit" d="{"".join(f"M{point}h0" for point in paper.pixels(taken.ends[taken.hits]))}"/>',
        paper.circle("goal", taken.goal, taken.goal_radius),
        paper.circle("start", taken.path[0], taken.radius),
        f'<path class="path" d="{paper.line(taken.path)}"/>',
        f'<path class="blocked" d="{"".join(f"M{point}h0" for point in paper.pixels(taken.blocked))}"/>',
        paper.circle("robot", taken.path[-1], taken.radius),
        f'<path class="ahead" d="{paper.line(np.stack((taken.path[-1], taken.path[-1] + ahead)))}"/>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


# --- Images -------------------------------------------------------------------------------------------------


class Image:
    """The walls of a map as pixels, on which robots are drawn. The longer side has `size` pixels."""

    def __init__(self, scene: Scene, size: int = 400) -> None:
        min_x, min_y, max_x, max_y = scene.bounds
        self.pixel = max(max_x - min_x, max_y - min_y) / size
        columns, rows = (max(int((high - low) / self.pixel), 1) for low, high in ((min_x, max_x), (min_y, max_y)))
        self.left, self.top = min_x, max_y
        x = np.tile(min_x + self.pixel * np.arange(columns), rows)
        y = np.repeat(max_y - self.pixel * (np.arange(rows) + 1), columns)
        met = scene.overlap_boxes(x, y, x + self.pixel, y + self.pixel, strict=True).counts > 0
        self.walls = np.where(met.reshape(rows, columns, 1), _WALL, _FREE).astype(np.uint8)

    def draw(self, taken: Shot) -> NDArray[np.uint8]:
        """Returns the image (rows, columns, 3) of an environment."""
        image = self.walls.copy()
        start = taken.path[-1]
        for end in taken.ends:
            self._line(image, start, end, _BEAM)
        for a, b in zip(taken.path[:-1], taken.path[1:], strict=True):
            self._line(image, a, b, _WAY)
        self._disc(image, taken.goal, taken.goal_radius, _GOAL)
        self._disc(image, start, taken.radius, _ROBOT)
        return image

    def _line(self, image: NDArray[np.uint8], a: Pairs, b: Pairs, color: tuple[int, int, int]) -> None:
        count = int(np.abs(b - a).max() / self.pixel) + 2
        points = a + np.linspace(0, 1, min(count, 4096))[:, np.newaxis] * (b - a)
        columns = ((points[:, 0] - self.left) / self.pixel).astype(np.int64)
        rows = ((self.top - points[:, 1]) / self.pixel).astype(np.int64)
        inside = (columns >= 0) & (rows >= 0) & (columns < image.shape[1]) & (rows < image.shape[0])
        image[rows[inside], columns[inside]] = color

    def _disc(
        self, image: NDArray[np.uint8], center: Iterable[float], radius: float, color: tuple[int, int, int]
    ) -> None:
        x, y = center
        columns = self.left + self.pixel * (np.arange(image.shape[1]) + 0.5) - x
        rows = self.top - self.pixel * (np.arange(image.shape[0]) + 0.5) - y
        image[columns**2 + rows[:, np.newaxis] ** 2 <= max(radius, self.pixel) ** 2] = color
