# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Do scenes in this process answer as documented: columns, items, errors, tables, pictures, bundles, edits, bodies?"""

from __future__ import annotations

import os
import pathlib
import pickle
import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from conftest import missing
from eval_answers import polygons_of
from random_worlds import BODIES, KINDS, arguments_of, bodies_of, map_of, question_of, trackers_of

import carom
from carom import (
    AlreadyExistsError,
    CaromError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    ItemError,
    NotFoundError,
    ResourceExhaustedError,
    questions,
)
from carom._answers import Answers
from carom.local import Bodies, Polygons, Scene, Shapes, Trackers, box, capsule, disc

RECTANGLE = [(0, 0), (4, 0), (4, 3), (0, 3)]
SVG = "{http://www.w3.org/2000/svg}svg"


@pytest.fixture(scope="module")
def scene() -> Scene:
    """A rectangle with the id 7."""
    return Scene.from_polygons([RECTANGLE], ids=[7])


@pytest.fixture(scope="module")
def world() -> Scene:
    """A map full of coincidences, with bodies and trackers."""
    rng = np.random.default_rng(20)
    made = Scene.from_polygons(polygons_of(map_of(rng)))
    return made.with_bodies(bodies_of(rng)).with_trackers(trackers_of(rng))


def columns_of(answers: Answers) -> dict[str, Any]:
    """All columns, as bytes, but for what is advice."""
    rows = answers._layout.rows
    return {path: answers._column(path).tobytes() for path in rows if path != "quiet_radius"}


# --- Columns and items --------------------------------------------------------------------------


def test_columns_of_hits(scene: Scene) -> None:
    hits = scene.cast([-2, -2, -2], [1, 9, 0], [6, 6, 6], [1, 9, 0], mode="all")
    assert hits.counts.tolist() == [1, 0, 1]
    assert hits.offsets.tolist() == [0, 1, 1, 2]
    assert hits.item.tolist() == [0, 2]
    assert hits.hit.tolist() == [True, False, True]
    assert hits.polygon_id.tolist() == [7, 7]
    assert hits.fraction.tolist() == [0.25, 0.25]
    assert hits.exit_fraction.tolist() == [0.75, 0.75]
    assert hits.point.tolist() == [[0, 1], [0, 0]]
    assert hits.normal.tolist() == [[-1, 0], [-1, 0]]
    assert hits.feature.tolist() == [carom.Feature.EDGE, carom.Feature.VERTEX]
    assert hits.edge.tolist() == [3, 3]
    assert len(hits) == 3
    assert hits.version == scene.version == 1
    np.testing.assert_array_equal(hits.dense("fraction"), [0.25, np.nan, 0.25])
    assert hits.dense("polygon_id").tolist() == [7, 0, 7]
    assert hits.dense("polygon_id", 99).tolist() == [7, 99, 7]
    np.testing.assert_array_equal(hits.dense("point"), [[0, 1], [np.nan, np.nan], [0, 0]])
    assert repr(hits) == "<Hits: 3 items, 2 entries>"


def test_items_of_hits(scene: Scene) -> None:
    hits = scene.cast([-2, -2, np.nan], [1, 9, 0], [6, 6, 6], [1, 9, 0])
    first, second, last = hits
    assert first.point.tolist() == [[0, 1]]
    assert len(first) == 1
    assert second.counts.tolist() == [0]
    assert second.fraction.size == 0
    assert hits[-1].error.tolist() == last.error.tolist() != [0]
    assert [error.field for error in last.errors] == ["ax[0]"]
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"item {index} of 3"):
            hits[index]


def test_arrays_are_views_that_cannot_be_written(scene: Scene) -> None:
    hits = scene.cast(-2.0, 1.0, 6.0, 1.0)
    for array in (hits.fraction, hits.counts, hits.truncated):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    assert hits.fraction is hits.fraction


def test_scalars_count_for_all_items(scene: Scene) -> None:
    whole = scene.cast(np.full(3, -2.0), [1, 2, 9], np.full(3, 6.0), np.array([1, 2, 9]))
    short = scene.cast(-2, [1, 2, 9], 6.0, np.array([1, 2, 9], np.int16))
    assert columns_of(whole) == columns_of(short)
    assert len(scene.cast(-2, 1, 6, 1)) == len(scene.cast(-2.0, 1.0, 6.0, 1.0)) == 1
    assert len(scene.cast([], [], [], [])) == 0


@pytest.mark.parametrize("method", KINDS)
def test_items_are_the_rows_of_the_whole(world: Scene, method: str) -> None:
    rng = np.random.default_rng(21)
    for _ in range(4):
        whole = world.ask(question_of(rng, method, 30))
        items = list(whole)
        assert len(items) == len(whole) == 30
        for path, about in whole._layout.rows.items():
            if about.level in ("entry", "edge", "item", "unclear", "word"):
                joined = np.concatenate([item._column(path) for item in items])
                assert joined.tobytes() == whole._column(path).tobytes(), path
        errors = [(i, error.column, error.fault) for i, item in enumerate(items) for error in item.errors]
        assert errors == [(error.index, error.column, error.fault) for error in whole.errors]
        for path in {"truncated", "stuck"} & whole._layout.rows.keys():
            assert [i for i, item in enumerate(items) if len(item._column(path))] == whole._column(path).tolist()


def one_item(arguments: dict[str, Any], item: int, items: int) -> dict[str, Any]:
    """The arguments of one item."""
    pushes = np.asarray(arguments.get("pushes", np.ones(items))).astype(int)
    first = int(pushes[:item].sum())
    made = {}
    for name, value in arguments.items():
        if "pushes" in arguments and name in ("dx", "dy"):
            made[name] = value[first : first + pushes[item]]
        elif isinstance(value, np.ndarray) and not (name == "mass" and "body" in arguments):
            made[name] = value[item : item + 1]
        else:
            made[name] = value
    return made


@pytest.mark.parametrize("method", KINDS)
def test_an_item_alone_has_the_answer_that_it_has_in_a_batch(world: Scene, method: str) -> None:
    rng = np.random.default_rng(22)
    for _ in range(3):
        arguments = arguments_of(rng, method, 12)
        whole = getattr(world, method)(**arguments)
        for item in range(12):
            alone = getattr(world, method)(**one_item(arguments, item, 12))
            assert whole[item].digest() == alone.digest(), f"item {item} of {arguments}"


@pytest.mark.parametrize("method", KINDS)
def test_questions_have_no_side_effects(world: Scene, method: str) -> None:
    rng = np.random.default_rng(23)
    question = question_of(rng, method, 20)
    first = world.ask(question)
    before = columns_of(first)
    others = [world.ask(question_of(rng, other, 20)) for other in KINDS]
    assert columns_of(world.ask(question)) == before
    assert columns_of(first) == before
    assert len(others) == len(KINDS)


# Observers at (-2, 1) and (2, 9) about the rectangle, and a third one in error.
def test_who_sees_whom(scene: Scene) -> None:
    bodies = Bodies(disc(0.5), [-1, 6, 2], [3, 1, 5], owner=[1, 2, 3])
    seen = scene.with_bodies(bodies).sees([-2, 2, np.nan], [1, 9, 0], 16)
    assert [seen.bodies(item).tolist() for item in range(-3, 3)] == 2 * [[0, 2], [0, 1, 2], []]
    assert seen.counts.tolist() == [2, 3, 0]
    assert (seen.item.tolist(), seen.body.tolist()) == ([0, 0, 1, 1, 1], [0, 2, 0, 1, 2])
    assert seen.seen.tolist() == [5, 7, 0]
    assert [[seen.sees(item, body) for body in (-1, 0, 1, 2, 3, 64)] for item in (0, 1)] == [
        [False, True, False, True, False, False], [False, True, True, True, False, False],
    ]  # fmt: skip
    expected = [[True, False, True], [True, True, True], [False, False, False]]
    assert seen.matrix(3).tolist() == expected
    assert seen.matrix().shape == (3, 64)
    assert seen.matrix().dtype == np.bool_
    assert seen.matrix(130).shape == (3, 130)
    for size in (64, 130):
        assert seen.matrix(size)[:, :3].tolist() == expected
        assert not seen.matrix(size)[:, 3:].any()
    assert seen[1].bodies(0).tolist() == seen[1].body.tolist() == [0, 1, 2]
    assert [error.field for error in seen.errors] == ["x[2]"]
    assert seen.starts_inside.tolist() == [0, 0, 0]
    assert repr(seen) == "<Seen: 3 items, 5 entries, 1 errors>"
    for wrong in (-1, 1.5, "3"):
        with pytest.raises(InvalidArgumentError, match="bodies: is "):
            seen.matrix(wrong)  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        seen.bodies(3)
    with pytest.raises(InvalidArgumentError, match="against"):
        scene.with_bodies(bodies).sees(-2, 1, 16, against="both")
    assert scene.with_bodies(bodies).sees(-2.0, 1.0, 16.0, ignore_owner=3, margin=0.25).bodies(0).tolist() == [0]


def test_nobody_sees_nothing(scene: Scene) -> None:
    alone = scene.sees([-2, 2], [1, 9], 16)
    assert alone.matrix().shape == (2, 0)
    assert alone.matrix(2).tolist() == [[False, False], [False, False]]
    assert (alone.bodies(1).tolist(), alone.body.tolist(), alone.sees(0, 0)) == ([], [], False)
    none = scene.with_bodies(Bodies(disc(1), [0], [0])).sees([], [], [])
    assert none.matrix(1).shape == (0, 1)
    assert none.body.tolist() == []


@pytest.mark.parametrize("count", [63, 64, 65, 200])
def test_the_forms_of_who_sees_whom_agree(count: int) -> None:
    rng = np.random.default_rng(count)
    world = Scene.from_polygons(polygons_of(map_of(rng))).with_bodies(bodies_of(rng, count))
    seen = world.sees(*rng.uniform(0, 16, (2, 50)), 6)
    matrix = seen.matrix(count)
    words = (count + 63) // 64
    assert seen.matrix().shape == (50, 64 * words)
    assert not seen.matrix()[:, count:].any()
    assert matrix.sum(axis=1).tolist() == seen.counts.tolist()
    assert 0 < matrix.sum() < matrix.size
    assert np.array_equal(np.stack((seen.item, seen.body)), np.nonzero(matrix))
    for item in range(50):
        assert seen.bodies(item).tolist() == np.flatnonzero(matrix[item]).tolist()
        assert [seen.sees(item, body) for body in range(count)] == matrix[item].tolist()


def test_scans_are_arrays_of_items_and_beams(scene: Scene) -> None:
    scan = scene.fans([8, 8], [1, 9], np.pi, 3, fov=0.5, range=10)
    assert scan.distances.shape == scan.hits.shape == scan.polygon_id.shape == (2, 3)
    assert scan.hits[:, 0].tolist() == [1, 0]
    np.testing.assert_array_equal(np.asarray(scan), scan.distances)
    assert scan[1].distances.tolist() == [[10, 10, 10]]
    ragged = scene.fans([8, 8], [1, 9], np.pi, [3, 2], fov=None, step=0.25, range=10)
    assert ragged.distances.shape == (5,)
    assert ragged[1].distances.shape == (1, 2)
    assert scan.dense("distances").tolist() == scan.distances[:, 0].tolist()


def test_moves_that_touch_nothing_are_clear(world: Scene) -> None:
    x, y = np.array([100.0, 3.0]), np.array([100.0, 3.0])
    moves = world.move(x, y, tracker=[0, 1], quiet_radii=True)
    overlaps = world.move(x, y, tracker=[0, 1], coherence="off")
    assert moves.is_clear.tolist() == (moves.hit == 0).tolist()
    assert moves.is_clear[0]
    assert moves.quiet_radius.shape == (2,)
    assert columns_of(moves)["polygon_id"] == columns_of(overlaps)["polygon_id"]
    assert moves.quiet_moves + moves.near_moves + moves.refreshed_moves + moves.cold_moves == 2


# --- Errors ---------------------------------------------------------------------------------------


def test_an_item_in_error_does_not_disturb_the_others(scene: Scene) -> None:
    hits = scene.cast([-2, np.nan, -2, 2.0**54], 1, [6, 6, np.inf, 6], 1)
    assert hits.counts.tolist() == [1, 0, 0, 0]
    assert (hits.error != 0).tolist() == [False, True, True, True]
    assert [(error.index, error.column, error.field) for error in hits.errors] == [
        (1, "ax", "ax[1]"), (2, "bx", "bx[2]"), (3, "ax", "ax[3]"),
    ]  # fmt: skip
    assert "2^53" in hits.errors[0].message
    assert repr(hits) == "<Hits: 4 items, 1 entries, 3 errors>"
    with pytest.raises(ItemError, match=r"INVALID_ARGUMENT: ax\[1\]: .*2\^53"):
        hits.check()
    with pytest.raises(ItemError):
        scene.cast([-2, np.nan], 1, 6, 1, strict=True)
    with pytest.raises(ItemError):
        scene.evaluate(questions.locate(1, 1), questions.sights(0, 0, np.nan, 1), strict=True)
    assert scene.cast(-2, 1, 6, 1, strict=True).check().counts.tolist() == [1]


def test_errors_are_also_the_exceptions_of_python(scene: Scene) -> None:
    with pytest.raises(ValueError, match="max_hits"):
        scene.cast(0, 0, 1, 1, mode="all", max_hits=65537)
    with pytest.raises(LookupError):
        scene.commit(remove=[1])
    with pytest.raises(LookupError):
        Scene.load("/no such file")
    with pytest.raises(MemoryError):
        Bodies(disc(1), np.zeros(4097), 0).handle()
    error = pickle.loads(pickle.dumps(ItemError("must be", field="ax", index=3, fault=1)))
    assert (str(error), error.index, error.column) == ("INVALID_ARGUMENT: ax[3]: must be", 3, "ax")


def test_a_closed_scene_says_so() -> None:
    with Scene.from_polygons([RECTANGLE]) as scene:
        hits = scene.cast(-2, 1, 6, 1)
        again = scene.with_trackers(Trackers())
    assert repr(scene) == "<Scene, closed>"
    assert hits.fraction.tolist() == [0.25]
    assert again.cast(-2, 1, 6, 1).counts.tolist() == [1]
    for use in (
        lambda: scene.cast(-2, 1, 6, 1), lambda: scene.cast(-2.0, 1.0, 6.0, 1.0), lambda: len(scene), scene.polygons,
        lambda: scene.version, lambda: scene.bounds, scene.to_bundle, scene._repr_svg_,
        lambda: scene.evaluate(questions.locate(1, 1)), lambda: scene.commit(remove=[0]),
        lambda: scene.with_trackers(Trackers()), lambda: pickle.dumps(scene),
    ):  # fmt: skip
        with pytest.raises(FailedPreconditionError, match="scene is closed"):
            use()
    scene.close()


# --- out and evaluate -------------------------------------------------------------------------------


def test_out_takes_the_next_answers_and_leaves_arrays_alone(scene: Scene) -> None:
    y = np.arange(4.0)
    hits = scene.cast(-2, y, 6, y)
    kept, item, whole = hits.fraction, hits[1], columns_of(hits)
    values = kept.copy()
    for round in range(50):
        answer = scene.cast(-2 - round, np.arange(float(round)), 6, np.arange(float(round)), out=hits)
        assert answer is hits
        assert len(hits) == round
        assert kept.tolist() == values.tolist()
        assert item.fraction.tolist() == values[1:2].tolist()
    assert columns_of(scene.cast(-2, y, 6, y, out=hits)) == whole
    with pytest.raises(InvalidArgumentError, match="out: is Hits; Locations is accepted"):
        scene.locate(1, 1, out=hits)  # type: ignore[arg-type]
    assert columns_of(hits) == whole


def test_out_is_empty_after_an_error(scene: Scene) -> None:
    hits = scene.cast(-2, 1, 6, 1)
    with pytest.raises(InvalidArgumentError, match="max_hits"):
        scene.cast(-2, 1, 6, 1, mode="all", max_hits=65537, out=hits)
    assert (len(hits), hits.counts.size, hits.version, hits.errors) == (0, 0, 0, [])
    with pytest.raises(FailedPreconditionError):
        hits._repr_svg_()
    assert scene.cast(-2, 1, 6, 1, out=hits).counts.tolist() == [1]


def test_a_group_has_the_answers_of_its_questions(world: Scene) -> None:
    rng = np.random.default_rng(24)
    for _ in range(5):
        group = [question_of(rng, method, 15) for method in KINDS]
        together = world.evaluate(*group)
        for question, answer in zip(group, together, strict=True):
            assert type(answer) is question.answers
            assert columns_of(answer) == columns_of(world.ask(question))
        kept = [answer._column("error_index") for answer in together]
        del together
        assert [array.tolist() for array in kept] == [
            world.ask(question)._column("error_index").tolist() for question in group
        ]
    assert world.evaluate() == ()
    with pytest.raises(InvalidArgumentError, match="two of the kind locate"):
        world.evaluate(questions.locate(1, 1), questions.locate(2, 2))


# --- Tables, digests, pictures ----------------------------------------------------------------------


def test_tables_have_a_row_for_each_entry(scene: Scene, world: Scene) -> None:
    hits = scene.cast([-2, -2, -2], [1, 9, 0], [6, 6, 6], [1, 9, 0])
    for name in ("pandas", "polars"):
        try:
            __import__(name)
        except ImportError:
            missing(f"{name} is not installed")
        table = getattr(hits, f"to_{name}")()
        assert list(table["item"]) == [0, 2]
        assert list(table["fraction"]) == [0.25, 0.25]
        assert "truncated" not in table.columns
        rng = np.random.default_rng(25)
        for method in KINDS:
            answers = world.ask(question_of(rng, method, 10))
            rows = getattr(answers, f"to_{name}")()
            assert len(rows) == len(answers.item)
            assert list(rows["item"]) == answers.item.tolist()


def test_digests_are_equal_where_answers_are(scene: Scene) -> None:
    y = np.arange(3.0)
    digest = scene.cast(-2, y, 6, y).digest()
    assert digest == Scene.from_polygons([RECTANGLE], ids=[7]).cast(-2.0, y, 6.0, y).digest()
    other = Scene.from_polygons([RECTANGLE], ids=[8]).cast(-2, y, 6, y).digest()
    assert len({digest, other, scene.cast(-2, y[::-1], 6, y).digest(), scene.cast(-2, y, 7, y).digest()}) == 4


def test_pictures_are_well_formed(scene: Scene, world: Scene) -> None:
    rng = np.random.default_rng(26)
    plain = ET.fromstring(scene._repr_svg_())
    assert plain.tag == SVG
    hits = ET.fromstring(scene.cast(-2, 1, 6, 1)._repr_svg_())
    assert len(list(hits.iter())) > len(list(plain.iter()))
    for method in KINDS:
        answers = world.ask(question_of(rng, method, 10))
        assert ET.fromstring(answers._repr_svg_()).tag == SVG
        assert answers[3]._repr_svg_() == answers._repr_svg_()
    group = world.evaluate(*[question_of(rng, method, 5) for method in KINDS])
    assert ET.fromstring(group[0]._repr_svg_()).tag == SVG


# --- Scenes -----------------------------------------------------------------------------------------


def test_a_scene_has_what_it_was_made_of() -> None:
    polygons = Polygons(
        [[RECTANGLE, [(1, 1), (2, 1), (2, 2)]], [[(9, 9), (8, 9), (8, 5)]], [[(1, 1)]]],
        ids=[5, 2**64 - 1, 3], categories=[1, 2**63, 0], solidity=[1, 2, 2], fill_rule=[2, 1, 1],
        open=[0, 0, 1, 0], user_data=[b"\0wall", b"", b"x" * 4096],
    )  # fmt: skip
    scene = Scene.from_polygons(polygons, version=2**64 - 1)
    assert (len(scene), scene.vertex_count, scene.version) == (3, 11, 2**64 - 1)
    assert scene.bounds == (0, 0, 9, 9)
    assert repr(scene) == "<Scene: 3 polygons, 11 vertices, version 18446744073709551615>"
    read = scene.polygons()
    order = [2, 0, 1]  # by ids
    assert read.id.tolist() == [3, 5, 2**64 - 1]
    assert read.category.tolist() == [0, 1, 2**63]
    assert read.solidity.tolist() == [2, 1, 2]
    assert read.fill_rule.tolist() == [1, 2, 1]
    assert read.open.tolist() == [0, 0, 0, 1]
    assert read.user_data_size.tolist() == [4096, 5, 0]
    assert read.user_data.tobytes() == b"x" * 4096 + b"\0wall"
    for index, source in enumerate(order):
        for ring, expected in zip(read.rings(index), polygons.rings(source), strict=True):
            assert ring.tolist() == expected.tolist()
    assert Scene.from_polygons(read).to_bundle() == scene.to_bundle()
    empty = Scene.from_polygons([])
    assert (len(empty), empty.polygons().id.size, empty.cast(0, 0, 1, 1).counts.tolist()) == (0, 0, [0])
    assert empty.bounds[0] > empty.bounds[2]


def test_bundles(world: Scene, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "map.bundle"
    world.save(file)
    data = file.read_bytes()
    assert data == world.to_bundle()
    question = question_of(np.random.default_rng(27), "rays", 100)
    for again in (Scene.load(file), Scene.load(str(file)), Scene.from_bundle(data), Scene.from_bundle(bytearray(data)),
                  Scene.from_bundle(memoryview(data))):  # fmt: skip
        assert again.version == 1
        assert again.with_bodies(world._bodies).ask(question).digest() == world.ask(question).digest()  # type: ignore[arg-type]
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 0xFF
    with pytest.raises(DataLossError):
        Scene.from_bundle(damaged)
    for wrong in (b"", b"no bundle", data[:20], data[:-1]):
        with pytest.raises(CaromError):
            Scene.from_bundle(wrong)
    file.write_bytes(damaged)
    with pytest.raises(DataLossError):
        Scene.load(file)
    with pytest.raises(FailedPreconditionError, match="path"):
        world.save(tmp_path / "no folder" / "map.bundle")
    with pytest.raises(NotFoundError, match="path"):
        Scene.load(tmp_path / "no file")
    with pytest.raises(InvalidArgumentError, match="path: has a null character"):
        Scene.load("a\0b")


def test_pickles(world: Scene) -> None:
    rng = np.random.default_rng(28)
    scene = Scene.from_polygons(polygons_of(map_of(rng)), version=9)
    again = pickle.loads(pickle.dumps(scene))
    assert again.version == 9
    question = question_of(rng, "locate", 100)
    with_bodies = scene.with_bodies(bodies_of(rng))
    same = pickle.loads(pickle.dumps(with_bodies))
    assert same.ask(question).digest() == with_bodies.ask(question).digest()
    with pytest.raises(InvalidArgumentError, match="trackers: cannot be pickled"):
        pickle.dumps(world)
    with pytest.raises(InvalidArgumentError, match="question: cannot be pickled"):
        pickle.dumps(question)
    with pytest.raises(InvalidArgumentError, match="answers: cannot be pickled"):
        pickle.dumps(scene.ask(question))
    points = pickle.loads(pickle.dumps(scene.ask(question).polygon_id))
    assert points.tolist() == scene.ask(question).polygon_id.tolist()
    made: list[Any] = [scene.polygons(), box(1, 2) + disc([1, 2]), bodies_of(rng)]
    for each in made:
        assert repr(pickle.loads(pickle.dumps(each))) == repr(each)


def test_commit_makes_another_scene(scene: Scene) -> None:
    tower = Polygons([[(10, 0), (11, 0), (11, 9)]], ids=[8])
    more = scene.commit(add=tower)
    assert (len(more), more.version, len(scene), scene.version) == (2, 2, 1, 1)
    moved = more.commit(replace=Polygons([[(20, 0), (21, 0), (21, 9)]], ids=[8]), remove=[7], version=70)
    assert (moved.version, moved.polygons().id.tolist(), moved.bounds) == (70, [8], (20, 0, 21, 9))
    assert more.bounds == (0, 0, 11, 9)
    with pytest.raises(AlreadyExistsError, match=r"edits\[0\]"):
        more.commit(add=tower)
    with pytest.raises(NotFoundError, match=r"edits\[1\]"):
        scene.commit(add=tower, remove=[9])
    with pytest.raises(InvalidArgumentError, match=r"edits\[1\]"):
        more.commit(replace=tower, remove=[8])
    with_bodies = scene.with_bodies(Bodies(disc(1), [9], [1])).commit(add=tower)
    assert with_bodies.cast(7, 1, 20, 1, against="both").is_body.tolist() == [1]


# --- Bodies and trackers ------------------------------------------------------------------------------


def test_bodies_are_hit_beside_the_scene(scene: Scene) -> None:
    bodies = Bodies(disc(1) + capsule(-1, 0, 1, 0, 0.5), [-4, 9], [1, 1], owner=[5, 6], category=[1, 2])
    assert repr(bodies) == "<2 bodies>"
    both = scene.with_bodies(bodies)
    hits = both.cast(-9, 1, 20, 1, against="both", mode="all")
    assert hits.is_body.tolist() == [1, 0, 1]
    assert hits.polygon_id.tolist() == [0, 7, 1]
    assert both.cast(-9, 1, 20, 1, against="bodies", mode="all", mask=2).polygon_id.tolist() == [1]
    owned = both.cast(-9, 1, 20, 1, against="bodies", mode="all", ignore_owner=[5])
    assert owned.polygon_id.tolist() == [1]
    assert both.cast(-9, 1, 20, 1, mode="all").polygon_id.tolist() == [7]
    bodies.place(box(1, 1), [100.0], [1.0])
    assert both.cast(-9, 1, 200, 1, against="bodies").polygon_id.tolist() == [0]
    with pytest.raises(InvalidArgumentError, match=r"bodies\.placed\.x\[0\]"):
        bodies.place(box(1, 1), [np.nan], [1.0])
    assert both.cast(-9, 1, 200, 1, against="bodies").point_x.tolist() == [99.5]
    with pytest.raises(ResourceExhaustedError):
        bodies.place(box(1, 1), np.zeros(4097), 0)
    assert len(bodies) == 1
    assert scene.cast(-9, 1, 200, 1, against="bodies").counts.tolist() == [0]


def test_body_contacts_are_contacts_with_bodies_of_a_lower_index(scene: Scene) -> None:
    both = scene.with_bodies(Bodies(disc(1), [0, 1, 5], 0, shape=[0, 0, 0]))
    contacts = both.body_contacts(np.arange(3))
    assert contacts.counts.tolist() == [0, 1, 0]
    assert (contacts.polygon_id.tolist(), contacts.depth.tolist()) == ([0], [1.0])
    assert contacts.normal.tolist() == [[1, 0]]


def test_trackers_answer_as_overlaps(world: Scene) -> None:
    rng = np.random.default_rng(29)
    shapes = Shapes([[[(-1, -1), (1, -1), (0, 1)]], [[(0, 0), (0.5, 0), (0, 2)]]])
    trackers = Trackers()
    trackers.define(shapes, tracker=[3, 9])
    x, y = rng.integers(0, 33, (2, 200)) / 2
    for i in range(0, 200, 2):
        moved = trackers.move(world, x[i : i + 2], y[i : i + 2], tracker=[9, 3], detail="edges", strict=True)
        asked = world.overlap(shapes, x[i : i + 2], y[i : i + 2], shape=[1, 0], detail="edges")
        for name in ("polygon_id", "edge_counts", "ring", "edge"):
            assert getattr(moved, name).tolist() == getattr(asked, name).tolist()
    before = trackers.nbytes
    trackers.forget()
    assert 0 < trackers.nbytes <= before
    trackers.remove(3)
    assert [error.column for error in trackers.move(world, [0, 0], 0, tracker=[9, 3]).errors] == ["tracker"]
    trackers.define(disc(1), tracker=[3], remove=[9], within=5, mask=1)
    assert trackers.move(world, [0], [0], first_tracker=3, strict=True).counts.size <= 1
    with pytest.raises(ResourceExhaustedError, match="trackers"):
        Trackers(max_trackers=4).define(disc(1), tracker=[4])
    with pytest.raises(InvalidArgumentError, match="within"):
        trackers.define(disc(1), within=-1)
    assert [error.index for error in world.with_trackers(Trackers()).move([0, 0], 0).errors] == [0, 1]


def test_eyes_with_numbers_are_answered_as_those_without(world: Scene) -> None:
    rng = np.random.default_rng(30)
    x, y = rng.integers(0, 33, (2, 20)) / 2 + 0.01
    trackers = Trackers(max_bytes=1 << 20)
    tracked = world.with_trackers(trackers)
    sizes = []
    for _ in range(8):
        x, y = x + 1e-3, y - 1e-3
        warm, cold = tracked.areas(x, y, 4.0, eye=range(20)), world.areas(x, y, 4.0)
        for name in ("counts", "kind", "polygon_id", "start_x", "start_y", "areas"):
            assert getattr(warm, name).tobytes() == getattr(cold, name).tobytes()
        assert tracked.sees(x, y, 4.0, eye=range(20)).seen.tolist() == world.sees(x, y, 4.0).seen.tolist()
        sizes.append(trackers.nbytes)
    assert 0 < sizes[0] < sizes[-1] <= (1 << 20) / 4
    trackers.forget()
    assert trackers.nbytes < sizes[0]
    with pytest.raises(InvalidArgumentError, match="eye"):
        tracked.areas([0.0, 1.0], 0.0, 1.0, eye=[1, 2, 3])


def test_bodies_limit_is_that_of_the_documentation(world: Scene) -> None:
    assert world._bodies is not None
    assert len(world._bodies) == BODIES
    most = Scene.from_polygons([]).with_bodies(Bodies(disc(0.25), np.arange(4096.0), 0))
    assert most.cast(-1, 0, 5000, 0, against="bodies", mode="all", max_hits=65536).counts.tolist() == [4096]


# --- The library ----------------------------------------------------------------------------------------

LOADING = "from carom.local import Scene; Scene.from_polygons([])"


@pytest.mark.parametrize(
    ("file", "message"), [("/no such file", "could not be loaded"), ("libc.so.6", "is no libcarom")]
)
def test_another_library_is_refused(file: str, message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING], env={**os.environ, "CAROM_LIBRARY": file}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert message in last


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("Client", "grpc", "client"), ("aio", "grpc", "client"), ("gym", "gymnasium", "gym")],
)
def test_what_needs_an_extra_says_which(name: str, module: str, extra: str) -> None:
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        f"import carom; carom.local.Scene.from_polygons([])\n"
        f"try:\n    carom.{name}\nexcept ModuleNotFoundError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"carom.{name} needs {module}: pip install 'carom[{extra}]'\n"
