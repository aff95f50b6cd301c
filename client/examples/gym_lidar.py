#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Eight robots with lidars drive through rooms at random, and one of their episodes becomes a picture.

usage: gym_lidar.py [FILE.svg]
"""

import sys

import gymnasium
import numpy as np
from numpy.typing import NDArray

import carom.gym

ENVIRONMENTS, BEAMS, STEPS = 8, 64, 500


def random_actions(random: np.random.Generator, observations: NDArray[np.float32]) -> NDArray[np.float32]:
    """A policy for a start: to the goal and to the side with more space, with noise."""
    right, left = observations[:, : BEAMS // 2].mean(axis=1), observations[:, BEAMS // 2 : BEAMS].mean(axis=1)
    goal_to_the_left = observations[:, BEAMS + 2]
    turn = 0.3 * goal_to_the_left + 2 * (left - right) + random.normal(0, 0.2, ENVIRONMENTS)
    speed = random.uniform(0.5, 1, ENVIRONMENTS)
    return np.stack((speed, turn), axis=1).astype(np.float32)


def main(path: str) -> None:
    """Drives for some steps, and writes the longest way to a goal; without one, the last way of a robot."""
    maps = [carom.gym.rooms(seed) for seed in range(4)]
    env = gymnasium.make_vec(carom.gym.ID, num_envs=ENVIRONMENTS, maps=maps, beams=BEAMS, max_steps=STEPS)
    lidars = env.unwrapped
    assert isinstance(lidars, carom.gym.LidarVectorEnv)
    random = np.random.default_rng(1)
    observations, infos = env.reset(seed=4)
    print(f"observations {observations.shape} {observations.dtype}, goals {infos['distance'].round(1)} away")
    goals, collisions, picture = 0, 0, ""
    for _ in range(STEPS):
        actions = random_actions(random, observations)
        observations, _, terminated, _, infos = env.step(actions)
        goals += int(terminated.sum())
        collisions += int(infos["collision"].sum())
        for index in np.flatnonzero(terminated):
            drawn = lidars.episode_svg(int(index))
            picture = max(picture, drawn, key=len)
    print(f"{STEPS * ENVIRONMENTS} steps: {goals} goals reached, {collisions} steps with a collision")
    with open(path, "w", encoding="utf-8") as file:
        file.write(picture or lidars.episode_svg(0))
    print(f"wrote {path}")
    env.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "episode.svg")
