#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How fast is Carom from Python, beside C and beside the libraries that one would use otherwise?

usage: bench.py [--quick] [--out FOLDER] [FILTER]

Measures the groups with FILTER in their names, prints all figures and a table of goals, and writes summary.tsv and
results.json into FOLDER. Sides run in turns (timing.py); a figure is the median of the rounds, in CPU time of the
thread unless it says otherwise. CAROM_LIBRARY names the library. run.sh installs what this needs and starts it.
The exit status is 1 if a group fails or an answer differs from that of a peer, 0 if goals are merely missed.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from report import Goal, Report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


@dataclass(frozen=True)
class Options:
    """What all groups are given."""

    quick: bool
    out: pathlib.Path


# --- Groups, which import what they need when they run ----------------------------------------------


def _casting(report: Report, options: Options) -> None:
    import casting

    casting.measure(report, options.quick, options.out)


def _import(report: Report, options: Options) -> None:
    import casting

    casting.measure_import(report, sys.executable, options.out)


def _codec(report: Report, options: Options) -> None:
    import codec

    report.title("segments and their hits, encoded and decoded by the client")
    ns = codec.query_ns(4096, 100 if options.quick else 300)
    report.value("python_codec", ns, "ns a segment", Goal.at_most(40), "encoding a query, decoding its answers")


def _robots(report: Report, options: Options) -> None:
    import robots

    robots.measure(report, options.quick)


def _irsim(report: Report, options: Options) -> None:
    import irsim_scans

    irsim_scans.measure(report, options.quick, options.out)


def _vmas(report: Report, options: Options) -> None:
    import vmas_rays

    vmas_rays.measure(report, options.quick)


def _gym(report: Report, options: Options) -> None:
    import gym_steps
    import numpy as np
    from timing import in_turns, wall

    envs, beams, steps = 1024, 64, 20 if options.quick else 100
    report.title(f"steps of {envs:,} environments of Gymnasium")
    env = gym_steps.made(argparse.Namespace(envs=envs, beams=beams, maps=1), 1)
    actions = np.random.default_rng(1).uniform(-1, 1, (steps, envs, 2)).astype(np.float32)
    timing = in_turns({"": wall(lambda: gym_steps.seconds_of(env, actions))}, 5 if options.quick else 9, steps * envs)
    env.close()
    report.value("python_gym_steps", 60e9 / timing[""].ns, "steps a minute", Goal.at_least(1e6),
                 f"{envs:,} environments, {beams} beams, on the wall, spread {timing[''].spread:.0%}")  # fmt: skip


GROUPS: dict[str, Callable[[Report, Options], None]] = {
    "casting": _casting,
    "import": _import,
    "codec": _codec,
    "robots": _robots,
    "irsim": _irsim,
    "vmas": _vmas,
    "gym": _gym,
}


# --- The run ----------------------------------------------------------------------------------------


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _load() -> str:
    return f"{os.getloadavg()[0]:.2f}"


def describe(options: Options, filter: str) -> str:
    """The machine, its load and the commit, which the figures are read with."""
    found = re.search(r"^model name[^:]*: *(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    model = found[1] if found else os.uname().machine
    changes = " with changes" if _git("status", "--porcelain", "--untracked-files=no") else ""
    commit = f"{_git('rev-parse', '--short', 'HEAD')}{changes}"
    version = ".".join(map(str, sys.version_info[:3]))
    command = " ".join(["./dev bench python", *["--quick"] * options.quick, filter]).strip()
    return f"{model}, {os.cpu_count()} cores, load {_load()} before; Python {version}; commit {commit}; {command}"


def main() -> int:
    """Measures the groups; returns the exit status."""
    parser = argparse.ArgumentParser(description="The speed of Carom from Python, beside that of peers.")
    parser.add_argument("filter", nargs="?", default="", help=f"a part of the name of a group: {', '.join(GROUPS)}")
    parser.add_argument("--quick", action="store_true", help="small work, few rounds: not for figures")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench/python")
    arguments = parser.parse_args()
    if "CAROM_LIBRARY" not in os.environ:
        parser.error("CAROM_LIBRARY must name libcarom.so.1")
    chosen = {name: group for name, group in GROUPS.items() if arguments.filter in name}
    if not chosen:
        parser.error(f"no group has {arguments.filter!r} in its name; there are {', '.join(GROUPS)}")
    options = Options(arguments.quick, arguments.out.resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    about, report, status = describe(options, arguments.filter), Report(), 0
    for name, group in chosen.items():
        try:
            group(report, options)
        except Exception as error:  # the other groups are still of use
            traceback.print_exc()
            report.failed(f"python_{name}", f"{type(error).__name__}: {error}")
            status = 1
    report.finish(options.out, f"{about}; load {_load()} after")
    return status


if __name__ == "__main__":
    sys.exit(main())
