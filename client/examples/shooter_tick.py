#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""A tick of 200 shooter matches in one frame (docs/shooter-tick.md).

usage: shooter_tick.py ADDRESS
"""
import sys

import numpy as np

import carom
from carom import capsule, disc
from carom.client import Edits

BASE, MATCHES = "scenes/shooter-tick", 200
PLATFORM, DOOR, ALL = 2, 4, 2**64 - 1  # two categories, and the mask of all categories
# Six players, of which the last one jumps: positions now and a tick ago, and 1 to 3 displacements.
BODY = capsule(0, -5, 0, 5, 5)
SHAPE, OWNERS = np.zeros(6, np.uint32), [1, 2, 3, 4, 5, 6]
X, PAST_X = [20, 90, 185, 50, 270, 70], [12, 82, 177, 42, 262, 62]
Y = [10, 10, 10, 60, 10, 25]
DX = np.array([12, 0, 0, 16, 0, 20, 0, 0, 25, 0, 0])
DY = [0, -1, 6.5, 0, -7.5, 0, -1, -20, 0, -1, 30]
PUSHES = [2, 3, 2, 1, 2, 1]
BULLETS = {"ax": [20, 185, 50, 270], "ay": [14, 14, 60, 14], "bx": [180, 300, 62, 220],
           "by": [14, 14, 20, 60], "ignore_owner": [1, 3, 4, 5]}
# Lines of sight: from players 2, 0 and 3 to 4, 1 and 5; then from the explosion to all players.
BLAST_X, BLAST_Y, REACH = [215], [3], 60
SIGHTS = {"ax": [185, 20, 50] + BLAST_X * 6, "ay": [14, 14, 64] + BLAST_Y * 6,
          "bx": [270, 90, 70] + X, "by": [14, 14, 29] + Y}
NOW = carom.Bodies(BODY, X, Y, shape=SHAPE, owner=OWNERS)


def slide(group, first, last, **columns):
  """Asks for slides of some players against walls and other players, but not their own bodies."""
  return group.slide(BODY, X[first:last], Y[first:last], shape=SHAPE[first:last], against="both",
                     ignore_owner=OWNERS[first:last], **columns)


def ask(frame, match, fork):
  """Asks a match's questions: on a fork of its own, or with a mask that excludes an open door."""
  is_open, scene = match % 2 == 0, fork or BASE
  mask = ALL if fork or not is_open else ALL - DOOR
  dx = DX * (1 + match / 256)  # differs by match
  # The server makes the edits before it answers the group.
  edits = Edits(remove=[4], edit_id="tick 1") if fork and is_open else None
  now = frame.group(scene, bodies=NOW, edits=edits)
  walks = slide(now, 0, 5, dx=dx[:10], dy=DY[:10], pushes=PUSHES[:5], mask=mask)
  views = now.sights(**SIGHTS, mask=mask)
  blast = now.nearest(disc(0), BLAST_X, BLAST_Y, max_distance=REACH, against="bodies", mode="all")
  rising = frame.group(scene, bodies=NOW)  # passes a platform from below
  jump = slide(rising, 5, 6, dx=dx[10:], dy=DY[10:], mask=mask & ~PLATFORM)
  # What the shooters saw: the players of tick 0 and, in a fork, its door, which was shut. A game
  # defines a set once, and sends each tick once.
  seen = match if fork else MATCHES + match
  frame.define_body_set(seen, BODY, shape=SHAPE, owner=OWNERS, fork=fork)
  frame.add_poses(seen, 0, PAST_X, Y)
  past = frame.group(scene, body_set=seen, version_at_tick=0 if fork else None)
  hits = past.cast(**BULLETS, mask=ALL & ~PLATFORM, against="both", as_of=0.0)
  return walks, jump, hits, views, blast


def print_verdicts(walks, jump, hits, views, blast):
  player = 0
  for moves in (walks, jump):
    for i in range(len(moves)):
      up = moves.normal_y[moves.offsets[i]:moves.offsets[i + 1]].max()  # of the most upward normal
      print(f"player {player}: ({moves.x[i]:.4f}, {moves.y[i]:.4f}), normal {up:.4f}")
      player += 1
  row = 0
  for i, count in enumerate(hits.counts):
    for _ in range(count):
      what = "player" if hits.is_body[row] else "polygon"
      print(f"bullet {i}: {what} {hits.polygon_id[row]} at {hits.fraction[row]:.4f}")
      row += 1
  print(f"sights: [{' '.join('true' if seen else 'false' for seen in views.visible)}]")
  for player, distance in zip(blast.polygon_id, blast.distance):
    print(f"explosion: player {player} at {distance:.4f}")


with carom.Client(sys.argv[1]) as client, client.stream() as stream:
  forks = [client.fork(BASE) for _ in range(MATCHES)]
  for scene_of in (forks, [None] * MATCHES):
    frame = carom.Frame()
    asked = [ask(frame, match, fork) for match, fork in enumerate(scene_of)]
    stream.send(frame)
    answer = stream.receive()
    for match, questions in enumerate(asked):
      print("match", match)
      print_verdicts(*(answer[question] for question in questions))
