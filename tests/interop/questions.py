#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the questions of the interop tests: lines as `carom eval` reads them, always the same.

usage: questions.py ARENA_JSON

Beside what `carom eval` reads, and it ignores, a line has
  frame     the frame that it is asked in,
  as        "floats" or "ray": a segment that is asked as one,
  detail    how much of a segment's hit is answered: FRACTION, NORMAL, EDGE, EXIT,
  scene     the name of a scene that is not there.
A null where a number belongs is sent as NaN.
"""

import json
import math
import random
import struct
import sys
from fractions import Fraction

FRAMES = 320
TRACKERS = 12
DETAILS = ["FRACTION", "NORMAL", "EDGE", "EXIT"]
INSIDE = ["report", "ignore", "exit"]

BIG = 2.0**53
THIRD = 1.0 / 3.0
# Ids that a double does not hold, and coordinates that punish whoever prints or parses carelessly.
AWKWARD = [
    {"id": 2**64 - 1, "rings": [[[0.1 + 0.2, 0.1], [40 + THIRD, math.nextafter(0.1, 1)],
                                 [math.pi * 10, math.e * 12]]]},
    {"id": 2**53 + 1, "fill": "nonzero",
     "rings": [[[150, 50], [250, 50], [250, 90], [150, 90]],
               [[170.1, 60.2], [230.3, 60.2], [230.3, 80.7], [170.1, 80.7]]]},
    {"id": 2**53, "rings": [[[BIG, BIG], [BIG - 1, BIG], [BIG - 3, BIG - 7]]]},
    {"id": 0, "rings": [[[-0.0, 5e-324], [-1e-30, -2.5], [-2.5, 2.0**-139]]]},
]
SQUARE = [[-6, -6], [6, -6], [6, 6], [-6, 6]]
DART = [[9.7, 0], [-7.1, 5.3], [-3.3, 0.1], [-7.1, -5.3]]

rng = random.Random(20)


def awkward():
  """A point of the arena, or somewhat outside, at which no two decimals agree."""
  return [rng.random() * 440 - 20, rng.random() * 340 - 20]


def exact():
  """A point of the arena on a grid on which differences are exact."""
  return [rng.randrange(-64, 420 * 64) / 64, rng.randrange(-64, 320 * 64) / 64]


def as_float(x):
  return struct.unpack("f", struct.pack("f", x))[0]


def segment(number):
  line = {"op": "segment", "inside": rng.choice(INSIDE), "detail": DETAILS[number % 4]}
  kind = rng.randrange(4)
  if kind == 0:
    a, b = ([as_float(x) for x in awkward()] for _ in range(2))
    line["as"] = "floats"
  elif kind == 1:
    a, b = exact(), exact()
    # So the ray's direction is the segment's, and their answers are one.
    assert all(Fraction(p) - Fraction(q) == Fraction(p - q) for p, q in zip(b, a)) and a != b
    line["as"] = "ray"
  else:
    a, b = awkward(), awkward()
  if rng.randrange(50) == 0:
    b = [BIG - 2, BIG - 2]
    line.pop("as", None)
  return {**line, "a": a, "b": b}


def move(tracker, frame):
  """Walks along a slow curve, so that most moves touch what the one before touched."""
  angle = frame * 0.01 + tracker
  return {"op": "move", "tracker": tracker, "c": math.cos(angle), "s": math.sin(angle),
          "x": 200 + 15 * tracker * math.cos(0.7 * angle),
          "y": 150 + 12 * tracker * math.sin(1.1 * angle)}


# Each is refused alone.
BAD = [
    {"op": "segment", "a": [None, 0], "b": [1, 1]},
    {"op": "segment", "a": [0, 0], "b": [1, 1e17], "as": "floats"},
    {"op": "segment", "a": [0, None], "b": [1, 1], "as": "floats"},
    {"op": "point", "p": [1, None]},
    {"op": "circle", "c": [math.nextafter(BIG, math.inf), 1], "r": 1},
    {"op": "circle", "c": [1, 1], "r": -THIRD},
    {"op": "move", "tracker": 1, "x": 0, "y": 0, "c": 0.7, "s": 0.7},
    {"op": "move", "tracker": 40000, "x": 0, "y": 0},
]


def questions(frame):
  for tracker in range(TRACKERS):
    # Half way, half of them become something else.
    if frame == 0 or (frame == FRAMES // 2 and tracker % 2 == 0):
      shape = SQUARE if (tracker + frame) % 3 else DART
      yield {"op": "track", "tracker": tracker, "rings": [shape]}
  for number in range(8):
    yield segment(number + frame)
  for _ in range(3):
    yield {"op": "point", "p": awkward() if rng.randrange(4) else exact()}
    yield {"op": "circle", "c": awkward(), "r": rng.random() * 20}
  # On the edge of a polygon, and touching it.
  yield {"op": "point", "p": [200 + THIRD, 50]}
  yield {"op": "segment", "a": [200 + THIRD, 50], "b": awkward(), "inside": rng.choice(INSIDE)}
  yield {"op": "circle", "c": [200 + THIRD, 49], "r": 1}
  for tracker in range(TRACKERS):
    yield move(tracker, frame)
  if frame % 5 == 0:
    yield BAD[frame // 5 % len(BAD)]
  if frame % 16 == 0:
    yield {"op": "point", "p": [1, 1], "scene": "scenes/nowhere"}


def main():
  with open(sys.argv[1], encoding="utf-8") as arena:
    polygons = json.load(arena)["polygons"]
  # Open chains have a form of ring of their own; the clients are shorter without.
  polygons = [p for p in polygons if not isinstance(p["rings"][0], dict)] + AWKWARD
  print(json.dumps({"op": "scene", "polygons": polygons}))
  q = 0
  for frame in range(FRAMES):
    for line in questions(frame):
      if line["op"] != "track":
        line = {"q": q, **line}
        q += 1
      print(json.dumps({"frame": frame, **line}))


main()
