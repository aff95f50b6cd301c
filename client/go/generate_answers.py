# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Writes `gen_answers.go` for generate.py: a struct for each message of answers, its rows, and the code that reads it.

A message has columns; Go programs get rows. Rows belong to a level: `e` an entry (a hit), `i` an item, `u` an item of
moves that is not clear, `g` an edge of an entry, `p` a contact point of an entry. The code reads the columns of a
level in blocks, so that the rows of a block stay in the cache until all of their members are written.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from protos import Protos, camel, comment


@dataclass(frozen=True)
class Rows:
    """The rows of one level: the Go struct, the member of the answers, the accessor and its comment."""

    struct: str
    member: str
    level: str
    accessor: str
    about: str
    columns: str  # names of fields; `a=b` names the member of b; a group in () may be absent as a whole
    optional: bool = False  # whether all rows are absent where the first column is


EDGE_REF = Rows("EdgeRef", "edges", "g", "", "An EdgeRef names an edge of a polygon: of a ring, an edge", "ring edge")

ANSWERS: dict[str, tuple[str, tuple[Rows, ...]]] = {
    # message: (column that counts the entries of an item, rows)
    "CastAnswers": ("counts", (
        Rows("Hit", "hits", "e", "Hits", "A Hit is a hit of a segment or a ray",
             "polygon_id fraction (point_x point_y normal_x normal_y) (ring edge feature) (is_body) starts_inside "
             "ends_inside"),
        Rows("Exit", "exits", "e", "Exits", "An Exit is the end of the passage that the hit of the same index begins",
             "fraction=exit_fraction has_edge=has_exit_edge ring=exit_ring edge=exit_edge normal_x=exit_normal_x "
             "normal_y=exit_normal_y",
             True),
        Rows("Reflection", "reflections", "e", "Reflections",
             "A Reflection is b - a, or the direction of a ray, reflected at the hit of the same index",
             "x=reflection_x y=reflection_y", True),
        Rows("SoftWalls", "soft", "i", "Soft",
             "A SoftWalls is how many soft walls a segment or a ray passes, and its length inside them",
             "passed (soft_length)", True),
    )),
    "LocateAnswers": ("counts", (
        Rows("Located", "found", "e", "Polygons", "A Located is a polygon or body that contains a point",
             "polygon_id location (is_body)"),
    )),
    "OverlapAnswers": ("counts", (
        EDGE_REF,
        Rows("Overlap", "found", "e", "Polygons", "An Overlap is a polygon or body that a shape touches",
             "polygon_id (touching) (is_body) (edges=edge_counts)"),
    )),
    "DistanceAnswers": ("counts", (
        Rows("Distance", "found", "e", "Polygons", "A Distance is a polygon or body near a shape",
             "polygon_id (distance point_x point_y mover_point_x mover_point_y has_edge ring edge) (is_body)"),
    )),
    "ContactAnswers": ("counts", (
        Rows("ContactPoint", "points", "p", "", "A ContactPoint is a point of a contact",
             "x=point_x y=point_y depth=point_depth polygon_feature mover_feature"),
        Rows("Contact", "found", "e", "Contacts", "A Contact is a contact of a shape with a polygon or body",
             "polygon_id kind normal_x normal_y depth points=point_counts (fixed_x fixed_y mover_x mover_y) (is_body)"),
    )),
    "DepenetrateAnswers": ("", (
        Rows("Depenetrated", "found", "i", "At", "A Depenetrated is where a shape is free of what it overlapped",
             "x y finished steps"),
    )),
    "SweepAnswers": ("counts", (
        Rows("SweepHit", "hits", "e", "Hits", "A SweepHit is a hit of a shape that moves straight",
             "polygon_id fraction point_x point_y normal_x normal_y ring edge has_edge starts_inside ties (is_body)"),
        Rows("Position", "safe", "i", "Safe", "A Position is a point of the plane", "x=safe_x y=safe_y", True),
    )),
    "RotatingSweepAnswers": ("counts", (
        Rows("RotatingHit", "hits", "e", "Hits", "A RotatingHit is the first hit of a shape that turns while it moves",
             "polygon_id low high"),
    )),
    "ArcAnswers": ("counts", (
        Rows("ArcHit", "hits", "e", "Hits", "An ArcHit is a hit of a point on a parabola",
             "polygon_id time point_x point_y normal_x normal_y ring edge has_edge starts_inside (is_body)"),
    )),
    "SightAnswers": ("", (Rows("sight", "seen", "i", "", "A sight is the answer to one line of sight", "visible"),)),
    "FanAnswers": ("counts", (
        Rows("Beam", "beams", "e", "Beams", "A Beam is one beam of a fan", "polygon_id distance hit (is_body)"),
    )),
    "MoveAnswers": ("counts", (
        EDGE_REF,
        Rows("Touched", "found", "e", "Polygons", "A Touched is a polygon that a tracker touches at its pose",
             "polygon_id (edges=edge_counts)"),
        Rows("FirstTouch", "touches", "u", "", "A FirstTouch is what a tracker touches first on its path",
             "touches polygon_id=first_polygon_id low high (has_edge=first_has_edge ring=first_ring edge=first_edge "
             "normal_x=first_normal_x normal_y=first_normal_y)", True),
        Rows("quiet", "radii", "i", "", "A quiet is the quiet radius of an item", "radius=quiet_radius", True),
    )),
    "SlideAnswers": ("counts", (
        Rows("SlideEnd", "ends", "i", "At", "A SlideEnd is where a shape comes to rest, and what it did not move",
             "x y left_x left_y"),
        Rows("Leg", "legs", "e", "Legs", "A Leg is a straight part of a slide",
             "from_x from_y dx dy polygon_id fraction point_x point_y normal_x normal_y ring edge has_hit has_edge "
             "starts_inside (is_body)"),
    )),
    "BounceAnswers": ("counts", (
        Rows("BounceLeg", "legs", "e", "Legs", "A BounceLeg is a leg of a segment that bounces",
             "ax ay bx by polygon_id fraction point_x point_y normal_x normal_y ring edge feature has_hit "
             "starts_inside ends_inside"),
    )),
    "RayBounceAnswers": ("counts", (
        Rows("RayLeg", "legs", "e", "Legs", "A RayLeg is a leg of a ray that bounces",
             "x y dx dy t_max polygon_id fraction point_x point_y normal_x normal_y ring edge feature has_hit "
             "starts_inside ends_inside"),
    )),
    "AreaAnswers": ("counts", (
        Rows("AreaPiece", "pieces", "e", "Pieces", "An AreaPiece is a piece of the boundary of a visible area",
             "polygon_id start_x start_y ring edge kind (is_body)"),
        Rows("SeenArea", "seen", "i", "Seen", "A SeenArea is the size of a visible area", "area starts_inside"),
    )),
    "SeeAnswers": ("counts", (
        Rows("eye", "eyes", "i", "", "An eye is what is known of an observer", "starts_inside"),
    )),
}  # fmt: skip
ROWS_BY = {"SlideAnswers": "from_x", "BounceAnswers": "ax", "RayBounceAnswers": "x"}
BY_ANY = {"CastAnswers", "SweepAnswers", "ArcAnswers"}
LISTS = {"truncated": "Truncated", "stuck": "Stuck"}
LIST_ABOUT = {"truncated": "has more rows than the question allows", "stuck": "ended before its length was used"}
GO = {"double": "float64", "fixed64": "uint64", "uint32": "uint32", "bool": "bool"}


@dataclass(frozen=True)
class Column:
    member: str
    number: int
    type: str  # of the .proto file
    go: str
    leader: int  # the field without which this one may be absent; 0: required
    about: str


def columns_of(protos: Protos, message: str, rows: Rows) -> list[Column]:
    fields = {name: (number, type) for number, name, type, _ in protos.messages[message]}
    made, leader = [], 0
    for word in rows.columns.split():
        opens, closes = word.startswith("("), word.endswith(")")
        member, _, name = word.strip("()").partition("=")
        number, type = fields[name or member]
        if opens:
            leader = number
        if member in ("edges", "points"):
            go = "[]EdgeRef" if member == "edges" else "[]ContactPoint"
        else:
            go = GO.get(type, type)
        made.append(Column(camel(member), number, type, go, leader, protos.comments[f"{message}.{name or member}"]))
        if closes:
            leader = 0
    return made


def struct_source(rows: Rows, columns: list[Column]) -> str:
    out = [f"// {rows.about}.\ntype {rows.struct} struct {{"]
    out += [f"{comment(column.about, chr(9))}\t{column.member} {column.go}" for column in columns]
    return "\n".join(out) + "\n}\n"


def fill_source(message: str, rows: Rows, columns: list[Column]) -> str:
    """A function that fills the rows of a level from the columns, block by block."""
    out = [f"func fill{message}{rows.struct[0].upper() + rows.struct[1:]}(s *scanner, rows []{rows.struct}) string {{"]
    for column in columns:
        out.append(f"\tc{column.number} := s.column({column.number}, {column.leader})")
    checks = []
    for column in columns:
        if column.type in ("double", "fixed64"):
            checks.append((column, f"!c{column.number}.isFixed(len(rows))"))
    for column, condition in checks:
        out.append(f'\tif {condition} {{\n\t\treturn "{field_name(column)}"\n\t}}')
    varints = [column for column in columns if column.type not in ("double", "fixed64")]
    fixed = [column for column in columns if column not in varints and column.leader]
    for column, following in itertools.pairwise(fixed):
        if column.leader == following.leader:  # absent together, or not at all
            out.append(
                f"\tif c{column.number}.absent != c{following.number}.absent {{\n"
                f'\t\treturn "{field_name(following)}"\n\t}}'
            )
    if varints:
        out.append("\tvar values [blockRows]uint32")
    small = [f"c{c.number}.isSmall(len(rows))" for c in varints if not c.go.startswith("[]")]
    if small:
        out.append(f"areSmall := {' && '.join(small)}")
    out.append("\tfor begin := 0; begin < len(rows); begin += blockRows {")
    out.append("\t\tblock := rows[begin:min(begin+blockRows, len(rows))]")
    for leader in dict.fromkeys(column.leader for column in columns if column.type in ("double", "fixed64")):
        out.append(fixed_source([c for c in columns if c.leader == leader and c.type in ("double", "fixed64")]))
    plain = [column for column in varints if not column.go.startswith("[]")]
    out += [varint_source(column) for column in varints if column not in plain]
    if plain:
        out += ["if areSmall {", small_source(plain), "} else {", *map(varint_source, plain), "}"]
    out.append("\t}")
    for column in varints:
        out.append(f'\tif !c{column.number}.isDone() {{\n\t\treturn "{field_name(column)}"\n\t}}')
    out.append('\treturn ""\n}\n')
    return "\n".join(out)


def fixed_source(columns: list[Column]) -> str:
    """Fills members of 8 bytes from columns that are there, or absent, together."""
    first = f"c{columns[0].number}"
    reads, zeros, slices = [], [], []
    for column in columns:
        value = f"binary.LittleEndian.Uint64(d{column.number}[8*i : 8*i+8])"
        if column.type == "double":
            value = f"math.Float64frombits({value})"
        reads.append(f"row.{column.member} = {value}")
        zeros.append(f"block[i].{column.member} = 0")
        slices.append(f"d{column.number} := c{column.number}.fixed(begin, len(block))")
    return (
        f"\t\tif !{first}.absent {{\n"
        + "".join(f"{line}\n" for line in slices)
        + "for i := range block {\nrow := &block[i]\n"
        + "".join(f"{line}\n" for line in reads)
        + "}\n} else {\nfor i := range block {\n"
        + "".join(f"{line}\n" for line in zeros)
        + "}\n}"
    )


def value_of(column: Column, name: str) -> str:
    """The expression of a member, from a value of its column."""
    return {"bool": f"{name} != 0", "uint32": f"uint32({name})"}.get(column.type, f"{column.type}({name})")


def small_source(columns: list[Column]) -> str:
    """Fills members from columns whose varints have one byte each."""
    out = [f"v{c.number} := c{c.number}.bytes(begin, len(block))" for c in columns]
    out.append("for i := range block {\nrow := &block[i]")
    out += [f"row.{c.member} = {value_of(c, f'v{c.number}[i]')}" for c in columns]
    return "\n".join([*out, "}"])


def varint_source(column: Column) -> str:
    """Fills a member from a column of varints of any size."""
    read = f'if !c{column.number}.varints(values[:len(block)]) {{\nreturn "{field_name(column)}"\n}}\n'
    if column.go.startswith("[]"):
        part = "edges" if column.go == "[]EdgeRef" else "points"
        return (
            f"{read}for i := range block {{\nend := s.at + int(values[i])\n"
            f"block[i].{column.member} = s.{part}[s.at:end:end]\ns.at = end\n}}"
        )
    value = "value" if column.type == "uint32" else value_of(column, "value")
    return f"{read}for i, value := range values[:len(block)] {{\nblock[i].{column.member} = {value}\n}}"


def field_name(column: Column) -> str:
    return FIELD_NAMES[column.number]


FIELD_NAMES: dict[int, str] = {}


def accessors_source(message: str, rows: Rows) -> list[str]:
    """The methods that return rows."""
    name, struct, member = rows.accessor, rows.struct, f"a.{rows.member}"
    if not name:
        return []
    if rows.level == "e":
        absent = " There are none unless the question asks for them." if rows.optional else ""
        return [
            f"// {name} returns the rows of an item, each a {struct}, in the order of the answer; none for an item\n"
            f"// that does not exist.{absent} The rows are valid until the answer is released.\n"
            f"func (a *{message}) {name}(item int) []{struct} {{\n"
            f"begin, end := a.span(item, len({member}))\nreturn {member}[begin:end:end]\n}}\n"
        ]
    absent = ", and unless the question asks for it" if rows.optional else ""
    out = [
        f"// {name} returns the {struct} of an item; the zero value for an item that does not exist{absent}.\n"
        f"func (a *{message}) {name}(item int) {struct} {{\n"
        f"if item < 0 || item >= len({member}) {{\nreturn {struct}{{}}\n}}\nreturn {member}[item]\n}}\n"
    ]
    if not rows.optional:
        out.append(
            f"// All returns the {struct} of each item, valid until the answer is released.\n"
            f"func (a *{message}) All() []{struct} {{ return {member} }}\n"
        )
    return out


def message_source(protos: Protos, message: str, made: set[str]) -> str:
    FIELD_NAMES.clear()
    FIELD_NAMES.update({number: name for number, name, _, _ in protos.messages[message]})
    by_name = {name for _, name, _, _ in protos.messages[message]}
    _, levels = ANSWERS[message]
    out = [f"{comment(protos.comments[message], '')}type {message} struct {{\n\tanswers"]
    out += [f"\t{rows.member} []{rows.struct}" for rows in levels]
    lists = [name for name in LISTS if name in by_name]
    out += [f"\t{name} []uint32" for name in lists]
    if message == "MoveAnswers":
        out.append("\ttouchOf []int32 // by item: its index in touches; -1 for items that are clear")
    if message == "SeeAnswers":
        out.append("\twords int // of an observer\n\tbits []uint64 // the words of each observer in turn")
    out.append("}\n")
    prelude = []
    for rows in levels:
        columns = columns_of(protos, message, rows)
        if rows.struct not in made:
            made.add(rows.struct)
            prelude.append(struct_source(rows, columns))
        prelude.append(fill_source(message, rows, columns))
    for rows in levels:
        out += accessors_source(message, rows)
    for name in lists:
        out.append(f"// {LISTS[name]} returns whether an item {LIST_ABOUT[name]}.")
        out.append(f"func (a *{message}) {LISTS[name]}(item int) bool {{\nreturn isListed(a.{name}, item)\n}}\n")
    out += decode_source(protos, message, lists)
    return "\n".join(prelude) + "\n" + "\n".join(out)


def decode_source(protos: Protos, message: str, lists: list[str]) -> list[str]:
    """The method that reads a message."""
    counts, levels = ANSWERS[message]
    number_of = {name: number for number, name, _, _ in protos.messages[message]}
    out = [f"func (a *{message}) decode(s *scanner, data []byte, items int, name string) error {{"]
    out.append(f"if err := s.begin(data, &a.answers, items, {number_of['errors']}, name); err != nil {{")
    out.append("return err\n}")
    if message == "MoveAnswers":
        out.append(f"rows, ok := s.rows({number_of['polygon_id']})")
        out.append(f"unclear, fits := s.countMoves(a, rows, {number_of['clear']}, {number_of['counts']})")
        out.append('if !ok || !fits {\nreturn s.misfit("clear")\n}')
    elif message == "SeeAnswers":
        out.append(f'if column := s.countSeen(a, {number_of["counts"]}, {number_of["seen"]}); column != "" {{')
        out.append("return s.misfit(column)\n}")
    elif counts:
        is_any = "true" if message in BY_ANY else "false"
        out.append(f"rows, ok := s.rows({number_of[ROWS_BY.get(message, 'polygon_id')]})")
        out.append(f"if !ok || !s.count(&a.answers, rows, {number_of[counts]}, {is_any}) {{")
        out.append(f'return s.misfit("{counts}")\n}}')
    for rows in levels:
        columns = columns_of(protos, message, rows)
        size = {"e": "rows", "i": "items", "u": "unclear"}.get(rows.level)
        if rows.level in "gp":
            counted = "edge_counts" if rows.level == "g" else "point_counts"
            out.append(f'n, ok := s.sum({number_of[counted]})\nif !ok {{\nreturn s.misfit("{counted}")\n}}')
            size = "n"
        elif rows.optional:
            size = f"s.sizeOf({columns[0].number}, {size})"
        needed = [c for c in columns if not c.leader and c.type in ("double", "fixed64")]
        if needed and not rows.optional:
            numbers = ", ".join(str(c.number) for c in needed)
            out.append(f'if !s.haveRows({size}, {numbers}) {{\nreturn s.misfit("{field_name(needed[-1])}")\n}}')
        out.append(f"a.{rows.member} = resize(a.{rows.member}, {size})")
        if rows.level in "gp":
            out.append(f"s.at, s.{'edges' if rows.level == 'g' else 'points'} = 0, a.{rows.member}")
        function = f"fill{message}{rows.struct[0].upper() + rows.struct[1:]}"
        out.append(f'if column := {function}(s, a.{rows.member}); column != "" {{\nreturn s.misfit(column)\n}}')
    for name in lists:
        out.append(f"if a.{name}, ok = s.list(a.{name}, {number_of[name]}, items); !ok {{")
        out.append(f'return s.misfit("{name}")\n}}')
    return [*out, "return nil\n}\n"]


def answers_source(protos: Protos) -> str:
    made: set[str] = set()
    parts = ['\nimport (\n\t"encoding/binary"\n\t"math"\n)\n']
    parts += [message_source(protos, message, made) for message in ANSWERS]
    return "\n".join(parts)
