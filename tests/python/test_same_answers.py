# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Are the answers of the package, in this process and by a server, those of `carom eval`, bit for bit?"""

from __future__ import annotations

import importlib.util
import itertools
import json
import lzma
import os
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from conftest import LONG, ROOT, missing, run_eval
from eval_answers import ANSWERS, answer_lines, difference, polygons_of
from random_worlds import KINDS, TRACKERS, bodies_line, bodies_of, line_of, map_of, question_of, shapes, track_lines

from carom import Polygons, questions
from carom.local import Scene, Trackers

PACK_QUESTIONS = 28_085
PER_KIND = 20_000 if LONG else 2_000
PER_WORLD = 200
_names = (f"same-{os.getpid()}-{i}" for i in itertools.count())


class OnServer:
    """Makes scenes of a server, one at a time, and asks them with or without trackers."""

    def __init__(self, address: str) -> None:
        from carom.client import Client

        self.client = Client(address)
        self._name = ""

    def make(self, polygons: Polygons) -> Any:
        if self._name:
            self.client.delete_scene(self._name)
        self._name = next(_names)
        self.client.import_scene(self._name, polygons)
        return self.client.scene(self._name)

    def trackers(self) -> Any:
        from carom.client import Trackers

        return Trackers()


class Here:
    """Makes scenes in this process."""

    make = staticmethod(Scene.from_polygons)
    trackers = Trackers


@pytest.fixture(scope="module")
def server(caromd: str) -> Iterator[OnServer]:
    """What makes scenes of a server."""
    if importlib.util.find_spec("grpc") is None:
        missing("grpcio is not installed")
    made = OnServer(caromd)
    yield made
    made.client.close()


@pytest.fixture(scope="module", params=["local", "server"])
def asker(request: pytest.FixtureRequest) -> Any:
    """What makes scenes that answer."""
    return Here() if request.param == "local" else request.getfixturevalue("server")


def assert_same(lines: list[str], got: list[Any], expected: list[Any]) -> None:
    """Compares answers with those of eval, and shows the first that differ with their lines."""
    asked = [line for line in lines if json.loads(line)["op"] in ANSWERS]
    assert len(asked) == len(got) == len(expected)
    wrong = []
    for line, ours, theirs in zip(asked, got, expected, strict=True):
        found = difference(ours, theirs)
        if found:
            wrong.append(f"{found} for {line[:2000]}")
    assert not wrong, f"{len(wrong)} of {len(asked)}: " + "\n".join(wrong[:3])


def test_the_lines_of_the_documentation(asker: Any) -> None:
    page = (ROOT / "docs" / "eval.md").read_text()
    lines, answers = (re.search(rf"```{word}\n(.*?)```", page, re.S) for word in ("jsonl", "text"))
    assert lines is not None
    assert answers is not None
    asked = lines[1].splitlines()[:-1]  # the last line is malformed
    assert_same(
        asked, answer_lines(asked, asker.make, asker.trackers), [json.loads(a) for a in answers[1].splitlines()[:-1]]
    )


@pytest.fixture(scope="module")
def pack(shared: pathlib.Path) -> tuple[list[str], list[Any]]:
    """The lines of the pack, and the answers of eval."""
    with lzma.open(shared / "packs" / "queries.jsonl.xz", "rt") as file:
        lines = file.read().splitlines()
    return lines, run_eval(lines, root=str(shared))


def test_the_open_pack(pack: tuple[list[str], list[Any]], shared: pathlib.Path, asker: Any) -> None:
    lines, expected = pack
    assert len(expected) == PACK_QUESTIONS
    assert not any("error" in answer for answer in expected)
    assert_same(lines, answer_lines(lines, asker.make, asker.trackers, shared), expected)


@pytest.fixture(scope="module")
def random_lines() -> tuple[list[str], list[Any]]:
    """Random questions of each operation of eval about random maps, and the answers of eval."""
    rng = np.random.default_rng(80)
    lines = []
    for _ in range(PER_KIND // PER_WORLD):
        lines += [{"op": "scene", "polygons": map_of(rng)}, bodies_line(rng), *track_lines(rng)]
        lines += [line_of(rng, op) for op in ANSWERS for _ in range(PER_WORLD)]
    texts = [json.dumps(line) for line in lines]
    return texts, run_eval(texts)


def test_random_lines(random_lines: tuple[list[str], list[Any]], asker: Any) -> None:
    lines, expected = random_lines
    assert len(expected) == PER_KIND * len(ANSWERS)
    assert_same(lines, answer_lines(lines, asker.make, asker.trackers), expected)


@pytest.mark.parametrize("method", KINDS)
def test_random_columns_by_a_server(server: OnServer, method: str) -> None:
    """All columns of all kinds, with all options, are the same by a server as in this process."""
    rng = np.random.default_rng(81)
    for _ in range(PER_KIND // PER_WORLD):
        polygons = polygons_of(map_of(rng))
        local, other = Scene.from_polygons(polygons), server.make(polygons)
        tracked: dict[str, Any] = {"shapes": shapes(rng), "shape": rng.integers(0, 5, TRACKERS), "within": 0.5}
        for each in (ours := Trackers(), theirs := server.trackers()):
            each.define(**tracked)
        local, other = local.with_trackers(ours), other.with_trackers(theirs)
        if method != "move":
            bodies = bodies_of(rng)
            local, other = local.with_bodies(bodies), other.with_bodies(bodies)
        question = question_of(rng, method, PER_WORLD)
        here, there = local.ask(question), other.ask(question)
        assert type(here) is type(there)
        assert here.digest() == there.digest(), question
        for path, about in here._layout.rows.items():
            if path != "quiet_radius" and not about.where:
                assert here._column(path).tobytes() == there._column(path).tobytes(), path
        assert [str(error) for error in here.errors] == [str(error) for error in there.errors]


# --- Kinds against each other -----------------------------------------------------------------------------


def worlds(seed: int) -> Iterator[tuple[np.random.Generator, Scene]]:
    """Random scenes with bodies."""
    rng = np.random.default_rng(seed)
    for _ in range(PER_KIND // PER_WORLD):
        yield rng, Scene.from_polygons(polygons_of(map_of(rng))).with_bodies(bodies_of(rng))


def lattice(rng: np.random.Generator, rows: int) -> Any:
    return rng.integers(0, 33, (rows, PER_WORLD)) / 2


Check = Callable[[np.random.Generator, Scene], None]


def rays_are_segments(rng: np.random.Generator, scene: Scene) -> None:
    ax, ay, bx, by = lattice(rng, 4)
    keep = (ax != bx) | (ay != by)
    ax, ay, bx, by = ax[keep], ay[keep], bx[keep], by[keep]
    options: dict[str, Any] = {"mode": rng.choice(["closest", "all", "all_passages"]), "against": "both"}
    cast = scene.cast(ax, ay, bx, by, **options)
    rays = scene.rays(ax, ay, bx - ax, by - ay, t_min=0.0, t_max=1.0, **options)
    for path in cast._layout.rows:
        if not path.startswith("point"):  # a ray rounds by its origin
            assert cast._column(path).tobytes() == rays._column(path).tobytes(), path


def sights_are_casts_without_a_hit(rng: np.random.Generator, scene: Scene) -> None:
    ends = lattice(rng, 4)
    hit = scene.cast(*ends, mode="any", against="both").hit
    assert (scene.sights(*ends, against="both").visible == ~hit).all()


def discs_are_capsules_with_equal_ends(rng: np.random.Generator, scene: Scene) -> None:
    (x, y), radius = lattice(rng, 2), rng.integers(0, 7, PER_WORLD) / 2
    discs = scene.overlap_circles(x, y, radius, detail="edges", against="both")
    capsules = scene.overlap_capsules(x, y, x, y, radius, detail="edges", against="both")
    assert discs.digest() == capsules.digest()


def boxes_are_polygons(rng: np.random.Generator, scene: Scene) -> None:
    (x, y), (width, height) = lattice(rng, 2), rng.integers(1, 5, (2, PER_WORLD))
    boxes = scene.overlap_boxes(x, y, x + width, y + height, detail="edges", against="both")
    corners = np.stack([x, y, x + width, y, x + width, y + height, x, y + height], axis=1).reshape(-1, 4, 2)
    polygons = scene.overlap(corners, 0, np.zeros(PER_WORLD), detail="edges", against="both")
    assert boxes.digest() == polygons.digest()


def beams_along_x_are_casts(rng: np.random.Generator, scene: Scene) -> None:
    (x, y), reach = lattice(rng, 2), rng.integers(1, 20, PER_WORLD).astype(float)
    scan = scene.fans(x, y, 0.0, 1, fov=0.0, range=reach, against="both")
    hits = scene.cast(x, y, x + reach, y, against="both")
    assert scan.hits.ravel().tolist() == hits.hit.tolist()
    assert scan.distances.ravel().tolist() == (hits.dense("fraction", 1.0) * reach).tolist()
    assert scan.polygon_id.ravel()[hits.hit].tolist() == hits.polygon_id.tolist()


def straight_arcs_are_casts(rng: np.random.Generator, scene: Scene) -> None:
    ax, ay, bx, by = lattice(rng, 4)
    arcs = scene.arcs(ax, ay, bx - ax, by - ay, 0.0, 0.0, 1.0)
    casts = scene.cast(ax, ay, bx, by)
    assert arcs.polygon_id.tolist() == casts.polygon_id.tolist()
    assert ((arcs.time == casts.fraction) | (arcs.time == np.nextafter(casts.fraction, 2))).all()


def moves_without_a_turn_end_where_sweeps_do(rng: np.random.Generator, scene: Scene) -> None:
    (x, y), (to_x, to_y) = lattice(rng, 2), lattice(rng, 2)
    shape = shapes(rng)
    which = rng.integers(0, len(shape), PER_WORLD)
    turning = scene.sweep_rotating(shape, x, y, to_x, to_y, 0.01, shape=which)
    straight = scene.sweep(shape, x, y, None, None, to_x=to_x, to_y=to_y, shape=which)
    assert not turning.errors
    assert turning.hit[straight.hit].all(), "an answer without a row is a proof that there is no contact"
    first = straight.dense("fraction", np.inf)[turning.hit]
    assert (turning.low <= first).all()


def free_shapes_touch_nothing(rng: np.random.Generator, scene: Scene) -> None:
    x, y = lattice(rng, 2)
    ring = [[(-1, -1), (1, -1), (0, 1)]]
    freed = scene.depenetrate(ring, x, y)
    found = scene.overlap(ring, freed.x, freed.y)
    assert (found.hit == (freed.finished == 0)).all()
    assert ((freed.steps == 0) == ((freed.x == x) & (freed.y == y) & (freed.finished == 1))).all()


def bodies_meet_as_shapes_do(rng: np.random.Generator, scene: Scene) -> None:
    bodies = scene._bodies
    assert bodies is not None
    columns = {name: bodies.columns[f"placed.{name}"] for name in ("shape", "x", "y", "angle")}
    pairs = scene.body_contacts(np.arange(len(bodies)))
    whole = scene.contacts(bodies.shapes, **columns, against="bodies")  # type: ignore[arg-type]
    lower = whole.polygon_id < whole.item.astype(np.uint64)
    for name in ("polygon_id", "kind", "normal_x", "normal_y", "depth", "point_x", "point_y", "point_counts"):
        assert getattr(pairs, name).tolist() == getattr(whole, name)[lower].tolist(), name


def first_legs_are_casts(rng: np.random.Generator, scene: Scene) -> None:
    ax, ay, bx, by = lattice(rng, 4)
    bounces, casts = scene.bounce(ax, ay, bx, by), scene.cast(ax, ay, bx, by)
    assert (bounces.dense("has_hit") == casts.hit).all()
    assert bounces.dense("fraction")[casts.hit].tolist() == casts.fraction.tolist()
    assert bounces.dense("polygon_id")[casts.hit].tolist() == casts.polygon_id.tolist()


def slides_are_chains_of_sweeps(rng: np.random.Generator, scene: Scene) -> None:
    (x, y), (dx, dy) = lattice(rng, 2), lattice(rng, 2) - lattice(rng, 2)
    shape = [[(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]]
    slides = scene.slide(shape, x, y, dx, dy, against="both")
    legs = scene.sweep(
        shape, slides.leg_x, slides.leg_y, slides.leg_dx, slides.leg_dy, inside_policy="blocking_leave", against="both"
    )
    first = np.concatenate(([True], slides.item[1:] != slides.item[:-1])) if len(slides.item) else np.zeros(0, bool)
    assert (legs.hit[first] == slides.has_hit[first]).all()


LAWS: list[Check] = [
    rays_are_segments, sights_are_casts_without_a_hit, discs_are_capsules_with_equal_ends, boxes_are_polygons,
    beams_along_x_are_casts, straight_arcs_are_casts, moves_without_a_turn_end_where_sweeps_do,
    free_shapes_touch_nothing, bodies_meet_as_shapes_do, first_legs_are_casts, slides_are_chains_of_sweeps,
]  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_kinds_agree(law: Check) -> None:
    for rng, scene in worlds(82):
        law(rng, scene)


def test_a_group_by_a_server_is_a_group_in_this_process(server: OnServer) -> None:
    rng = np.random.default_rng(83)
    polygons = polygons_of(map_of(rng))
    bodies = bodies_of(rng)
    local, other = Scene.from_polygons(polygons).with_bodies(bodies), server.make(polygons).with_bodies(bodies)
    group = [question_of(rng, method, 50) for method in KINDS if method != "move"]
    for ours, theirs in zip(local.evaluate(*group), other.evaluate(*group), strict=True):
        assert ours.digest() == theirs.digest()
    assert other.evaluate(questions.locate(1, 1))[0].digest() == local.locate(1, 1).digest()


def test_the_comparison_finds_one_ulp() -> None:
    answer = {"hit": True, "t": 0.25, "all": [[7, 0.25]], "edge": [2**63 + 1, 0, 3], "safe": None}
    assert difference(answer, json.loads(json.dumps(answer))) is None
    assert difference({"t": 1.0, "n": 0.0}, {"t": 1, "n": 0}) is None
    for name, other in (
        ("t", np.nextafter(0.25, 1)), ("all", [[7, np.nextafter(0.25, 0)]]), ("all", [[8, 0.25]]), ("all", []),
        ("edge", [2**63, 0, 3]), ("edge", None), ("safe", 0), ("hit", False), ("hit", 1), ("t", None),
    ):  # fmt: skip
        assert difference(answer, {**answer, name: other}), (name, other)
    assert difference({"t": 0.0}, {"t": -0.0})
    assert difference({"t": 0.25}, {})
