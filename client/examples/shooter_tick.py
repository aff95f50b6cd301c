#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""A tick of 200 shooter matches in one frame (docs/shooter-tick.md).

usage: shooter_tick.py ADDRESS
"""
import sys

import grpc

from carom.v1 import batch_pb2 as batch
from carom.v1 import casts_pb2 as casts
from carom.v1 import contacts_pb2 as contacts
from carom.v1 import geometry_pb2 as geometry
from carom.v1 import query_service_pb2 as query
from carom.v1 import query_service_pb2_grpc as query_service
from carom.v1 import scene_service_pb2 as scenes
from carom.v1 import scene_service_pb2_grpc as scene_service
from carom.v1 import sweeps_pb2 as sweeps
from carom.v1 import visibility_pb2 as visibility

BASE, MATCHES = "scenes/shooter-tick", 200
PLATFORM, DOOR, ALL = 2, 4, 2**64 - 1  # two categories, and the mask of all categories
# Six players, of which the last one jumps: positions now and a tick ago, and 1 to 3 displacements.
BODY = geometry.Shape(capsule=geometry.Capsule(ay=-5, by=5, radius=5))
X, PAST_X = [20, 90, 185, 50, 270, 70], [12, 82, 177, 42, 262, 62]
Y = [10, 10, 10, 60, 10, 25]
DX = [12, 0, 0, 16, 0, 20, 0, 0, 25, 0, 0]
DY = [0, -1, 6.5, 0, -7.5, 0, -1, -20, 0, -1, 30]
PUSHES = [2, 3, 2, 1, 2, 1]
BULLETS = dict(ax=[20, 185, 50, 270], ay=[14, 14, 60, 14], bx=[180, 300, 62, 220],
               by=[14, 14, 20, 60], ignore_owner=[1, 3, 4, 5])
# Lines of sight: from players 2, 0 and 3 to 4, 1 and 5; then from the explosion to all players.
BLAST_X, BLAST_Y, REACH = [215], [3], [60]
SIGHTS = dict(ax=[185, 20, 50] + BLAST_X * 6, ay=[14, 14, 64] + BLAST_Y * 6,
              bx=[270, 90, 70] + X, by=[14, 14, 29] + Y)
POINT = geometry.Shape(capsule=geometry.Capsule())
BLAST = batch.PlacedShapes(shapes=[POINT], x=BLAST_X, y=BLAST_Y)
OWNERS = [1, 2, 3, 4, 5, 6]


def placed(x, y):
  return batch.PlacedShapes(shapes=[BODY], shape=[0] * len(x), x=x, y=y)


def slides(first, last, **columns):
  """Returns slides of some players against walls and other players, but not their own bodies."""
  return sweeps.Slides(movers=placed(X[first:last], Y[first:last]), against=batch.AGAINST_BOTH,
                       ignore_owner=OWNERS[first:last], **columns)


def groups(match, fork):
  """Returns a match's groups: on a fork of its own, or with a mask that excludes an open door."""
  is_open, scene = match % 2 == 0, fork.name if fork else BASE
  mask = ALL if fork or not is_open else ALL - DOOR
  dx = [d * (1 + match / 256) for d in DX]  # differs by match
  bodies = batch.Bodies(placed=placed(X, Y), owner=OWNERS)
  now = query.Group(scene=scene, bodies=bodies)
  if fork and is_open:  # the server applies the edits before it answers the group
    now.edits.edit_id = "tick 1"
    now.edits.edits.add(remove=4)
  now.slides.CopyFrom(slides(0, 5, pushes=PUSHES[:5], dx=dx[:10], dy=DY[:10], mask=mask))
  now.sights.CopyFrom(visibility.Sights(mask=mask, **SIGHTS))
  now.distances.CopyFrom(contacts.DistanceQueries(
      movers=BLAST, max_distance=REACH, against=batch.AGAINST_BODIES,
      mode=contacts.DISTANCE_MODE_ALL))
  jump = slides(5, 6, dx=dx[10:], dy=DY[10:], mask=mask & ~PLATFORM)  # passes a platform from below
  rising = query.Group(scene=scene, bodies=bodies, slides=jump)
  # What the shooters saw: the players of tick 0 and, in a fork, its door, which was shut.
  past = query.Group(scene=scene, body_set=match if fork else MATCHES + match)
  if fork:
    past.version_at_tick = 0
  past.segments.CopyFrom(casts.SegmentCasts(
      mask=ALL & ~PLATFORM, against=batch.AGAINST_BOTH, as_of=[0] * 4, **BULLETS))
  return [now, rising, past]


def frame_of(scene_of):
  """Returns a frame of all matches; a game defines a set once, and sends each tick once."""
  frame = query.Frame()
  for match, fork in enumerate(scene_of):
    frame.groups.extend(groups(match, fork))
    handle = frame.groups[-1].body_set
    frame.body_sets.add(body_set=handle, scene=fork.name if fork else None, shapes=[BODY],
                        shape=[0] * 6, owner=OWNERS)
    frame.poses.add(body_set=handle, tick=0, x=PAST_X, y=Y)
  return frame


def print_verdicts(now, rising, past):
  player = 0
  for moves in (now.slides, rising.slides):
    leg = 0
    for x, y, count in zip(moves.x, moves.y, moves.counts):
      up = max(moves.normal_y[leg:leg + count])  # y of the most upward normal of the slide
      print(f"player {player}: ({x:.4f}, {y:.4f}), normal {up:.4f}")
      leg, player = leg + count, player + 1
  hits, row = past.segments, 0
  for i, count in enumerate(hits.counts):
    for _ in range(count):
      what = "player" if hits.is_body[row] else "polygon"
      print(f"bullet {i}: {what} {hits.polygon_id[row]} at {hits.fraction[row]:.4f}")
      row += 1
  print(f"sights: [{' '.join('true' if seen else 'false' for seen in now.sights.visible)}]")
  for player, distance in zip(now.distances.polygon_id, now.distances.distance):
    print(f"explosion: player {player} at {distance:.4f}")


channel = grpc.insecure_channel(sys.argv[1])
fork_scene = scene_service.SceneServiceStub(channel).ForkScene
forks = [fork_scene(scenes.ForkSceneRequest(base=BASE)).scene for _ in range(MATCHES)]
requests = (query.StreamRequest(frame=frame_of(scene_of)) for scene_of in (forks, [None] * MATCHES))
for response in query_service.QueryServiceStub(channel).Stream(requests):
  rows = response.answer.groups
  assert not any(group.HasField("status") for group in rows), rows
  for match in range(MATCHES):
    print("match", match)
    print_verdicts(*rows[3 * match:3 * match + 3])
