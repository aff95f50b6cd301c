#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Prints what a client of the interop tests must print, from what `carom eval` answered.

usage: expected.py QUESTIONS ANSWERS

A line a question: its `q`, then words. A double is the 16 hexadecimal digits of its bits, so that
equal lines are equal doubles.

  Q point in=ID,… on=ID,…
  Q segment miss|t=D poly=ID [normal=D,D] [edge=RING.EDGE|none] [exit=D] in=… on=… all=ID:D,…
  Q circle ids=ID,… touch=ID,…
  Q move ids=ID,… edges=ID.RING.EDGE,…
  Q error 3 COLUMN           the item is refused
  Q error 5 scene            there is no such scene
"""

import json
import struct
import sys

CODES = {"INVALID_ARGUMENT": 3}
# The columns of the wire by the words of `carom eval`.
COLUMNS = {"a[0]": "ax", "a[1]": "ay", "b[0]": "bx", "b[1]": "by", "p[0]": "x", "p[1]": "y",
           "c[0]": "x", "c[1]": "y", "r": "radius", "c": "c", "tracker": "tracker"}


def bits(x):
  return struct.pack(">d", x).hex()


def words(items):
  return ",".join(map(str, items))


def segment(question, answer):
  level = ["FRACTION", "NORMAL", "EDGE", "EXIT"].index(question.get("detail", "EXIT"))
  out = ["segment"]
  if answer["hit"]:
    edge = answer["edge"]
    out += [f"t={bits(answer['t'])}", f"poly={answer['poly']}"]
    measured = ["normal=" + words(map(bits, answer["normal"])),
                "edge=" + (f"{edge[1]}.{edge[2]}" if edge else "none"),
                "exit=" + bits(answer["exit_t"])]
    out += measured[:level]
  else:
    out.append("miss")
  out += ["in=" + words(answer["start_in"]), "on=" + words(answer["start_on"]),
          "all=" + words(f"{polygon}:{bits(t)}" for polygon, t in answer["all"])]
  return " ".join(out)


def line(question, answer):
  op = question["op"]
  if "scene" in question:
    return "error 5 scene"
  if "error" in answer:
    return f"error {CODES[answer['error']['code']]} {COLUMNS[answer['error']['field']]}"
  if op == "segment":
    return segment(question, answer)
  if op == "point":
    return f"point in={words(answer['in'])} on={words(answer['on'])}"
  if op == "circle":
    return f"circle ids={words(answer['ids'])} touch={words(answer['touch'])}"
  edges = (".".join(map(str, edge)) for edge in answer["edges"])
  return f"move ids={words(answer['ids'])} edges={words(edges)}"


def main():
  with open(sys.argv[1], encoding="utf-8") as file:
    questions = [q for q in map(json.loads, file) if "q" in q]
  with open(sys.argv[2], encoding="utf-8") as file:
    answers = [json.loads(text) for text in file]
  assert [q["q"] for q in questions] == [a["q"] for a in answers]
  for question, answer in zip(questions, answers):
    print(question["q"], line(question, answer))


main()
