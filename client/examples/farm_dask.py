#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Casts the lidars of many robots in many maps, over the workers of Dask, and prints a digest of all beams.

usage: farm_dask.py [--robots N] [--maps N] [--beams N] [--workers N] [--scheduler ADDRESS]

Maps and robots are made by integers and binary fractions alone, so the digest is the same on all machines, for every
number of workers, and after workers have died. Needs: pip install 'carom[dask]'
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import time
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from carom import Polygons, Scene, farm

SIDE, CELL = 40, 16.0  # a map has SIDE x SIDE cells with a polygon in each
OPTIONS = {"fov": 6.25, "range": 100.0}  # of a lidar: about a full turn, in radians, and the reach of a beam


def noise(seed: int, count: int) -> np.ndarray:
    """Makes integers of 64 bits: the numbers of SplitMix64."""
    z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def make_map(number: int) -> Scene:
    """Makes a map of quadrangles, with corners that are at most 4 from those of a box in the middle of a cell."""
    inset = (noise(number, SIDE * SIDE * 8) >> np.uint64(59)).astype(float).reshape(SIDE * SIDE, 4, 2) / 8
    at = np.arange(SIDE * SIDE)
    cell = np.stack((at % SIDE, at // SIDE), axis=1)[:, None] * CELL
    low, high = inset + 2, CELL - 2 - inset
    side = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    points = cell + np.where(side, high, low)
    return Scene.from_polygons(Polygons(points.reshape(-1, 2), offsets=np.arange(0, 4 * len(at) + 1, 4)))


def make_robots(count: int, maps: int) -> dict[str, Any]:
    """Places robots where the corridors between the cells meet, those of map 0 first."""
    bits = noise(1 << 16, count)
    x = 1 + bits % np.uint64(SIDE - 1)
    y = 1 + (bits >> np.uint64(16)) % np.uint64(SIDE - 1)
    angle = ((bits >> np.uint64(32)) % np.uint64(64)).astype(float) / 8
    return {"scene": np.arange(count) * maps // count, "x": x * CELL, "y": y * CELL, "angle": angle}


def digest(batches: Any) -> str:
    """Returns a number of all columns, which does not depend on where one batch ends and the next one begins."""
    totals: dict[str, Any] = {}
    for batch in batches:
        for name, values in batch.columns.items():
            totals.setdefault(name, hashlib.sha256()).update(np.ascontiguousarray(values))
    return hashlib.sha256(b"".join(totals[name].digest() for name in sorted(totals))).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", type=int, default=100_000)
    parser.add_argument("--maps", type=int, default=100)
    parser.add_argument("--beams", type=int, default=1000, help="of each robot")
    parser.add_argument("--workers", type=int, default=2, help="processes of Dask; 0: this process alone")
    parser.add_argument("--scheduler", help="the address of a cluster, in place of --workers")
    chosen = parser.parse_args()
    with contextlib.ExitStack() as stack:
        client = None
        if chosen.scheduler:
            client = stack.enter_context(Client(chosen.scheduler))
        elif chosen.workers:
            cluster = LocalCluster(
                n_workers=chosen.workers, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
            )  # fmt: skip
            client = stack.enter_context(Client(stack.enter_context(cluster)))
        maps = [make_map(number) for number in range(chosen.maps)]
        robots = make_robots(chosen.robots, chosen.maps)
        start = time.perf_counter()
        batches = farm.iter_batches(
            maps, "fans", robots, options={**OPTIONS, "beams": chosen.beams}, dense=("distances", "hits", "polygon_id"),
            client=client, processes=None if client else 0, progress=True,
        )  # fmt: skip
        result = digest(batches)
        seconds = time.perf_counter() - start
    rays = chosen.robots * chosen.beams
    print(f"{rays:,} rays in {seconds:.1f} s, {rays / seconds:,.0f} a second")
    print(f"digest {result}")


if __name__ == "__main__":
    main()
