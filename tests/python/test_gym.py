# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Are the environments of `carom.gym` what Gymnasium asks for, exact, and the same on every machine?

Laws: a vector of environments is so many single ones, for any maps, threads and autoreset mode; a seed gives the same
bytes. Oracles: shapely for motion and beams, a search for reachable places, series of fractions for headings.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import os
import pathlib
import subprocess
import sys
import warnings
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
import shapely
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from numpy.typing import NDArray

import carom.gym
from carom import CaromError, FailedPreconditionError, InvalidArgumentError, Polygons, Scene
from carom._gym.headings import HEADINGS, UNIT, cosines_and_sines
from carom._gym.maps import read_maps
from carom._gym.task import Task
from carom.gym import LidarEnv, LidarVectorEnv, rooms

SQUARE = [[(0, 0), (10, 0), (10, 10), (0, 10)], [(-1, -1), (-1, 11), (11, 11), (11, -1)]]  # a hole in a wall
ARENA = Polygons([SQUARE])

# SHA-256 of observations, rewards, ends, positions and collisions of `digested_episode`. The number was recorded
# once, on x86-64 with numpy 2.4; it must not change with the machine, the instructions that numpy chooses, its version,
# or the number of threads. It may change only together with what an episode is: maps, starts, motion or rewards.
DIGEST = "297fb5f4e65421efb69c75cfd6f085e5f970e135c20c39da488810a8d513d433"


def raw_actions(seed: int, steps: int, count: int) -> NDArray[np.float32]:
    """Actions in multiples of 1/128, from the raw stream of PCG64: mostly ahead."""
    raw = np.random.PCG64(seed).random_raw((steps, count, 2))
    actions: NDArray[np.float64] = ((raw >> np.uint64(56)).astype(np.float64) - 127) / 128
    actions[..., 0] = (actions[..., 0] + 1) / 2
    return actions.astype(np.float32)


def digested_episode(threads: int) -> str:
    """The digest of 300 steps of 12 robots in three maps."""
    env = LidarVectorEnv([rooms(0), rooms(1), ARENA], 12, beams=31, fov=5.0, max_steps=90, threads=threads)
    total = hashlib.sha256()
    observations, _ = env.reset(seed=2026)
    total.update(observations.astype("<f4").tobytes())
    for actions in raw_actions(7, 300, 12):
        observations, rewards, terminations, truncations, infos = env.step(actions)
        for array, kind in ((observations, "<f4"), (rewards, "<f8"), (terminations, "u1"), (truncations, "u1"),
                            (infos["position"], "<f8"), (infos["collision"], "u1")):  # fmt: skip
            total.update(array.astype(kind).tobytes())
    env.close()
    return total.hexdigest()


def walls_of(maps: Any) -> Any:
    """The walls of a map, as shapely has them."""
    polygons = Scene.from_polygons(maps).polygons()
    return shapely.union_all(
        [shapely.Polygon(polygons.rings(i)[0], polygons.rings(i)[1:]) for i in range(len(polygons))]
    )


def drive_to_goal(env: LidarEnv, steps: int) -> list[tuple[Any, ...]]:
    """Turns to the goal and drives straight to it."""
    observation, _ = env.reset(seed=3)
    made = []
    for _ in range(steps):
        ahead, left = observation[-2], observation[-1]
        action = np.array([1.0 if ahead > 0.99 else 0.0, math.atan2(left, ahead) * 4])
        made.append(env.step(action))
        observation = made[-1][0]
        if made[-1][2] or made[-1][3]:
            break
    return made


# --- Laws: headings, places and maps ------------------------------------------------------------------------


def test_headings_are_the_nearest_doubles() -> None:
    cosines, sines = cosines_and_sines()
    pi = 4 * (4 * arctan(Fraction(1, 5)) - arctan(Fraction(1, 239)))  # Machin
    for heading in [1, 2, 3, 777, 1024, 2047, 2048, 2049, 3000, 4095]:
        angle = 2 * pi * heading / HEADINGS
        assert cosines[heading] == float(series(angle, 0))
        assert sines[heading] == float(series(angle, 1))
    quarter = HEADINGS // 4
    np.testing.assert_array_equal(np.roll(cosines, quarter), sines)
    np.testing.assert_array_equal(cosines[1:], cosines[:0:-1])
    assert (cosines[0], cosines[quarter], sines[quarter], cosines[2 * quarter]) == (1, 0, 1, -1)
    assert not np.signbit(cosines[cosines == 0]).any()
    assert not np.signbit(sines[sines == 0]).any()
    with pytest.raises(ValueError, match="read-only"):
        cosines[0] = 2
    assert math.tau == UNIT * HEADINGS


def arctan(x: Fraction) -> Fraction:
    """The series of arctan, to some 200 bits."""
    return sum(((-1) ** k * x ** (2 * k + 1) / (2 * k + 1) for k in range(50)), Fraction(0))


def series(angle: Fraction, first: int) -> Fraction:
    """The series of cos (first 0) or sin (first 1), to some 100 bits."""
    angle = Fraction(round(angle * 2**160), 2**160)
    term, total = angle**first, Fraction(0)
    for k in range(first, 44 + first, 2):
        total += term
        term = -term * angle * angle / ((k + 1) * (k + 2))
    return total


def test_places_are_the_largest_set_that_a_robot_reaches() -> None:
    # A room, a door of 0.5, a smaller room, and a closed cell: robots of 0.2 pass the door, those of 0.3 do not.
    walls = Polygons([
        [(0, 0), (9, 0), (9, -1), (0, -1)], [(0, 4), (9, 4), (9, 5), (0, 5)], [(-1, 0), (0, 0), (0, 4), (-1, 4)],
        [(9, 0), (10, 0), (10, 4), (9, 4)], [(5, 0), (5.2, 0), (5.2, 2), (5, 2)],
        [(5, 2.5), (5.2, 2.5), (5.2, 4), (5, 4)], [(7, 0), (7.2, 0), (7.2, 4), (7, 4)],
    ])  # fmt: skip
    for radius, least, most in ((0.2, 6.6, 6.8), (0.3, 4.6, 5.0)):
        (made,) = read_maps(walls, radius)
        free = shapely.distance(shapely.points(made.x, made.y), walls_of(walls)) > radius
        assert free.all()
        assert 0 < made.x.min() < radius * 2
        assert least < made.x.max() < most
        # Every free point of the lattice that a search reaches from the first place is a place, and no other.
        spacing = radius / 2
        i, j = (np.rint((axis - axis[0]) / spacing).astype(int).tolist() for axis in (made.x, made.y))
        assert set(zip(i, j, strict=True)) == search(made.x[0], made.y[0], spacing, radius, walls_of(walls))


def search(x: float, y: float, spacing: float, radius: float, walls: Any) -> set[tuple[int, int]]:
    """The points of the lattice that a disc reaches from (x, y): flood fill, with distances by shapely."""
    found, border = {(0, 0)}, [(0, 0)]
    shapely.prepare(walls)
    while border:
        i, j = border.pop()
        for u, v in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if (u, v) not in found:
                ends = [(x + a * spacing, y + b * spacing) for a, b in ((i, j), (u, v))]
                if not shapely.dwithin(shapely.LineString(ends), walls, radius):
                    found.add((u, v))
                    border.append((u, v))
    return found


def test_rooms_are_all_connected() -> None:
    for seed in range(12):
        (made,) = read_maps(rooms(seed), 0.2)
        in_rooms = {(int(x // 8), int(y // 8)) for x, y in zip(made.x, made.y, strict=True)}
        assert in_rooms == {(i, j) for i in range(3) for j in range(2)}
    assert (rooms(1).x != rooms(2).x[: len(rooms(1).x)]).any() or len(rooms(1)) != len(rooms(2))
    assert Scene.from_polygons(rooms(5, columns=2, rows=4)).bounds == (-0.125, -0.125, 16.125, 32.125)


def test_starts_and_goals() -> None:
    env = LidarVectorEnv([rooms(0), rooms(1)], 300, beams=1, goal_distance=(3.0, 5.0))
    env.reset(seed=1)
    distance = np.hypot(*(env.positions - env.goals).T)
    assert distance.min() >= 3
    assert distance.max() <= 5
    for index, map in enumerate((rooms(0), rooms(1))):
        inside = env.map_indices == index
        assert 100 < inside.sum() < 200
        for points in (env.positions[inside], env.goals[inside]):
            assert (shapely.distance(shapely.points(points), walls_of(map)) > 0.2).all()
    assert len(np.unique(env.positions, axis=0)) > 280
    # A goal that few places have is found by a search of all places, not by luck.
    far = LidarVectorEnv(ARENA, 20, beams=1, goal_distance=(12.5, 13.0))
    far.reset(seed=1)
    assert np.hypot(*(far.positions - far.goals).T).min() >= 12.5


# --- Laws: one environment and many -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize(("maps", "threads"), [(None, 1), (None, 3), ([rooms(0), rooms(1), ARENA], 2)])
def test_a_vector_is_so_many_environments(mode: AutoresetMode, maps: Any, threads: int) -> None:
    options: Any = {"maps": maps, "beams": 9, "max_steps": 25, "goal_distance": 1.0, "goal_radius": 0.9}
    many = LidarVectorEnv(num_envs=7, threads=threads, autoreset_mode=mode, **options)
    ones = SyncVectorEnv([lambda: LidarEnv(**options)] * 7, autoreset_mode=mode)
    assert (many.observation_space, many.action_space) == (ones.observation_space, ones.action_space)
    assert many.metadata == ones.metadata
    assert_same(many.reset(seed=11), ones.reset(seed=11))
    ends = 0
    for actions in raw_actions(3, 85, 7):
        result = many.step(actions)
        assert_same(result, ones.step(actions))
        assert result[0] in many.observation_space
        ended = result[2] | result[3]
        ends += int(ended.sum())
        if mode is AutoresetMode.DISABLED and ended.any():
            again = [env.reset(options={"reset_mask": ended.copy()}) for env in (many, ones)]
            np.testing.assert_array_equal(again[0][0], again[1][0])
            for name in ("position", "distance", "collision", "_position"):
                np.testing.assert_array_equal(again[0][1][name], again[1][1][name])
    assert ends > 20
    assert many.np_random_seed == ones.np_random_seed
    assert [g.bit_generator.state for g in many.np_random] == [g.bit_generator.state for g in ones.np_random]
    many.close()


def assert_same(a: tuple[Any, ...], b: tuple[Any, ...]) -> None:
    for one, other in zip(a, b, strict=True):
        assert data_equivalence(one, other, exact=True), (one, other)


def test_seeds() -> None:
    env = LidarVectorEnv(num_envs=4, beams=4, seed=5)
    first, _ = env.reset()
    second, _ = env.reset()
    assert (first != second).any(axis=1).all()
    assert_same(env.reset(seed=5)[:1], (first,))
    assert_same(env.reset()[:1], (second,))
    listed, _ = env.reset(seed=[8, 7, 6, 5])
    np.testing.assert_array_equal(listed[3], first[0])
    np.testing.assert_array_equal(listed[1], first[2])
    assert env.np_random_seed == (8, 7, 6, 5)
    unseeded = [LidarVectorEnv(num_envs=2, beams=4).reset()[0] for _ in range(2)]
    assert (unseeded[0] != unseeded[1]).any()


def test_an_episode_has_equal_bytes_everywhere() -> None:
    assert digested_episode(1) == DIGEST
    assert digested_episode(4) == DIGEST


def test_an_episode_does_not_depend_on_the_instructions_of_numpy() -> None:
    core: Any = importlib.import_module("numpy._core._multiarray_umath")
    chosen = [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]
    here = pathlib.Path(__file__).parent
    code = f"import sys; sys.path.insert(0, {str(here)!r}); import test_gym; print(test_gym.digested_episode(1))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(chosen)},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == DIGEST


# --- Gymnasium's own checks ---------------------------------------------------------------------------------


def test_check_env_has_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mode in (None, "rgb_array"):
            check_env(gymnasium.make(carom.gym.ID, render_mode=mode).unwrapped)
        many = gymnasium.make_vec(carom.gym.ID, num_envs=3)
        assert isinstance(many.unwrapped, LidarVectorEnv)
        assert many.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
        assert isinstance(gymnasium.make_vec(f"carom.gym:{carom.gym.ID}", 2, max_steps=5).unwrapped, LidarVectorEnv)


def test_wrappers_of_gymnasium() -> None:
    env = RecordEpisodeStatistics(gymnasium.make_vec(carom.gym.ID, num_envs=3, max_steps=6, beams=3))
    env.reset(seed=1)
    total = np.zeros(3)
    for step in range(6):
        _, rewards, _, truncations, infos = env.step(np.full((3, 2), 0.5, np.float32))
        total += rewards
        assert truncations.tolist() == [step == 5] * 3
    np.testing.assert_allclose(infos["episode"]["r"], total)
    assert infos["episode"]["l"].tolist() == [6, 6, 6]


def test_returned_arrays_are_new() -> None:
    env = LidarVectorEnv(num_envs=3, beams=5)
    kept: list[tuple[Any, ...]] = [env.reset(seed=1)]
    kept += [env.step(actions) for actions in raw_actions(1, 3, 3)]
    copies = [[np.array(array) for array in result[:-1]] for result in kept]
    infos = [{name: np.array(array) for name, array in result[-1].items()} for result in kept]
    for result in kept:
        for array in [*result[:-1], *result[-1].values()]:
            array[...] = 0
    env.reset(seed=1)
    for actions, copy, info in zip(raw_actions(1, 3, 3), copies[1:], infos[1:], strict=True):
        assert_same(env.step(actions), (*copy, info))


# --- Oracles: motion, beams and rewards ---------------------------------------------------------------------


def test_motion_and_beams_by_shapely() -> None:
    env = LidarVectorEnv(num_envs=16, beams=12, fov=math.tau, range=6.0, radius=0.25, max_speed=4.0)
    walls = walls_of(rooms())
    observations, _ = env.reset(seed=4)
    blocked = 0
    for actions in raw_actions(9, 30, 16):
        before, heading = env.positions, env.headings
        observations, _, terminations, truncations, infos = env.step(actions)
        turned = (heading + np.rint(actions[:, 1].astype(float) * round(0.1 * math.pi / UNIT)).astype(int)) % HEADINGS
        if (terminations | truncations).any():
            break
        angle = turned * UNIT
        step = 0.4 * actions[:, :1].astype(float) * np.stack((np.cos(angle), np.sin(angle)), axis=1)
        after = env.positions
        np.testing.assert_array_equal(infos["position"], after)
        assert (shapely.distance(shapely.points(after), walls) > 0.25 - 1e-12).all()
        ways = shapely.linestrings(np.stack((before, before + step), axis=1))
        room = shapely.distance(ways, walls)
        assert infos["collision"][room < 0.25 - 1e-9].all()
        free = room > 0.25 + 1e-9
        assert not infos["collision"][free].any()
        np.testing.assert_allclose(after[free], (before + step)[free], rtol=0, atol=1e-12)
        blocked += int(infos["collision"].sum())
        check_beams(env, observations, angle, walls)
    assert blocked > 15


def check_beams(env: LidarVectorEnv, observations: NDArray[np.float32], angle: NDArray[np.float64], walls: Any) -> None:
    beams = angle[:, np.newaxis] - math.pi + np.arange(12) * (math.tau / 12)
    starts = np.repeat(env.positions, 12, axis=0)
    ends = starts + 6.0 * np.stack((np.cos(beams).ravel(), np.sin(beams).ravel()), axis=1)
    met = shapely.intersection(shapely.linestrings(np.stack((starts, ends), axis=1)), walls)
    expected = np.where(shapely.is_empty(met), 6.0, shapely.distance(shapely.points(starts), met))
    np.testing.assert_allclose(observations[:, :12].ravel(), np.minimum(expected / 6.0, 1), rtol=0, atol=1e-6)
    bearing = np.arctan2(*(env.goals - env.positions).T[::-1]) - angle
    distance = np.hypot(*(env.goals - env.positions).T)
    np.testing.assert_allclose(observations[:, 12], distance / (distance + 6), rtol=0, atol=1e-6)
    np.testing.assert_allclose(observations[:, 13], np.cos(bearing), rtol=0, atol=1e-6)
    np.testing.assert_allclose(observations[:, 14], np.sin(bearing), rtol=0, atol=1e-6)


def test_rewards() -> None:
    env = LidarVectorEnv(num_envs=32, beams=2, goal_reward=5.0, collision_cost=0.25, goal_distance=(0.6, 1.0))
    _, infos = env.reset(seed=2)
    ended, reached = np.zeros(32, np.bool_), 0
    for actions in raw_actions(5, 150, 32):
        distance = infos["distance"]
        _, rewards, terminations, truncations, infos = env.step(actions)
        at_goal = infos["distance"] <= 0.4
        expected = (distance - infos["distance"]) + np.where(at_goal, 5.0, 0) - np.where(infos["collision"], 0.25, 0)
        np.testing.assert_array_equal(rewards, np.where(ended, 0, expected))
        np.testing.assert_array_equal(terminations, at_goal)
        ended = terminations | truncations
        reached += int(at_goal.sum())
    assert reached > 5


def test_the_goal_ends_an_episode() -> None:
    *before, last = drive_to_goal(LidarEnv(ARENA, goal_radius=0.5), 400)
    assert before
    assert not any(step[2] or step[3] for step in before)
    _, reward, terminated, truncated, info = last
    assert (terminated, truncated, info["collision"]) == (True, False, False)
    assert info["distance"] <= 0.5
    assert reward > 10


def test_a_collision_ends_an_episode_where_asked() -> None:
    for ends in (False, True):
        env = LidarEnv(ARENA, max_speed=1000.0, max_steps=3, goal_distance=5.0, terminate_on_collision=ends)
        env.reset(seed=1)
        _, reward, terminated, truncated, info = env.step(np.array([1.0, 0.0]))
        assert (terminated, truncated, info["collision"]) == (ends, False, True)
        assert isinstance(reward, float)
        # No speed makes a robot pass through a wall: it slid into a corner of the arena.
        assert (np.abs(info["position"] - 5) <= 4.8).all()


def test_truncation() -> None:
    env = LidarEnv(max_steps=3)
    env.reset(seed=1)
    assert [env.step(np.zeros(2))[3] for _ in range(4)] == [False, False, True, True]


def test_actions_beyond_the_space_are_limited() -> None:
    results = []
    for action in ([1, -1], [7.5, -1e300], np.array([1, -1], np.int64), np.array([1, -1], np.float16)):
        env = LidarEnv(beams=3)
        env.reset(seed=1)
        results.append(env.step(action)[0])  # type: ignore[arg-type]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


# --- Pictures -----------------------------------------------------------------------------------------------


def test_an_episode_as_svg() -> None:
    env = LidarVectorEnv([rooms(0), ARENA], 20, max_steps=200)
    env.reset(seed=1)
    collisions = np.zeros(20, int)
    for actions in raw_actions(2, 50, 20):
        collisions += env.step(actions)[4]["collision"]
    for index in range(4):
        picture = ElementTree.fromstring(env.episode_svg(index, width=600))
        assert picture.attrib["width"] == "600"
        drawn: dict[str, list[Any]] = {}
        for element in picture:
            drawn.setdefault(element.attrib.get("class", ""), []).append(element.attrib)
        assert len(drawn["even"]) == len([rooms(0), ARENA][env.map_indices[index]])
        assert drawn["path"][0]["d"].count("L") == 50
        assert drawn["blocked"][0]["d"].count("M") == collisions[index]
        assert len(drawn["goal"]) == len(drawn["robot"]) == len(drawn["start"]) == 1
    with pytest.raises(InvalidArgumentError, match="env_index: is 16"):
        env.episode_svg(16)
    unrecorded = LidarVectorEnv(num_envs=2, recorded=0)
    unrecorded.reset()
    with pytest.raises(FailedPreconditionError, match="recorded"):
        unrecorded.episode_svg()


def test_images() -> None:
    env = LidarVectorEnv(num_envs=2, render_mode="rgb_array")
    env.reset(seed=1)
    env.step(raw_actions(1, 1, 2)[0])
    frames = env.render()
    assert frames is not None
    for frame, (x, y) in zip(frames, env.positions, strict=True):
        assert frame.dtype == np.uint8
        assert frame.shape[1:] == (400, 3)
        pixel = 24.25 / 400
        assert frame[int((16.125 - y) / pixel), int((x + 0.125) / pixel)].tolist() == [47, 214, 195]
        assert frame[0, 200].tolist() == [92, 112, 178]  # the wall at the top


# --- Bad input ----------------------------------------------------------------------------------------------

BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"beams": 0}, "beams"), ({"beams": 65537}, "beams"), ({"beams": 2.5}, "beams"), ({"beams": True}, "beams"),
    ({"beams": 65536, "num_envs": 1025}, "beams"), ({"fov": 0}, "fov"), ({"fov": 6.3}, "fov"), ({"fov": "1"}, "fov"),
    ({"fov": math.nan}, "fov"), ({"range": -1}, "range"), ({"range": math.inf}, "range"), ({"radius": 0}, "radius"),
    ({"dt": 0.0}, "dt"), ({"max_speed": 2e6}, "max_speed"), ({"max_turn": 1e-3}, "max_turn"),
    ({"goal_radius": 0}, "goal_radius"), ({"goal_distance": 0.4}, "goal_distance"),
    ({"goal_distance": (3, 2)}, "goal_distance"), ({"goal_distance": (1, 2, 3)}, "goal_distance"),
    ({"goal_reward": math.nan}, "goal_reward"), ({"collision_cost": math.inf}, "collision_cost"),
    ({"terminate_on_collision": 1}, "terminate_on_collision"), ({"max_steps": 0}, "max_steps"),
    ({"num_envs": 0}, "num_envs"), ({"num_envs": 65537}, "num_envs"), ({"threads": 0}, "threads"),
    ({"threads": 65}, "threads"), ({"seed": -1}, "seed"), ({"seed": 1.5}, "seed"), ({"seed": [1, 2]}, "seed"),
    ({"autoreset_mode": "never"}, "autoreset_mode"), ({"recorded": 2}, "recorded"),
    ({"render_mode": "human"}, "render_mode"),
    ({"maps": []}, "maps"), ({"maps": 3}, "maps"), ({"maps": "rooms"}, "maps"), ({"maps": [rooms(), []]}, "maps[1]"),
    ({"maps": Polygons([[(0, 0), (9, 0), (9, 9), (0, 9)]])}, "maps[0]"), ({"radius": 5.0}, "maps[0]"),
    ({"maps": Polygons([[(1, 1)]])}, "maps[0]"), ({"maps": Polygons([[(0, 0), (9, 0)]])}, "maps[0]"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "field"), BAD_OPTIONS)
def test_bad_options(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        LidarVectorEnv(**options)
    assert caught.value.field == field


def test_goals_that_no_map_has() -> None:
    env = LidarVectorEnv(ARENA, 2, goal_distance=(50.0, 60.0))
    with pytest.raises(InvalidArgumentError, match=r"goal_distance.*\[50, 60\].*maps\[0\]"):
        env.reset(seed=1)


BAD_ACTIONS: list[tuple[Any, str]] = [
    (np.zeros((2, 2)), "shape"), (np.zeros(6), "shape"), (np.zeros((3, 3)), "shape"), (None, "type"), ("12", "type"),
    (np.zeros((3, 2), np.bool_), "type"), (np.zeros((3, 2), np.complex128), "type"), ([[1, 2], [3]], "numbers"),
    (np.array([[0, 0], [0, math.nan], [0, 0]]), r"nan at \[1, 1\]"), (np.full((3, 2), -math.inf), "finite"),
    (np.zeros((3, 2), object), "type"),
]  # fmt: skip


@pytest.mark.parametrize(("actions", "what"), BAD_ACTIONS)
def test_bad_actions_change_nothing(actions: Any, what: str) -> None:
    envs = [LidarVectorEnv(num_envs=3, beams=3) for _ in range(2)]
    for env in envs:
        env.reset(seed=1)
    with pytest.raises(InvalidArgumentError, match=what) as caught:
        envs[0].step(actions)
    assert caught.value.field == "actions"
    good = raw_actions(1, 1, 3)[0]
    assert_same(envs[0].step(good), envs[1].step(good))


def test_calls_in_a_wrong_order() -> None:
    env, one = LidarVectorEnv(num_envs=2), LidarEnv()
    for call in (lambda: env.step(np.zeros((2, 2))), env.episode_svg, lambda: one.step(np.zeros(2))):
        with pytest.raises(FailedPreconditionError, match="reset"):
            call()
    mask = np.array([True, False])
    for options in ({"reset_mask": mask}, {"reset_mask": [True, True]}, {"reset_mask": np.zeros(2, np.bool_)}):
        with pytest.raises(InvalidArgumentError, match="reset_mask"):
            env.reset(options=options)
    with pytest.raises(InvalidArgumentError, match="seed"):
        one.reset(seed=-1)
    one.reset()
    with pytest.raises(InvalidArgumentError, match=r"action: has the shape \(1, 2\); \(2,\)"):
        one.step(np.zeros((1, 2)))
    disabled = LidarVectorEnv(num_envs=2, max_steps=1, autoreset_mode="Disabled")
    disabled.reset(seed=1)
    disabled.step(np.zeros((2, 2)))
    with pytest.raises(FailedPreconditionError, match="environment 0 ended"):
        disabled.step(np.zeros((2, 2)))
    for closed in (env, one):
        closed.close()
        closed.close()
        with pytest.raises(CaromError, match="closed"):
            closed.reset()


def test_the_documentation_has_each_number_of_the_task() -> None:
    text = LidarVectorEnv.__doc__ or ""
    for name, value in vars(Task()).items():
        assert f"{name} = " in text, name
        if isinstance(value, int | float) and name not in ("fov", "max_turn"):
            assert f"{name} = {value:g}" in text or f"{name} = {value}" in text, name
