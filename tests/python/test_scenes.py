# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Can a client make, edit, read, fork and watch the scenes of a server?"""

from __future__ import annotations

import pathlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import servers
from eval_answers import polygons_of
from random_worlds import map_of
from test_client import SQUARE

import carom
from carom import client as remote
from carom import errors
from carom.client import Client, Edits, LintOptions
from carom.local import Polygons, Scene


@pytest.fixture(scope="module")
def client(caromd: str) -> Iterator[Client]:
    with Client(caromd) as made:
        yield made


# --- Scenes ---------------------------------------------------------------------------------------


def test_a_scene_is_made_edited_listed_and_deleted(client: Client) -> None:
    made = client.create_scene("life", [SQUARE], ids=[5], categories=3, user_data=[b"wall"])
    assert (made.name, made.polygon_count, made.vertex_count, made.bounds) == ("scenes/life", 1, 4, (0, 0, 4, 3))
    with pytest.raises(errors.AlreadyExistsError) as exists:
        client.create_scene(made, [])
    assert exists.value.field == "name"
    moved = client.commit(
        "life", add=Polygons([SQUARE, SQUARE], ids=[6, 8]), replace=Polygons([[(1, 1), (2, 1), (2, 2)]], ids=[5])
    )
    assert (moved.polygon_count, moved.vertex_count) == (3, 11)
    assert moved.version > made.version
    assert client.get_scene("life", version=made.version).polygon_count == 1
    last = client.commit("life", remove=[6], base_version=moved.version)
    with pytest.raises(errors.AbortedError):
        client.commit("life", remove=[8], base_version=moved.version)
    with pytest.raises(errors.NotFoundError) as missing:
        client.commit("life", add=Polygons([SQUARE], ids=[1]), remove=[77])
    assert missing.value.field == "edits[1].remove"
    history = client.versions("life")
    assert [each.scene.version for each in history][-3:] == [made.version, moved.version, last.version]
    assert history[-1].edit_id != history[-2].edit_id
    assert abs(history[-1].created.timestamp() - time.time()) < 60
    exported = client.export_polygons("life")
    assert exported.id.tolist() == [5, 8]
    scene = client.export_scene("life", version=last.version)
    assert scene.version == last.version
    assert scene.to_bundle() == client.export_bundle("life")
    assert [found.version for found in client.list_scenes() if found.name == "scenes/life"] == [last.version]
    client.delete_scene("life", version=last.version)
    for call in (client.get_scene, client.export_scene, client.versions, client.delete_scene):
        with pytest.raises(errors.NotFoundError):
            call("life")


def test_a_commit_with_an_id_happens_once(client: Client) -> None:
    client.create_scene("once", [])
    edits = {"add": Polygons([SQUARE], ids=[1]), "edit_id": "first"}
    made = client.commit("once", **edits)  # type: ignore[arg-type]
    assert client.commit("once", **edits) == made  # type: ignore[arg-type]
    assert client.versions("once")[-1].edit_id == "first"
    with pytest.raises(errors.AlreadyExistsError):
        client.commit("once", add=Polygons([SQUARE], ids=[1]))
    with pytest.raises(errors.InvalidArgumentError) as caught:
        client.commit("once", edit_id="x" * 65)
    assert caught.value.field == "edit_id"


def test_imports_take_what_polygons_scenes_and_bundles_are(client: Client, tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(9)
    polygons = polygons_of(map_of(rng))
    scene = Scene.from_polygons(polygons)
    scene.save(tmp_path / "map.carom")
    sources: list[Any] = [polygons, scene, scene.to_bundle(), tmp_path / "map.carom", str(tmp_path / "map.carom")]
    for source in sources:
        client.import_scene("import", source, replace=True)
        assert client.export_bundle("import") == scene.to_bundle()
    with pytest.raises(errors.AlreadyExistsError):
        client.import_scene("import", polygons)
    assert client.import_scene("import", {"type": "Polygon", "coordinates": [[*SQUARE, SQUARE[0]]]}, replace=True,
                               ids=[3]).vertex_count == 4  # fmt: skip


def test_an_import_larger_than_messages_comes_back(client: Client) -> None:
    rng = np.random.default_rng(10)
    sizes = [[5], [140000], [3, 65000, 65535, 2], [4]] + [[5]] * 20000
    polygons = Polygons(
        [[rng.normal(size=(size, 2)) for size in rings] for rings in sizes], user_data=[b"data"] * len(sizes)
    )
    made = client.import_scene("large", polygons)
    assert made.vertex_count == len(polygons.x)
    found = client.export_polygons("large")
    for name in ("id", "ring_count", "ring_size", "x", "y", "user_data", "user_data_size"):
        assert np.array_equal(getattr(found, name), getattr(polygons, name)), name
    client.delete_scene("large")
    client.create_scene("large", polygons)  # which is an import, as it needs several messages
    assert client.get_scene("large").vertex_count == len(polygons.x)
    client.delete_scene("large")


def test_polygons_that_are_refused_name_their_place(client: Client) -> None:
    broken = [SQUARE, [(0, 0), (np.nan, 1), (1, 1)]]
    for call in (client.create_scene, client.import_scene):
        with pytest.raises(errors.InvalidArgumentError) as caught:
            call("broken", broken)
        assert caught.value.field == "polygons[1].rings[0].x[1]"
        assert caught.value.message == "must be finite and at most 2^53 in magnitude"
    with pytest.raises(errors.InvalidArgumentError) as twice:
        client.create_scene("broken", [SQUARE, SQUARE, SQUARE], ids=[1, 1, 1])
    assert len(twice.value.violations) == 2
    assert twice.value.field == "polygons[1].id"
    with pytest.raises(errors.InvalidArgumentError) as name:
        client.create_scene("Not A Name", [SQUARE])
    assert name.value.field == "name"


def test_a_rollback_makes_a_version(client: Client) -> None:
    client.create_scene("back", [SQUARE])
    fork = client.fork("back", lease=60)
    later = client.commit(fork, remove=[0])
    again = client.rollback(fork, fork.version, base_version=later.version)
    assert (again.polygon_count, again.version > later.version) == (1, True)
    with pytest.raises(errors.OutOfRangeError):
        client.rollback("back", 12345678)


def test_lint(client: Client) -> None:
    client.create_scene("lint", [SQUARE])
    assert client.lint("lint") == []
    with pytest.raises(errors.NotFoundError):
        client.lint("nowhere")


def test_lint_takes_the_options_of_the_request(client: Client) -> None:
    room = Polygons([[(6, 0), (10, 0), (10, 10), (0, 10), (0, 0), (4, 0)]], open=True, solidity="boundary")
    made = client.create_scene("room", room)
    gap = client.lint("room", version=made.version, gap_radius=1.5)
    assert [(each.kind, each.x, each.other_x, each.measure, each.outline) for each in gap] == [(10, 6, 4, 2, ())]
    assert client.lint("room", version=made.version, gap_radius=1) == []
    disc: LintOptions = {"version": made.version, "kinds": [13], "mover_radius": 1.5, "from_y": [-5]}
    (pocket,) = client.lint("room", from_x=[5], **disc)
    assert (pocket.measure, set(pocket.outline)) == (100, {(6, 0), (10, 0), (10, 10), (0, 10), (0, 0), (4, 0)})
    client.commit("room", add=Polygons([SQUARE, SQUARE], ids=[7, 8]))
    assert [each.polygon_id for each in client.lint("room", kinds=9)] == [8]
    assert len(client.lint("room", winding="cw", kinds=[7])) == 2
    assert len(client.lint("room", winding="cw", kinds=[7], max_findings=1)) == 1
    assert client.lint("room", winding="ccw", kinds=[7]) == []
    assert client.lint("room", lattice_pitch=0.5, near_distance=1e-6, kinds=[12, 11]) == []
    with pytest.raises(TypeError, match="radius"):
        client.lint("room", radius=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("field", "value"),
    [("gap_radius", -1), ("gap_radius", "1"), ("kinds", [99]), ("kinds", [0.5]), ("winding", "up"),
     ("max_findings", -1), ("version", 1.5), ("from_x", [1]), ("lattice_pitch", [1, 2])],
)  # fmt: skip
def test_lint_refuses_an_option_by_name(client: Client, field: str, value: object) -> None:
    client.create_scene("refused", [SQUARE])
    with pytest.raises(errors.CaromError) as refused:
        client.lint("refused", **{field: value})  # type: ignore[arg-type]
    assert (refused.value.field or "").startswith(field)
    client.delete_scene("refused")


def test_versions_are_pinned_and_awaited(client: Client) -> None:
    first = client.create_scene("pin", [SQUARE])
    second = client.commit("pin", remove=[0])
    assert client.scene("pin", version=first.version).locate(1.0, 1.0).counts.tolist() == [1]
    now = client.scene(second, min_version=second.version).locate(1.0, 1.0)
    assert (now.counts.tolist(), now.version) == ([0], second.version)
    with pytest.raises(errors.OutOfRangeError) as caught:
        client.scene("pin", version=12345678).locate(1.0, 1.0)
    assert caught.value.field == "version"
    with pytest.raises(errors.UnavailableError) as waiting:
        client.scene("pin", min_version=12345678, deadline=5.0).locate(1.0, 1.0)
    assert waiting.value.field == "min_version"
    later = threading.Timer(0.1, client.commit, ("pin",))
    later.start()
    awaited = client.scene("pin", min_version=second.version + 1).locate(1.0, 1.0)
    assert awaited.version > second.version
    later.join()


# --- Forks ----------------------------------------------------------------------------------------


def test_a_fork_is_edited_by_frames(client: Client) -> None:
    base = client.create_scene("base", [SQUARE], ids=[1])
    fork = client.fork("base")
    assert (fork.base, fork.base_version) == ("scenes/base", base.version)
    frame = carom.Frame()
    edits = Edits(add=Polygons([[(x + 10, y) for x, y in SQUARE]], ids=[2]), remove=[1], edit_id="a")
    group = frame.group(fork, edits=edits)
    question = group.locate([1.0, 11.0], [1.0, 1.0])
    for _ in range(2):  # edits with an id are made once
        answer = client.evaluate(frame)
        assert answer[question].polygon_id.tolist() == [2]
        assert answer.groups[0].edited_version == answer.groups[0].version
    assert client.scene("base").locate(1.0, 1.0).polygon_id.tolist() == [1]
    frame = carom.Frame()
    frame.group("base", edits=Edits(remove=[1])).locate(1.0, 1.0)
    refused = client.evaluate(frame).groups[0].error
    assert isinstance(refused, errors.FailedPreconditionError)
    assert refused.field == "edits"
    named = client.fork(fork, name="fork-of-fork", version=fork.version)
    assert named.name == "scenes/fork-of-fork"
    with pytest.raises(errors.AlreadyExistsError):
        client.fork("base", name="fork-of-fork")
    for lease in (0, -1, "x"):
        with pytest.raises(errors.InvalidArgumentError, match="lease"):
            client.fork("base", lease=lease)  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidArgumentError) as long:
        client.fork("base", lease=10**6)
    assert long.value.field == "lease_seconds"


# --- Watches --------------------------------------------------------------------------------------


def test_a_watch_returns_each_version_with_its_changes(client: Client) -> None:
    first = client.create_scene("watch", [SQUARE, SQUARE], ids=[1, 2])
    with client.watch("watch", polygons=True) as watch:
        whole = next(watch)
        assert (whole.scene.version, whole.base_version, len(whole.polygon_id)) == (first.version, 0, 0)
        assert whole.polygons is not None
        assert whole.polygons.id.tolist() == [1, 2]
        triangle = Polygons([[(10, 0), (11, 0), (11, 9)]], ids=[2])
        second = client.commit("watch", replace=triangle, remove=[1], add=Polygons([SQUARE], ids=[9]), edit_id="e")
        update = next(watch)
        assert (update.scene.version, update.base_version, update.edit_id) == (second.version, first.version, "e")
        assert update.polygon_id.tolist() == [1, 2, 9]
        kinds = remote.PolygonChange
        assert update.change.tolist() == [kinds.REMOVED, kinds.REPLACED, kinds.ADDED]
        assert update.box.tolist() == [[0, 0, 4, 3], [0, 0, 11, 9], [0, 0, 4, 3]]
        assert update.polygons is not None
        assert update.polygons.id.tolist() == [2, 9]
        assert watch.version == second.version
    assert list(watch) == []
    with client.watch("watch", from_version=first.version) as later:
        assert next(later).polygons is None
        client.delete_scene("watch")
        with pytest.raises(errors.NotFoundError):
            next(later)
        with pytest.raises(errors.NotFoundError):
            next(later)


def test_a_watch_is_cancelled_by_another_thread(client: Client) -> None:
    client.create_scene("quiet", [])
    watch = client.watch("quiet")
    next(watch)
    timer = threading.Timer(0.1, watch.cancel)
    timer.start()
    assert list(watch) == []
    timer.join()


def test_a_watch_continues_after_a_crash_of_the_server(tmp_path: pathlib.Path) -> None:
    with servers.caromd(tmp_path / "state", store="sqlite") as server, Client(server.address) as client:
        client.create_scene("kept", [SQUARE])
        watch = client.watch("kept")
        first = next(watch)
        server.kill()
        server.start()
        second = client.commit("kept", remove=[0])
        update = next(watch)
        assert (update.base_version, update.scene.version) == (first.scene.version, second.version)
        server.kill()
        with client.watch("kept", reconnect_timeout=0) as given_up, pytest.raises(errors.UnavailableError):
            next(given_up)
        watch.cancel()
