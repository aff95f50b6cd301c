#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Asks a Carom server questions over one stream; an example of a client in Python.

usage: client.py ADDRESS QUESTIONS

QUESTIONS are lines of ../questions.py; the answers are printed as ../expected.py defines. The modules
carom.v1 are made from the .proto files by grpcio-tools:
  python3 -m grpc_tools.protoc -I proto --python_out=. --grpc_python_out=. proto/carom/v1/*.proto
"""

import itertools
import json
import struct
import sys
import threading

import grpc

from carom.v1 import casts_pb2 as casts
from carom.v1 import geometry_pb2 as geometry
from carom.v1 import overlaps_pb2 as overlaps
from carom.v1 import query_service_pb2 as query
from carom.v1 import query_service_pb2_grpc as query_service
from carom.v1 import scene_service_pb2 as scenes
from carom.v1 import scene_service_pb2_grpc as scene_service

SCENE = "scenes/interop-python"
HANDLE = 2**64 - 59  # any uint64
FIRST_SEQ = 2**60 + 1
IN_FLIGHT = 8  # frames ahead of their answers; a server takes 16 by default
FILL = {"evenodd": geometry.FILL_RULE_EVEN_ODD, "nonzero": geometry.FILL_RULE_NON_ZERO}
SOLIDITY = {"solid": geometry.SOLIDITY_SOLID, "boundary": geometry.SOLIDITY_BOUNDARY}
INSIDE = {
    "report": casts.INSIDE_POLICY_REPORT_START,
    "ignore": casts.INSIDE_POLICY_IGNORE,
    "exit": casts.INSIDE_POLICY_EXIT,
}


def number(x):
  return float("nan") if x is None else float(x)


def bits(x):
  return struct.pack(">d", x).hex()


def words(items):
  return ",".join(map(str, items))


def polygon(line):
  rings = [geometry.Ring(x=[p[0] for p in ring], y=[p[1] for p in ring]) for ring in line["rings"]]
  return geometry.Polygon(
      id=line.get("id", 0),
      rings=rings,
      fill_rule=FILL[line.get("fill", "evenodd")],
      solidity=SOLIDITY[line.get("solidity", "solid")])


def import_scene(channel, polygons):
  """Sends the polygons in parts, as a scene above the size of a message must be."""
  mode = scenes.IMPORT_MODE_REPLACE
  parts = (
      scenes.ImportSceneRequest(name=SCENE, mode=mode, polygons=map(polygon, polygons[i:i + 10]))
      for i in range(0, len(polygons), 10))
  made = scene_service.SceneServiceStub(channel).ImportScene(parts)
  assert made.scene.polygon_count == len(polygons)


# --- Questions

def group_key(line):
  """Questions with the same key share a group: its scene, and the options of its columns."""
  if line["op"] != "segment":
    return line.get("scene", ""), "report", "EXIT", False
  detail = line.get("detail", "EXIT")
  return "", line.get("inside", "report"), detail, line.get("as") == "floats"


def new_group(key):
  scene, inside, detail, _ = key
  group = query.Group(scene=scene) if scene else query.Group(scene_handle=HANDLE)
  group.moves.detail = overlaps.OVERLAP_DETAIL_EDGES
  for columns in (group.segments, group.rays):
    columns.mode = casts.CAST_MODE_ALL
    columns.inside_policy = INSIDE[inside]
    columns.detail = casts.CastDetail.Value("CAST_DETAIL_" + detail)
  return group


def push(columns, **item):
  for name, value in item.items():
    getattr(columns, name).append(number(value))


def add(group, line):
  """Appends one item to the columns of its kind."""
  op = line["op"]
  if op == "point":
    push(group.points, x=line["p"][0], y=line["p"][1])
  elif op == "circle":
    push(group.circles, x=line["c"][0], y=line["c"][1], radius=line["r"])
  elif op == "move":
    group.moves.tracker.append(line["tracker"])
    push(group.moves, x=line["x"], y=line["y"], c=line.get("c", 1), s=line.get("s", 0))
  else:
    (ax, ay), (bx, by) = line["a"], line["b"]
    push(group.points, x=ax, y=ay)  # what holds its start?
    if line.get("as") == "ray":
      push(group.rays, x=ax, y=ay, dx=bx - ax, dy=by - ay, t_max=1)
    else:
      floats = line.get("as") == "floats"
      push(group.segments.floats if floats else group.segments, ax=ax, ay=ay, bx=bx, by=by)


def make_frame(seq, lines):
  frame = query.Frame(seq=seq)
  if seq == FIRST_SEQ:
    frame.bindings.add(handle=HANDLE, scene=SCENE)
  groups = {}
  for line in lines:
    if line["op"] == "track":
      definitions = frame.trackers.add(tracker=[line["tracker"]])
      definitions.shapes.add(polygon=polygon(line))
    else:
      key = group_key(line)
      add(groups.setdefault(key, new_group(key)), line)
  frame.groups.extend(groups.values())
  return frame


# --- Answers

class Reader:
  """Walks the answers of one kind in one group: their items and the rows of each."""

  def __init__(self, answers):
    self.answers = answers
    self.faults = {error.index: error for error in answers.errors}
    self.item = self.row = self.counted = self.edge = 0

  def next(self):
    """The rows of the next item, and its error or None."""
    item, answers = self.item, self.answers
    self.item += 1
    # A move that touches nothing is a bit, and has no count.
    if hasattr(answers, "clear") and answers.clear[item // 64] >> item % 64 & 1:
      return range(0), None
    count = answers.counts[self.counted]
    self.counted += 1
    rows = range(self.row, self.row + count)
    self.row += count
    return rows, self.faults.get(item)


def holders(points, rows, location):
  return words(points.polygon_id[r] for r in rows if points.location[r] == location)


def hits(hit, rows):
  if not rows:
    return "miss"
  first, out = rows[0], f"t={bits(hit.fraction[rows[0]])} poly={hit.polygon_id[rows[0]]}"
  # Columns that were not asked for are empty.
  if hit.normal_x:
    out += f" normal={bits(hit.normal_x[first])},{bits(hit.normal_y[first])}"
  if hit.feature:
    known = hit.feature[first] != casts.FEATURE_UNSPECIFIED
    out += f" edge={hit.ring[first]}.{hit.edge[first]}" if known else " edge=none"
  if hit.exit_fraction:
    out += f" exit={bits(hit.exit_fraction[first])}"
  return out


def answer_text(line, readers):
  op = line["op"]
  reader = readers["rays" if line.get("as") == "ray" else op + "s"]
  answers = reader.answers
  rows, fault = reader.next()
  starts = readers["points"].next()[0] if op == "segment" else rows
  if fault:
    return f"error {fault.code} {fault.field}"
  if op in ("point", "segment"):
    points = readers["points"].answers
    within = holders(points, starts, overlaps.LOCATION_INSIDE)
    touched = holders(points, starts, overlaps.LOCATION_BOUNDARY)
    if op == "point":
      return f"point in={within} on={touched}"
    every = words(f"{answers.polygon_id[r]}:{bits(answers.fraction[r])}" for r in rows)
    return f"segment {hits(answers, rows)} in={within} on={touched} all={every}"
  ids = words(answers.polygon_id[r] for r in rows)
  if op == "circle":
    touched = words(answers.polygon_id[r] for r in rows if answers.touching[r])
    return f"circle ids={ids} touch={touched}"
  edges = []
  for r in rows:
    for e in range(reader.edge, reader.edge + answers.edge_counts[r]):
      edges.append(f"{answers.polygon_id[r]}.{answers.ring[e]}.{answers.edge[e]}")
    reader.edge += answers.edge_counts[r]
  return f"move ids={ids} edges={words(edges)}"


def print_answers(lines, answer):
  questions = [line for line in lines if line["op"] != "track"]
  keys = list(dict.fromkeys(map(group_key, questions)))  # the groups, in their order
  assert not answer.HasField("status") and len(answer.groups) == len(keys)
  kinds = ("segments", "rays", "points", "circles", "moves")
  groups = dict(zip(keys, answer.groups))
  readers = {
      key: {kind: Reader(getattr(group, kind)) for kind in kinds}
      for key, group in groups.items()
  }
  for line in questions:
    key = group_key(line)
    if groups[key].HasField("status"):
      status = groups[key].status
      print(line["q"], "error", status.code, status.violations[0].field)
    else:
      print(line["q"], answer_text(line, readers[key]))


def main():
  address, path = sys.argv[1:]
  with open(path, encoding="utf-8") as file:
    scene, *lines = map(json.loads, file)
  frames = [list(of) for _, of in itertools.groupby(lines, lambda line: line["frame"])]
  with grpc.insecure_channel(address) as channel:
    import_scene(channel, scene["polygons"])
    free = threading.Semaphore(IN_FLIGHT)

    def requests():  # gRPC pulls from here in a thread of its own; its end closes our side
      for seq, of in enumerate(frames, FIRST_SEQ):
        free.acquire()
        yield query.StreamRequest(frame=make_frame(seq, of))

    answered = 0
    stream = query_service.QueryServiceStub(channel).Stream(requests())
    for response in stream:  # raises unless the stream ends with OK
      free.release()
      assert response.answer.seq == FIRST_SEQ + answered
      print_answers(frames[answered], response.answer)
      answered += 1
    assert answered == len(frames) and stream.code() == grpc.StatusCode.OK


if __name__ == "__main__":
  main()
