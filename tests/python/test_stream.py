# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Does a stream answer every frame once and in order, also when its server is killed?"""

from __future__ import annotations

import pathlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import servers
from conftest import LONG
from eval_answers import polygons_of
from random_worlds import KINDS, TRACKERS, Rng, bodies_of, map_of, question_of, shapes
from test_client import SQUARE, World, expect_same

import carom
from carom import aio, errors, questions
from carom._remote import messages
from carom._remote.encode import edits_of
from carom._remote.forks import ForkLog
from carom._remote.values import SceneSummary
from carom.client import Client, Edits, FrameAnswer, Stream
from carom.local import Polygons, Scene, Trackers

FRAMES = 3000 if LONG else 400


@pytest.fixture(scope="module")
def client(caromd: str) -> Iterator[Client]:
    with Client(caromd) as made:
        yield made


@pytest.fixture(scope="module")
def world(client: Client) -> World:
    return World(client, "stream-parity", 21)


def frame_of(scene: str, *asked: Any) -> carom.Frame:
    """A frame with one group."""
    frame = carom.Frame()
    group = frame.group(scene)
    for question in asked:
        group.ask(question)
    return frame


# --- A stream that does not break -----------------------------------------------------------------


def test_a_stream_answers_every_kind_in_order(client: Client, world: World) -> None:
    rng = np.random.default_rng(1)
    with client.stream() as stream:
        stream.define_trackers(world.shapes, shape=world.shape, within=world.within)
        asked = [question_of(rng, method, 30) for method in sorted(KINDS) for _ in range(3)]
        frames = []
        for question in asked:
            frame = carom.Frame()
            frame.group("stream-parity", bodies=world.bodies).ask(question)
            frames.append(frame)
        answers = list(stream.map(frames))
        assert [answer.seq for answer in answers] == list(range(1, len(asked) + 1))
        for question, answer in zip(asked, answers, strict=True):
            expect_same(answer[question], world.local.ask(question))
        assert stream.limits is not None
        assert (stream.limits.max_frames_in_flight, stream.limits.max_queries_per_frame) == (16, 65536)
    assert stream.reconnects == 0
    with pytest.raises(errors.FailedPreconditionError):
        stream.send(carom.Frame())
    with pytest.raises(errors.OutOfRangeError):
        stream.receive()


def test_one_thread_sends_and_another_receives(client: Client, world: World) -> None:
    rng = np.random.default_rng(2)
    asked = [question_of(rng, "cast", 20) for _ in range(50)]
    found: list[FrameAnswer] = []
    stream = client.stream(max_in_flight=4)
    receiver = threading.Thread(target=lambda: found.extend(stream))
    receiver.start()
    for question in asked:
        frame = frame_of("stream-parity", question)
        frame.groups[0].bodies = world.bodies
        stream.send(frame)
    stream.finish()
    receiver.join(20)
    assert len(found) == len(asked)
    for question, answer in zip(asked, found, strict=True):
        expect_same(answer[question], world.local.ask(question))
    stream.finish()


def test_arrays_may_change_after_send(client: Client) -> None:
    client.create_scene("changing", [SQUARE])
    x = np.array([1.0])
    with client.stream() as stream:
        question = questions.locate(x, np.array([1.0]))
        stream.send(frame_of("changing", question))
        x[0] = 99.0
        assert stream.receive()[question].counts.tolist() == [1]


def test_scenes_are_bound_of_their_own_accord(client: Client) -> None:
    for i in range(3):
        client.create_scene(f"bound-{i}", [SQUARE], ids=[i])
    with client.stream() as stream:
        for round_of in range(3):
            frame = carom.Frame()
            asked = [frame.group(f"bound-{i}").locate(1.0, 1.0) for i in range(3)]
            stream.send(frame)
            answer = stream.receive()
            assert [answer[question].polygon_id.tolist() for question in asked] == [[0], [1], [2]]
            sent = stream._engine.flow._session.scenes
            assert sent == {f"scenes/bound-{i}": i + 1 for i in range(3)}, round_of


def test_more_scenes_than_handles(client: Client) -> None:
    client.create_scene("many", [SQUARE])
    frame = carom.Frame()
    for i in range(600):
        frame.group(f"absent-{i}")
    with client.stream() as stream:
        stream.send(frame)
        for i in range(600, 1100):
            frame.group(f"absent-{i}")
        frame.groups = frame.groups[600:]
        question = frame.group("many").locate(1.0, 1.0)
        stream.send(frame)
        first, second = stream.receive(), stream.receive()
        assert all(isinstance(group.error, errors.NotFoundError) for group in first.groups)
        assert second[question].counts.tolist() == [1]


def test_frames_that_are_refused_do_not_end_a_stream(client: Client) -> None:
    client.create_scene("refusing", [SQUARE])
    with client.stream() as stream:
        large = frame_of("refusing", questions.locate(np.zeros(70000), np.zeros(70000)))
        small = frame_of("refusing", questions.locate(1.0, 1.0))
        for frame in (large, small):
            stream.send(frame)
        refused, answered = stream.receive(), stream.receive()
        assert isinstance(refused.error, errors.ResourceExhaustedError)
        with pytest.raises(errors.ResourceExhaustedError):
            refused[large.groups[0].questions[0]]
        # The first frame would have bound the scene, so the second one did so again.
        assert answered[small.groups[0].questions[0]].counts.tolist() == [1]
        with pytest.raises(errors.InvalidArgumentError) as caught:
            stream.define_trackers([SQUARE, SQUARE], tracker=[1, 1])
        assert caught.value.field.startswith("trackers[0]")
        stream.send(small)
        assert stream.receive().error is None


def test_trackers_of_a_stream_keep_their_memory(client: Client, world: World) -> None:
    with client.stream() as stream:
        stream.define_trackers(world.shapes, shape=world.shape, within=world.within)
        question = questions.move([5.0, 6.0], [5.0, 6.0])
        stats = []
        for _ in range(2):
            stream.send(frame_of("stream-parity", question))
            answer = stream.receive()
            expect_same(answer[question], world.local.ask(question))
            assert answer[question].quiet_moves == answer.stats.quiet_moves
            stats.append(answer.stats)
        assert stats[0].refreshed_moves == 2
        assert stats[1].refreshed_moves == stats[1].cold_moves == 0
        stream.remove_trackers([1])
        stream.send(frame_of("stream-parity", question))
        assert [error.index for error in stream.receive()[question].errors] == [1]


def test_superseded_frames_are_skipped_or_answered(client: Client) -> None:
    client.create_scene("supersede", [SQUARE])
    with client.stream() as stream:
        frames = []
        for _ in range(30):
            frame = carom.Frame(supersede=True)
            frame.group("supersede").locate(np.full(2000, 1.0), np.full(2000, 1.0))
            frames.append(frame)
        answers = list(stream.map(frames))
    for frame, answer in zip(frames, answers, strict=True):
        if answer.skipped:
            assert answer.groups == []
            with pytest.raises(errors.InvalidArgumentError, match="skipped"):
                answer[frame.groups[0].questions[0]]
        else:
            assert answer[frame.groups[0].questions[0]].counts.sum() == 2000
    assert not answers[-1].skipped


# --- Ends -----------------------------------------------------------------------------------------


def test_a_stream_is_cancelled_from_another_thread(client: Client) -> None:
    stream = client.stream()
    stream.send(carom.Frame())
    stream.receive()
    timer = threading.Timer(0.1, stream.cancel)
    timer.start()
    with pytest.raises(errors.CancelledError):
        stream.receive()
    timer.join()
    for call in (lambda: stream.send(carom.Frame()), stream.finish, stream.receive):
        with pytest.raises(errors.CancelledError):
            call()
    unused = client.stream()
    unused.cancel()
    with pytest.raises(errors.CancelledError):
        unused.send(carom.Frame())
    with client.stream() as empty:
        assert empty.limits is None
    broken = client.stream()
    with pytest.raises(errors.InvalidArgumentError), broken:
        broken.send(carom.Frame(seq=-1))
    with pytest.raises(errors.CancelledError):
        broken.send(carom.Frame())


def test_a_client_that_is_closed_ends_its_streams(caromd: str) -> None:
    client = Client(caromd)
    stream, unused = client.stream(), client.stream()
    stream.send(carom.Frame())
    stream.receive()
    timer = threading.Timer(0.1, client.close)
    timer.start()
    with pytest.raises(errors.CancelledError):
        stream.receive()
    timer.join()
    for each in (stream, unused):
        with pytest.raises(errors.FailedPreconditionError):
            each.send(carom.Frame())


def test_receive_has_a_timeout(client: Client) -> None:
    made = client.create_scene("slow", [])
    with client.stream() as stream:
        with pytest.raises(errors.DeadlineExceededError):
            stream.receive(timeout=0.05)
        frame = carom.Frame(budget=30)
        question = frame.group("slow", min_version=made.version + 1).locate(1.0, 1.0)
        stream.send(frame)
        with pytest.raises(errors.DeadlineExceededError):
            stream.receive(timeout=0.05)
        client.commit("slow")
        assert stream.receive(timeout=20)[question].counts.tolist() == [0]
        frame = carom.Frame(budget=0.3)
        question = frame.group("slow", min_version=10**9).locate(1.0, 1.0)
        stream.send(frame)
        answer = stream.receive(timeout=20)
        with pytest.raises((errors.DeadlineExceededError, errors.UnavailableError)) as caught:
            answer[question]
        assert caught.value is answer.groups[0].error


def test_a_stream_without_a_server_ends_after_its_timeout() -> None:
    with Client(f"127.0.0.1:{servers.unused_port()}") as client:
        for timeout in (0.0, 0.5):
            stream = client.stream(reconnect_timeout=timeout)
            began = time.monotonic()
            stream.send(carom.Frame())
            with pytest.raises(errors.UnavailableError):
                stream.receive()
            assert time.monotonic() - began < timeout + 5
            with pytest.raises(errors.UnavailableError):
                stream.send(carom.Frame())


def test_a_stream_that_is_dropped_ends(client: Client) -> None:
    before = threading.active_count()
    for _ in range(3):
        stream = client.stream()
        stream.send(carom.Frame())
        stream.receive()
        del stream
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before


# --- Servers that are killed ----------------------------------------------------------------------


class Pair:
    """Two servers with the same scene."""

    def __init__(self, folder: pathlib.Path) -> None:
        rng = np.random.default_rng(30)
        self.polygons = polygons_of(map_of(rng))
        self.bodies = bodies_of(rng)
        self.shapes, self.shape = shapes(rng), rng.integers(0, 5, TRACKERS)
        self.servers = [servers.Caromd(folder / name) for name in ("first", "second")]
        trackers = Trackers()
        trackers.define(self.shapes, shape=self.shape)
        self.local = Scene.from_polygons(self.polygons).with_bodies(self.bodies).with_trackers(trackers)
        for server in self.servers:
            self.fill(server)

    def fill(self, server: servers.Caromd) -> None:
        with Client(server.address) as client:
            client.create_scene("map", self.polygons)
            client.create_scene("other", [SQUARE])

    def client(self) -> Client:
        return Client([server.address for server in self.servers])

    def async_client(self) -> aio.Client:
        return aio.Client([server.address for server in self.servers])

    def frames(self, rng: Rng, count: int) -> Iterator[tuple[carom.Frame, Any]]:
        for i in range(count):
            frame = carom.Frame()
            if i % 7 == 0:
                frame.group("other").locate(1.0, 1.0)
            group = frame.group("map", bodies=self.bodies)
            yield frame, group.ask(question_of(rng, "move" if i % 3 else str(rng.choice(sorted(KINDS))), 40))


@pytest.fixture
def pair(tmp_path: pathlib.Path) -> Iterator[Pair]:
    made = Pair(tmp_path)
    yield made
    for server in made.servers:
        server.kill()


def receive_all(stream: Stream, found: list[FrameAnswer]) -> None:
    found.extend(stream)


def test_no_answer_is_lost_or_comes_twice_when_servers_are_killed(pair: Pair) -> None:
    rng = np.random.default_rng(31)
    client = pair.client()
    stream = client.stream(max_in_flight=16)
    stream.define_trackers(pair.shapes, shape=pair.shape)
    found: list[FrameAnswer] = []
    receiver = threading.Thread(target=receive_all, args=(stream, found))
    receiver.start()
    asked = []
    kills = in_flight = 0
    for i, (frame, question) in enumerate(pair.frames(rng, FRAMES)):
        stream.send(frame)
        asked.append(question)
        if i % (FRAMES // 4) == FRAMES // 8:
            server = pair.servers[kills % 2]
            in_flight += len(stream._engine.flow.unanswered)
            server.kill()
            kills += 1
            stream.send(frame)
            asked.append(question)
            server.start()
            pair.fill(server)
    stream.finish()
    receiver.join(60)
    assert [answer.seq for answer in found] == list(range(1, len(asked) + 1))
    for question, answer in zip(asked, found, strict=True):
        expect_same(answer[question], pair.local.ask(question))
    assert stream.reconnects == kills == 4
    assert in_flight > 0
    client.close()


@pytest.mark.parametrize("seed", range(30 if LONG else 3))
def test_connections_that_are_cut_at_any_byte_lose_nothing(
    caromd: str, client: Client, world: World, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    most, cuts = (200, 3) if seed % 3 == 0 else (30000, 12 if LONG else 5)
    sizes = iter([int(size) for size in rng.integers(1, most, cuts)])
    proxy = servers.CutProxy(int(caromd.rpartition(":")[2]), sizes)
    with Client(proxy.address, own_connection=True) as cut, cut.stream(max_in_flight=12) as stream:
        frame = carom.Frame()
        frame.define_trackers(world.shapes, shape=world.shape, within=world.within)
        stream.send(frame)
        assert stream.receive().error is None
        asked = [question_of(rng, str(rng.choice(sorted(KINDS))), 40) for _ in range(60)]
        frames = [frame_of("stream-parity", question) for question in asked]
        for each in frames:
            each.groups[0].bodies = world.bodies
        for question, answer in zip(asked, stream.map(frames), strict=True):
            expect_same(answer[question], world.local.ask(question))
    assert proxy.cuts > 0
    proxy.close()


def test_definitions_of_frames_are_made_again(pair: Pair) -> None:
    client = pair.client()
    with client.stream() as stream:
        frame = carom.Frame()
        frame.define_trackers(pair.shapes, shape=pair.shape)
        frame.group("map").move([1.0], [1.0])
        stream.send(frame)
        stream.receive()
        frame = carom.Frame()
        frame.define_trackers([SQUARE], tracker=[2, 60000], mask=2, within=0.5, remove=[0])
        stream.send(frame)
        stream.receive()
        question = questions.move(np.full(4, 3.0), np.full(4, 3.0), tracker=[0, 1, 2, 60000])
        stream.send(frame_of("map", question))
        before = stream.receive()[question]
        pair.servers[0].kill()
        stream.send(frame_of("map", question))
        after = stream.receive()[question]
        assert stream.reconnects == 1
        assert [error.index for error in after.errors] == [0]
        expect_same(after, before)
    client.close()


def test_a_large_session_is_replayed_in_parts(pair: Pair) -> None:
    rng = np.random.default_rng(32)
    count = 3000
    shapes_of = [rng.normal(size=(60, 2)) for _ in range(count)]  # about 3 MB
    with pair.client() as client, client.stream() as stream:
        for at in range(0, count, 1000):
            stream.define_trackers(shapes_of[at : at + 1000], first_tracker=at)
        question = questions.move(rng.uniform(0, 16, count), rng.uniform(0, 16, count), detail="edges")
        stream.send(frame_of("map", question))
        before = stream.receive()[question]
        pair.servers[0].kill()
        stream.send(frame_of("map", question))
        after = stream.receive()[question]
        assert stream.reconnects == 1
        expect_same(after, before)
        assert len(after.errors) == 0


def square(x: float, id: int) -> Polygons:
    """SQUARE, moved along x."""
    return Polygons([[(x + dx, dy) for dx, dy in SQUARE]], ids=[id])


def test_a_fork_is_made_again_with_its_edits(pair: Pair) -> None:
    client = pair.client()
    fork = client.fork("other")
    with client.stream() as stream:
        question = questions.locate([1.0, 11.0, 21.0, 31.0], np.full(4, 1.0))

        def ask(edits: Edits | None = None) -> list[int]:
            frame = carom.Frame()
            frame.group(fork, edits=edits).ask(question)
            stream.send(frame)
            counts: list[int] = stream.receive()[question].counts.tolist()
            return counts

        assert ask() == [1, 0, 0, 0]
        assert ask(Edits(add=square(10, 1))) == [1, 1, 0, 0]
        assert ask(Edits(add=square(20, 2), remove=[0])) == [0, 1, 1, 0]
        assert ask(Edits(replace=square(30, 1))) == [0, 0, 1, 1]
        client.commit(fork, remove=[2])
        assert ask() == [0, 0, 0, 1]
        pair.servers[0].kill()
        assert ask(Edits(add=square(0, 7))) == [1, 0, 0, 1]
        assert stream.reconnects == 1
        pair.servers[0].start()
        pair.fill(pair.servers[0])
        pair.servers[1].kill()
        assert ask() == [1, 0, 0, 1]
        client.delete_scene(fork)
        with pytest.raises(errors.NotFoundError) as missing:
            ask()
        assert missing.value.field == missing.value.violations[0][0] == "scene"
        assert str(missing.value) == "NOT_FOUND: scene: no scene of this name"
    client.close()


def test_a_fork_is_made_again_after_each_loss(pair: Pair) -> None:
    """A server numbers the versions of a fork anew: the log took lower ones for older ones, and lost the edits."""
    server, question = pair.servers[0], questions.locate([1.0, 11.0], [1.0, 1.0])
    with Client(server.address) as client, client.stream() as stream:
        fork = client.fork("other", name="match")

        def ask(edits: Edits | None = None) -> list[int]:
            frame = carom.Frame()
            frame.group(fork, edits=edits).ask(question)
            stream.send(frame)
            return stream.receive()[question].polygon_id.tolist()  # type: ignore[no-any-return]

        def restart() -> None:
            server.kill()
            server.start()
            pair.fill(server)

        for _ in range(20):
            assert ask(Edits(replace=square(10, 0))) == [0]
        assert ask(Edits(add=square(20, 9))) == [0]
        for i in range(1, 5):
            moved = square(0, 9) if i % 2 else square(20, 9)
            restart()
            expected = ask(Edits(replace=moved))
            assert expected == ([9, 0] if i % 2 else [0])
            restart()
            assert ask() == expected
        assert stream.reconnects == 8


def test_a_fork_that_was_left_behind_is_replaced(pair: Pair) -> None:
    """A stream that came back to a server that lives found its fork there as it was, without the edits made since."""
    proxies = [servers.CutProxy(server.port, iter(())) for server in pair.servers]
    client = Client([proxy.address for proxy in proxies])
    fork = client.fork("other")
    question = questions.locate(1.0, 1.0)
    with client.stream() as stream:
        expected = [0]
        for i in range(6):
            expected.append(10 + i)
            frame = carom.Frame()
            frame.group(fork, edits=Edits(add=square(0, 10 + i))).ask(question)
            stream.send(frame)
            assert stream.receive()[question].polygon_id.tolist() == expected
            assert stream.reconnects == i
            proxies[i % 2].cut_all()
    client.close()
    for proxy in proxies:
        proxy.close()


def test_streams_wait_for_one_fork_that_is_made_again(pair: Pair) -> None:
    """Streams that came to a server at once found a fork without its edits, or deleted that of another stream."""
    proxies = [servers.CutProxy(server.port, iter(())) for server in pair.servers]
    client = Client([proxy.address for proxy in proxies])
    fork = client.fork("other")
    many = [[(x + 10 * i, y) for x, y in SQUARE] for i in range(1, 20_001)]
    client.commit(fork, add=Polygons(many, ids=np.arange(1, 20_001)))
    streams = [client.stream() for _ in range(4)]
    question = questions.locate([1.0, 11.0, 200_001.0], np.full(3, 1.0))
    for i in range(4):
        for k, stream in enumerate(streams):
            frame = carom.Frame()
            frame.group(fork, edits=Edits(add=square(-9, 30_000 + 4 * i + k))).ask(question)
            stream.send(frame)
        for stream in streams:
            assert stream.receive()[question].counts.tolist() == [1, 1, 1]
            assert stream.reconnects == i
        assert client.get_scene(fork).polygon_count == 20_001 + 4 * (i + 1)
        proxies[i % 2].cut_all()
    for stream in streams:
        stream.finish()
    client.close()
    for proxy in proxies:
        proxy.close()


def test_a_late_answer_is_older_than_edits_on_the_next_server() -> None:
    """A stream may still edit the fork of a server that the client has left: it undoes no edit made since."""
    log = ForkLog()
    fork = SceneSummary.of({"name": "scenes/a", "version": 1, "base": "scenes/b", "base_version": 1})

    def record(x: float, version: int, address: int) -> None:
        log.record("scenes/a", edits_of(None, square(x, 7), ()), version, address)

    def is_last(x: float) -> bool:
        (edited,) = log._forks["scenes/a"].edited.values()
        return edited.is_in_base and edited.polygon == edits_of(None, square(x, 7), ())[0].polygon

    log.add(fork, 0, 0)
    record(1, 50, 0)
    record(2, 49, 0)
    assert is_last(1)
    operation = log.restore(1, lambda: False, lambda: "")
    assert next(operation).method == "GetScene"
    with pytest.raises(StopIteration):
        operation.send(messages.encode("GetSceneResponse", {"scene": {"name": "scenes/a", "version": 3}}))
    record(3, 51, 0)
    assert is_last(3)
    record(4, 4, 1)
    record(5, 52, 0)
    assert is_last(4)
    log.remove_missing("scenes/a", 0)
    assert not log.is_empty()
    log.remove_missing("scenes/a", 1)
    assert log.is_empty()


def test_a_stream_ends_if_all_servers_are_gone(pair: Pair) -> None:
    with pair.client() as client:
        stream = client.stream(reconnect_timeout=0.5)
        stream.send(carom.Frame())
        stream.receive()
        for server in pair.servers:
            server.kill()
        stream.send(carom.Frame())
        with pytest.raises(errors.UnavailableError):
            stream.receive()
        with pytest.raises(errors.UnavailableError):
            stream.finish()
