# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How long do the rays of one agent in each of many environments take, by VMAS's `cast_rays` and by Carom?

Each environment has an agent and, around it, landmarks of the shapes of VMAS: boxes, spheres and lines, with sizes
that its scenarios use. All environments of a batch are in one scene, out of reach of one another, so one call answers
them all: boxes are polygons, lines are open chains, spheres are bodies. The scene is made before the clock runs,
because landmarks stay; tensors are converted to arrays and back while it runs.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("PYGLET_HEADLESS", "1")

import numpy as np
import torch
from numpy.typing import NDArray
from report import Goal, Report
from timing import cpu, in_turns, repeated
from vmas.simulator.core import Agent, Box, Landmark, Line, Sphere, World

from carom import Solidity
from carom.local import Bodies, Polygons, Scene, disc

RAYS, RANGE, APART = 32, 1.0, 2.5
STEP = 2 * math.pi / RAYS
BOX, SPHERE, LINE = Box(length=0.3, width=0.1), Sphere(radius=0.1), Line(length=0.5)
CAST = {  # how many landmarks of each shape there are, and in how many environments
    "boxes": ([BOX] * 4, 1024),
    "spheres": ([SPHERE] * 4, 1024),
    "lines": ([LINE] * 4, 1024),
    "mixed": ([BOX] * 4 + [SPHERE] * 4 + [LINE] * 4, 1024),
    "many": ([BOX] * 16 + [SPHERE] * 16 + [LINE] * 16, 256),
}


@dataclass
class Side:
    """A world of VMAS, and the same as a scene."""

    world: World
    agent: Agent
    angles: Any  # (environments, rays)
    scene: Scene
    offset: NDArray[np.float64]  # of the environments in the scene, (environments, 2)
    against: Any

    def theirs(self) -> Any:
        return self.world.cast_rays(self.agent, self.angles, RANGE, lambda entity: entity is not self.agent)

    def ours(self, turn: float = 0.0) -> Any:
        """The same by Carom; the rays are turned by an angle [radians]."""
        start = self.agent.state.pos.numpy() + self.offset
        angle = self.angles[:, 0].numpy().astype(np.float64) + turn
        scans = self.scene.fans(start[:, 0], start[:, 1], angle, RAYS, None, RANGE, step=STEP, against=self.against,
                                inside_policy="ignore")  # fmt: skip
        return torch.from_numpy(scans.distances.astype(np.float32))


def _outline(shape: Any, x: float, y: float, angle: float) -> NDArray[np.float64]:
    if isinstance(shape, Line):
        corners = np.array([[-0.5, 0], [0.5, 0]]) * shape.length
    else:
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (shape.length / 2, shape.width / 2)
    c, s = math.cos(angle), math.sin(angle)
    placed: NDArray[np.float64] = corners @ np.array([[c, s], [-s, c]]) + (x, y)
    return placed


def make(random: np.random.Generator, shapes: list[Any], batch: int) -> Side:
    """Landmarks at random places that the agent is not in, at random rotations."""
    world = World(batch, torch.device("cpu"))
    agent = Agent(name="agent", shape=Sphere(radius=0.05))
    world.add_agent(agent)
    columns = math.ceil(math.sqrt(batch))
    offset = APART * np.stack(np.divmod(np.arange(batch), columns), axis=1).astype(np.float64)
    outlines, opened, x, y = [], [], [], []
    agent.set_pos(_tensor(random.uniform(-0.1, 0.1, (batch, 2))), batch_index=None)
    for number, shape in enumerate(shapes):
        landmark = Landmark(name=f"landmark {number}", collide=True, movable=False, shape=shape)
        world.add_landmark(landmark)
        turn, far = random.uniform(-math.pi, math.pi, batch), random.uniform(0.45, 0.9, batch)
        landmark.set_pos(_tensor(np.stack((far * np.cos(turn), far * np.sin(turn)), axis=1)), batch_index=None)
        landmark.set_rot(_tensor(random.uniform(-math.pi, math.pi, (batch, 1))), batch_index=None)
        places = landmark.state.pos.numpy() + offset
        if isinstance(shape, Sphere):
            x.append(places[:, 0])
            y.append(places[:, 1])
            continue
        for (px, py), angle in zip(places.tolist(), landmark.state.rot[:, 0].tolist(), strict=True):
            outlines.append(_outline(shape, px, py, angle))
            opened.append(len(outlines[-1]) == 2)
    solidity = [Solidity.BOUNDARY if each else Solidity.SOLID for each in opened]
    scene = Scene.from_polygons(Polygons(outlines, open=opened or None, solidity=solidity or None))
    if x:
        scene = scene.with_bodies(Bodies(disc(SPHERE.radius), np.concatenate(x), np.concatenate(y)))
    angles = random.uniform(-math.pi, math.pi, (batch, 1)) + STEP * np.arange(RAYS)
    against = "both" if x and outlines else "bodies" if x else None
    return Side(world, agent, _tensor(angles), scene, offset, against)


def _tensor(values: NDArray[np.float64]) -> Any:
    return torch.from_numpy(values.astype(np.float32))


def _check(report: Report, name: str, side: Side) -> float:
    """The share of rays that hit. VMAS computes in float32: a distance is that of a ray turned by at most 1e-5."""
    theirs, ours = side.theirs().double(), side.ours().double()
    turned = torch.stack([side.ours(turn).double() for turn in (-1e-5, -2e-6, 0.0, 2e-6, 1e-5)])
    beyond = torch.maximum(turned.amin(0) - theirs, theirs - turned.amax(0))
    worst = float(beyond.max())
    assert worst <= 1e-4, f"{name}: {int((beyond > 1e-4).sum())} rays differ, by {worst} at most"
    hits = ours < RANGE
    middle = float((theirs - ours)[hits].abs().median())
    assert middle <= 1e-6, f"{name}: half of the hits differ by {middle} or more"
    report.figure(f"VMAS {name}: half of the hits differ by at most", middle, "units")
    report.figure(f"VMAS {name}: all differ from rays turned by up to 1e-5 by at most", max(worst, 0), "units")
    return float(hits.double().mean())


def measure(report: Report, quick: bool) -> None:
    """Rays in batches of environments: a row for each shape, and one for all."""
    report.title("rays of VMAS")
    torch.set_num_threads(1)
    random = np.random.default_rng(20_261_127)
    for name, (shapes, batch) in CAST.items():
        side = make(random, shapes, batch // 4 if quick else batch)
        rays = side.angles.numel()
        hits = _check(report, name, side)

        turns = {"carom": cpu(repeated([side.ours] * 4)), "VMAS": cpu(repeated([side.theirs] * 4))}
        timings = in_turns(turns, 5 if quick else 9, 4 * rays)
        report.timings(f"VMAS {name}", timings, "ns a ray")
        note = f"{len(shapes)} landmarks in {len(side.offset):,} environments, {RAYS} rays, {hits:.0%} hit"
        report.ratio(f"vmas_{name}", timings["carom"].ns, "cast_rays", timings["VMAS"].ns, "ns a ray",
                     Goal.at_least(10), note)  # fmt: skip
