# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does `carom eval` print for a line, said by the Python package?

`answer_lines` reads the lines of docs/eval.md and asks the same by numpy columns: `make(polygons)` makes what answers
questions about a map, in this process or on a server. `difference` compares two answers, and doubles bit for bit.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from carom import AreaPieceKind, Polygons, Shapes, capsule, questions
from carom._answers import Answers
from carom._question import Question
from carom.local import Bodies, Trackers

Line = dict[str, Any]
Make = Callable[[Polygons], Any]

ALL = 65536
POLICIES = {"report": "report_start", "ignore": "ignore", "exit": "exit", "blocking": "blocking"}
POLICIES["blocking_leave"] = "blocking_leave"
EVERY = 2**64 - 1


def polygons_of(entries: Sequence[Line]) -> Polygons:
    """The polygons of a map file."""
    rings = [each["rings"] for each in entries]
    points = [[ring["points"] if isinstance(ring, dict) else ring for ring in each] for each in rings]
    opened = [isinstance(ring, dict) and ring.get("open", False) for each in rings for ring in each]
    return Polygons(
        points,
        ids=np.array([each["id"] for each in entries], np.uint64),
        categories=np.array([each.get("category", 1) for each in entries], np.uint64),
        fill_rule=np.array([2 if each.get("fill") == "nonzero" else 1 for each in entries], np.uint8),
        solidity=np.array([2 if each.get("solidity") == "boundary" else 1 for each in entries], np.uint8),
        open=np.array(opened, np.uint8),
    )


def shapes_of(values: Iterable[Any]) -> tuple[Shapes, list[int]]:
    """Shapes as lines have them, rings or `{"circle": r}`, and the index of each among the shapes that are made."""
    circles: list[float] = []
    polygons: list[Any] = []
    places = []
    for value in values:
        if isinstance(value, dict) and "circle" in value:
            places.append(-1 - len(circles))
            circles.append(float(value["circle"]))
        else:
            places.append(len(polygons))
            polygons.append(value["rings"] if isinstance(value, dict) else value)
    zero = np.zeros(len(circles))
    made = Shapes(polygons, ax=zero, ay=zero, bx=zero, by=zero, radius=np.array(circles))
    return made, [place if place >= 0 else len(polygons) - 1 - place for place in places]


def column(lines: Sequence[Line], name: str, index: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """One number of each line."""
    return np.array([float(line[name][index]) for line in lines])


class Rows:
    """The rows of each item of an answer, as Python values."""

    def __init__(self, answers: Answers, *names: str) -> None:
        self.answers = answers
        self.ends = answers.offsets.tolist()
        self.values = {name: getattr(answers, name).tolist() for name in names}
        found = getattr(answers, "is_body", None)
        flags = [] if found is None else found.tolist()
        self.values["is_body"] = flags or [0] * self.ends[-1]
        self._errors = {error.index: error.message for error in answers.errors}

    def answer(self, item: int, answer: Line) -> Line:
        """The answer of an item, unless it is in error."""
        message = self._errors.get(item)
        return answer if message is None else {"error": {"message": message}}

    def of(self, item: int) -> list[dict[str, Any]]:
        """The rows of an item."""
        return [
            {name: values[row] for name, values in self.values.items()}
            for row in range(self.ends[item], self.ends[item + 1])
        ]


def ids(rows: Sequence[Line]) -> list[int]:
    """The polygons among rows."""
    return [row["polygon_id"] for row in rows if not row["is_body"]]


def bodies(line: Line, rows: Sequence[Line]) -> dict[str, Any]:
    """The member `bodies`, which only questions about bodies have."""
    if line.get("against", "scene") == "scene":
        return {}
    return {"bodies": [row["polygon_id"] for row in rows if row["is_body"]]}


def scope(lines: Sequence[Line]) -> dict[str, Any]:
    """The arguments for the members `against`, `mask` and `ignore_owner`."""
    given: dict[str, Any] = {"against": lines[0].get("against")}
    masks = [line.get("mask", EVERY) for line in lines]
    if any(mask != EVERY for mask in masks):
        given["masks"] = np.array(masks, np.uint64)
    if given["against"] in ("bodies", "both") or lines[0]["op"] == "sees":
        given["ignore_owner"] = np.array([line.get("ignore_owner", 0) for line in lines], np.uint32)
    return given


def target(row: Line, has_edge: bool) -> dict[str, Any]:
    """What a hit names: a polygon or a body, and an edge."""
    id = row["polygon_id"]
    edge = [None if row["is_body"] else id, row["ring"], row["edge"]] if has_edge else None
    return {"body" if row["is_body"] else "poly": id, "edge": edge}


def pair(row: Line, name: str) -> list[float]:
    """The two columns of a vector."""
    return [row[name + "_x"], row[name + "_y"]]


Answer = Callable[[Callable[[Question[Any]], Any], Sequence[Line]], list[Line]]


def points(ask: Callable[[Question[Any]], Any], lines: Sequence[Line], name: str = "p") -> list[Line]:
    rows = Rows(
        ask(questions.locate(column(lines, name, 0), column(lines, name, 1), **scope(lines))), "polygon_id", "location"
    )
    made = []
    for item, line in enumerate(lines):
        found = rows.of(item)
        inside, on = ([row for row in found if row["location"] == place] for place in (2, 1))
        made.append(rows.answer(item, {"in": ids(inside), "on": ids(on), **bodies(line, found)}))
    return made


def soft_walls(line: Line) -> dict[str, int]:
    """The members of soft walls."""
    return {name: line[name] for name in ("soft_mask", "soft_count") if name in line}


def segments(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    ends = [column(lines, name, i) for name in "ab" for i in (0, 1)]
    policy, soft = POLICIES[lines[0].get("inside", "report")], soft_walls(lines[0])
    names = ("polygon_id", "fraction", "normal_x", "normal_y", "feature", "ring", "edge", "exit_fraction")
    question = questions.cast(*ends, mode="all", max_hits=ALL, inside_policy=policy, **scope(lines))  # type: ignore[arg-type]
    rows = stops = Rows(ask(question), *names)
    if soft:
        question = questions.cast(*ends, inside_policy=policy, soft_length=True, **soft, **scope(lines))  # type: ignore[arg-type]
        stops = Rows(ask(question), *names)
    made = []
    for item, start in enumerate(points(ask, lines, "a")):
        hits, stop = rows.of(item), stops.of(item)
        answer: Line = {"hit": bool(stop)}
        if stop:
            first = stop[0]
            answer |= {"t": first["fraction"], **target(first, first["feature"] != 0), "normal": pair(first, "normal")}
            answer["exit_t"] = first["exit_fraction"]
        answer |= {"start_in": start.get("in"), "start_on": start.get("on")}
        if "bodies" in start:
            answer["bodies"] = start["bodies"]
        answer["all"] = [
            [None, hit["fraction"], hit["polygon_id"]] if hit["is_body"] else [hit["polygon_id"], hit["fraction"]]
            for hit in hits
        ]
        if soft:
            answer["passed"] = int(stops.answers.passed[item])
            answer["soft_length"] = float(stops.answers.soft_length[item])
        made.append(rows.answer(item, answer))
    return made


def sights(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    ends = [column(lines, name, i) for name in "ab" for i in (0, 1)]
    answers = ask(questions.sights(*ends, **soft_walls(lines[0]), **scope(lines)))
    rows = Rows(answers)
    return [rows.answer(item, {"visible": bool(visible)}) for item, visible in enumerate(answers.visible.tolist())]


def circles(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    radius = np.array([float(line["r"]) for line in lines])
    question = questions.overlap_circles(column(lines, "c", 0), column(lines, "c", 1), radius, **scope(lines))
    rows = Rows(ask(question), "polygon_id", "touching")
    made = []
    for item, line in enumerate(lines):
        found = rows.of(item)
        answer = {"ids": ids(found), "touch": ids([row for row in found if row["touching"]]), **bodies(line, found)}
        made.append(rows.answer(item, answer))
    return made


def at_zero(lines: Sequence[Line]) -> dict[str, Any]:
    """Shapes whose vertices are where they are asked."""
    zero = np.zeros(len(lines))
    shapes, shape = shapes_of(line["rings"] for line in lines)
    return {"shapes": shapes, "shape": np.array(shape, np.uint32), "x": zero, "y": zero}


def polygons(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    rows = Rows(ask(questions.overlap(**at_zero(lines), **scope(lines))), "polygon_id")
    return [
        rows.answer(item, {"ids": ids(rows.of(item)), **bodies(line, rows.of(item))}) for item, line in enumerate(lines)
    ]


def distances(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    k = lines[0].get("k")
    given = {} if k is None else {"mode": "nearest_k", "k": k, "max_distance": np.array(
        [float(line.get("max_distance", np.inf)) for line in lines])}  # fmt: skip
    rows = Rows(ask(questions.nearest(**at_zero(lines), **given, **scope(lines))), "polygon_id", "distance")
    made = []
    for item, line in enumerate(lines):
        found = rows.of(item)
        if k is not None:
            nearest = [
                [None, row["distance"], row["polygon_id"]] if row["is_body"] else [row["polygon_id"], row["distance"]]
                for row in found
            ]
            made.append(rows.answer(item, {"nearest": nearest}))
            continue
        distance = found[0]["distance"] if found else None
        made.append(rows.answer(item, {"d": distance, "ids": ids(found), **bodies(line, found)}))
    return made


def contacts(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    question = questions.contacts(**at_zero(lines), **scope(lines))
    rows = Rows(ask(question), "polygon_id", "kind", "normal_x", "normal_y", "depth")
    made = []
    for item in range(len(lines)):
        answer = []
        for row in rows.of(item):
            if row["kind"] == 0:
                numbers = [row["normal_x"], row["normal_y"], row["depth"]]
                id = row["polygon_id"]
                answer.append([None, *numbers, id] if row["is_body"] else [id, *numbers])
        made.append(rows.answer(item, {"contacts": answer}))
    return made


def casts_of_shapes(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    zero = np.zeros(len(lines))
    if "r" in lines[0]:
        x, y = column(lines, "c", 0), column(lines, "c", 1)
        shapes = capsule(x, y, x, y, np.array([float(line["r"]) for line in lines]))
    else:
        shapes, _ = shapes_of(line["rings"] for line in lines)
    question = questions.sweep(
        shapes, zero, zero, None, None, shape=np.arange(len(lines), dtype=np.uint32),
        to_x=column(lines, "d", 0), to_y=column(lines, "d", 1), mode="all", max_hits=ALL, **scope(lines),
    )  # fmt: skip
    rows = Rows(ask(question), "polygon_id", "fraction", "ties")
    made = []
    for item, line in enumerate(lines):
        hits = rows.of(item)
        answer: Line = {"hit": bool(hits)}
        if hits:
            tied = hits[:1] + list(itertools.takewhile(lambda hit: hit["ties"], hits[1:]))
            answer |= {"t": hits[0]["fraction"], "polys": ids(tied), **bodies(line, tied)}
        made.append(rows.answer(item, answer))
    return made


def posed(lines: Sequence[Line]) -> dict[str, Any]:
    """Shapes at the poses of lines."""
    shapes, shape = shapes_of(line["shape"] for line in lines)
    poses = np.array([(*map(float, line["at"]), 1.0, 0.0)[:4] for line in lines])
    names = dict(zip(("x", "y", "c", "s"), poses.T, strict=True))
    return {"shapes": shapes, "shape": np.array(shape, np.uint32), **names}


def sweeps(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    inside = lines[0].get("inside", "report")
    is_blocking = inside.startswith("blocking")
    common = {**posed(lines), **scope(lines)}
    skin = np.array([float(line.get("skin", 0)) for line in lines]) if is_blocking else None
    answers = ask(
        questions.sweep(
            **common,
            dx=column(lines, "d", 0),
            dy=column(lines, "d", 1),
            skin=skin,
            inside_policy=POLICIES[inside],  # type: ignore[arg-type]
        )
    )
    zero = np.zeros(len(lines))
    policy = "blocking" if is_blocking else None
    start = Rows(
        ask(questions.sweep(**common, dx=zero, dy=zero, mode="all", max_hits=ALL, inside_policy=policy)),  # type: ignore[arg-type]
        "polygon_id",
    )
    rows = Rows(answers, "polygon_id", "fraction", "has_edge", "ring", "edge", "normal_x", "normal_y")
    made = []
    for item, line in enumerate(lines):
        hits = rows.of(item)
        answer: Line = {"hit": bool(hits)}
        if hits:
            first = hits[0]
            answer |= {"t": first["fraction"], **target(first, first["has_edge"]), "normal": pair(first, "normal")}
        overlapped = start.of(item)
        answer |= {"start_in": ids(overlapped), **bodies(line, overlapped)}
        if is_blocking:
            answer["safe"] = [float(answers.safe_x[item]), float(answers.safe_y[item])]
        made.append(rows.answer(item, answer))
    return made


def slides(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    pushes = np.array([[float(n) for n in push] for line in lines for push in line["d"]])
    answers = ask(
        questions.slide(
            **posed(lines), **scope(lines), dx=pushes[:, 0], dy=pushes[:, 1],
            pushes=np.array([len(line["d"]) for line in lines], np.uint32),
            skin=np.array([float(line.get("skin", 0)) for line in lines]),
            inside_policy=POLICIES[lines[0].get("inside", "blocking_leave")],  # type: ignore[arg-type]
            max_contacts=lines[0].get("max_contacts"),
        )
    )  # fmt: skip
    names = ("leg_x", "leg_y", "leg_dx", "leg_dy", "has_hit", "fraction", "polygon_id", "normal_x", "normal_y")
    rows = Rows(answers, *names)
    made = []
    for item in range(len(lines)):
        legs = []
        for row in rows.of(item):
            leg: Line = {"from": [row["leg_x"], row["leg_y"]], "d": [row["leg_dx"], row["leg_dy"]]}
            if row["has_hit"]:
                name = "body" if row["is_body"] else "poly"
                leg |= {"t": row["fraction"], name: row["polygon_id"], "normal": pair(row, "normal")}
            else:
                leg |= {"t": 1.0, "poly": None, "normal": [0.0, 0.0]}
            legs.append(leg)
        at, left = ([float(column[item]) for column in two] for two in (
            (answers.x, answers.y), (answers.left_x, answers.left_y)
        ))  # fmt: skip
        made.append(rows.answer(item, {"at": at, "legs": legs, "left": left}))
    return made


def leg_hit(row: Line) -> Line:
    """The members of a leg that say what it hits."""
    if not row["has_hit"]:
        return {"hit": False}
    return {"hit": True, "t": row["fraction"], "poly": row["polygon_id"], "normal": pair(row, "normal")}


def masks_of(lines: Sequence[Line]) -> int | None:
    """The mask of a kind of question that has none for each item."""
    mask: int = lines[0].get("mask", EVERY)
    return None if mask == EVERY else mask


def bounces(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    ax, ay, bx, by = (column(lines, name, i) for name in "ab" for i in (0, 1))
    answers = ask(questions.bounce(ax, ay, bx, by, max_bounces=lines[0].get("max_bounces"), mask=masks_of(lines)))
    rows = Rows(answers, "ax", "ay", "bx", "by", "has_hit", "fraction", "polygon_id", "normal_x", "normal_y")
    stuck = set(answers.stuck.tolist())
    made = []
    for item in range(len(lines)):
        legs = [{"a": [r["ax"], r["ay"]], "b": [r["bx"], r["by"]], **leg_hit(r)} for r in rows.of(item)]
        made.append(rows.answer(item, {"legs": legs, "stuck": item in stuck}))
    return made


def ray_bounces(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    t_max = np.array([float(line.get("t_max", np.inf)) for line in lines])
    most = np.array([line.get("max_bounces", 4) for line in lines], np.uint32)
    x, y, dx, dy = (column(lines, name, i) for name in "pd" for i in (0, 1))
    answers = ask(questions.bounce_rays(x, y, dx, dy, t_max=t_max, max_bounces=most, mask=masks_of(lines)))
    names = ("x", "y", "dx", "dy", "t_max", "has_hit", "fraction", "polygon_id", "normal_x", "normal_y")
    rows = Rows(answers, *names)
    stuck = set(answers.stuck.tolist())
    made = []
    for item in range(len(lines)):
        legs = [
            {
                "p": [r["x"], r["y"]], "d": [r["dx"], r["dy"]],
                "t_max": r["t_max"] if np.isfinite(r["t_max"]) else None, **leg_hit(r),
            }
            for r in rows.of(item)
        ]  # fmt: skip
        made.append(rows.answer(item, {"legs": legs, "stuck": item in stuck}))
    return made


def eyes(lines: Sequence[Line]) -> dict[str, Any]:
    """The arguments that areas and observers have."""
    cone = {"from_": column(lines, "cone", 0), "to": column(lines, "cone", 1)} if "cone" in lines[0] else {}
    return {
        "x": column(lines, "p", 0), "y": column(lines, "p", 1), "range": np.array([float(line["r"]) for line in lines]),
        "inside_policy": POLICIES[lines[0].get("inside", "report")], **cone, **scope(lines),
    }  # fmt: skip


def areas(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    answers = ask(questions.areas(**eyes(lines), max_rows=ALL))
    rows = Rows(answers, "kind", "polygon_id", "ring", "edge", "start_x", "start_y")
    made = []
    for item in range(len(lines)):
        pieces = []
        for row in rows.of(item):
            piece: Line = {"at": pair(row, "start")}
            if row["kind"] != AreaPieceKind.EDGE:
                piece["arc" if row["kind"] == AreaPieceKind.ARC else "sight"] = True
            else:
                piece["edge"] = [None if row["is_body"] else row["polygon_id"], row["ring"], row["edge"]]
                piece |= {"body": row["polygon_id"]} if row["is_body"] else {}
            pieces.append(piece)
        area, inside = float(answers.areas[item]), bool(answers.starts_inside[item])
        made.append(rows.answer(item, {"pieces": pieces, "area": area, "starts_inside": inside}))
    return made


def sees(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    answers = ask(questions.sees(**eyes(lines), margin=lines[0].get("margin")))
    rows = Rows(answers)
    return [
        rows.answer(item, {"seen": answers.bodies(item).tolist(), "starts_inside": bool(answers.starts_inside[item])})
        for item in range(len(lines))
    ]


def moves(ask: Callable[[Question[Any]], Any], lines: Sequence[Line]) -> list[Line]:
    poses = [np.array([float(line.get(name, absent)) for line in lines])
             for name, absent in (("x", 0), ("y", 0), ("c", 1), ("s", 0))]  # fmt: skip
    tracker = np.array([line["tracker"] for line in lines], np.uint32)
    answers = ask(questions.move(poses[0], poses[1], c=poses[2], s=poses[3], tracker=tracker, detail="edges"))
    rows = Rows(answers)
    made = []
    for item, each in enumerate(answers):
        found, edges = each.polygon_id.tolist(), []
        at = iter(zip(each.ring.tolist(), each.edge.tolist(), strict=True))
        for id, count in zip(found, each.edge_counts.tolist(), strict=True):
            edges += [[id, *next(at)] for _ in range(count)]
        made.append(rows.answer(item, {"ids": found, "edges": edges}))
    return made


ANSWERS: dict[str, Answer] = {
    "point": points, "segment": segments, "sight": sights, "circle": circles, "polygon": polygons,
    "distance": distances, "contact": contacts, "circle_cast": casts_of_shapes, "polygon_cast": casts_of_shapes,
    "sweep": sweeps,
    "slide": slides, "bounce": bounces, "ray_bounce": ray_bounces, "area": areas, "sees": sees,
    "move": moves,
}  # fmt: skip


def batch_key(line: Line) -> tuple[Any, ...]:
    """Lines with equal keys are items of one question."""
    own = line.get("mask") if line["op"] in ("bounce", "ray_bounce") else None
    return (line["op"], "cone" in line, line.get("inside"), line.get("against"), line.get("max_contacts"), own,
            line.get("max_bounces") if line["op"] == "bounce" else None, line.get("k"),
            line.get("soft_mask"), line.get("soft_count"), line.get("margin"))  # fmt: skip


class Worlds:
    """The scene, bodies and trackers that the lines so far have made.

    make: makes what answers questions about polygons; trackers: makes a table of trackers for it
    """

    def __init__(self, make: Make, trackers: Callable[[], Any], root: pathlib.Path | None) -> None:
        self._make = make
        self._trackers = trackers()
        self._root = root
        self._files: dict[str, dict[str, Any]] = {}
        self._bodies: Bodies | None = None
        self._scene = make(Polygons([]))

    def change(self, line: Line) -> bool:
        """Carries out a line that asks nothing; returns whether the line is one."""
        if line["op"] in ("scene", "load"):
            entries = line["polygons"] if line["op"] == "scene" else self._load(line["file"], line["id"])
            self._scene, self._bodies = self._make(polygons_of(entries)), None
        elif line["op"] == "bodies":
            self._place(line)
        elif line["op"] == "track":
            self._trackers.define([line["rings"]], tracker=np.array([line["tracker"]], np.uint32))
        else:
            return False
        return True

    def _load(self, file: str, id: str) -> Any:
        if file not in self._files:
            assert self._root is not None
            scenes = map(json.loads, (self._root / file).read_text().splitlines())
            self._files[file] = {scene["id"]: scene["polygons"] for scene in scenes}
        return self._files[file][id]

    def _place(self, line: Line) -> None:
        shapes, places = shapes_of(line["shapes"])
        absent = (None, None, None, 1.0, 0.0, 0, 1)
        rows = [(*row, *absent[len(row) :]) for row in line["at"]]
        shape, x, y, c, s, owner, category = zip(*rows, strict=True)
        self._bodies = Bodies(
            shapes, np.array(x, float), np.array(y, float), shape=np.array([places[i] for i in shape], np.uint32),
            c=np.array(c, float), s=np.array(s, float), owner=np.array(owner, np.uint32),
            category=np.array(category, np.uint64),
        )  # fmt: skip

    def asker(self, line: Line) -> Any:
        """What answers a line."""
        if line["op"] == "move":
            return self._scene.with_trackers(self._trackers)
        if (line["op"] == "sees" or line.get("against", "scene") != "scene") and self._bodies is not None:
            return self._scene.with_bodies(self._bodies)
        return self._scene


def answer_lines(
    lines: Iterable[str], make: Make, trackers: Callable[[], Any] = Trackers, root: pathlib.Path | None = None
) -> list[Line]:
    """Returns what `carom eval` prints for these lines; of an error, the message alone."""
    worlds = Worlds(make, trackers, root)
    answers: list[Line] = []
    waiting: dict[tuple[Any, ...], list[tuple[int, Line]]] = {}

    def flush() -> None:
        for asked in waiting.values():
            made = ANSWERS[asked[0][1]["op"]](worlds.asker(asked[0][1]).ask, [line for _, line in asked])
            for (index, line), answer in zip(asked, made, strict=True):
                answers[index] = {"q": line["q"], **answer} if "q" in line else answer
        waiting.clear()

    for text in lines:
        line = json.loads(text)
        if line["op"] in ANSWERS:
            waiting.setdefault(batch_key(line), []).append((len(answers), line))
            answers.append({})
        else:
            flush()
            worlds.change(line)
    flush()
    return answers


def difference(got: Any, expected: Any, path: str = "") -> str | None:
    """The path at which two answers differ, or None. Doubles are compared bit for bit."""
    if isinstance(got, dict) and isinstance(expected, dict):
        if "error" in got and "error" in expected:
            return difference(got["error"]["message"], expected["error"]["message"], path + ".error.message")
        if got.keys() != expected.keys():
            return f"{path}: members {sorted(got)} and {sorted(expected)}"
        found = (difference(got[name], expected[name], f"{path}.{name}") for name in got)
        return next(filter(None, found), None)
    if isinstance(got, list) and isinstance(expected, list):
        if len(got) != len(expected):
            return f"{path}: {len(got)} and {len(expected)} entries"
        found = (difference(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(got, expected, strict=True)))
        return next(filter(None, found), None)
    numbers = isinstance(got, int | float) and isinstance(expected, int | float)
    if numbers and float in (type(got), type(expected)) and bool not in (type(got), type(expected)):
        same = struct.pack("<d", got) == struct.pack("<d", expected)
    else:
        same = type(got) is type(expected) and got == expected
    return None if same else f"{path}: {got!r} and {expected!r}"
