#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How many steps a minute do the environments of `carom.gym` take, and what does a step consist of?

usage: gym_steps.py [--envs N] [--beams N] [--maps N] [--steps N] [--runs N] [--threads N…]

Prints the median, the least and the largest number of environment steps a minute of several runs for each number of
threads, and for one thread the median time of a step of all environments and of its parts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carom._gym.maps import Map
from carom.gym import LidarVectorEnv, rooms
from carom.local import Scene


class TimedScene:
    """A scene that adds up the time of its slides and fans."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.seconds = {"slide": 0.0, "fans": 0.0}

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self.scene, name)
        if name not in self.seconds:
            return asked

        def timed(*arguments: Any, **options: Any) -> Any:
            begin = time.perf_counter()
            answers = asked(*arguments, **options)
            self.seconds[name] += time.perf_counter() - begin
            return answers

        return timed


def made(options: argparse.Namespace, threads: int) -> LidarVectorEnv:
    """The environments, reset."""
    maps = [rooms(seed) for seed in range(options.maps)]
    env = LidarVectorEnv(maps, options.envs, beams=options.beams, threads=threads)
    env.reset(seed=1)
    return env


def seconds_of(env: LidarVectorEnv, actions: NDArray[np.float32]) -> float:
    """The time of as many steps as there are actions."""
    begin = time.perf_counter()
    for each in actions:
        env.step(each)
    return time.perf_counter() - begin


def parts(options: argparse.Namespace, actions: NDArray[np.float32]) -> dict[str, float]:
    """Milliseconds of a step and of its parts, medians over steps."""
    env = made(options, 1)
    timed = [TimedScene(map.scene) for map in env._robots.maps]
    env._robots.maps = [
        Map(scene, map.x, map.y)  # type: ignore[arg-type]
        for scene, map in zip(timed, env._robots.maps, strict=True)
    ]
    env._robots._parts = env._robots._split(slice(0, options.envs))
    rows: dict[str, list[float]] = {"step": [], "fans": [], "slide": [], "other": []}
    for each in actions:
        before = {name: sum(scene.seconds[name] for scene in timed) for name in ("fans", "slide")}
        step = seconds_of(env, each[np.newaxis])
        spent = {name: sum(scene.seconds[name] for scene in timed) - before[name] for name in before}
        for name, value in {"step": step, **spent, "other": step - sum(spent.values())}.items():
            rows[name].append(1000 * value)
    return {name: statistics.median(values) for name, values in rows.items()}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="environment steps a minute of carom.gym")
    for name, default in (("envs", 1024), ("beams", 64), ("maps", 1), ("steps", 100), ("runs", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    random = np.random.default_rng(1)
    actions = random.uniform(-1, 1, (options.steps, options.envs, 2)).astype(np.float32)
    print(f"{options.envs} environments, {options.beams} beams, {options.maps} maps, {options.steps} steps a run")
    for threads in options.threads:
        env = made(options, threads)
        seconds_of(env, actions[:5])
        rates = [60 * options.envs * options.steps / seconds_of(env, actions) for _ in range(options.runs)]
        print(
            f"{threads} threads: {statistics.median(rates):,.0f} environment steps a minute "
            f"[{min(rates):,.0f}, {max(rates):,.0f}]"
        )
        env.close()
    print("one thread, ms: " + ", ".join(f"{name} {value:.3f}" for name, value in parts(options, actions).items()))


if __name__ == "__main__":
    main()
