#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Does caromd keep its memory, descriptors, threads and objects constant under mixed load?

A caromd with sqlite, TLS, credentials and all ports gets the load of mix.py for some minutes. The first fifth of the
time, at least 15 s, is a warm-up; then /metrics is read each second. There is a rest without load in the warm-up, and
one at the end.

Objects, descriptors and threads are judged at rest, where their numbers are known: there is no live object, and not
one descriptor more than at the first rest. So one object that leaks is found in a run of any length.

Memory is judged under load, and needs time. The allocator keeps what is freed, and what it keeps grows for minutes
until it is constant; a leak does not stop. So the growth is that of the second half of the samples, and it must not
exceed the limit by more than twice its standard error.
- In a run of 10 minutes or more the limit is 1 MB an hour. The error is about 10 MB an hour after 10 minutes, as memory
  grows in steps of some 100 kB, and 1 MB an hour after an hour: so long a run is needed to find so slow a leak.
- In a shorter run memory is not yet constant without a leak, even with the small caches of `main`: it grows by up to
  300 MB an hour in the second half minute. The limit of 500 MB an hour finds what leaks some kilobytes a call.

Exit code 0: all is well; 1: a value is over its limit, a client has failed, caromd has logged an error, has given a
wrong answer or has not ended with exit code 0.
"""

import argparse
import collections
import csv
import http.client
import json
import os
import signal
import statistics
import sys
import tempfile
import time

from mix import Mix
from server import Server

HOUR, KB, MB = 3600, 1e3, 1e6
PRELUDE = 5  # seconds of load before the first rest
REST = 60  # seconds within which all that the load has used must be gone
SETTLED = 5  # seconds of a rest after that, in which idle threads end
BLOCKS = 10  # of samples, whose means are compared
FEWEST = 10  # samples
LONG = 10  # minutes from which on memory is expected to be constant
MOST_FAILURES = 20  # that are printed
MEMORY, DESCRIPTORS, THREADS = "process_resident_memory_bytes", "process_open_fds", "process_threads"
DIFFERENCES, ERRORS = "carom_shadow_differences_total", 'carom_log_lines_total{level="error"}'

# What there is without load. The connection of the admin port is that of the scrape.
AT_REST = {"carom_streams": 0, "carom_scenes": 0, "carom_forks": 0,
           **{f'carom_memory_used_bytes{{share="{share}"}}': 0 for share in ("scenes", "trackers", "messages")},
           **{f'carom_connections{{port="{port}"}}': used for port, used in (("grpc", 0), ("http", 0), ("admin", 1))}}
# gRPC's pools have some threads more or less, which end after some idle seconds.
MORE_THREADS = 4

# What shows that there was load.
WORK = {"frames": 'carom_frames_total{outcome="answered"}', "compared moves": "carom_shadow_moves_total",
        "versions": "carom_commits_total"}


def growth(times, values):
    """The growth an hour in the second half of the samples, and its standard error.

    Memory moves in steps, so its samples are not a line with independent errors, for which least squares would give
    a far too small error. The changes from block to block, of which each contains its own steps, are independent."""
    size = max(1, len(values) // 2 // BLOCKS)
    starts = range(len(values) - size * min(BLOCKS, len(values) // 2), len(values), size)
    means = [statistics.fmean(values[start:start + size]) for start in starts]
    hours = (times[starts[-1]] - times[starts[0]]) / (len(starts) - 1) / HOUR  # from block to block
    changes = [after - before for before, after in zip(means, means[1:])]
    error = statistics.stdev(changes) / len(changes) ** 0.5
    return statistics.fmean(changes) / hours, error / hours


class Soak:
    """One run: `failures` has a line for each fault."""

    def __init__(self, server, minutes):
        self.server, self.minutes = server, minutes
        self.mix = Mix(server)
        self.samples = []  # pairs of a time and a scrape
        self.failures = []

    def run(self):
        warm_up = max(15, 60 * self.minutes / 5)
        with self.mix:
            time.sleep(PRELUDE)
        self.before = self.rest(AT_REST)
        with self.mix:
            time.sleep(warm_up - PRELUDE)
            self.sample(60 * self.minutes - warm_up)
        assert len(self.samples) >= FEWEST, f"{len(self.samples)} samples are too few: the machine is too busy"
        self.after = self.rest({**AT_REST, DESCRIPTORS: self.before[DESCRIPTORS],
                                THREADS: self.before[THREADS] + MORE_THREADS})

    def sample(self, seconds):
        start = due = time.monotonic()
        while due < start + seconds:
            time.sleep(max(0, due - time.monotonic()))
            self.samples.append((time.monotonic() - start, self.server.scrape()))
            due = max(due + 1, time.monotonic())

    def rest(self, limits):
        """Waits until nothing is used any more, or in vain, and returns what is used."""
        end = time.monotonic() + REST
        while True:
            time.sleep(1)
            scrape = self.server.scrape()
            if all(scrape[name] <= limit for name, limit in limits.items()) or time.monotonic() > end:
                time.sleep(SETTLED)
                return self.server.scrape()

    def judge(self, ok, fault):
        if not ok:
            self.failures.append(fault)
        return "ok" if ok else "FAILED"

    # --- The table ---

    def print_table(self):
        line = "{:45} {:>7} {:>7} {:>7} {:>7} {:>7} {:>9}  {:15} {}".format
        print(line("", "before", "first", "median", "last", "after", "slope/h", "limit", ""))
        times = [at for at, _ in self.samples]

        def row(name, limit, verdict, unit=1.0, label="", digits=0):
            values = [scrape[name] / unit for _, scrape in self.samples]
            numbers = (self.before[name] / unit, values[0], statistics.median(values), values[-1],
                       self.after[name] / unit)
            print(line(name + label, *(f"{number:.{digits}f}" for number in numbers),
                       f"{statistics.linear_regression(times, values).slope * HOUR:+.1f}", limit, verdict))
            return values

        memory = row(MEMORY, "", "", MB, ", MB", 1)
        self.print_growth(line, *growth(times, memory))
        for name, most in (DESCRIPTORS, self.before[DESCRIPTORS]), (THREADS, self.before[THREADS] + MORE_THREADS):
            row(name, f"after <= {most:.0f}",
                self.judge(self.after[name] <= most, f"{name} is {self.after[name]:.0f} at rest"))
        for name, value in AT_REST.items():
            unit = (KB, ", kB") if "bytes" in name else ()
            row(name, f"after = {value}",
                self.judge(self.after[name] == value, f"{name} is {self.after[name]:.0f} at rest"), *unit)
        for name in DIFFERENCES, ERRORS:
            row(name, "after = 0", self.judge(self.after[name] == 0, f"{name} is {self.after[name]:.0f}"))

    def print_growth(self, line, value, error):
        limit = 1 if self.minutes >= LONG else 500
        verdict = self.judge(value - 2 * error <= limit, f"memory grows by {value:.1f} ± {error:.1f} MB an hour")
        print(line("  growth in the second half, MB/h", *[""] * 4, f"{value:+.1f}", f"± {error:.1f}",
                   f"<= {limit} + 2 errors", verdict))

    # --- The rest of the verdict ---

    def print_work(self):
        work = {what: self.after[name] for what, name in WORK.items()}
        print("load:", ", ".join(f"{number:,.0f} {what}" for what, number in work.items()))
        print("rounds:", ", ".join(f"{name} {count:,}" for name, count in sorted(self.mix.rounds.items())))
        for what, number in work.items():
            self.judge(number > 0, f"the load had no {what}")
        gap = max(after - before for (before, _), (after, _) in zip(self.samples, self.samples[1:]))
        if gap > 5:
            print(f"The machine, or caromd, stood still for {gap:.0f} s, which may be why calls have failed.")

    def check_log(self):
        """Each line is a JSON object, and none is an error."""
        lines = collections.Counter()
        for text in self.server.log().splitlines():
            try:
                line = json.loads(text)
                lines[f"{line['level']} {line['event']}"] += 1
                fault = line["level"] == "error"
            except (ValueError, TypeError, KeyError):
                fault = True
            if fault:
                self.failures.append(f"log: {text}")
        print("log:", ", ".join(f"{count:,} {event}" for event, count in sorted(lines.items())))

    def write_samples(self, path):
        with open(path, "w", newline="") as file:
            rows = csv.writer(file)
            names = sorted(self.samples[0][1])
            rows.writerow(["seconds", *names])
            rows.writerows([f"{at:.2f}", *(scrape.get(name) for name in names)] for at, scrape in self.samples)


def minutes(text):
    value = float(text)
    if not 0.5 <= value <= 10000:
        raise argparse.ArgumentTypeError("must be in [0.5, 10000]")
    return value


def main():
    parser = argparse.ArgumentParser(prog="soak", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=minutes, default=10, help="time of the load; at least 0.5; default: 10")
    parser.add_argument("--samples", metavar="FILE", help="write all samples of all metrics as CSV")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments.minutes < LONG:
        # The allocator gives each thread a cache, all of which fill to 32 MiB in the course of minutes, whether or not
        # there is a leak. Small caches fill during the warm-up.
        os.environ.setdefault("TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", str(1 << 20))
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            soak = Soak(server, arguments.minutes)
            try:
                soak.run()
                soak.print_table()
                soak.print_work()
            except (OSError, http.client.HTTPException) as error:  # of a scrape
                soak.failures.append(f"caromd did not answer: {error}")
            running = server.process.poll() is None
            code = server.stop()
            soak.judge(running, "caromd ended by itself")
            soak.judge(code == 0, f"caromd ended with exit code {code}")
            soak.check_log()
        finally:
            server.kill()
        if arguments.samples and soak.samples:
            soak.write_samples(arguments.samples)
    failures = soak.failures + [f"{count} times: {fault}" for fault, count in soak.mix.failures.most_common()]
    for failure in failures[:MOST_FAILURES]:
        print("FAILED:", failure[:1000])
    print(f"soak: {len(failures)} kinds of failures" if failures else "soak: ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
