# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does Python add to casts of segments: to batches, to single ones, and with two threads?

The scene has 10^5 convex polygons of 3 to 8 vertices, one in each cell of 4 units, with circumradii of 0.15 to 0.30
cells. Segments start anywhere, have a random direction, and 0.75 to 1.25 times the length of a cell. A round has
262,144 different segments. The program in C (casts.c) opens the same bundle and reads the same segments.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
import subprocess
import threading
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from report import Goal, Report
from timing import Timing, cpu, in_turns, wall

from carom.local import Polygons, Scene

Columns = tuple[NDArray[np.float64], ...]
SEGMENTS, BATCHES, CELL = 4096, 64, 4.0
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def dense_map(random: np.random.Generator, side: int) -> Polygons:
    """Convex polygons in a square of cells, `side` in a row."""
    count = side * side
    cell = random.permutation(count)
    corners = random.integers(3, 9, count)
    offsets = np.concatenate(([0], np.cumsum(corners)))
    polygon = np.repeat(np.arange(count), corners)
    within = np.arange(offsets[-1]) - offsets[polygon]
    turn = 2 * math.pi * (within + random.uniform(0, 0.8, len(within))) / corners[polygon]
    radius = CELL * random.uniform(0.15, 0.30, count)[polygon]
    x = CELL * (cell % side + 0.5)[polygon] + radius * np.cos(turn)
    y = CELL * (cell // side + 0.5)[polygon] + radius * np.sin(turn)
    return Polygons(np.stack((x, y), axis=1), offsets=offsets)


def segments(random: np.random.Generator, side: int) -> Columns:
    """The columns ax, ay, bx and by of one batch."""
    ax, ay = random.uniform(0, CELL * side, (2, SEGMENTS))
    turn = random.uniform(0, 2 * math.pi, SEGMENTS)
    length = CELL * random.uniform(0.75, 1.25, SEGMENTS)
    return (ax, ay, ax + length * np.cos(turn), ay + length * np.sin(turn))


class InC:
    """The program in C, which casts all batches when it is told to."""

    def __init__(self, folder: pathlib.Path, bundle: pathlib.Path, batches: list[Columns]) -> None:
        program, columns = folder / "casts", folder / "casts.columns"
        source, include = HERE / "casts.c", ROOT / "core/include"
        subprocess.run(["cc", "-std=gnu11", "-O2", f"-I{include}", source, "-o", program, "-ldl"], check=True)
        np.concatenate([column for batch in batches for column in batch]).tofile(columns)
        library = os.environ["CAROM_LIBRARY"]
        arguments = [str(program), library, str(bundle), str(columns), str(len(batches)), str(SEGMENTS)]
        self._process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.hits, self.sum = 0, 0.0

    def turn(self) -> int:
        """Casts all batches once; ns of CPU time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        ns, hits, sum = self._process.stdout.readline().split()
        self.hits, self.sum = int(hits), float(sum)
        return int(ns)

    def close(self) -> None:
        """Ends the program."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)


def read_batch(scene: Scene, batch: Columns) -> int:
    """Casts a batch and reads what a caller would; the answers end with the function."""
    hits = scene.cast(*batch)
    return len(hits.counts) + len(hits.fraction)


def _kept(scene: Scene, batches: list[Columns]) -> None:
    hits = scene.cast(*batches[0])
    for batch in batches:
        hits = scene.cast(*batch)  # the answers before are there until this call returns
        _ = len(hits.counts) + len(hits.fraction)


def _native(report: Report) -> None:
    """The figure of the last run of ./dev bench about C++, if there is one: of other rounds, so without a ratio."""
    path = ROOT / "build/bench/results.json"
    if not path.exists():
        return
    made = json.loads(path.read_text())
    for goal in made.get("goals") or ():
        if goal["name"] == "cast_short_dense_100k_batches_vs_parry":
            report.figure("batches: C++, of another run", goal["ours"], "ns a segment", made["machine"])


def batches_row(report: Report, scene: Scene, program: InC, batches: list[Columns], rounds: int) -> None:
    """Batches in Python over the same in C."""

    def all_batches() -> None:
        for batch in batches:
            read_batch(scene, batch)

    turns = {
        "C": program.turn,
        "Python": cpu(all_batches),
        "Python, answers kept to the next call": cpu(lambda: _kept(scene, batches)),
    }
    timings = in_turns(turns, rounds, len(batches) * SEGMENTS)
    made = [scene.cast(*batch) for batch in batches]
    assert sum(len(hits.fraction) for hits in made) == program.hits, "C and Python count other hits"
    total = math.fsum(float(hits.fraction.sum()) for hits in made)
    assert math.isclose(total, program.sum, rel_tol=1e-9), "C and Python have other fractions"
    report.timings("batches", timings, "ns a segment")
    none = np.empty(0)
    empty = in_turns({"": cpu(lambda: [read_batch(scene, (none,) * 4) for _ in range(1000)])}, rounds, 1000)[""]
    report.figure("batches: what Python adds to a call", empty.ns, "ns")
    _native(report)
    report.ratio("python_batch_over_c", timings["Python"].ns, "C", timings["C"].ns, "ns a segment",
                 Goal.at_most(1.10), f"batches of {SEGMENTS:,}; counts and fractions read")  # fmt: skip


def single_rows(report: Report, scene: Scene, batch: Columns, rounds: int) -> None:
    """One segment a call."""
    items = list(zip(*(column.tolist() for column in batch), strict=True))

    def alone() -> None:
        for ax, ay, bx, by in items:
            scene.cast(ax, ay, bx, by)

    def with_fraction() -> None:
        for ax, ay, bx, by in items:
            _ = scene.cast(ax, ay, bx, by).fraction

    timings = in_turns({"cast": cpu(alone), "cast, fraction read": cpu(with_fraction)}, rounds, len(items))
    report.timings("one item a call", timings, "us", per=1000)
    goal = Goal.at_most(4)
    report.value("python_single_cast", timings["cast"].ns / 1000, "us", goal)
    report.value("python_single_cast_fraction", timings["cast, fraction read"].ns / 1000, "us", goal)


class Pair:
    """Two threads that wait for work, so that a round starts none."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._begin, self._end = threading.Barrier(3), threading.Barrier(3)
        self._stop = False
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(2)]
        for thread in self._threads:
            thread.start()

    def _run(self) -> None:
        while True:
            self._begin.wait()
            if self._stop:
                return
            self._work()
            self._end.wait()

    def both(self) -> None:
        """Has each of the threads do the work once."""
        self._begin.wait()
        self._end.wait()

    def close(self) -> None:
        """Ends the threads."""
        self._stop = True
        self._begin.wait()


def threads_row(report: Report, scene: Scene, batches: list[Columns], rounds: int) -> None:
    """Twice the work by two threads beside the work by one, on the wall."""

    def work() -> None:
        for batch in batches:
            read_batch(scene, batch)

    pair = Pair(work)
    timings = in_turns({"one": wall(work), "two": wall(pair.both)}, rounds, len(batches) * SEGMENTS)
    pair.close()
    two = Timing(timings["two"].ns / 2, timings["two"].spread)
    report.timings("threads", {"one thread": timings["one"], "two threads": two}, "ns a segment on the wall")
    report.ratio("python_two_threads", two.ns, "one thread", timings["one"].ns, "ns a segment", Goal.at_least(1.8),
                 f"batches of {SEGMENTS:,}, on the wall: other programs on the host count", threads=2)  # fmt: skip


def measure(report: Report, quick: bool, folder: pathlib.Path) -> None:
    """Casts in batches, one by one, and by two threads."""
    random = np.random.default_rng(20_261_127)
    side, rounds = (100, 5) if quick else (316, 9)
    report.title(f"casts of short segments among {side * side:,} polygons")
    bundle = folder / "casts.carom"
    Scene.from_polygons(dense_map(random, side)).save(bundle)
    scene = Scene.load(bundle)
    batches = [segments(random, side) for _ in range(BATCHES)]
    program = InC(folder, bundle, batches)
    try:
        batches_row(report, scene, program, batches, rounds)
    finally:
        program.close()
    single_rows(report, scene, batches[0], rounds)
    threads_row(report, scene, batches, rounds)


# --- Import -----------------------------------------------------------------------------------------


def measure_import(report: Report, python: str, folder: pathlib.Path, runs: int = 15) -> None:
    """How long a process takes that imports carom, on the wall, beside one that imports numpy."""
    report.title("import")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "pycache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def importing(code: str) -> Callable[[], int]:
        def turn() -> int:
            start = time.perf_counter_ns()
            subprocess.run([python, "-c", code], check=True, env=environment)
            return time.perf_counter_ns() - start

        return turn

    turns = {"carom": importing("import carom"), "numpy": importing("import numpy"), "nothing": importing("pass")}
    timings = in_turns(turns, runs)
    report.timings("process that imports", timings, "ms", per=1e6)
    note = "a whole process, on the wall, with compiled bytecode"
    ours, theirs = timings["carom"].ns / 1e6, timings["numpy"].ns / 1e6
    report.value("python_import", ours, "ms", Goal.at_most(150), note, "numpy", theirs)
