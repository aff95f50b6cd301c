#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Writes `tables.ts`, by which @carom/client writes questions and reads answers.

    generate.py --out FOLDER

The tables follow from carom_abi.json, the description of carom.h, and from the .proto files: a column or an option of
carom.h has the field with its name. Where the names or the shapes differ, the tables below say how, as those of the
Python client do (client/python/src/carom/_remote/decode.py).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "client/python"))
sys.dont_write_bytecode = True

import generate as python  # noqa: E402
import generate_wire as wire  # noqa: E402

# Names of fields that are not those of the columns, by message.
FIELDS: dict[str, dict[str, str]] = {
    "AreaAnswers": {"areas": "area"},
    "ContactAnswers": {
        "fixed_split_x": "fixed_x", "fixed_split_y": "fixed_y", "mover_split_x": "mover_x", "mover_split_y": "mover_y",
    },
    "FanAnswers": {"hits": "hit", "distances": "distance"},
    "MoveAnswers": {
        "touch_id": "first_polygon_id", "touch_low": "low", "touch_high": "high", "touch_has_edge": "first_has_edge",
        "touch_ring": "first_ring", "touch_edge": "first_edge", "touch_normal_x": "first_normal_x",
        "touch_normal_y": "first_normal_y",
    },
    "SlideAnswers": {"legs": "counts", "leg_x": "from_x", "leg_y": "from_y", "leg_dx": "dx", "leg_dy": "dy"},
}  # fmt: skip
# Columns that may be absent together, and then are empty; the first of each group decides.
EMPTY: dict[str, tuple[tuple[str, ...], ...]] = {
    "CastAnswers": (("reflection_x", "reflection_y"), ("passed",), ("soft_length",)),
    "LocateAnswers": (("is_body",),),
    "OverlapAnswers": (("is_body",), ("touching",), ("edge_counts",)),
    "DistanceAnswers": (
        ("is_body",),
        ("distance", "point_x", "point_y", "mover_point_x", "mover_point_y", "has_edge", "ring", "edge"),
    ),
    "ContactAnswers": (("is_body",), ("fixed_split_x", "fixed_split_y", "mover_split_x", "mover_split_y")),
    "SweepAnswers": (("safe_x", "safe_y"),),
    "FanAnswers": (("is_body",),),
    "MoveAnswers": (
        ("edge_counts",), ("quiet_radius",),
        ("touches", "touch_id", "touch_low", "touch_high", "touch_has_edge", "touch_ring", "touch_edge",
         "touch_normal_x", "touch_normal_y"),
    ),
}  # fmt: skip
# Columns that may be absent together, and then are 0 in each row.
ZERO: dict[str, tuple[tuple[str, ...], ...]] = {
    "CastAnswers": (
        ("is_body",),
        ("point_x", "point_y", "normal_x", "normal_y"),
        ("feature", "ring", "edge"),
        ("exit_fraction", "has_exit_edge", "exit_ring", "exit_edge", "exit_normal_x", "exit_normal_y"),
    ),
    "SweepAnswers": (("is_body",),),
    "ArcAnswers": (("is_body",),),
    "SlideAnswers": (("is_body",),),
    "AreaAnswers": (("is_body",),),
    "MoveAnswers": (("touch_has_edge", "touch_ring", "touch_edge", "touch_normal_x", "touch_normal_y"),),
}
# Entries of a contact point, not of a row.
POINTS = ("point_x", "point_y", "point_depth", "polygon_feature", "mover_feature")
# The column whose length is the number of entries, where it is not polygon_id.
ROWS = {"SlideAnswers": "leg_x", "BounceAnswers": "ax", "RayBounceAnswers": "x"}
# Columns of enumerations: the enumeration of the messages, that of carom.h, and what an absent value means there. Those
# of one message alone begin with its name.
ENUMS = {
    "feature": ("Feature", "carom_feature", "NONE"),
    "location": ("Location", "carom_location", None),
    "kind": ("ContactKind", "carom_contact_kind", None),
    "AreaAnswers.kind": ("AreaPieceKind", "carom_area_piece_kind", None),
}
# The letters of types; those of columns are capitals.
TYPES = {
    "double": "d", "fixed64": "q", "uint64": "l", "int64": "l", "uint32": "u", "int32": "i", "bool": "b", "enum": "e",
    "string": "s", "bytes": "y", "double[]": "D", "fixed64[]": "Q", "uint32[]": "U", "placed": "P", "shapes": "S",
    "polygons": "G",
}  # fmt: skip
LEVELS = {"item": "i", "entry": "e", "edge": "g", "unclear": "u", "list": "l", "word": "w"}
FRAME_OPTIONS = {"coherence"}  # which a frame has, not a group
# Messages whose fields the client writes or reads by name.
MESSAGES = (
    "FieldViolation", "Frame", "FrameAnswer", "FrameStats", "GroupAnswer", "GroupEdits", "ItemError", "RecordedFrame",
    "RecordedScene", "RecordingEnd", "RecordingEntry", "RecordingHeader", "SceneBinding", "Status", "StreamLimits",
    "StreamRequest", "StreamResponse", "TrackerDefinitions",
)  # fmt: skip


class Writer:
    """Makes the tables."""

    def __init__(self, api: dict[str, Any], tables: wire.Tables) -> None:
        self.api = api
        self.tables = tables

    def fields(self, message: str) -> dict[str, tuple[int, str]]:
        """The number and the type of each field of a message; an enumeration has the type `enum`."""
        return {
            name: (number, "enum" if type in self.tables.enums else type)
            for number, name, type, _ in self.tables.messages[message]
        }

    def question(self, kind: dict[str, Any]) -> dict[str, Any]:
        """The fields of the message of a question: columns and options, and columns of placed shapes."""
        name = kind["name"].lower()
        number, message = self.fields("Group")[name]
        fields, placed = self.fields(message), self.fields("PlacedShapes")
        made = python.slots(self.api, kind["question"])
        outer: list[list[Any]] = []
        inner: list[list[Any]] = []
        for path, *_, column in made.columns:
            nested = path.startswith("movers.") and "movers" in fields
            field = (placed if nested else fields)[column]
            (inner if nested else outer).append([field[0], field[1] + "[]", column])
        for path, *_ in made.options:
            option = path.rpartition(".")[2]
            if option not in FRAME_OPTIONS:
                outer.append([*fields[option], option])
        if "movers" in fields:
            outer.append([fields["movers"][0], "placed", ""])
            inner.append([1, "shapes", ""])
        elif "shapes" in fields:
            outer.append([1, "polygons", ""])
        return {"group": number, "fields": sorted(outer), "placed": sorted(inner)}

    def floats(self, kind: dict[str, Any]) -> str:
        """The field with columns of floats in the message of a question, and these columns; empty without them."""
        _, message = self.fields("Group")[kind["name"].lower()]
        found = self.fields(message).get("floats")
        if found is None:
            return ""
        number, inner = found
        return f"{number}|" + " ".join(f"{field}F{name}" for name, (field, _) in self.fields(inner).items())

    def answers(self, kind: dict[str, Any]) -> dict[str, Any]:
        """How the columns of answers are read."""
        name = kind["name"].lower()
        number, message = self.fields("GroupAnswer")[name]
        fields, names = self.fields(message), FIELDS.get(message, {})
        made = python.slots(self.api, kind["answers"])
        columns: dict[str, list[Any]] = {}
        for path, code, _, _, about, _ in made.columns:
            second = path.startswith("second_")
            field = fields.get(names.get(path, path.removeprefix("second_")))
            if field is None:
                continue
            point = 1 + second if second or (message == "ContactAnswers" and path in POINTS) else 0
            is_bits = (message, path) == ("SeeAnswers", "seen")  # with some words an item
            level = "word" if is_bits else python.level(kind["answers"], made, path, about)
            enum = ENUMS.get(f"{message}.{path}", ENUMS.get(path, [""]))[0]
            columns[path] = [field[0], code, level, enum, point, "", False]
        for groups, zero in ((EMPTY, False), (ZERO, True)):
            for group in groups.get(message, ()):
                for path in group:
                    columns[path][5:] = [group[0], zero]
        rows = ROWS.get(message, "polygon_id")
        return {
            "answer": number,
            "message": message,
            "errors": fields["errors"][0],
            "columns": columns,
            "counts": next((path for path in ("legs", "counts") if path in columns), ""),
            "rows": rows if rows in columns else "",
        }

    def enums(self) -> dict[str, list[int]]:
        """The numbers of carom.h by those of the messages; 255 where a server sends none."""
        result: dict[str, list[int]] = {}
        for message, name, unspecified in ENUMS.values():
            own = dict(python.values(next(enum for enum in self.api["enums"] if enum["name"] == name)))
            numbers: dict[int, int] = {}
            for value, number in self.tables.enums[message].items():
                short = value.removeprefix(wire.prefix_of(message))
                short = unspecified if short == "UNSPECIFIED" else short
                if short is not None:
                    numbers[number] = own[short]
            result[message] = [numbers.get(number, 255) for number in range(max(numbers) + 1)]
        return result

    def module(self, batch: str) -> str:
        """The text of tables.ts. Tables are texts, which are small after compression; codec/tables.ts reads them."""
        kinds: list[str] = []
        messages: dict[str, str] = {}
        for kind in self.api["kinds"]:
            question, answers = self.question(kind), self.answers(kind)
            message = answers["message"]
            messages[message] = " ".join(
                f"{path}:{number}{type}{LEVELS[level]}"
                f"{enum and f'.{enum}'}{f'*{point}' if point else ''}{leader and f'<{leader}'}{'!' if zero else ''}"
                for path, (number, type, level, enum, point, leader, zero) in answers["columns"].items()
            )
            fields = [
                " ".join(f"{number}{TYPES[type]}{name}" for number, type, name in question[which])
                for which in ("fields", "placed")
            ]
            own = [kind["number"], question["group"], answers["answer"], message, answers["errors"]]
            kinds.append("|".join(map(str, [*own, answers["counts"], answers["rows"], *fields])))
        fields = {
            name: " ".join(
                f"{field}:{number}{TYPES.get('enum' if type in self.tables.enums else type, 'm')}{label[:1]}"
                for number, field, type, label in sorted(self.tables.messages[name])
            )
            for name in MESSAGES
        }
        floats = {kind["number"]: self.floats(kind) for kind in self.api["kinds"] if self.floats(kind)}
        parts = [
            "// SPDX-FileCopyrightText: The Carom authors\n// SPDX-License-Identifier: Apache-2.0\n",
            "// Written by generate.py from carom_abi.json and the .proto files.\n",
            f"export const KINDS: readonly string[] = {json.dumps(kinds, indent=2)};\n",
            f"export const ANSWERS: Readonly<Record<string, string>> = {json.dumps(messages, indent=2)};\n",
            f"export const MESSAGES: Readonly<Record<string, string>> = {json.dumps(fields, indent=2)};\n",
            f"export const ENUMS: Readonly<Record<string, readonly number[]>> = {json.dumps(self.enums())};\n",
            f"export const ITEM_COLUMNS: readonly string[] = {json.dumps(wire.item_columns(batch))};\n",
            f"export const FLOATS: Readonly<Record<number, string>> = {json.dumps(floats, indent=2)};\n",
            f"export const ITEM_FAULTS = {len(self.tables.enums['ItemFault'])};\n",
        ]
        return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the generated module of @carom/client.")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    api = json.loads((ROOT / "core/abi/carom_abi.json").read_text())
    api["by_name"] = {each["name"]: each for each in api["structs"] if not python.SIZE.fullmatch(each["name"])}
    tables = wire.Tables()
    for path in sorted((ROOT / "proto/carom/v1").glob("*.proto")):
        tables.read(path.read_text())
    out.mkdir(parents=True, exist_ok=True)
    text = Writer(api, tables).module((ROOT / "core/src/base/batch.cc").read_text())
    target = out / "tables.ts"
    if not target.exists() or target.read_text() != text:
        target.write_text(text)


if __name__ == "__main__":
    main()
