# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does a robot do, with which lidar, and for which reward? The numbers of an environment, checked."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from .._columns import refuse
from .headings import UNIT

LEAST, MOST = 2.0**-30, 2.0**20  # of what must be above 0
MAX_BEAMS = 65536
MAX_OBSERVED = 1 << 26  # entries of an observation of all environments


class TaskOptions(TypedDict, total=False):
    """The arguments of `Task`, for the environments that pass these on."""

    beams: int
    fov: float
    range: float
    radius: float
    dt: float
    max_speed: float
    max_turn: float
    goal_radius: float
    goal_distance: float | tuple[float, float]
    goal_reward: float
    collision_cost: float
    terminate_on_collision: bool
    max_steps: int


def integer(name: str, value: object, least: int, most: int) -> int:
    """Returns an integer in [least, most]; raises InvalidArgumentError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise refuse(name, f"is {value!r}; an integer in [{least}, {most}] is accepted")
    return int(value)


def real(name: str, value: object, least: float, most: float) -> float:
    """Returns a number in [least, most]; raises InvalidArgumentError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise refuse(name, f"is {value!r}; a number is accepted")
    if not least <= value <= most:
        raise refuse(name, f"is {value!r}; accepted is [{least:g}, {most:g}]")
    return float(value)


@dataclasses.dataclass(frozen=True)
class Task:
    """The numbers of an environment. `carom.gym.LidarVectorEnv` says what each of them means.

    Raises InvalidArgumentError that names the argument and the accepted range.
    """

    beams: int = 64
    fov: float = 1.5 * math.pi
    range: float = 8.0
    radius: float = 0.2
    dt: float = 0.1
    max_speed: float = 1.0
    max_turn: float = math.pi
    goal_radius: float = 0.4
    goal_distance: float | tuple[float, float] = 2.0
    goal_reward: float = 10.0
    collision_cost: float = 0.1
    terminate_on_collision: bool = False
    max_steps: int = 500

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "beams": integer("beams", self.beams, 1, MAX_BEAMS),
            "fov": real("fov", self.fov, LEAST, math.tau),
            "max_steps": integer("max_steps", self.max_steps, 1, 2**31 - 1),
            "goal_distance": self._goal_distances(),
        }
        for name in ("range", "radius", "dt", "max_speed", "max_turn", "goal_radius"):
            checked[name] = real(name, getattr(self, name), LEAST, MOST)
        for name in ("goal_reward", "collision_cost"):
            checked[name] = real(name, getattr(self, name), -MOST, MOST)
        if not isinstance(self.terminate_on_collision, bool | np.bool_):
            raise refuse("terminate_on_collision", f"is {self.terminate_on_collision!r}; a bool is accepted")
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.least_goal_distance <= self.goal_radius:
            raise refuse("goal_distance", f"is {self.goal_distance!r}; above goal_radius is accepted")
        if self.turn_steps < 1:
            raise refuse("max_turn", f"is {self.max_turn!r}; times dt, at least {UNIT:.3g} radians are accepted")

    def _goal_distances(self) -> tuple[float, float]:
        given: Any = self.goal_distance
        pair = given if isinstance(given, tuple | list) else (given, math.inf)
        if len(pair) != 2:
            raise refuse("goal_distance", f"has {len(pair)} entries; the least and the largest one are accepted")
        least = real("goal_distance", pair[0], LEAST, MOST)
        return least, real("goal_distance", pair[1], least, math.inf)

    @property
    def least_goal_distance(self) -> float:
        """[length] from the start of an episode to its goal."""
        return self.goal_distance[0] if isinstance(self.goal_distance, tuple) else self.goal_distance

    @property
    def largest_goal_distance(self) -> float:
        """[length] from the start of an episode to its goal."""
        return self.goal_distance[1] if isinstance(self.goal_distance, tuple) else math.inf

    @property
    def step_length(self) -> float:
        """[length] of the way at full speed in one step."""
        return self.max_speed * self.dt

    @property
    def turn_steps(self) -> int:
        """[headings] that a robot turns at most in one step."""
        return round(self.max_turn * self.dt / UNIT)

    @property
    def angle_step(self) -> float:
        """[radians] from a beam to the next one."""
        if self.fov == math.tau:  # the last beam would lie on the first one
            return self.fov / self.beams
        return self.fov / max(self.beams - 1, 1)

    @property
    def first_angle(self) -> float:
        """[radians] from the heading to beam 0."""
        return -self.fov / 2 if self.beams > 1 else 0.0

    def actions(self, name: str, value: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Returns actions as float64 in [-1, 1]; numbers beyond are limited.

        Raises InvalidArgumentError for another shape, a type that is no number, and NaN or infinity.
        """
        try:
            array = np.asarray(value)
        except (TypeError, ValueError) as error:
            raise refuse(name, f"must be numbers of the shape {shape}: {error}") from None
        if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
            raise refuse(name, f"has the type {array.dtype}; float32, float64 or integers are accepted")
        if array.shape != shape:
            raise refuse(name, f"has the shape {array.shape}; {shape} is accepted")
        actions = array.astype(np.float64)
        if not np.isfinite(actions).all():
            index = tuple(int(i) for i in np.argwhere(~np.isfinite(actions))[0])
            raise refuse(name, f"is {actions[index]} at {list(index)}; finite numbers are accepted")
        return np.clip(actions, -1.0, 1.0)
