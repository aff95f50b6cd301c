# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does a program train robots with lidars? Environments of Gymnasium, one or many at a time.

    import gymnasium
    import carom.gym  # registers carom/Lidar-v0

    env = gymnasium.make_vec("carom/Lidar-v0", num_envs=8)
    observations, infos = env.reset(seed=1)
    observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())

A robot is a disc that drives through a map and slides along walls (carom/slide.h: no speed makes it pass through one);
its lidar measures distances (carom/visibility.h). Both answers are exact up to a stated rounding and have equal bits
on every machine. All else that decides a state has equal bits, too, so a seed and actions give an episode with equal
bytes on every machine that has IEEE 754 doubles, with any number of environments and threads:

- Headings are integers into a table that integer arithmetic makes, so no cos, sin or hypot of a C library or of numpy
  is used. The angles of beams are an integer times 2 pi / 16384, plus a constant; the core computes their cosines.
- Starts, goals, headings and maps come from the raw 64 bits of PCG64, the stream that NEP 19 of numpy guarantees, by
  integer arithmetic. Distributions of numpy, which may change with its version, are not used. Each environment has
  random numbers of its own: environment i of a vector with the seed s is `LidarEnv` with the seed s + i.
- Rewards and observations are computed element by element, from +, -, *, /, sqrt and rint, each of which rounds
  correctly; numpy makes one pass for each, so that none are fused. Nothing is summed over an array of floats.
- Collisions are counts of the hits of slides, which are verdicts, not distances with a tolerance.

`carom.gym:carom/Lidar-v0` as an id imports this module by itself. This module needs gymnasium (`pip install
carom[gym]`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsFloat, Unpack

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random as seeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ._columns import refuse
from ._gym.maps import read_maps, rooms
from ._gym.pictures import Image, shot, svg
from ._gym.robots import GOAL_ENTRIES, Robots
from ._gym.task import MAX_OBSERVED, Task, TaskOptions, integer
from .errors import FailedPreconditionError

__all__ = ["ID", "LidarEnv", "LidarVectorEnv", "Task", "TaskOptions", "rooms"]

ID = "carom/Lidar-v0"
_METADATA = {"render_modes": ["rgb_array"], "render_fps": 10}
_MAX_ENVS = 65536

Observations = NDArray[np.float32]
Infos = dict[str, Any]


def _spaces(task: Task) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """The spaces of observations and actions of one environment."""
    low = np.zeros(task.beams + GOAL_ENTRIES, np.float32)
    low[task.beams + 1 :] = -1.0
    observed = spaces.Box(low, np.ones_like(low), dtype=np.float32)
    return observed, spaces.Box(-1.0, 1.0, (2,), np.float32)


class _Environment:
    """What both classes of environments have: a check of the order of calls, pictures, and the state."""

    _robots: Robots
    render_mode: str | None

    def _open(self, render_mode: str | None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise refuse("render_mode", f"is {render_mode!r}; None and 'rgb_array' are accepted")
        self.render_mode = render_mode
        self._images: dict[int, Image] = {}
        self._closed = self._started = False

    def _usable(self, started: bool = True) -> Robots:
        if self._closed:
            raise FailedPreconditionError("the environment is closed", field="env")
        if started and not self._started:
            raise FailedPreconditionError("reset must be called first", field="env")
        return self._robots

    def _frame(self, index: int) -> NDArray[np.uint8]:
        robots = self._usable()
        map = int(robots.map[index])
        image = self._images.get(map)
        if image is None:
            image = self._images[map] = Image(robots.maps[map].scene)
        return image.draw(shot(robots, index))

    def episode_svg(self, env_index: int = 0, *, width: int = 1024) -> str:
        """Returns an SVG document of the current episode: map, way, collisions, last scan and goal.

        env_index: in [0, recorded)
        width: of the picture in pixels, in [64, 16384]; a map that is more than four times as high is narrower

        The episode lasts until the environment is reset, so after its last step the picture shows all of it, except
        under AutoresetMode.SAME_STEP. Cost: O(vertices of the map + steps).
        """
        robots = self._usable()
        if not robots.paths:
            raise FailedPreconditionError("recorded is 0, so no way is kept", field="recorded")
        index = integer("env_index", env_index, 0, len(robots.paths) - 1)
        return svg(shot(robots, index), integer("width", width, 64, 16384))

    @property
    def positions(self) -> NDArray[np.float64]:
        """[length] centres of the robots, (envs, 2): a copy, as are all of these arrays."""
        return np.stack((self._robots.x, self._robots.y), axis=1)

    @property
    def goals(self) -> NDArray[np.float64]:
        """[length] centres of the goals, (envs, 2)."""
        return np.stack((self._robots.goal_x, self._robots.goal_y), axis=1)

    @property
    def headings(self) -> NDArray[np.int64]:
        """Directions of the robots, (envs,): in [0, 16384), counter-clockwise from +x by 2 pi / 16384 each."""
        return self._robots.heading.copy()

    @property
    def map_indices(self) -> NDArray[np.int64]:
        """The map of each environment, (envs,)."""
        return self._robots.map.copy()


def _rewards(robots: Robots, progress: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rewards, terminations and truncations of a step."""
    task = robots.task
    reached = robots.distance <= task.goal_radius
    rewards = progress + np.where(reached, task.goal_reward, 0.0)
    rewards -= np.where(robots.blocked, task.collision_cost, 0.0)
    terminations = reached | robots.blocked if task.terminate_on_collision else reached
    return rewards, terminations, (robots.steps >= task.max_steps) & ~terminations


class LidarVectorEnv(_Environment, VectorEnv[Observations, NDArray[Any], NDArray[Any]]):
    """Robots with lidars, one an environment, which drive to goals: numpy in, numpy out.

    maps: scenes, or what `carom.Polygons` accepts of each: one, or a list; `rooms()` if absent. The random numbers of
        an environment choose the map of each of its episodes. A map should enclose its free space.
    num_envs: in [1, 65536]
    seed: of the first reset, if that has none
    threads: in [1, 64]; the batches of a step are split among so many threads. Answers do not depend on it.
    autoreset_mode: next step, as Gymnasium does by default, same step, or disabled
    recorded: the first so many environments keep the ways of their episodes, for `episode_svg`; in [0, num_envs]
    render_mode: None or "rgb_array"

    The task, with defaults; what is not said to be otherwise is in [2^-30, 2^20]:
    beams = 64: in [1, 65536], and at most 2^26 entries of all observations
    fov = 3 pi / 2: [radians] from the first beam to the last one, centred ahead, counter-clockwise; at most 2 pi,
        where the last beam is one step before the first one
    range = 8: [length] of each beam
    radius = 0.2: [length] of the robots
    dt = 0.1: [time] of a step
    max_speed = 1: [length/time]
    max_turn = pi: [radians/time], rounded so that a step turns by multiples of 2 pi / 16384
    goal_radius = 0.4: [length] the centre of a robot that is at most this far from its goal has reached it
    goal_distance = 2: [length] least distance, or least and largest, of start and goal; above goal_radius
    goal_reward = 10, collision_cost = 0.1: in [-2^20, 2^20]
    terminate_on_collision = False
    max_steps = 500: of an episode; in [1, 2^31)

    An action is (speed, turn), each in [-1, 1] as a part of max_speed and max_turn; numbers beyond are limited. A
    robot turns first, then drives dt * speed straight and slides along what it meets. An observation is float32, of
    beams + 3 entries: the distances of the beams by the range, in [0, 1]; d / (d + range) for the distance d to the
    goal; cosine and sine of the bearing of the goal, counter-clockwise from the heading. The reward is the part of
    the way to the goal that the step covered, as the crow flies, plus goal_reward at the goal, minus collision_cost
    if something blocked the robot. An episode terminates at the goal, and is truncated after max_steps.

    Infos, each with its mask as Gymnasium has it: `position` (envs, 2), `distance` to the goal, `collision`; under
    same step also `final_obs` and `final_info`. Starts and goals are points of a lattice, and each goal can be
    reached from each start of its map by a robot of this radius. Every array that is returned is new.

    Raises InvalidArgumentError that names an argument: `maps[2]` for a map without free space, `actions` for another
    shape or type or NaN, and then nothing has changed, or `goal_distance`, at a reset, if no start that was tried has
    a goal so far away. One thread at a time. Cost of a step: a slide and a fan for each environment.
    """

    metadata: dict[str, Any] = {**_METADATA, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        maps: Any = None,
        num_envs: int = 1,
        *,
        seed: int | None = None,
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        recorded: int | None = None,
        render_mode: str | None = None,
        **options: Unpack[TaskOptions],
    ) -> None:
        task = Task(**options)
        self.num_envs = integer("num_envs", num_envs, 1, _MAX_ENVS)
        if self.num_envs * (task.beams + GOAL_ENTRIES) > MAX_OBSERVED:
            raise refuse("beams", f"is {task.beams}; observations of at most {MAX_OBSERVED} entries are accepted")
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            names = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise refuse("autoreset_mode", f"is {autoreset_mode!r}; accepted are {names}") from None
        kept = min(16, self.num_envs) if recorded is None else integer("recorded", recorded, 0, self.num_envs)
        self._open(render_mode)
        self._seeds = _seeds(seed, self.num_envs)
        self.metadata = {**_METADATA, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = _spaces(task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._seeded: list[tuple[np.random.Generator, int]] = []
        self._done = np.zeros(self.num_envs, np.bool_)
        self._robots = Robots(
            read_maps(maps, task.radius), self.num_envs, task, integer("threads", threads, 1, 64), kept
        )

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Starts an episode of each environment.

        seed: environment i gets the seed + i; or a list of a seed, or None, for each. Without one, the random numbers
            of an environment go on.
        options: {"reset_mask": array of bool} resets these environments alone
        """
        robots = self._usable(started=False)
        seeds = _seeds(seed, self.num_envs)
        mask = _reset_mask(options, self.num_envs)
        if not self._started:
            if not mask.all():
                raise refuse("reset_mask", "must be true for all environments at the first reset")
            seeds = [first if given is None else given for given, first in zip(seeds, self._seeds, strict=True)]
            self._seeded = [seeded(each) for each in seeds]
        else:
            for index in np.flatnonzero(mask).tolist():
                if seeds[index] is not None:
                    self._seeded[index] = seeded(seeds[index])
        robots.spawn(np.flatnonzero(mask), self.np_random)
        self._done[mask] = False
        self._started = True
        return robots.observe(), self._infos(mask)

    def step(self, actions: NDArray[Any]) -> tuple[Observations, NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """Moves each robot by its action, (envs, 2); an environment that ended in the step before is reset instead.

        Under AutoresetMode.DISABLED such an environment raises FailedPreconditionError, and nothing changes.
        """
        robots = self._usable()
        checked = robots.task.actions("actions", actions, (self.num_envs, 2))
        everyone = np.ones(self.num_envs, np.bool_)
        still = self._done
        if still.any():
            if self.autoreset_mode is AutoresetMode.DISABLED:
                raise FailedPreconditionError(
                    f"environment {int(np.flatnonzero(still)[0])} ended, and must be reset by a reset_mask",
                    field="actions",
                )
            robots.spawn(np.flatnonzero(still), self.np_random)
        observations, progress = robots.step(checked, still)
        rewards, terminations, truncations = _rewards(robots, progress)
        self._done = terminations | truncations
        infos = self._infos(everyone)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._done.any():
            infos = self._restart(observations, infos)
        return observations, rewards, terminations, truncations, infos

    def _restart(self, observations: Observations, last: Infos) -> Infos:
        """Resets what ended in this step, in `observations` too; returns infos with those of the last step."""
        robots, ended = self._robots, np.flatnonzero(self._done)
        final = np.full(self.num_envs, None, dtype=object)
        for index in ended.tolist():
            final[index] = observations[index].copy()
        for name in ("position", "distance", "collision"):
            last[name][~self._done] = 0
            last[f"_{name}"] = self._done.copy()
        robots.spawn(ended, self.np_random)
        observations[ended] = robots.observe(ended)[ended]
        infos = self._infos(np.ones(self.num_envs, np.bool_))
        infos.update(final_obs=final, _final_obs=self._done.copy(), final_info=last, _final_info=self._done.copy())
        self._done = np.zeros(self.num_envs, np.bool_)
        return infos

    def _infos(self, mask: NDArray[np.bool_]) -> Infos:
        robots = self._robots
        infos: Infos = {
            "position": np.where(mask[:, np.newaxis], self.positions, 0.0),
            "distance": np.where(mask, robots.distance, 0.0),
            "collision": robots.blocked & mask,
        }
        infos.update({f"_{name}": mask.copy() for name in list(infos)})
        return infos

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Returns an image of each environment, (rows, columns, 3); None without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs render_mode='rgb_array'")
            return None
        return tuple(self._frame(index) for index in range(self.num_envs))

    def close_extras(self, **_: Any) -> None:
        """Ends the threads. Later calls raise FailedPreconditionError."""
        self._closed = True
        robots = getattr(self, "_robots", None)
        if robots is not None:
            robots.close()

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The random numbers of each environment; none before the first reset."""
        return tuple(generator for generator, _ in self._seeded)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of each environment; none before the first reset."""
        return tuple(seed for _, seed in self._seeded)


def _seeds(seed: object, count: int) -> list[int | None]:
    """A seed, or None, for each environment."""
    if seed is None:
        return [None] * count
    if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str | bytes):
        if len(seed) != count:
            raise refuse("seed", f"has {len(seed)} entries, where there are {count} environments")
        return [None if each is None else integer("seed", each, 0, 2**63 - 1) for each in seed]
    first = integer("seed", seed, 0, 2**63 - 1)
    return [first + i for i in range(count)]


def _reset_mask(options: dict[str, Any] | None, count: int) -> NDArray[np.bool_]:
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return np.ones(count, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,) or not mask.any():
        raise refuse("reset_mask", f"must be an array of {count} bools, one of them true")
    return mask.copy()


class LidarEnv(_Environment, gymnasium.Env[Observations, NDArray[Any]]):
    """One robot with a lidar: `LidarVectorEnv` with one environment, without autoreset.

    Arguments, observations, actions, rewards and errors are those of `LidarVectorEnv`; an action has the shape (2,).
    Infos are `position` (2,), `distance` and `collision`.
    """

    metadata: dict[str, Any] = dict(_METADATA)  # noqa: RUF012

    def __init__(self, maps: Any = None, *, render_mode: str | None = None, **options: Unpack[TaskOptions]) -> None:
        task = Task(**options)
        self._open(render_mode)
        self.observation_space, self.action_space = _spaces(task)
        self._robots = Robots(read_maps(maps, task.radius), 1, task, recorded=1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Starts an episode; a seed starts the random numbers anew."""
        robots = self._usable(started=False)
        super().reset(seed=_seeds(seed, 1)[0], options=options)
        robots.spawn(np.zeros(1, np.int64), [self.np_random])
        self._started = True
        return robots.observe()[0], self._info()

    def step(self, action: NDArray[Any]) -> tuple[Observations, SupportsFloat, bool, bool, Infos]:
        """Moves the robot by an action, (2,). After the end of an episode, the robot goes on."""
        robots = self._usable()
        checked = robots.task.actions("action", action, (2,))
        observations, progress = robots.step(checked[np.newaxis], np.zeros(1, np.bool_))
        rewards, terminations, truncations = _rewards(robots, progress)
        return observations[0], float(rewards[0]), bool(terminations[0]), bool(truncations[0]), self._info()

    def _info(self) -> Infos:
        robots = self._robots
        return {
            "position": self.positions[0],
            "distance": float(robots.distance[0]),
            "collision": bool(robots.blocked[0]),
        }

    def render(self) -> NDArray[np.uint8] | None:
        """Returns an image of the environment, (rows, columns, 3); None without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs render_mode='rgb_array'")
            return None
        return self._frame(0)

    def close(self) -> None:
        """Later calls raise FailedPreconditionError. May be called twice."""
        self._closed = True


if ID not in gymnasium.registry:
    gymnasium.register(ID, "carom.gym:LidarEnv", vector_entry_point="carom.gym:LidarVectorEnv")
