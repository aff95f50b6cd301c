# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Does a client get from a server what a scene in this process answers, and is every failure an exception?"""

from __future__ import annotations

import os
import pathlib
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import servers
from conftest import LONG, program
from eval_answers import polygons_of
from random_worlds import KINDS, TRACKERS, arguments_of, bodies_of, map_of, question_of, shapes

import carom
from carom import client as remote
from carom import errors, questions
from carom._answers import Answers
from carom.client import Client, Edits
from carom.local import Scene, Trackers

SQUARE = [(0, 0), (4, 0), (4, 3), (0, 3)]
ROUNDS = 40 if LONG else 4


@pytest.fixture(scope="module")
def client(caromd: str) -> Iterator[Client]:
    with Client(caromd) as made:
        yield made


class World:
    """The same scene, bodies and trackers in this process and on a server."""

    def __init__(self, client: Client, name: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.polygons = polygons_of(map_of(rng))
        self.bodies = bodies_of(rng)
        self.within = float(rng.choice([0, 0.5]))
        self.shapes = shapes(rng)
        self.shape = rng.integers(0, 5, TRACKERS)
        here, self.trackers = Trackers(), remote.Trackers()
        for trackers in (here, self.trackers):
            trackers.define(self.shapes, shape=self.shape, within=self.within)
        client.create_scene(name, self.polygons)
        self.local = Scene.from_polygons(self.polygons).with_bodies(self.bodies).with_trackers(here)
        self.remote = client.scene(name).with_bodies(self.bodies).with_trackers(self.trackers)


@pytest.fixture(scope="module")
def world(client: Client) -> World:
    return World(client, "parity", 20)


def expect_same(found: Answers, expected: Answers) -> None:
    """Every column, digest, error and number of items."""
    assert type(found) is type(expected)
    assert len(found) == len(expected)
    for path, about in expected._layout.rows.items():
        if path == "quiet_radius":
            continue
        mine, theirs = found._column(path), expected._column(path)
        assert mine.dtype == theirs.dtype, path
        assert len(mine) == len(theirs), path
        if about.where and len(mine):
            where = theirs_where = expected._column(about.where) != 0
            mine, theirs = mine[where], theirs[theirs_where]
        assert mine.tobytes() == np.ascontiguousarray(theirs).tobytes(), path
        assert not found._column(path).flags.writeable
        assert found._column(path).flags.aligned
    assert found.digest() == expected.digest()
    assert [str(error) for error in found.errors] == [str(error) for error in expected.errors]
    assert [error.fault for error in found.errors] == [error.fault for error in expected.errors]
    assert found.error.tolist() == expected.error.tolist()
    assert found.offsets.tolist() == expected.offsets.tolist()


# --- The same answers -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", sorted(KINDS))
def test_a_server_answers_as_a_scene_in_this_process(world: World, method: str) -> None:
    rng = np.random.default_rng(len(method))
    for items in (1, 7, *rng.integers(1, 200, ROUNDS)):
        question = question_of(rng, method, int(items))
        expect_same(world.remote.ask(question), world.local.ask(question))


def changed(arguments: dict[str, Any], count: int, change: Callable[[str, Any], Any]) -> dict[str, Any]:
    """Arguments with other columns, where these have an entry for each item."""
    return {
        name: change(name, value.copy()) if isinstance(value, np.ndarray) and len(value) == count else value
        for name, value in arguments.items()
    }


@pytest.mark.parametrize("method", sorted(KINDS))
def test_questions_without_items_have_empty_answers(world: World, method: str) -> None:
    arguments = arguments_of(np.random.default_rng(1), method, 3)
    if method == "slide":
        arguments |= {"pushes": None, "dx": np.zeros(3), "dy": np.zeros(3)}
    question = getattr(questions, method)(**changed(arguments, 3, lambda _, value: value[:0]))
    assert question.items == 0
    expect_same(world.remote.ask(question), world.local.ask(question))


@pytest.mark.parametrize("method", sorted(KINDS))
def test_items_in_error_are_the_same(world: World, method: str) -> None:
    rng = np.random.default_rng(99 + len(method))
    count = 40

    def spoil(name: str, value: Any) -> Any:
        if value.dtype == np.float64:
            value[rng.integers(0, count, 4)] = rng.choice([np.nan, np.inf, -1e300, -3.0], 4)
        elif name not in ("pushes", "ignore_owner", "masks"):
            value[rng.integers(0, count, 2)] = 77777
        return value

    question = getattr(questions, method)(**changed(arguments_of(rng, method, count), count, spoil))
    found, expected = world.remote.ask(question), world.local.ask(question)
    expect_same(found, expected)
    assert len(expected.errors) > 0
    with pytest.raises(errors.ItemError) as caught:
        world.remote.ask(question, strict=True)
    assert str(caught.value) == str(expected.errors[0])


def test_several_questions_are_one_call(world: World) -> None:
    rng = np.random.default_rng(5)
    asked = [question_of(rng, method, 30) for method in sorted(KINDS)]
    for found, expected in zip(world.remote.evaluate(*asked), world.local.evaluate(*asked), strict=True):
        expect_same(found, expected)


def test_items_and_out_and_slices(world: World) -> None:
    rng = np.random.default_rng(6)
    first, second = question_of(rng, "cast", 50), question_of(rng, "cast", 60)
    hits = world.remote.ask(first)
    kept = hits.fraction
    before = kept.copy()
    assert world.remote.ask(second, out=hits) is hits
    assert np.array_equal(kept, before)
    expect_same(hits, world.local.ask(second))
    for mine, theirs in zip(hits, world.local.ask(second), strict=True):
        assert mine.counts.tolist() == theirs.counts.tolist()
        assert mine.point.tolist() == theirs.point.tolist()


def test_methods_of_a_scene_take_the_same_arguments(client: Client) -> None:
    client.create_scene("one-line", [SQUARE], ids=[7])
    for scene in (client.scene("one-line"), Scene.from_polygons([SQUARE], ids=[7])):
        hits = scene.cast([-2, -2, -2], [1, 9, 0], [6, 6, 6], [1, 9, 0], mode="all")
        assert hits.counts.tolist() == [1, 0, 1]
        assert hits.point.tolist() == [[0, 1], [0, 0]]
        assert hits.feature.tolist() == [carom.Feature.EDGE, carom.Feature.VERTEX]
        assert scene.locate(1.0, 1.0).location.tolist() == [carom.Location.INSIDE]
        assert scene.contacts(carom.box(2, 2), [0.0], [1.0]).kind.tolist() == [carom.ContactKind.CONVEX]
        assert scene.fans([2.0], [5.0], 0.0, 8, fov=3.0, range=9.0).distances.shape == (1, 8)
        assert scene.overlap_circles(1.0, 1.0, 0.5, mask=2).counts.tolist() == [0]
        with pytest.raises(errors.InvalidArgumentError) as caught:
            scene.cast(0.0, 0.0, 1.0, 1.0, max_hits=70000)
        assert caught.value.field == "segments.max_hits"
        assert str(caught.value) == "INVALID_ARGUMENT: segments.max_hits: must be in [1, 65536]"


def test_a_large_polygon_makes_multi_byte_columns(client: Client) -> None:
    angle = np.linspace(0, 2 * np.pi, 40000, endpoint=False)
    round_one = np.stack((np.cos(angle), np.sin(angle)), axis=1) * 10
    client.import_scene("round", [round_one], ids=[2**64 - 1])
    rng = np.random.default_rng(7)
    question = questions.cast(*rng.uniform(-12, 12, (4, 500)), mode="all_passages")
    expect_same(client.scene("round").ask(question), Scene.from_polygons([round_one], ids=[2**64 - 1]).ask(question))
    assert client.scene("round").ask(question).edge.max() > 2**14


# --- Frames ---------------------------------------------------------------------------------------


def test_a_frame_asks_several_scenes(client: Client, world: World) -> None:
    client.create_scene("frame-a", [SQUARE], ids=[1])
    client.create_scene("frame-b", [[(x + 10, y) for x, y in SQUARE]], ids=[2])
    frame = carom.Frame(seq=77, budget=5.0)
    a, b, bad = frame.group("frame-a"), frame.group(client.scene("frame-b")), frame.group("frame-missing")
    first, second = a.locate([1.0, 11.0], [1.0, 1.0]), b.locate([1.0, 11.0], [1.0, 1.0])
    lost, casts = bad.locate(1.0, 1.0), b.cast(-1.0, 1.0, 20.0, 1.0)
    answer = client.evaluate(frame)
    assert answer.seq == 77
    assert answer[first].polygon_id.tolist() == [1]
    assert answer[second].counts.tolist() == [0, 1]
    assert answer.groups[1][casts].polygon_id.tolist() == [2]
    assert answer[first] is answer[first]
    for reason in (lambda: answer[lost], answer.groups[2].check):
        with pytest.raises(errors.NotFoundError) as caught:
            reason()
        assert caught.value.field == "scene"
    assert answer.groups[2].error is not None
    assert answer.stats.work_units > 0
    assert answer.stats.elapsed_ns > 0
    with pytest.raises(errors.InvalidArgumentError, match="not one of the frame"):
        answer[questions.locate(0.0, 0.0)]
    with pytest.raises(errors.InvalidArgumentError, match="second of the kind locate"):
        a.locate(0.0, 0.0)


def test_a_question_in_several_groups_is_found_by_group(client: Client) -> None:
    made = client.create_scene("several", [SQUARE])
    frame = carom.Frame()
    question = questions.locate(1.0, 1.0)
    for version in (0, made.version):
        frame.group("several", version=version).ask(question)
    answer = client.evaluate(frame)
    with pytest.raises(errors.InvalidArgumentError, match="in several groups"):
        answer[question]
    assert all(group[question].counts.tolist() == [1] for group in answer.groups)


def test_bodies_and_trackers_of_a_frame(client: Client, world: World) -> None:
    frame = carom.Frame(coherence="off")
    frame.define_trackers(world.shapes, shape=world.shape, within=world.within)
    frame.remove_trackers([3, 70])
    group = frame.group(world.remote, bodies=world.bodies)
    rng = np.random.default_rng(8)
    asked = [group.ask(question_of(rng, method, 20)) for method in ("move", "cast", "body_contacts")]
    answer = client.evaluate(frame)
    for question in asked:
        expect_same(answer[question], world.local.ask(question))
    assert answer.stats.cold_moves == 20
    frame = carom.Frame(coherence="on")
    frame.group("parity").move([0.0], [0.0], coherence="off")
    with pytest.raises(errors.InvalidArgumentError, match="coherence"):
        client.evaluate(frame)


def test_a_frame_that_is_refused_raises(client: Client) -> None:
    frame = carom.Frame()
    frame.define_trackers([SQUARE], tracker=[2**31])
    with pytest.raises(errors.ResourceExhaustedError) as caught:
        client.evaluate(frame)
    assert caught.value.field.startswith("trackers[0]")
    many = carom.Frame()
    many.group("parity").cast(*np.zeros((4, 70000)))
    with pytest.raises(errors.ResourceExhaustedError, match="65536"):
        client.evaluate(many)
    options: list[dict[str, Any]] = [{"budget": 61.0}, {"budget": -1.0}, {"seq": -1}, {"coherence": "no"}]
    for each in options:
        with pytest.raises(errors.InvalidArgumentError) as refused:
            carom.Frame(**each)
        assert refused.value.field in each


# --- Pictures -------------------------------------------------------------------------------------


def test_pictures_are_those_of_a_scene_in_this_process(client: Client, world: World) -> None:
    rng = np.random.default_rng(11)
    question = question_of(rng, "cast", 5)
    assert world.remote.ask(question)._repr_svg_() == world.local.ask(question)._repr_svg_()
    bare, local = client.scene("parity"), Scene.from_polygons(world.polygons)
    assert bare._repr_svg_() == local._repr_svg_()
    assert bare.locate(1.0, 1.0)[0]._repr_svg_() == local.locate(1.0, 1.0)._repr_svg_()
    moves = world.remote.ask(question_of(rng, "move", 3))
    assert moves._repr_svg_().startswith("<svg")


def test_a_picture_of_an_old_version_is_of_that_version(client: Client) -> None:
    client.create_scene("old", [SQUARE])
    fork = client.fork("old")
    hits = client.scene(fork).locate(1.0, 1.0)
    client.commit(fork, remove=[0])
    assert hits._repr_svg_() == Scene.from_polygons([SQUARE]).locate(1.0, 1.0)._repr_svg_()


# --- Failures -------------------------------------------------------------------------------------


MALFORMED = ["", "localhost", "h:0", "h:99999", "http://x:1", "a:b:1", "::1:7", ":7", 7, "unix:", ["h:1", "x"], []]


@pytest.mark.parametrize("address", MALFORMED)
def test_malformed_addresses_are_refused(address: Any) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        Client(address)
    assert caught.value.field == "addresses"


def test_options_out_of_range_are_refused(client: Client) -> None:
    for name, value in (("deadline", 0), ("deadline", "x"), ("keepalive", 1), ("max_receive_bytes", 1)):
        with pytest.raises(errors.InvalidArgumentError) as caught:
            Client("localhost:1", **{name: value})  # type: ignore[arg-type]
        assert caught.value.field == name
    for call in (
        lambda: client.get_scene("parity", deadline=-5.0),
        lambda: client.scene(7),  # type: ignore[arg-type]
        lambda: client.scene("\udc80"),
        lambda: client.watch("x", from_version=-1),
        lambda: client.stream(max_in_flight=0),
        lambda: client.stream(reconnect_timeout=-1.0),
    ):
        with pytest.raises(errors.InvalidArgumentError):
            call()


BAD: Any = object()
REFUSED: list[tuple[str, Callable[[Client], Any]]] = [
    ("frame", lambda client: client.evaluate(BAD)),
    ("frame", lambda client: client.stream().send(BAD)),
    ("question", lambda client: client.scene("parity").ask(BAD)),
    ("question", lambda client: carom.Frame().group("x").ask(BAD)),
    ("bodies", lambda client: client.scene("parity").with_bodies(BAD)),
    ("bodies", lambda client: carom.Frame().group("x", bodies=BAD)),
    ("trackers", lambda client: client.scene("parity").with_trackers(BAD)),
    ("edits", lambda client: carom.Frame().group("x", edits=BAD)),
    ("scene", lambda client: carom.Frame().group(BAD)),
    ("min_version", lambda client: carom.Frame().group("x", min_version=-1)),
    ("budget", lambda client: carom.Frame(budget=BAD)),
    ("within", lambda client: carom.Frame().define_trackers([SQUARE], within=BAD)),
    ("mask", lambda client: carom.Frame().define_trackers([SQUARE], mask=0)),
    ("first_tracker", lambda client: carom.Frame().define_trackers([SQUARE], first_tracker=-1)),
    ("remove", lambda client: carom.Frame().remove_trackers([0.5])),
    ("keepalive", lambda client: Client("h:1", keepalive=BAD)),
    ("version", lambda client: client.get_scene("x", version=BAD)),
    ("version", lambda client: client.export_scene("x", version=-1)),
    ("version", lambda client: client.delete_scene("x", version=2**64)),
    ("version", lambda client: client.rollback("x", BAD)),
    ("base_version", lambda client: client.commit("x", base_version=BAD)),
    ("remove", lambda client: client.commit("x", remove=[-1])),
    ("edit_id", lambda client: client.commit("x", edit_id=BAD)),
    ("edit_id", lambda client: client.commit("x", edit_id="\ud800")),
    ("edit_id", lambda client: client.evaluate(edited())),
    ("name", lambda client: client.fork("x", name=BAD)),
    ("base", lambda client: client.fork(BAD)),
    ("polygons", lambda client: client.create_scene("x", BAD)),
    ("reconnect_timeout", lambda client: client.watch("x", reconnect_timeout=BAD)),
    ("timeout", lambda client: client.stream().receive(timeout=-1)),
]


def edited() -> carom.Frame:
    """A frame with an id of edits that is no text."""
    frame = carom.Frame()
    frame.group("x", edits=Edits(edit_id=BAD))
    return frame


@pytest.mark.parametrize(("field", "call"), REFUSED)
def test_values_of_other_types_are_refused(client: Client, field: str, call: Callable[[Client], Any]) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        call(client)
    assert caught.value.field == field


def test_a_socket_of_the_machine(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "carom.sock"
    process = subprocess.Popen(
        [program("CAROMD_BINARY"), "--address", f"unix:{path}", "--admin-address", "off", "--store", "memory"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert b"listening on" in process.stdout.readline()
        with Client(f"unix:{path}", token="unused-but-sent") as client:
            assert client.list_scenes() == []
    finally:
        process.kill()
        process.communicate()


def test_a_server_that_is_gone_is_unavailable_within_the_deadline() -> None:
    address = f"127.0.0.1:{servers.unused_port()}"
    client = Client(address, deadline=1.0)
    began = time.monotonic()
    with pytest.raises((errors.UnavailableError, errors.DeadlineExceededError)):
        client.get_scene("x")
    assert time.monotonic() - began < 5
    client.close()
    with Client(address, deadline=20.0) as client, pytest.raises(errors.UnavailableError):
        client.delete_scene("x")


def test_calls_go_to_the_next_server(caromd: str) -> None:
    with Client([f"127.0.0.1:{servers.unused_port()}", caromd]) as client:
        began = time.monotonic()
        assert isinstance(client.list_scenes(), list)
        assert time.monotonic() - began < 5
        client.create_scene("second-server", [])


def test_a_silent_server_ends_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = Client(f"127.0.0.1:{silent.getsockname()[1]}", deadline=0.5)
        began = time.monotonic()
        with pytest.raises(errors.DeadlineExceededError):
            client.scene("x").locate(0.0, 0.0)
        assert 0.4 < time.monotonic() - began < 5
        client.close()


def test_a_client_that_is_closed_says_so(caromd: str) -> None:
    client = Client(caromd)
    assert isinstance(client.list_scenes(), list)
    scene, watch = client.scene("x"), client.watch("x")
    client.close()
    for call in (client.list_scenes, lambda: scene.locate(0.0, 0.0), client.stream, lambda: next(watch)):
        with pytest.raises(errors.FailedPreconditionError) as caught:
            call()
        assert caught.value.field == "client"
    client.close()


def test_threads_share_a_client(world: World) -> None:
    rng = np.random.default_rng(12)
    asked = [question_of(rng, "cast", 50) for _ in range(8)]
    expected = [world.local.ask(question).digest() for question in asked]
    failures: list[BaseException] = []

    def run() -> None:
        try:
            for _ in range(5):
                assert [world.remote.ask(question).digest() for question in asked] == expected
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_forked_child_gets_an_exception(client: Client) -> None:
    client.create_scene("parent", [SQUARE])
    stream, watch = client.stream(), client.watch("parent")
    next(watch)
    stream.send(carom.Frame())
    calls = [
        client.list_scenes, client.scene("parent").summary, lambda: client.scene("parent").locate(0.0, 0.0),
        lambda: stream.send(carom.Frame()), stream.receive, stream.finish, stream.cancel, lambda: next(watch),
        watch.cancel,
    ]  # fmt: skip
    child = os.fork()
    if child == 0:
        refused = 0
        for call in calls:
            try:
                call()  # type: ignore[operator]
            except errors.FailedPreconditionError as error:
                refused += error.field == "client"
        client.close()
        os._exit(len(calls) - refused)
    deadline = time.monotonic() + 20
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child does not end")
        time.sleep(0.01)
    assert stream.receive().groups == []
    watch.cancel()
    stream.finish()
    assert client.get_scene("parent").polygon_count == 1
