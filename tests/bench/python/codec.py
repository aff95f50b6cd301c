#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How long does the Python client take to write questions and to read answers, without the network?

    CAROMD_BINARY=caromd codec.py [--queries 4096] [--rounds 300]

Prints the median in nanoseconds a query, on one thread, of: making a question of segments and its frame as bytes, and
turning the bytes of the answer into all columns of `Hits` as arrays. Scenes have polygons of 6 vertices, whose edges
take one byte each on the wire, and of 300 vertices, whose edges mostly take two. Also prints the time of a whole call.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

import grpc
import numpy as np

from carom import Polygons, questions
from carom._generated.wire_tables import METHODS
from carom._remote import messages
from carom._remote.frames import FrameAnswer, single
from carom.client import Client

SIZE = 20.0


def rounds_of(vertices: int) -> Polygons:
    """300 regular polygons in a square."""
    rng = np.random.default_rng(vertices)
    angle = np.linspace(0, 2 * np.pi, vertices, endpoint=False)
    round_one = np.stack((np.cos(angle), np.sin(angle)), axis=1) * 0.4
    return Polygons([round_one + rng.uniform(0, SIZE, 2) for _ in range(300)])


def median(work: Callable[[], Any], rounds: int) -> float:
    """The median time of a function in nanoseconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter_ns()
        work()
        times.append(time.perf_counter_ns() - began)
    return statistics.median(times)


def measure(address: str, vertices: int, queries: int, rounds: int) -> float:
    """Prints the figures for one scene, and returns the nanoseconds of a query, written and read."""
    name = f"scenes/codec-{vertices}"
    with Client(address) as client:
        client.create_scene(name, rounds_of(vertices))
        columns = np.random.default_rng(1).uniform(-1, SIZE + 1, (4, queries))

        def write() -> tuple[Any, Any, bytes]:
            question = questions.cast(*columns)
            asked = single(name, (question,))
            return question, asked, asked.encode()

        question, asked, request = write()
        channel = grpc.insecure_channel(address, options=[("grpc.max_receive_message_length", 64 << 20)])
        response = channel.unary_unary(METHODS["Evaluate"])(request, timeout=60)

        def read() -> list[Any]:
            answers = FrameAnswer(asked, response, messages.ranges("EvaluateResponse", response)[1])[question]
            return [answers._column(path) for path in answers._layout.rows]

        hits = client.scene(name).ask(question)
        figures = {"write": median(write, rounds), "read": median(read, rounds)}
        figures["both"] = sum(figures.values())
        figures["call"] = median(lambda: client.scene(name).ask(question), max(rounds // 10, 3))
        text = ", ".join(f"{what} {nanoseconds / queries:.1f}" for what, nanoseconds in figures.items())
        sizes = f"{len(request)} bytes out, {len(response)} bytes in"
        print(f"{vertices} vertices: {len(hits.fraction)} hits, {sizes}; ns a query: {text}")
        return figures["both"] / queries


def query_ns(queries: int, rounds: int) -> float:
    """The nanoseconds that writing and reading one query take, in the slower one of two scenes."""
    # As after the first large answers of a program: from then on, glibc keeps memory of this size for the next ones.
    large = bytes(8 << 20)
    del large
    server = subprocess.Popen(
        [os.environ["CAROMD_BINARY"], "--address", "127.0.0.1:0", "--admin-address", "off", "--store", "memory"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        return max(measure(address, vertices, queries, rounds) for vertices in (6, 300))
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the wire format of the Python client.")
    parser.add_argument("--queries", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=300)
    arguments = parser.parse_args()
    query_ns(arguments.queries, arguments.rounds)


if __name__ == "__main__":
    main()
