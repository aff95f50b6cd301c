#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Simulates robots with lidars in many worlds at once (docs/farm.md).

usage: farm.py ADDRESS [FRAMES]      FRAMES: number of frames per step that the worlds share
"""
import queue
import sys
import time

import grpc

from carom.v1 import batch_pb2 as batch
from carom.v1 import contacts_pb2 as contacts
from carom.v1 import geometry_pb2 as geometry
from carom.v1 import query_service_pb2 as query
from carom.v1 import query_service_pb2_grpc as query_service
from carom.v1 import scene_service_pb2 as scenes
from carom.v1 import scene_service_pb2_grpc as scene_service
from carom.v1 import sweeps_pb2 as sweeps
from carom.v1 import visibility_pb2 as visibility

BASE, WORLDS, STEPS = "scenes/farm", 64, 100
DISC = geometry.Shape(capsule=geometry.Capsule(radius=3))
STARTS = [(15, 15), (185, 15), (185, 185), (15, 185)]
ROBOTS = range(len(STARTS))
# Eight headings as displacements per step: literals, because cosines differ between machines.
HEADINGS = [(2, 0), (1.5, 1.5), (0, 2), (-1.5, 1.5), (-2, 0), (-1.5, -1.5), (0, -2), (1.5, -1.5)]
BEAMS, STEP, RANGE, NEAR = 72, 0.08726646259971647, 80, 14  # STEP: 5 degrees, in radians
PER_HEADING = BEAMS // len(HEADINGS)


class World:
  """The state of one world: a fork of the map with its own crate, and the robots."""

  def __init__(self, number, fork):
    self.number, self.fork, self.step = number, fork, 0
    self.x, self.y = ([float(start[axis]) for start in STARTS] for axis in (0, 1))
    self.heading = [(number + 2 * robot + 1) % len(HEADINGS) for robot in ROBOTS]
    self.seen = self.touches = 0

  def group(self):
    """Returns a step's questions: moves, and lidars and robot contacts where the moves begin."""
    here = batch.PlacedShapes(shapes=[DISC], shape=[0] * len(ROBOTS), x=self.x, y=self.y)
    owners = [robot + 1 for robot in ROBOTS]
    dx, dy = zip(*(HEADINGS[heading] for heading in self.heading))
    group = query.Group(
        scene=self.fork, bodies=batch.Bodies(placed=here, owner=owners),
        slides=sweeps.Slides(movers=here, dx=dx, dy=dy),
        fans=visibility.Fans(x=self.x, y=self.y, angle=[-(PER_HEADING // 2) * STEP] * len(ROBOTS),
                             step=[STEP] * len(ROBOTS), range=[RANGE] * len(ROBOTS),
                             beams=[BEAMS] * len(ROBOTS), against=batch.AGAINST_BOTH,
                             ignore_owner=owners),
        body_contacts=contacts.BodyContacts(body=ROBOTS))
    if self.step == 0:  # adds the crate where no robot starts
      x, y = 40 + self.number * 37 % 110, 40 + self.number * 61 % 110
      ring = geometry.Ring(x=[x, x + 9, x + 9, x], y=[y, y, y + 9, y + 9])
      group.edits.edit_id = "crate"
      group.edits.edits.add(add=geometry.Polygon(id=100, rings=[ring]))
    return group

  def think(self, answer):
    """Applies the answers. A robot keeps a heading that is free, else turns to the freest one."""
    assert not answer.HasField("status"), answer.status.message
    self.x, self.y, self.step = list(answer.slides.x), list(answer.slides.y), self.step + 1
    self.seen += sum(answer.fans.is_body)
    self.touches += sum(answer.body_contacts.counts)
    for robot in ROBOTS:
      beams = answer.fans.distance[robot * BEAMS:(robot + 1) * BEAMS]
      free = [min(beams[i:i + PER_HEADING]) for i in range(0, BEAMS, PER_HEADING)]
      if free[self.heading[robot]] < NEAR:
        self.heading[robot] = free.index(max(free))


channel = grpc.insecure_channel(sys.argv[1])
fork = scene_service.SceneServiceStub(channel).ForkScene
worlds = [World(i, fork(scenes.ForkSceneRequest(base=BASE)).scene.name) for i in range(WORLDS)]
count = int(sys.argv[2]) if len(sys.argv) > 2 else 2
shares = [worlds[i::count] for i in range(count)]
requests = queue.SimpleQueue()  # the requests of a stream; None ends the stream
answers = query_service.QueryServiceStub(channel).Stream(iter(requests.get, None))


def ask(share):
  requests.put(query.StreamRequest(frame=query.Frame(groups=[world.group() for world in share])))


start = time.monotonic()
for share in shares:
  ask(share)
for step in range(1, STEPS + 1):
  for share in shares:  # the server answers the other shares while this one computes
    for world, answer in zip(share, next(answers).answer.groups, strict=True):
      world.think(answer)
    if step < STEPS:
      ask(share)
requests.put(None)
assert next(answers, None) is None  # the stream must have ended without an error
for world in worlds:
  places = " ".join(f"({x:.4f}, {y:.4f})" for x, y in zip(world.x, world.y))
  print(f"world {world.number}: {places}, {world.seen} beams on robots, {world.touches} touches")
beams = WORLDS * STEPS * len(ROBOTS) * BEAMS
print(f"{beams:,} beams in {time.monotonic() - start:.1f} s", file=sys.stderr)
