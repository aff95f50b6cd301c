#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the modules of `carom` that follow from carom_abi.json, the description of carom.h.

    generate.py [--abi carom_abi.json] [--protos FOLDER] [--batch batch.cc] [--out FOLDER]

`enums.py` has the enumerations, `layout.py` the structs, `answers.py` a class for each struct of answers,
`questions.py` a function for each kind of question, and `asking.py` these functions as methods: of a scene that
answers at once, of one that is awaited, and of a group that collects questions. `wire_tables.py` has the messages of a
server, see generate_wire.py. What only Python needs, the names of methods and the order of parameters, is the table
KINDS below.
"""

from __future__ import annotations

import argparse
import json
import keyword
import pathlib
import re
import textwrap
from dataclasses import dataclass, field
from typing import Any

from generate_wire import wire_module

HERE = pathlib.Path(__file__).resolve().parent
BANNER = (
    "# SPDX-FileCopyrightText: The Carom authors\n# SPDX-License-Identifier: Apache-2.0\n"
    "# Written by generate.py from carom_abi.json.\n"
)


@dataclass(frozen=True)
class Kind:
    """What Python calls a kind of question, and the parameters that come first, by position."""

    method: str
    positional: tuple[str, ...]
    does: str
    required_options: tuple[str, ...] = ()


PLACED = ("shapes", "x", "y")
KINDS = {
    "SEGMENTS": Kind("cast", ("ax", "ay", "bx", "by"), "Casts segments from a to b"),
    "POINTS": Kind("locate", ("x", "y"), "Finds the polygons that contain points"),
    "CIRCLES": Kind("overlap_circles", ("x", "y", "radius"), "Finds the polygons that discs touch"),
    "POLYGONS": Kind("overlap", PLACED, "Finds the polygons that placed polygons touch"),
    "RAYS": Kind("rays", ("x", "y", "dx", "dy"), "Casts rays from (x, y) in the direction (dx, dy)"),
    "CAPSULES": Kind(
        "overlap_capsules",
        ("ax", "ay", "bx", "by", "radius"),
        "Finds the polygons that capsules touch",
    ),
    "BOXES": Kind("overlap_boxes", ("min_x", "min_y", "max_x", "max_y"), "Finds the polygons that boxes touch"),
    "DISTANCES": Kind("nearest", PLACED, "Measures how far shapes are from the nearest polygons"),
    "CONTACTS": Kind("contacts", PLACED, "Finds where and how deep shapes and polygons meet"),
    "DEPENETRATIONS": Kind("depenetrate", PLACED, "Moves shapes out of the polygons in which they are"),
    "SWEEPS": Kind(
        "sweep",
        (*PLACED, "dx", "dy"),
        "Finds what shapes hit that move straight, by (dx, dy) or to (to_x, to_y)",
    ),
    "ROTATING_SWEEPS": Kind(
        "sweep_rotating",
        (*PLACED, "to_x", "to_y", "tolerance"),
        "Finds what shapes hit that turn while they move",
    ),
    "ARCS": Kind(
        "arcs",
        ("x", "y", "vx", "vy", "ax", "ay", "duration"),
        "Casts points on parabolas, such as grenades",
    ),
    "SIGHTS": Kind("sights", ("ax", "ay", "bx", "by"), "Tests whether the points a and b see each other"),
    "FANS": Kind("fans", ("x", "y", "angle", "beams"), "Casts fans of beams, the scans of a lidar"),
    "MOVES": Kind("move", ("x", "y"), "Moves trackers, and finds the polygons that they touch"),
    "SLIDES": Kind("slide", (*PLACED, "dx", "dy"), "Moves shapes that slide along what they meet"),
    "BOUNCES": Kind("bounce", ("ax", "ay", "bx", "by"), "Follows segments that are reflected at what they meet"),
    "BODY_CONTACTS": Kind("body_contacts", ("body",), "Finds where and how deep bodies meet each other"),
    "RAY_BOUNCES": Kind("bounce_rays", ("x", "y", "dx", "dy"), "Follows rays that are reflected at what they meet"),
    "AREAS": Kind("areas", ("x", "y", "range"), "Finds the areas that are visible from points"),
    "SEES": Kind("sees", ("x", "y", "range"), "Finds the bodies that observers see past the polygons of the scene"),
}

ANSWERS = {
    "carom_cast_answers": ("Hits", "Hits of segments or rays: one entry a hit"),
    "carom_locate_answers": ("Locations", "Polygons that contain points: one entry a polygon"),
    "carom_overlap_answers": ("Overlaps", "Polygons that shapes touch: one entry a polygon"),
    "carom_distance_answers": ("Distances", "Polygons near shapes: one entry a polygon"),
    "carom_contact_answers": ("Contacts", "Contacts of shapes: one entry a polygon or body"),
    "carom_depenetrate_answers": ("Depenetrations", "Where shapes are free: one entry an item"),
    "carom_sweep_answers": ("SweepHits", "Hits of shapes that move straight: one entry a hit"),
    "carom_rotating_sweep_answers": (
        "RotatingSweepHits",
        "First hits of shapes that turn: one entry a hit",
    ),
    "carom_arc_answers": ("ArcHits", "Hits of arcs: one entry a hit"),
    "carom_sight_answers": ("Sights", "Which points see each other: one entry an item"),
    "carom_fan_answers": ("Scans", "Distances that beams reach: one entry a beam"),
    "carom_move_answers": ("Moves", "Polygons that trackers touch: one entry a polygon"),
    "carom_slide_answers": (
        "Slides",
        "Where shapes slide to: one entry a leg in the columns of legs",
    ),
    "carom_bounce_answers": ("Bounces", "Legs of segments that bounce: one entry a leg"),
    "carom_ray_bounce_answers": ("RayBounces", "Legs of rays that bounce: one entry a leg"),
    "carom_area_answers": ("Areas", "Boundaries of visible areas: one entry a piece"),
    "carom_see_answers": ("Seen", "Bodies that observers see: one entry a body that an observer sees"),
}

CODES = {"f64": "d", "u64": "Q", "u32": "I", "u8": "B"}
DTYPES = {"f64": "np.float64", "u64": "np.uint64", "u32": "np.uint32", "u8": "np.uint8"}
SCALARS = {"uint32_t": ("I", 4), "uint64_t": ("Q", 8), "double": ("d", 8), "size_t": ("Q", 8)}
SIZE = re.compile(r"carom_(f64|u64|u32|u8)_column")


@dataclass
class Slots:
    """A struct, with those inside of it, as the values of one `struct.Struct`."""

    format: str = "<"
    end: int = 0
    defaults: list[int | float] = field(default_factory=list)
    columns: list[tuple[str, str, int, bool, str, str]] = field(default_factory=list)
    options: list[tuple[str, int, str, str]] = field(default_factory=list)
    pointers: list[tuple[str, int]] = field(default_factory=list)

    def add(self, code: str, size: int, offset: int) -> int:
        if offset > self.end:
            self.format += f"{offset - self.end}x"
        self.format += code
        self.end = offset + size
        self.defaults.append(0.0 if code == "d" else 0)
        return len(self.defaults) - 1

    def walk(self, api: dict[str, Any], struct: dict[str, Any], prefix: str, offset: int) -> None:
        for member in struct["fields"]:
            name, kind, at = member["name"], member["type"], offset + member["offset"]
            path = prefix + name
            column = SIZE.fullmatch(kind)
            if column:
                slot = self.add("Q", 8, at)
                self.add("Q", 8, at + 8)
                self.add("Q", 8, at + 16)
                unit = member["unit"] or "1"
                self.columns.append(
                    (
                        path,
                        CODES[column[1]],
                        slot,
                        member["optional"],
                        f"[{unit}] {member['doc']}".strip(),
                        name,
                    )
                )
            elif kind in api["by_name"]:
                self.walk(api, api["by_name"][kind], path + ".", at)
            elif kind.endswith("*"):
                self.pointers.append((path, self.add("Q", 8, at)))
            elif kind in SCALARS:
                slot = self.add(SCALARS[kind][0], SCALARS[kind][1], at)
                if name == "struct_size":
                    self.defaults[slot] = struct["size"]
                elif not name.startswith("reserved"):
                    unit = f"[{member['unit']}] " if member["unit"] else ""
                    self.options.append((path, slot, member["enum"] or "", unit + member["doc"]))
            else:
                raise SystemExit(f"generate.py: the type {kind} of {path} is not known")

    def finish(self, size: int) -> None:
        if size > self.end:
            self.format += f"{size - self.end}x"


def slots(api: dict[str, Any], name: str) -> Slots:
    result = Slots()
    result.walk(api, api["by_name"][name], "", 0)
    result.finish(api["by_name"][name]["size"])
    return result


def class_name(enum: str) -> str:
    return "".join(part.capitalize() for part in enum.removeprefix("carom_").split("_"))


def values(enum: dict[str, Any]) -> list[tuple[str, int]]:
    prefix = enum["name"].upper() + "_"
    if enum["name"] == "carom_code":
        prefix = "CAROM_"
    return [(value["name"].removeprefix(prefix), value["value"]) for value in enum["values"]]


def identifier(name: str) -> str:
    """What Python calls a parameter."""
    return name + "_" if keyword.iskeyword(name) else name


def wrapped(text: str, indent: str) -> str:
    return "\n".join(textwrap.wrap(text, 119, initial_indent=indent, subsequent_indent=indent + "    "))


def level(struct: str, made: Slots, path: str, about: str) -> str:
    """What a row of a column of answers belongs to."""
    if path.startswith("error_") or path in ("truncated", "stuck", "clear"):
        return "list"
    if struct == "carom_move_answers" and (path == "counts" or path.startswith("touch")):
        return "unclear"  # an item that is not clear
    if struct == "carom_see_answers" and path == "seen":
        return "word"  # of an item, of which each has as many
    if struct in ("carom_sight_answers", "carom_depenetrate_answers") or "one an item" in about:
        return "item"
    if path in ("ring", "edge") and any(column[0] == "edge_counts" for column in made.columns):
        return "edge"
    return "entry"


# --- enums.py and layout.py -------------------------------------------------------------------


def enums_module(api: dict[str, Any]) -> str:
    out = [BANNER, '"""The enumerations of questions and answers."""\n', "import enum\n"]
    for enum in api["enums"]:
        if enum["name"] in ("carom_kind", "carom_code"):
            continue
        doc = re.sub(r"\(carom/(\w+)\.h\)", r"(carom/\1.h)", enum["doc"])
        doc = re.sub(r" ?0: [^.]*\.?$", "", doc)
        out.append(f"\nclass {class_name(enum['name'])}(enum.IntEnum):")
        out.append(f'    """{textwrap.fill(doc, 92, subsequent_indent="    ")}"""\n')
        out += [f"    {name} = {value}" for name, value in values(enum)]
        out.append("")
    return "\n".join(out)


def layout_module(api: dict[str, Any]) -> str:
    out = [
        BANNER,
        '"""The structs of carom.h, as formats of the module `struct`."""\n',
        "from carom._layout import Kind, Layout\n",
        f"ABI_VERSION = {api['abi_version']}",
    ]
    enums = {enum["name"]: {name.lower(): value for name, value in values(enum)} for enum in api["enums"]}
    used = sorted(
        {option[2] for kind in api["kinds"] for option in slots(api, kind["question"]).options} - {""}
        | {"carom_body_rotation"}
    )
    out.append("CHOICES: dict[str, dict[str, int]] = {")
    out += [f"    {name!r}: {enums[name]!r}," for name in used]
    out.append("}\n")

    def layout(name: str) -> str:
        made = slots(api, name)
        where = {member["name"]: member["where"] or "" for member in api["by_name"][name]["fields"]}
        rows = ""
        if name in ANSWERS:
            rows = "".join(
                f"({level(name, made, path, about)!r}, {where[path]!r}), " for path, *_, about, _ in made.columns
            )
        columns = "".join(
            f"            ({path!r}, {code!r}, {slot}, {optional}),\n"
            for path, code, slot, optional, _, _ in made.columns
        )
        options = "".join(f"            ({path!r}, {slot}, {enum!r}),\n" for path, slot, enum, _ in made.options)
        pointers = "".join(f"({path!r}, {slot}), " for path, slot in made.pointers)
        return (
            f"Layout(\n        {made.format!r},\n        {made.defaults!r},\n"
            f"        (\n{columns}        ),\n        (\n{options}        ),\n"
            f"        ({pointers}),\n        ({rows}),\n    )"
        )

    for name in ANSWERS:
        out.append(f"{ANSWERS[name][0].upper()}_ANSWERS = {layout(name)}")
    for name in (
        "carom_polygons",
        "carom_capsules",
        "carom_body_columns",
        "carom_tracker_definitions",
        "carom_body_definition",
        "carom_body_poses",
        "carom_edits",
        "carom_limits",
        "carom_picture",
    ):
        constant = name.removeprefix("carom_").upper()
        if constant in KINDS:  # that of questions of a kind
            constant += "_COLUMNS"
        out.append(f"{constant} = {layout(name)}")
    for kind in api["kinds"]:
        answers = ANSWERS[kind["answers"]][0]
        out.append(
            f"{kind['name']} = Kind(\n    {kind['name'].lower()!r}, {KINDS[kind['name']].method!r}, "
            f"{kind['number']}, {kind['function']!r}, {layout(kind['question'])}, {answers.upper()}_ANSWERS\n)"
        )
    names = ", ".join(kind["name"] for kind in api["kinds"])
    out.append(f"KINDS = ({names})")
    return "\n".join(out) + "\n"


# --- answers.py -------------------------------------------------------------------------------


def answers_module(api: dict[str, Any]) -> str:
    out = [
        BANNER,
        '"""A class for each kind of answers, with the columns of carom.h as numpy arrays."""\n',
        "import numpy as np\nfrom numpy.typing import NDArray\n",
        "from carom._answers import Answers, FanAnswers, MoveAnswers, SeeAnswers\n",
        "from . import layout\n",
    ]
    bases = {"Scans": "FanAnswers", "Moves": "MoveAnswers", "Seen": "SeeAnswers"}
    for name, (class_, doc) in ANSWERS.items():
        made = slots(api, name)
        out.append(f"\nclass {class_}({bases.get(class_, 'Answers')}):")
        out.append(f'    """{doc}."""\n')
        out.append("    __slots__ = ()")
        out.append(f"    _layout = layout.{class_.upper()}_ANSWERS")
        pairs = {path[:-2] for path, *_ in made.columns if path.endswith("_x")} - {""}
        for path, code, _, _, about, _ in made.columns:
            if path.startswith("error_") or (class_ == "Scans" and path in ("distances", "hits", "polygon_id")):
                continue
            dtype = DTYPES[next(key for key, value in CODES.items() if value == code)]
            returns = f"NDArray[{dtype}]"
            out.append(f"\n    @property\n    def {path}(self) -> {returns}:")
            out.append(f"{wrapped(chr(34) * 3 + about.replace('[1] ', '') + chr(34) * 3, ' ' * 8)}")
            out.append(f"        return self._column({path!r})")
        for path, _, _, about in made.options:
            out.append(f"\n    @property\n    def {path}(self) -> int:")
            out.append(f"{wrapped(chr(34) * 3 + (about or 'Number of such moves') + chr(34) * 3, ' ' * 8)}")
            out.append(f"        return self._number({path!r})")
        for pair in sorted(pairs):
            out.append(f"\n    @property\n    def {pair}(self) -> NDArray[np.float64]:")
            out.append(f'        """The columns {pair}_x and {pair}_y, as one array of shape (entries, 2)."""')
            out.append(f"        return self._pair({pair!r})")
        out.append("")
    return "\n".join(out)


# --- questions.py and asking.py ---------------------------------------------------------------


@dataclass
class Parameter:
    name: str
    annotation: str
    default: str | None
    doc: str


def tidy(doc: str) -> str:
    """The comment of a member, without what only C needs."""
    doc = re.sub(r"\ba carom_\w+,? ?", "", doc)
    doc = doc.replace("; 0: 64", "; None: 64").replace("; 0: 4", "; None: 4").replace(" 0 here: nothing", "")
    doc = re.sub(r"1: fills", "whether to fill", doc)
    return doc.strip().rstrip(";")


def parameters(api: dict[str, Any], kind: dict[str, Any]) -> tuple[list[Parameter], list[Parameter]]:
    spec = KINDS[kind["name"]]
    made = slots(api, kind["question"])
    choices = {enum["name"]: [name.lower() for name, _ in values(enum)] for enum in api["enums"]}
    known: dict[str, Parameter] = {}
    for _, _, _, optional, about, name in made.columns:
        annotation = "ArrayLike | None" if optional else "ArrayLike"
        known[name] = Parameter(identifier(name), annotation, "None" if optional else None, tidy(about))
    if any(path == "movers.shapes" for path, _ in made.pointers):
        known["shapes"] = Parameter("shapes", "ShapesLike", None, "the shapes, described about (0, 0)")
    for path, _, enum, about in made.options:
        name = path.split(".")[-1]
        if enum:
            literal = ", ".join(repr(choice) for choice in choices[enum])
            doc = re.sub(r" ?\(carom/[^)]*\)", "", next(e["doc"] for e in api["enums"] if e["name"] == enum))
            doc = doc.split(". Under")[0].replace(" 0: ", " None: ").rstrip(".")
            known[name] = Parameter(name, f"{class_name(enum)} | Literal[{literal}] | None", "None", doc)
        elif name in ("reflect", "quiet_radii", "soft_length"):
            known[name] = Parameter(name, "bool", "False", tidy(about))
        elif name in ("tolerance", "margin"):
            known[name] = Parameter(name, "float | None", "None", tidy(about))
        else:
            doc = tidy(about or "polygons with (category & mask) != 0 are considered; None: all")
            known[name] = Parameter(name, "int | None", "None", doc)
    if kind["name"] == "FANS":
        known["fov"] = Parameter(
            "fov",
            "ArrayLike | None",
            "None",
            "[radians] angle from the first beam to the last one, in place of step",
        )
        known["step"] = Parameter("step", "ArrayLike | None", "None", "[radians] angle from a beam to the next one")
        known["range"] = Parameter("range", "ArrayLike | None", "None", known["range"].doc + "; required")
        known = {name: known[name] for name in ("x", "y", "angle", "beams", "fov", "range", "step", *known)}
    first = [known.pop(name) for name in spec.positional]
    if kind["name"] == "FANS":
        first += [known.pop("fov"), known.pop("range")]
    return first, list(known.values())


def signature(first: list[Parameter], rest: list[Parameter], indent: str) -> str:
    lines = []
    for parameter in first:
        lines.append(
            f"{parameter.name}: {parameter.annotation}" + (f" = {parameter.default}" if parameter.default else "")
        )
    if rest:
        lines.append("*")
    lines += [
        f"{parameter.name}: {parameter.annotation}" + (f" = {parameter.default}" if parameter.default else "")
        for parameter in rest
    ]
    return "".join(f"{indent}{line},\n" for line in lines)


def described(kind: dict[str, Any], first: list[Parameter], rest: list[Parameter], indent: str, more: str) -> str:
    lines = [f'{indent}"""{KINDS[kind["name"]].does}.\n']
    for parameter in (*first, *rest):
        lines.append(wrapped(f"{parameter.name}: {parameter.doc or 'see above'}", indent))
    if more:
        lines += ["", wrapped(more, indent)]
    lines.append(f'{indent}"""')
    return "\n".join(lines)


HEAD = """
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from numpy.typing import ArrayLike

from .enums import Against, CastDetail, CastMode, CastTarget, Coherence, DistanceMode, InsidePolicy, OverlapDetail
"""


def questions_module(api: dict[str, Any]) -> str:
    out = [
        BANNER,
        '"""One function for each kind of question: each returns a `Question`, which any scene answers."""\n',
        HEAD.strip(),
        "\nfrom carom._question import Question, fan_steps\nfrom . import answers, layout\n",
        "if TYPE_CHECKING:\n    from carom.shapes import ShapesLike\n",
    ]
    for kind in api["kinds"]:
        spec, made = KINDS[kind["name"]], slots(api, kind["question"])
        first, rest = parameters(api, kind)
        class_ = ANSWERS[kind["answers"]][0]
        out.append(f"\ndef {spec.method}(\n{signature(first, rest, '    ')}) -> Question[answers.{class_}]:")
        out.append(described(kind, first, rest, "    ", ""))
        if kind["name"] == "FANS":
            out.append("    step = fan_steps(beams, fov, step)")
        columns = ", ".join(identifier(path.split(".")[-1]) for path, *_ in made.columns)
        options = ", ".join(path.split(".")[-1] for path, *_ in made.options)
        shapes = "shapes" if any(path == "movers.shapes" for path, _ in made.pointers) else "None"
        out.append(
            f"    return Question(\n        layout.{kind['name']},\n        answers.{class_},\n"
            f"        ({columns},),\n        ({options},),\n        {shapes},\n    )\n"
        )
    return "\n".join(out)


def asking_module(api: dict[str, Any]) -> str:
    out = [
        BANNER,
        '"""The questions as methods of what answers them."""\n',
        HEAD.strip().replace("TYPE_CHECKING, Literal", "TYPE_CHECKING, Literal, TypeVar"),
        "\nfrom . import answers, questions\n",
        "if TYPE_CHECKING:\n    from carom._answers import Answers\n    from carom._question import Question\n"
        "    from carom.shapes import ShapesLike\n",
        'A = TypeVar("A", bound="Answers")\n',
    ]
    classes = (
        ("Asker", "Answers questions at once.", "", "{answers}", True),
        ("AsyncAsker", "Answers questions that are awaited.", "async ", "{answers}", True),
        (
            "Collector",
            "Collects the questions of a group, at most one of each kind.",
            "",
            "Question[{answers}]",
            False,
        ),
    )
    for class_, doc, prefix, returns, extra in classes:
        out.append(f'\nclass {class_}:\n    """{doc}"""\n')
        if extra:
            out.append(
                f"    __slots__ = ()\n\n    {prefix}def ask(self, question: Question[A], *, out: A | None = None, "
                "strict: bool = False) -> A:\n"
                '        """Answers a question that a function of `carom.questions` made.\n\n'
                "        out: answers of the same kind, whose memory is used again, and which are returned\n"
                "        strict: whether an item that cannot be answered raises ItemError\n"
                '        """\n        raise NotImplementedError\n'
            )
        else:
            out.append(
                "    __slots__ = ()\n\n    def ask(self, question: Question[A]) -> Question[A]:\n"
                '        """Adds a question that a function of `carom.questions` made, and returns it."""\n'
                "        raise NotImplementedError\n"
            )
        for kind in api["kinds"]:
            spec = KINDS[kind["name"]]
            first, rest = parameters(api, kind)
            answer = "answers." + ANSWERS[kind["answers"]][0]
            own = list(rest)
            if extra:
                own += [
                    Parameter("out", f"{answer} | None", "None", "answers whose memory is used again"),
                    Parameter("strict", "bool", "False", "whether an item in error raises ItemError"),
                ]
            out.append(
                f"    {prefix}def {spec.method}(\n        self,\n{signature(first, own, '        ')}"
                f"    ) -> {returns.format(answers=answer)}:"
            )
            out.append(described(kind, first, own, "        ", ""))
            arguments = ", ".join(p.name for p in first)
            arguments += "".join(f", {p.name}={p.name}" for p in rest)
            asked = f"questions.{spec.method}({arguments})"
            if extra:
                wait = "await " if prefix else ""
                out.append(f"        return {wait}self.ask(\n            {asked}, out=out, strict=strict\n        )\n")
            else:
                out.append(f"        return self.ask(\n            {asked}\n        )\n")
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the generated modules of the package carom.")
    parser.add_argument("--abi", type=pathlib.Path, default=HERE.parents[1] / "core/abi/carom_abi.json")
    parser.add_argument("--protos", type=pathlib.Path, default=HERE.parents[1] / "proto/carom/v1")
    parser.add_argument("--batch", type=pathlib.Path, default=HERE.parents[1] / "core/src/base/batch.cc")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "src/carom/_generated")
    arguments = parser.parse_args()
    api = json.loads(arguments.abi.read_text())
    api["by_name"] = {struct["name"]: struct for struct in api["structs"] if not SIZE.fullmatch(struct["name"])}
    arguments.out.mkdir(parents=True, exist_ok=True)
    modules = {
        "__init__.py": BANNER + '"""What follows from carom_abi.json."""\n',
        "enums.py": enums_module(api),
        "layout.py": layout_module(api),
        "answers.py": answers_module(api),
        "questions.py": questions_module(api),
        "asking.py": asking_module(api),
        "wire_tables.py": wire_module(arguments.protos, arguments.batch),
    }
    for name, text in modules.items():
        path = arguments.out / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
