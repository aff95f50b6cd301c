# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How long do several programs take that do the same work? They run in turns, round by round.

Whatever slows the machine down slows all of them, so a ratio of two medians of one run has a meaning on a busy host,
where a single figure has none.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Turn = Callable[[], int]


@dataclass(frozen=True)
class Timing:
    """The rounds of one side."""

    ns: float  # the median, for the work of one turn divided by `units`
    spread: float  # half of the middle half of the rounds, as a share of the median

    def times(self, units: float) -> Timing:
        """The same for a unit of work that is `units` times as large."""
        return Timing(self.ns * units, self.spread)


def repeated(works: Iterable[Callable[[], object]]) -> Callable[[], None]:
    """One after the other, as one piece of work."""
    listed = tuple(works)

    def all_of_them() -> None:
        for work in listed:
            work()

    return all_of_them


def cpu(work: Callable[[], object]) -> Turn:
    """A turn that takes as long as `work` keeps the calling thread busy."""

    def turn() -> int:
        start = time.thread_time_ns()
        work()
        return time.thread_time_ns() - start

    return turn


def wall(work: Callable[[], object]) -> Turn:
    """A turn that takes as long as `work` does on the wall: for what waits, or uses several threads."""

    def turn() -> int:
        start = time.perf_counter_ns()
        work()
        return time.perf_counter_ns() - start

    return turn


def in_turns(turns: Mapping[str, Turn], rounds: int, units: int = 1) -> dict[str, Timing]:
    """Runs each turn once a round, after a round that does not count, and returns the medians in ns a unit.

    A turn returns its own duration in ns. Another side begins in each round. The garbage collector runs between
    turns, in none of them.
    """
    taken: dict[str, list[int]] = {name: [] for name in turns}
    names = list(turns)
    enabled = gc.isenabled()
    try:
        for round in range(-1, rounds):
            first = round % len(names)
            for name in names[first:] + names[:first]:
                gc.enable()
                gc.collect()
                gc.disable()
                ns = turns[name]()
                if round >= 0:
                    taken[name].append(ns)
    finally:
        if enabled:
            gc.enable()
    return {name: _timing(each, units) for name, each in taken.items()}


def _timing(taken: list[int], units: int) -> Timing:
    middle = statistics.median(taken)
    low, high = (statistics.quantiles(taken, n=4)[i] for i in (0, 2)) if len(taken) > 1 else (middle, middle)
    return Timing(middle / units, (high - low) / 2 / middle)
