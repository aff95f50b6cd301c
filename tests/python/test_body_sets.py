# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Are items answered as of their moments, by a server as in this process, also after a stream broke?"""

from __future__ import annotations

import asyncio
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import servers
from conftest import LONG
from eval_answers import polygons_of
from random_worlds import BODIES, KINDS, Rng, lattice, map_of, question_of, shapes
from test_client import SQUARE, expect_same

import carom
from carom import aio, disc, errors, questions
from carom._histories import define, pose
from carom._remote.body_sets import BodySetTable, Definition, Tick, tick_of
from carom._remote.values import StreamLimits
from carom.client import Client, Edits, GroupAnswer, Stream
from carom.local import Bodies, BodyHistory, Scene

FIRST, TICKS = 100, 5
ROUNDS = 30 if LONG else 3
WITH_MOMENTS = [
    "cast", "locate", "overlap_circles", "overlap", "rays", "overlap_capsules", "overlap_boxes", "nearest", "contacts",
    "sweep", "arcs", "sights", "fans", "slide", "areas", "sees",
]  # fmt: skip


@pytest.fixture(scope="module")
def client(caromd: str) -> Iterator[Client]:
    with Client(caromd) as made:
        yield made


class World:
    """Bodies at several ticks, whose positions are floats or not."""

    def __init__(self, rng: Rng, rotation: str | None) -> None:
        self.polygons = polygons_of(map_of(rng))
        self.scene = Scene.from_polygons(self.polygons)
        self.bodies: dict[str, Any] = {
            "shapes": shapes(rng), "shape": rng.integers(0, 5, BODIES), "category": rng.choice([1, 1, 2], BODIES),
            "owner": rng.integers(0, 4, BODIES),
        }  # fmt: skip
        self.ticks = [self.poses(rng, rotation) for _ in range(TICKS)]

    def poses(self, rng: Rng, rotation: str | None) -> dict[str, Any]:
        x, y = lattice(rng, 2, BODIES) + (0.1 if rng.random() < 0.5 else 0)
        made: dict[str, Any] = {"x": x, "y": y, "alive": rng.random(BODIES) < 0.8}
        made["teleported"] = rng.random(BODIES) < 0.2
        angle = rng.uniform(-4, 4, BODIES)
        turned = {"angle": {"angle": angle}, "cosine": {"c": np.cos(angle), "s": np.sin(angle)}}
        return made | turned.get(str(rotation), {})

    def at(self, index: int) -> Bodies:
        """The bodies of a tick, as a group has them: category 0 for those that are not alive."""
        poses = dict(self.ticks[index])
        alive = poses.pop("alive")
        poses.pop("teleported")
        return Bodies(**{**self.bodies, "category": np.where(alive, self.bodies["category"], 0)}, **poses)

    def history(self) -> BodyHistory:
        made = BodyHistory(**self.bodies)
        for i, poses in enumerate(self.ticks):
            made.add(FIRST + i, **poses)
        return made

    def define(self, frame: carom.Frame, body_set: int, fork: str | None = None) -> None:
        frame.define_body_set(body_set, **self.bodies, fork=fork)
        for i, poses in enumerate(self.ticks):
            frame.add_poses(body_set, FIRST + i, **poses)


def as_of(question: Any, moments: Any) -> Any:
    """The same question with moments of its items."""
    columns = [*question.arrays()]
    names = [spec.name for spec in question.kind.question.columns]
    columns[names.index("as_of")] = np.broadcast_to(np.asarray(moments, np.float64), question.items)
    options = [option or None for option in question.options]
    return carom.Question(question.kind, question.answers, tuple(columns), tuple(options), question.shapes)


# --- The law --------------------------------------------------------------------------------------


def test_the_kinds_with_moments_are_those_that_ask_bodies() -> None:
    found = [kind for kind in KINDS if "as_of" in [spec.name for spec in question_kind(kind).question.columns]]
    assert sorted(found) == sorted(WITH_MOMENTS)


def question_kind(method: str) -> Any:
    return question_of(np.random.default_rng(0), method, 1).kind


@pytest.mark.parametrize("rotation", [None, "angle", "cosine"])
@pytest.mark.parametrize("method", WITH_MOMENTS)
def test_as_of_a_tick_equals_a_group_with_the_poses_of_the_tick(client: Client, method: str, rotation: str) -> None:
    rng = np.random.default_rng([*method.encode(), len(str(rotation))])
    for _ in range(ROUNDS):
        world = World(rng, rotation)
        client.import_scene("law", world.polygons, replace=True)
        for index in range(TICKS):
            question = question_of(rng, method, 25)
            frame = carom.Frame()
            world.define(frame, 3)
            now = frame.group("law", bodies=world.at(index)).ask(question)
            past = frame.group("law", body_set=3).ask(as_of(question, FIRST + index))
            answer = client.evaluate(frame)
            expect_same(answer[past], answer[now])
            expect_same(answer[past], world.scene.with_body_history(world.history()).ask(past))
            expect_same(answer[now], world.scene.with_bodies(world.at(index)).ask(now))


@pytest.mark.parametrize("rotation", ["nearest", "linear"])
@pytest.mark.parametrize("method", WITH_MOMENTS)
def test_a_server_answers_moments_as_a_history_in_this_process(client: Client, method: str, rotation: Any) -> None:
    rng = np.random.default_rng([*method.encode(), len(rotation)])
    for _ in range(ROUNDS):
        world = World(rng, "angle")
        client.import_scene("moments", world.polygons, replace=True)
        moments = rng.choice([99.5, 100.0, 100.25, 100.5, 101.75, 103.0, 103.125, 104.0, 104.5, np.nan], 40)
        question = as_of(question_of(rng, method, 40), moments)
        frame = carom.Frame()
        world.define(frame, 3)
        frame.group("moments", body_set=3, rotation=rotation).ask(question)
        answer = client.evaluate(frame)[question]
        expect_same(answer, world.scene.with_body_history(world.history(), rotation=rotation).ask(question))
        outside = np.flatnonzero(~((moments >= 100) & (moments <= 104)))
        assert set(outside) <= {error.index for error in answer.errors}
        for error in answer.errors:
            assert (error.index in outside) == (error.column == "as_of")


# --- In this process ------------------------------------------------------------------------------


def a_disc(keep_ticks: int | None = None) -> BodyHistory:
    """A disc of radius 1 at (8, 1) and (12, 1), at ticks 100 and 101: the example of carom/body_history.h."""
    history = BodyHistory(disc(1), keep_ticks=keep_ticks)
    history.add(100, [8], [1])
    history.add(101, [12], [1])
    return history


def test_a_moment_between_two_ticks() -> None:
    history = a_disc()
    scene = Scene.from_polygons([SQUARE]).with_body_history(history)
    hits = scene.cast([0.0, 0.0], [1.0, 1.0], [20.0, 20.0], [1.0, 1.0], against="bodies", as_of=[100.25, 101])
    assert hits.point_x.tolist() == [8, 11]
    assert (len(history), history.tick_count, history.oldest_tick, history.newest_tick) == (1, 2, 100, 101)
    assert repr(history) == "<BodyHistory: 1 bodies, 2 ticks>"
    newest = scene.cast(0.0, 1.0, 20.0, 1.0, against="bodies")
    assert newest.point_x.tolist() == [11]
    # Bodies take the place of the history, and the other way round.
    with pytest.raises(errors.InvalidArgumentError, match="as_of"):
        scene.with_bodies(Bodies(disc(1), [0], [0])).locate(0.0, 1.0, as_of=100.0)
    assert scene.commit(remove=[0]).locate(9.0, 1.0, against="bodies", as_of=100.25).counts.tolist() == [1]


def test_a_moment_that_is_not_kept_is_an_error_of_its_item() -> None:
    scene = Scene.from_polygons([SQUARE]).with_body_history(a_disc(keep_ticks=1))
    answer = scene.locate([1.0] * 3, [1.0] * 3, as_of=[100, 101, 102])
    assert [(error.index, error.column) for error in answer.errors] == [(0, "as_of"), (2, "as_of")]
    assert answer.counts.tolist() == [0, 1, 0]
    with pytest.raises(errors.ItemError, match="as_of"):
        answer.check()


def test_what_a_history_refuses() -> None:
    history = a_disc()
    history.add(101, [12], [1])  # as before
    history.add(7, [0], [0])  # below all that are kept
    for field, arguments in (
        ("poses.tick", (101, [13], [1])), ("poses.x[0]", (102, [np.inf], [1])), ("poses.x", (102, [1, 2], [1, 2])),
        ("tick", (-1, [1], [1])), ("tick", (2**53 + 1, [1], [1])), ("tick", (1.5, [1], [1])), ("y", (102, [1], [1, 2])),
    ):  # fmt: skip
        with pytest.raises(errors.InvalidArgumentError) as caught:
            history.add(*arguments)  # type: ignore[arg-type]
        assert caught.value.field == field
    with pytest.raises(errors.InvalidArgumentError, match="alive"):
        history.add(102, [1], [1], alive=[True, False])
    assert (history.tick_count, history.newest_tick) == (2, 101)
    for keep in (0, 257, 1.5, True):
        with pytest.raises(errors.InvalidArgumentError, match="keep_ticks"):
            BodyHistory(disc(1), keep_ticks=keep)  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidArgumentError) as of_shape:
        BodyHistory(disc(1), shape=[0, 1])
    assert of_shape.value.field == "body_history.shape[1]"
    scene = Scene.from_polygons([SQUARE])
    with pytest.raises(errors.InvalidArgumentError, match="rotation"):
        scene.with_body_history(history, rotation="round")  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidArgumentError, match="history"):
        scene.with_body_history(scene)  # type: ignore[arg-type]
    turned = BodyHistory(disc(1))
    turned.add(0, [0], [0], c=[1], s=[0])
    with pytest.raises(errors.InvalidArgumentError, match="body_rotation"):
        scene.with_body_history(turned, rotation="linear").locate(0.0, 0.0)
    assert BodyHistory(()).oldest_tick is None


def test_many_bodies_have_bits_in_several_words() -> None:
    count = 130
    history = BodyHistory(disc(0.25), shape=np.zeros(count, np.uint32))
    alive = np.arange(count) % 3 == 0
    history.add(1, np.arange(count), np.zeros(count), alive=alive)
    scene = Scene.from_polygons([[(0, 5), (1, 5), (1, 6)]]).with_body_history(history)
    found = scene.locate(np.arange(float(count)), np.zeros(count), against="bodies", as_of=1.0)
    assert (found.counts == alive).all()


# --- On streams -----------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path: pathlib.Path) -> Iterator[servers.Caromd]:
    """A server whose scenes, but not whose forks, outlive it."""
    with servers.caromd(tmp_path / "server", store="sqlite") as made:
        with Client(made.address) as client:
            client.create_scene("a", [[(100, 100), (104, 100), (104, 104)]])
        yield made


def exchange(stream: Stream, frame: carom.Frame) -> carom.client.FrameAnswer:
    stream.send(frame)
    return stream.receive(timeout=30)


def ask_at(scene: str, x: float, moments: Any, body_set: int = 5, **more: Any) -> carom.Frame:
    """A frame that asks what is at (x, 0) at moments."""
    frame = carom.Frame()
    count = len(moments)
    group = frame.group(scene, body_set=body_set, **more)
    group.locate(np.full(count, float(x)), np.zeros(count), against="both", as_of=moments)
    return frame


def the_disc(frame: carom.Frame, ticks: dict[int, float], body_set: int = 5, keep_ticks: int = 4, **more: Any) -> None:
    """Defines a set of one disc of radius 1, and adds ticks at which it is at (x, 0)."""
    frame.define_body_set(body_set, disc(1), keep_ticks=keep_ticks, **more)
    for tick, x in ticks.items():
        frame.add_poses(body_set, tick, [x], [0])


def counts(answer: carom.client.FrameAnswer) -> list[int]:
    answer.check()
    found: list[int] = answer.groups[0][answer.groups[0].questions[0]].counts.tolist()
    return found


def error_of(group: GroupAnswer) -> tuple[type, str]:
    assert group.error is not None
    return type(group.error), group.error.field


def restart(server: servers.Caromd) -> None:
    server.kill()
    server.start()


# Story: shots are judged by the same past after the server was restarted in the middle of a match.
def test_a_stream_sends_its_sets_and_their_ticks_again(server: servers.Caromd) -> None:
    with Client(server.address) as client, client.stream() as stream:
        stream.define_body_set(5, disc(1), keep_ticks=4)
        for tick in range(1, 10):
            frame = carom.Frame()
            frame.add_poses(5, tick, [tick], [0])
            exchange(stream, frame).check()
        asked = ask_at("a", 7.5, [5, 6, 6.5, 7.5, 9])
        for reconnects in (0, 1):
            assert counts(exchange(stream, asked)) == [0, 0, 1, 1, 0]
            assert stream.reconnects == reconnects
            restart(server)
        stream.remove_body_sets([5])
        restart(server)
        answer = exchange(stream, asked)
        assert error_of(answer.groups[0]) == (errors.InvalidArgumentError, "body_set")


# Story: one fork was gone after a restart, and with it the stream ended, though only its sets could not come back. Then
# the stream dropped these sets, also if the client that had made the fork made it again a moment later.
def test_the_sets_of_a_fork_that_is_gone_wait_for_the_fork(server: servers.Caromd) -> None:
    with Client(server.address) as host, Client(server.address) as client, client.stream() as stream:
        for name in ("f", "g"):
            host.fork("a", name=name)  # which this client did not make, and so does not make again
        frame = carom.Frame()
        the_disc(frame, {1: 0}, body_set=4, fork="f")
        the_disc(frame, {1: 0}, body_set=5)
        the_disc(frame, {1: 0}, body_set=6, fork="g")
        exchange(stream, frame).check()
        restart(server)
        host.fork("a", name="g")
        assert counts(exchange(stream, ask_at("a", 0, [1]))) == [1]
        answer = exchange(stream, ask_at("a", 0, [1], body_set=4))
        assert error_of(answer.groups[0]) == (errors.NotFoundError, "body_set")
        assert counts(exchange(stream, ask_at("g", 0, [1], body_set=6))) == [1]
        assert stream.reconnects == 1
        restart(server)
        assert counts(exchange(stream, ask_at("a", 0, [1]))) == [1]
        assert stream.reconnects == 2
        host.fork("a", name="f")
        assert counts(exchange(stream, ask_at("f", 0, [1, 2], body_set=4))) == [1, 0]


# Story: the fork of a match was made anew for the next one, with another set or with the same.
@pytest.mark.parametrize(("keep", "first"), [((4, 3), (1, 1)), ((4, 4), (997, 1))])
def test_the_next_fork_of_a_name_has_none_of_the_earlier_ticks(server: servers.Caromd, keep: Any, first: Any) -> None:
    with Client(server.address) as client, client.stream() as stream:
        for most, begin in zip(keep, first, strict=True):
            client.fork("a", name="f")
            frame = carom.Frame()
            the_disc(frame, dict.fromkeys(range(begin, begin + most), 10.0 * most), keep_ticks=most, fork="f")
            exchange(stream, frame).check()
            if most == keep[0] and begin == first[0]:
                client.delete_scene("f")
        for _ in range(2):
            answer = exchange(stream, ask_at("f", 10.0 * keep[1], [1, keep[1], 997]))
            assert counts(answer) == [1, 1, 0]
            restart(server)


def test_sets_of_a_fork_come_back_with_the_fork(server: servers.Caromd) -> None:
    with Client(server.address) as client, client.stream() as stream:
        client.fork("a", name="f")
        frame = ask_at("f", 2, [1.5])
        the_disc(frame, {1: 0, 2: 4}, fork="f")
        walls = frame.group("f", body_set=5, version_at_tick=2)
        walls.locate(2.0, 0.0)
        answer = exchange(stream, frame)
        assert counts(answer) == [1]
        answer.groups[1].check()
        restart(server)
        again = ask_at("f", 2, [1.5])
        again.groups.append(walls)
        answer = exchange(stream, again)
        assert counts(answer) == [1]
        # The walls of the fork before it was lost are not those of the fork that was made again.
        assert error_of(answer.groups[1])[0] is errors.OutOfRangeError


def test_version_at_tick_reads_the_walls_of_the_tick(client: Client) -> None:
    client.create_scene("doors", [[(0, 0), (4, 0), (4, 3), (0, 3)]], ids=[7])
    fork = client.fork("doors")
    with client.stream() as stream:
        frame = carom.Frame()
        the_disc(frame, {1: 50}, fork=fork.name)
        exchange(stream, frame).check()
        frame = carom.Frame()
        frame.group(fork, edits=Edits(remove=[7]))
        frame.add_poses(5, 2, [50], [0])
        exchange(stream, frame).check()
        frame = carom.Frame()
        frame.add_poses(5, 3, [50], [0])
        for tick in (1, 2, 3):
            frame.group(fork, body_set=5, version_at_tick=tick).locate(1.0, 1.0)
        answer = exchange(stream, frame)
        assert [group[group.questions[0]].counts.tolist() for group in answer.groups] == [[1], [1], [0]]
        beside = carom.Frame()
        beside.group(fork, body_set=5, version=1, version_at_tick=1).locate(1.0, 1.0)
        assert error_of(exchange(stream, beside).groups[0])[1].endswith("version_at_tick")


def test_what_a_server_refuses(client: Client) -> None:
    client.create_scene("refused", [SQUARE])
    with client.stream() as stream:
        frame = carom.Frame()
        the_disc(frame, {10: 0, 11: 1})
        exchange(stream, frame).check()
        for tick, x, field in ((11, [5], "tick"), (12, [np.nan], "x"), (12, [1, 2], "x")):
            frame = carom.Frame()
            frame.add_poses(5, tick, x, np.zeros(len(x)))
            answer = exchange(stream, frame)
            assert isinstance(answer.error, errors.InvalidArgumentError)
            assert f".{field}" in answer.error.field
        frame = carom.Frame()
        frame.define_body_set(5, disc(2), keep_ticks=4)
        assert isinstance(exchange(stream, frame).error, errors.InvalidArgumentError)
        frame = carom.Frame()
        frame.define_body_set(6, disc(2), fork="refused")  # which is no fork
        with pytest.raises(errors.FailedPreconditionError):
            exchange(stream, frame).check()
        assert counts(exchange(stream, ask_at("refused", 0.5, [10, 10.5, 9]))) == [2, 2, 0]
    for handle in (-1, 65536, 1.5, True, None):
        with pytest.raises(errors.InvalidArgumentError, match="body_set"):
            carom.Frame().add_poses(handle, 1, [0], [0])  # type: ignore[arg-type]
    for more in ({"rotation": "round"}, {"version_at_tick": -1}, {"body_set": 2**16}):
        with pytest.raises(errors.InvalidArgumentError):
            carom.Frame().group("refused", **more)  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidArgumentError, match="shape"):
        carom.Frame().define_body_set(1, disc(1), shape=[1])


def test_a_picture_of_a_group_with_a_body_set_has_the_scene_alone(client: Client) -> None:
    client.create_scene("drawn", [SQUARE])
    frame = carom.Frame()
    the_disc(frame, {1: 0})
    question = frame.group("drawn", body_set=5).locate(1.0, 1.0, against="both", as_of=1.0)
    assert client.evaluate(frame)[question]._repr_svg_() == Scene.from_polygons([SQUARE])._repr_svg_()


def test_streams_in_an_event_loop(server: servers.Caromd) -> None:
    async def main() -> None:
        async with aio.Client(server.address) as client, client.stream() as stream:
            await stream.define_body_set(5, disc(1))
            frame = ask_at("a", 2, [1, 1.5, 2])
            frame.add_poses(5, 1, [0], [0])
            frame.add_poses(5, 2, [4], [0])
            await stream.send(frame)
            assert counts(await stream.receive(timeout=30)) == [0, 1, 0]
            restart(server)
            await stream.send(ask_at("a", 2, [1, 1.5, 2]))
            assert counts(await stream.receive(timeout=30)) == [0, 1, 0]
            assert stream.reconnects == 1
            await stream.remove_body_sets(5)

    asyncio.run(main())


# --- What is sent again ---------------------------------------------------------------------------


def a_definition(handle: int, fork: str = "", shapes_of: int = 1, **more: Any) -> Definition:
    return Definition(handle, define([SQUARE] * shapes_of, None, None, None, **{"keep_ticks": 3, **more}), fork or None)


def a_tick(handle: int, tick: int, x: float = 0.0) -> Tick:
    return tick_of(handle, pose(tick, [x], [0.0], None, None, None, None, None))


def replayed(table: BodySetTable, **limits: int) -> list[tuple[str, int, int]]:
    """Of each frame: the fork, and the numbers of sets and ticks."""
    sizes = dict.fromkeys(StreamLimits.__dataclass_fields__, 0) | limits
    parts = []
    for fork, message in table.frames(StreamLimits(**sizes)):
        found = carom._remote.messages.ranges("Frame", message.join())
        parts.append((fork, len(found.get(9, [])), len(found.get(10, []))))
    return parts


def test_equal_definitions_keep_the_ticks() -> None:
    table = BodySetTable()
    table.change([], [a_definition(5)], [a_tick(5, tick) for tick in range(6)])
    assert list(table.sets[5].ticks) == [3, 4, 5]
    written_out = define([SQUARE], [0], [1], [0], 3)
    table.change([], [Definition(5, written_out, None)], [a_tick(5, 1, 9.0), a_tick(5, 2)])
    assert list(table.sets[5].ticks) == [1, 2]  # the fork was made again, and its set had no ticks
    table.change([], [a_definition(5, keep_ticks=2)], [])
    assert list(table.sets[5].ticks) == []
    table.change([5], [], [a_tick(5, 1)])
    assert table.sets == {}


def test_a_late_tick_changes_nothing() -> None:
    table = BodySetTable()
    table.change([], [a_definition(5)], [a_tick(5, tick) for tick in range(1, 7)])
    table.change([], [], [a_tick(5, 1, 9.0), a_tick(5, 6)])
    assert list(table.sets[5].ticks) == [4, 5, 6]


def test_a_replay_keeps_the_limits() -> None:
    table = BodySetTable()
    definitions = [a_definition(handle, "f" if handle % 40 >= 20 else "", 6) for handle in range(80)]
    table.change([], definitions, [a_tick(handle, 1) for handle in range(80)])
    forks = [("", 20), ("scenes/f", 20), ("", 20), ("scenes/f", 20)]
    assert [(fork, sum(each[1] for each in replayed(table) if each[0] == fork)) for fork, _ in forks[:2]] == [
        ("", 40), ("scenes/f", 40),
    ]  # fmt: skip
    assert all(sets <= 16 for _, sets, _ in replayed(table))
    assert all(sets == 1 for _, sets, _ in replayed(table, max_queries_per_frame=8))
    assert sum(ticks for _, _, ticks in replayed(table, max_frame_bytes=100)) == 80
    frames = table.frames(StreamLimits(**dict.fromkeys(StreamLimits.__dataclass_fields__, 0)))  # type: ignore[arg-type]
    seen = []
    for fork, _ in frames:
        seen.append(fork)
        table.drop_fork("scenes/f")
    assert set(seen[3:]) == {""}


def test_poses_are_floats_where_these_hold_every_number() -> None:
    half, third = a_tick(1, 1, 0.5), a_tick(1, 1, 1 / 3)
    assert len(third.message) == len(half.message) + 6
    assert len(a_tick(1, 1, 1e300).message) == len(third.message)
    assert half.message != half.resent
    assert questions.locate(0.0, 0.0, as_of=1.0).items == 1
