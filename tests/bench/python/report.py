# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What did a run measure, and which goals does that meet? Prints figures and the table, and writes the files."""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from timing import Timing


def number(value: float) -> str:
    """Four significant digits, without an exponent; all digits of what is below 10^-4 with one."""
    if value == 0:
        return "0"
    if abs(value) < 1e-4:
        return f"{value:.3g}"
    digits = math.floor(math.log10(abs(value)))
    return f"{value:,.{max(3 - digits, 0)}f}"


@dataclass(frozen=True)
class Goal:
    """A bound on a ratio, or on a value."""

    bound: float
    least: bool

    @staticmethod
    def at_least(bound: float) -> Goal:
        """The peer takes at least `bound` times as long, or the value is at least `bound`."""
        return Goal(bound, least=True)

    @staticmethod
    def at_most(bound: float) -> Goal:
        """Carom takes at most `bound` times as long as the peer, or the value is at most `bound`."""
        return Goal(bound, least=False)

    def met(self, value: float) -> bool:
        return value >= self.bound if self.least else value <= self.bound

    def __str__(self) -> str:
        return f"{'>=' if self.least else '<='} {self.bound:,.10g}"


@dataclass(frozen=True)
class Row:
    """One goal. Without a peer, `theirs` and `ratio` are 0."""

    name: str
    ours: float
    peer: str
    theirs: float
    unit: str
    ratio: float
    goal: str
    ok: bool
    threads: int
    note: str

    def cells(self) -> list[str]:
        theirs, ratio = (number(self.theirs), number(self.ratio)) if self.theirs else ("-", "-")
        return [
            self.name, number(self.ours), self.peer or "-", theirs, self.unit, ratio, self.goal,
            "yes" if self.ok else "NO", str(self.threads),
        ]  # fmt: skip


HEADER = ["goal", "ours", "peer", "theirs", "unit", "ratio", "asked", "met", "threads"]


@dataclass
class Report:
    """The rows and figures of one run."""

    rows: list[Row] = field(default_factory=list)
    figures: list[dict[str, Any]] = field(default_factory=list)

    def title(self, text: str) -> None:
        print(f"--- {text}", flush=True)

    def figure(self, name: str, value: float, unit: str, note: str = "") -> None:
        """A figure without a goal."""
        print(f"{name:60s} {number(value):>12s} {unit}  {note}".rstrip(), flush=True)
        self.figures.append({"name": name, "value": value, "unit": unit, "note": note})

    def timings(self, name: str, timings: Mapping[str, Timing], unit: str, per: float = 1.0) -> None:
        """The medians of all sides, divided by `per`."""
        for side, timing in timings.items():
            self.figure(f"{name}: {side}", timing.ns / per, unit, f"spread {timing.spread:.0%}")

    def ratio(
        self, name: str, ours: float, peer: str, theirs: float, unit: str, goal: Goal, note: str = "", threads: int = 1
    ) -> None:
        """A goal that compares times: of the peer over ours for a least ratio, ours over the peer's for a greatest."""
        ratio = theirs / ours if goal.least else ours / theirs
        self.rows.append(Row(name, ours, peer, theirs, unit, ratio, str(goal), goal.met(ratio), threads, note))

    def value(
        self, name: str, ours: float, unit: str, goal: Goal, note: str = "", peer: str = "", theirs: float = 0
    ) -> None:
        """A goal about a value of its own; a peer's value stands beside it, if there is one."""
        ratio = ours / theirs if theirs else 0
        self.rows.append(Row(name, ours, peer, theirs, unit, ratio, f"{goal} {unit}", goal.met(ours), 1, note))

    def failed(self, name: str, note: str) -> None:
        """A goal that could not be measured, which counts as not met."""
        print(f"{name}: {note}", flush=True)
        self.rows.append(Row(name, 0, "", 0, "-", 0, "-", ok=False, threads=0, note=note))

    def finish(self, folder: pathlib.Path, about: str) -> None:
        """Prints the table, and writes summary.tsv and results.json."""
        lines = [HEADER, *(row.cells() for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
        print(f"\n{about}")
        for line, note in zip(lines, ["", *(row.note for row in self.rows)], strict=True):
            cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
            print("  ".join([*cells, note]).rstrip())
        print(f"{sum(row.ok for row in self.rows)} of {len(self.rows)} goals met", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        rows = ["\t".join([*row.cells(), row.note]) for row in self.rows]
        text = "\n".join(["\t".join([*HEADER, "note"]), *rows, ""])
        (folder / "summary.tsv").write_text(text)
        made = {"machine": about, "goals": [asdict(row) for row in self.rows], "figures": self.figures}
        (folder / "results.json").write_text(json.dumps(made, indent=1) + "\n")
