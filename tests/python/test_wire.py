# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Does the package write the bytes that protobuf writes, and does it read what protobuf reads, and nothing else?"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from conftest import LONG
from protos import fill, protos
from random_worlds import KINDS, Rng, bodies_of, question_of

from carom import Polygons, Shapes, errors
from carom._generated import enums, wire_tables
from carom._question import Question
from carom._remote import encode, messages, wire

ROUNDS = 200 if LONG else 20


def parsed(name: str, data: bytes) -> Any:
    """The message of protobuf, after a check that protobuf writes the same bytes."""
    message = protos()[name].FromString(data)
    assert message.SerializeToString(deterministic=True) == data
    return message


# --- Columns and messages -------------------------------------------------------------------------


@pytest.mark.parametrize("largest", [1, 127, 128, 16384, 2**28, 2**32 - 1, 2**63])
@pytest.mark.parametrize("count", [1, 2, 500])
def test_columns_of_varints_are_written_and_read_as_numbers_one_by_one(largest: int, count: int) -> None:
    rng = np.random.default_rng(largest % 1000 + count)
    values = rng.integers(0, largest, count, endpoint=True, dtype=np.uint64)
    expected = b"".join(wire.varint(int(value)) for value in values)
    assert bytes(wire.varint_column(values)) == expected
    assert np.array_equal(wire.integers(expected, np.uint64), values)
    assert np.array_equal(wire.integers(expected), values.astype(np.uint32))
    assert np.array_equal(wire.flags(expected), values != 0)
    assert wire.count_of(expected) == count


@pytest.mark.parametrize("name", sorted(wire_tables.MESSAGES))
def test_every_message_has_the_bytes_of_protobuf(name: str) -> None:
    rng = np.random.default_rng(len(name))
    for _ in range(ROUNDS):
        message = protos()[name]()
        fill(rng, message)
        data = message.SerializeToString(deterministic=True)
        assert messages.encode(name, messages.decode(name, data)) == data


def test_the_tables_are_those_of_the_descriptors() -> None:
    for name, fields in wire_tables.MESSAGES.items():
        found = {(field.number, field.name) for field in protos()[name].DESCRIPTOR.fields}
        assert found == {(number, field) for number, field, _, _ in fields}
    assert len(wire_tables.MESSAGES) == len(protos())


def test_the_numbers_of_enumerations_in_questions_are_those_of_carom_h() -> None:
    differ = {"Feature", "ContactKind", "AreaPieceKind"}  # answers only, where decode.py maps the numbers
    for name in set(wire_tables.ENUMS) & set(dir(enums)) - differ:
        own = {value.name: value.value for value in getattr(enums, name)}
        for value, number in wire_tables.ENUMS[name].items():
            if value != "UNSPECIFIED":
                assert own[value] == number, (name, value)
    start = wire_tables.ENUMS["StartPolicy"]
    assert all(enums.InsidePolicy[value] == number for value, number in start.items() if number)


def test_the_names_of_columns_in_error_are_those_of_the_core() -> None:
    from carom._library import library

    core = library()
    names = [core.column_name(i).decode() for i in range(len(wire_tables.ITEM_COLUMNS))]
    assert tuple(names) == wire_tables.ITEM_COLUMNS
    assert core.column_name(len(names)) is None
    faults = len(wire_tables.ENUMS["ItemFault"]) - 1
    assert core.fault(faults - 1) is not None
    assert core.fault(faults) is None


# --- Questions ------------------------------------------------------------------------------------


def asked(question: Question[Any]) -> Any:
    """The message of a question, as protobuf reads it."""
    out = wire.Message()
    out.message(encode.PLANS[question.kind.number].key, encode.question_message(question))
    group = parsed("Group", out.join())
    assert [field.name for field, _ in group.ListFields()] == [question.kind.name]
    return getattr(group, question.kind.name)


def expect_shapes(found: Any, shapes: Shapes) -> None:
    count = len(shapes.polygons)
    assert len(found) == len(shapes)
    for i, shape in enumerate(found):
        polygon = shape.polygon if shape.DESCRIPTOR.name == "Shape" else shape
        if i < count:
            rings = [np.stack((ring.x, ring.y), axis=1) for ring in polygon.rings]
            assert all(np.array_equal(a, b) for a, b in zip(rings, shapes.polygons.rings(i), strict=True))
        else:
            columns = (shapes.ax, shapes.ay, shapes.bx, shapes.by, shapes.radius)
            capsule = shape.capsule
            assert [capsule.ax, capsule.ay, capsule.bx, capsule.by, capsule.radius] == [c[i - count] for c in columns]


def expect_question(message: Any, question: Question[Any]) -> None:
    for spec, array in zip(question.kind.question.columns, question.arrays(), strict=True):
        nested = spec.path.startswith("movers.") and question.kind.name != "polygons"
        found = getattr(message.movers if nested else message, spec.name.rstrip("_"))
        assert np.array_equal(np.array(found, array.dtype if array is not None else None),
                              array if array is not None else [], equal_nan=spec.code == "d")  # fmt: skip
    for option, value in zip(question.kind.question.options, question.options, strict=True):
        if option.name == "coherence":
            continue
        assert getattr(message, option.name) == value
        if option.name == "mask":
            assert message.HasField("mask") == bool(value)
    if question.shapes is not None:
        placed = message if question.kind.name == "polygons" else message.movers
        expect_shapes(placed.shapes, question.shapes)


@pytest.mark.parametrize("method", sorted(KINDS))
def test_questions_have_the_bytes_of_protobuf(method: str) -> None:
    rng = np.random.default_rng(len(method))
    for items in [1, 2, *rng.integers(3, 200, ROUNDS)]:
        question = question_of(rng, method, int(items))
        expect_question(asked(question), question)


def test_options_and_large_numbers_of_questions_are_written() -> None:
    from carom import questions

    many = questions.move(
        [0.0, 1.0], [0.0, 1.0], tracker=[200, 2**32 - 1], tolerance=0.5, quiet_radii=True, detail="edges"
    )
    message = asked(many)
    assert list(message.tracker) == [200, 2**32 - 1]
    assert (message.tolerance, message.quiet_radii, message.detail) == (0.5, True, 2)
    first = asked(questions.move([0.0], [0.0], first_tracker=300))
    assert first.first_tracker == 300
    assert asked(questions.locate([0.0], [0.0], mask=2**64 - 1)).mask == 2**64 - 1
    strided = np.arange(12.0)
    assert list(asked(questions.locate(strided[::3], strided[1::3])).y) == [1.0, 4.0, 7.0, 10.0]
    assert list(asked(questions.locate([-0.0], [0.0])).x) == [-0.0]


def test_bodies_have_the_bytes_of_protobuf() -> None:
    rng = np.random.default_rng(3)
    for _ in range(ROUNDS):
        bodies = bodies_of(rng)
        message = parsed("Bodies", encode.bodies_message(bodies).join())
        expect_shapes(message.placed.shapes, bodies.shapes)
        found = {"placed.angle": message.placed.angle, "category": message.category, "owner": message.owner}
        for name, values in found.items():
            column = bodies.columns[name]
            assert column is not None
            assert column.tolist() == list(values)


def test_definitions_of_trackers_have_the_bytes_of_protobuf() -> None:
    rng = np.random.default_rng(4)
    shapes = question_of(rng, "nearest", 3).shapes
    assert shapes is not None
    data = encode.tracker_definitions(shapes, [0, 3, 3], [7, 70000, 1], 0, 2**63, 0.25).message.join()
    message = parsed("TrackerDefinitions", data)
    expect_shapes(message.shapes, shapes)
    assert (list(message.shape), list(message.tracker)) == ([0, 3, 3], [7, 70000, 1])
    assert (message.first_tracker, message.mask, message.within) == (0, 2**63, 0.25)
    plain = parsed("TrackerDefinitions", encode.tracker_definitions(shapes, None, None, 5, None, 0.0).message.join())
    assert (plain.first_tracker, plain.HasField("mask"), len(plain.shape)) == (5, False, 0)


# --- Polygons and edits ---------------------------------------------------------------------------


def random_polygons(rng: Rng, count: int) -> Polygons:
    """Polygons with every column that polygons have."""
    shapes = [[rng.normal(size=(int(size), 2)) for size in rng.integers(1, 40, int(rng.integers(1, 4)))]
              for _ in range(count)]  # fmt: skip
    made = Polygons(
        shapes, ids=rng.integers(0, 2**64, count, np.uint64), fill_rule=rng.integers(0, 3, count),
        solidity=np.full(count, 2), categories=rng.choice(np.array([0, 1, 2**63], np.uint64), count),
        user_data=[rng.bytes(int(rng.integers(0, 5))) for _ in range(count)],
    )  # fmt: skip
    made.open = rng.integers(0, 2, len(made.ring_size)).astype(np.uint8)
    return made


def expect_polygon(message: Any, polygons: Polygons, i: int) -> None:
    first = int(polygons.ring_count[:i].sum())
    end = int(polygons.user_data_size[: i + 1].sum())
    data = polygons.user_data[end - int(polygons.user_data_size[i]) : end].tobytes()
    assert (message.id, message.fill_rule, message.solidity, message.user_data) == (
        polygons.id[i], polygons.fill_rule[i], polygons.solidity[i], data,
    )  # fmt: skip
    assert (message.category if message.HasField("category") else 1) == polygons.category[i]
    for j, (ring, points) in enumerate(zip(message.rings, polygons.rings(i), strict=True)):
        assert np.array_equal(np.stack((ring.x, ring.y), axis=1), points)
        assert ring.open == polygons.open[first + j]


def test_polygons_have_the_bytes_of_protobuf() -> None:
    rng = np.random.default_rng(5)
    for _ in range(ROUNDS):
        polygons = random_polygons(rng, int(rng.integers(1, 9)))
        for i, data in enumerate(encode.polygon_messages(polygons)):
            expect_polygon(parsed("Polygon", data), polygons, i)


def test_edits_have_the_bytes_of_protobuf() -> None:
    polygons = random_polygons(np.random.default_rng(6), 3)
    edits = encode.edits_of(polygons, polygons, [0, 2**64 - 1])
    found = [parsed("Edit", edit.message()) for edit in edits]
    assert [edit.WhichOneof("edit") for edit in found] == ["add"] * 3 + ["replace"] * 3 + ["remove"] * 2
    expect_polygon(found[1].add, polygons, 1)
    expect_polygon(found[5].replace, polygons, 2)
    assert [edit.remove for edit in found[6:]] == [0, 2**64 - 1]


def test_an_import_is_sent_in_chunks_and_a_large_polygon_in_pieces() -> None:
    rng = np.random.default_rng(7)
    sizes = [[5], [140000], [3, 65000, 65535, 2], [4], [65534, 1, 7]]
    polygons = Polygons([[rng.normal(size=(size, 2)) for size in rings] for rings in sizes], categories=2)
    chunks = [parsed("ImportSceneRequest", data) for data in encode.import_chunks("scenes/x", 2, polygons)]
    assert (chunks[0].name, chunks[0].mode) == ("scenes/x", 2)
    assert all(chunk.name == "" and chunk.mode == 0 for chunk in chunks[1:])
    assert max(chunk.ByteSize() for chunk in chunks) < 3 << 20
    whole: list[list[list[tuple[float, float]]]] = []
    continues = False
    for chunk in chunks:
        for i, polygon in enumerate(chunk.polygons):
            rings = [list(zip(ring.x, ring.y, strict=True)) for ring in polygon.rings]
            if i == 0 and continues:
                assert not polygon.HasField("category")
                whole[-1][-1] += rings[0]
                whole[-1] += rings[1:]
            else:
                assert polygon.category == 2
                whole.append(rings)
        continues = chunk.continues
    assert [[len(ring) for ring in rings] for rings in whole] == sizes
    assert all(np.array_equal(a, b) for i, rings in enumerate(whole)
               for a, b in zip(rings, polygons.rings(i), strict=True))  # fmt: skip


# --- Reading what a server may send ---------------------------------------------------------------


def mangled(rng: Rng, data: bytes, name: str, depth: int = 0) -> bytes:
    """The same message in another form: columns in pieces or not packed, messages in pieces, unknown fields."""
    fields = {number: (type, label) for number, _, type, label in wire_tables.MESSAGES[name]}
    pieces: list[bytes] = []

    def piece(number: int, body: bytes) -> None:
        pieces.append(wire.tag(number, wire.LENGTH) + wire.varint(len(body)) + body)

    for number, where in wire.scan(data, 0, len(data), messages.table(name).wires).items():
        type, label = fields[number]
        for begin, end in where:
            body = data[begin:end]
            if type in wire_tables.MESSAGES:
                if label == "repeated" or not body or rng.random() < 0.7:
                    piece(number, mangled(rng, body, type, depth + 1))
                else:  # a message in two pieces: that of the joined bytes
                    inner = mangled(rng, body, type, depth + 1)
                    cut = int(rng.choice(cuts(inner)))
                    piece(number, inner[:cut])
                    piece(number, inner[cut:])
            elif type in ("string", "bytes"):
                piece(number, body)
            elif label == "repeated":
                pieces += column_pieces(rng, number, type, body)
            else:
                pieces.append(wire.tag(number, messages.table(name).wires[number]) + body)
        if rng.random() < 0.3:
            pieces.append(unknown(rng))
    return b"".join(pieces)


def cuts(data: bytes) -> list[int]:
    """Where the fields of a message begin."""
    found, at = [0], 0
    while at < len(data):
        key, at = wire.read_varint(data, at, len(data))
        if key & 7 == wire.LENGTH:
            size, at = wire.read_varint(data, at, len(data))
            at += size
        elif key & 7 == wire.VARINT:
            at = wire.read_varint(data, at, len(data))[1]
        elif key & 7 == 3:  # the group of `unknown`
            at += 2 + len(wire.tag(key >> 3, 4))
        else:
            at += 8 if key & 7 == wire.FIXED64 else 4
        found.append(at)
    return found


def column_pieces(rng: Rng, number: int, type: str, body: bytes) -> list[bytes]:
    """A packed column in some pieces, of which some are single entries that are not packed."""
    if type in ("double", "fixed64"):
        ends, kind = list(range(8, len(body) + 1, 8)), wire.FIXED64
    else:
        ends, kind = [i + 1 for i, byte in enumerate(body) if byte < 128], wire.VARINT
    made, at, i = [], 0, 0
    while i < len(ends):
        step = int(rng.integers(1, 30))
        single = rng.random() < 0.3
        end = ends[i] if single else ends[min(i + step, len(ends)) - 1]
        key = wire.tag(number, kind) if single else wire.tag(number, wire.LENGTH) + wire.varint(end - at)
        made.append(key + body[at:end])
        at, i = end, ends.index(end, i) + 1
    return made


def unknown(rng: Rng) -> bytes:
    """A field that no message has."""
    number = int(rng.choice([900, 100000]))
    return [
        wire.tag(number, wire.VARINT) + wire.varint(2**64 - 1),
        wire.tag(number, wire.FIXED64) + bytes(8),
        wire.tag(number, wire.FIXED32) + bytes(4),
        wire.tag(number, wire.LENGTH) + wire.varint(3) + b"abc",
        wire.tag(number, 3) + b"\x08\1" + wire.tag(number, 4),
    ][int(rng.integers(0, 5))]


@pytest.mark.parametrize(
    "name", ["Scene", "Polygon", "FrameAnswer", "WatchSceneResponse", "CastAnswers", "MoveAnswers", "SeeAnswers"]
)
def test_messages_in_other_forms_are_read_alike(name: str) -> None:
    rng = np.random.default_rng(8)
    for _ in range(ROUNDS):
        message = protos()[name]()
        fill(rng, message)
        data = message.SerializeToString(deterministic=True)
        other = mangled(rng, data, name)
        same = protos()[name].FromString(other)
        same.DiscardUnknownFields()
        assert same.SerializeToString(deterministic=True) == data
        assert messages.encode(name, messages.decode(name, other)) == data


def test_bytes_that_are_no_message_are_refused() -> None:
    for data in (
        b"\x08", b"\x0a\x05abc", b"\x09\0\0", b"\x0d\0", b"\x0b", b"\x0c", b"\x0f", b"\0\0",
        b"\x08" + b"\xff" * 10 + b"\1", b"\x0b" * 200, b"\xff\xff\xff\xff\x7f\0",
    ):  # fmt: skip
        with pytest.raises(errors.InternalError):
            messages.decode("Scene", data)
    for raw in (b"\x80", b"\1\xff", b"\xff" * 10 + b"\1"):
        with pytest.raises(errors.InternalError):
            wire.integers(raw)
    with pytest.raises(errors.InternalError):
        wire.fixed_column(b"1234567", wire.DOUBLE)


def test_a_column_of_doubles_is_aligned_and_may_not_be_written() -> None:
    column = wire.fixed_column(struct.pack("<3d", 1, 2, 3), wire.DOUBLE)
    assert column.flags.aligned
    assert not column.flags.writeable
