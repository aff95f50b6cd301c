# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Does the asynchronous client do what the synchronous one does?"""

from __future__ import annotations

import asyncio
import inspect
import pathlib
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import numpy as np
import pytest
import servers
from random_worlds import KINDS, question_of
from test_client import SQUARE, World, expect_same
from test_stream import FRAMES, Pair, frame_of

import carom
from carom import aio, errors, questions
from carom import client as remote
from carom.local import Polygons, Scene

Main = Callable[[], Coroutine[Any, Any, None]]


def run(main: Main) -> None:
    """Runs a coroutine in an event loop of its own, for at most a minute."""
    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.fixture(scope="module")
def world(caromd: str) -> World:
    with remote.Client(caromd) as client:
        return World(client, "aio-parity", 22)


def public(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


def test_the_two_clients_have_the_same_methods_and_parameters() -> None:
    for mine, theirs in (
        (aio.Client, remote.Client),
        (aio.RemoteScene, remote.RemoteScene),
        (aio.Stream, remote.Stream),
    ):
        assert public(mine) == public(theirs)
        for name in public(mine):
            ours, other = getattr(mine, name), getattr(theirs, name)
            if callable(ours):
                assert list(inspect.signature(ours).parameters) == list(inspect.signature(other).parameters), name
    assert public(aio.Watch) == public(remote.Watch)


def test_every_kind_has_the_same_answers(caromd: str, world: World) -> None:
    async def main() -> None:
        rng = np.random.default_rng(1)
        async with aio.Client(caromd) as client:
            scene = client.scene("aio-parity").with_bodies(world.bodies).with_trackers(world.trackers)
            asked = [question_of(rng, method, 30) for method in sorted(KINDS)]
            found = await asyncio.gather(*(scene.ask(question) for question in asked))
            for question, answers in zip(asked, found, strict=True):
                expect_same(answers, world.local.ask(question))
            for answers, expected in zip(await scene.evaluate(*asked), world.local.evaluate(*asked), strict=True):
                expect_same(answers, expected)
            hits = await scene.cast(0.0, 1.0, 9.0, 1.0)
            assert await scene.ask(asked[0], out=None) is not hits
            with pytest.raises(errors.ItemError):
                await scene.locate(np.nan, 1.0, strict=True)
            assert hits._repr_svg_() == world.local.cast(0.0, 1.0, 9.0, 1.0)._repr_svg_()
            assert client.scene("aio-parity")._repr_svg_() == Scene.from_polygons(world.polygons)._repr_svg_()

    run(main)


def test_scenes_and_frames(caromd: str) -> None:
    async def main() -> None:
        async with aio.Client(caromd) as client:
            made = await client.create_scene("aio-life", [SQUARE], ids=[1])
            with pytest.raises(errors.AlreadyExistsError) as exists:
                await client.create_scene(made, [])
            assert exists.value.field == "name"
            await client.commit(made, add=Polygons([SQUARE], ids=[2]))
            assert (await client.scene(made).summary()).polygon_count == 2
            assert (await client.export_scene(made)).to_bundle() == await client.export_bundle(made)
            assert (await client.export_polygons(made)).id.tolist() == [1, 2]
            assert len(await client.scene(made).export()) == 2
            assert made.name in [scene.name for scene in await client.list_scenes()]
            assert (await client.versions(made))[-1].scene.polygon_count == 2
            rng = np.random.default_rng(2)
            large = Polygons([rng.normal(size=(90000, 2)), rng.normal(size=(9, 2))])
            assert (await client.import_scene("aio-large", large)).vertex_count == 90009
            assert np.array_equal((await client.export_polygons("aio-large")).x, large.x)
            fork = await client.fork(made, lease=60)
            later = await client.commit(fork, remove=[1, 2])
            assert (await client.rollback(fork, fork.version, base_version=later.version)).polygon_count == 2
            assert [each.polygon_id for each in await client.lint(made)] == [2]  # equal to 1
            frame = carom.Frame()
            question = frame.group(fork, edits=remote.Edits(remove=[1])).locate(1.0, 1.0)
            answer = await client.evaluate(frame)
            assert answer[question].polygon_id.tolist() == [2]
            await client.delete_scene(made)
            with pytest.raises(errors.NotFoundError):
                await client.get_scene(made)
            assert repr(client).startswith("<Client of 127.0.0.1")
        with pytest.raises(errors.FailedPreconditionError):
            await client.list_scenes()

    run(main)


def test_a_watch_and_its_end(caromd: str) -> None:
    async def main() -> None:
        async with aio.Client(caromd) as client:
            first = await client.create_scene("aio-watch", [SQUARE], ids=[1])
            async with client.watch("aio-watch", polygons=True) as watch:
                assert (await anext(watch)).scene.version == first.version
                waiting = asyncio.create_task(anext(watch))
                second = await client.commit("aio-watch", remove=[1])
                update = await waiting
                assert (update.scene.version, update.change.tolist()) == (
                    second.version,
                    [remote.PolygonChange.REMOVED],
                )
                waiting = asyncio.create_task(anext(watch, None))  # type: ignore[arg-type]
                await asyncio.sleep(0.05)
                watch.cancel()
                assert await waiting is None
            later = client.watch("aio-watch", from_version=second.version)
            waiting = asyncio.create_task(anext(later))
            await asyncio.sleep(0.05)
            await client.delete_scene("aio-watch")
            for attempt in (waiting, anext(later)):
                with pytest.raises(errors.NotFoundError):
                    await attempt
            cancelled = asyncio.create_task(anext(client.watch("aio-parity", from_version=10**9)))
            await asyncio.sleep(0.05)
            cancelled.cancel()
            with pytest.raises((asyncio.CancelledError, errors.OutOfRangeError)):
                await cancelled

    run(main)


def test_a_stream_answers_in_order(caromd: str, world: World) -> None:
    async def main() -> None:
        rng = np.random.default_rng(3)
        async with aio.Client(caromd) as client:
            async with client.stream() as stream:
                await stream.define_trackers(world.shapes, shape=world.shape, within=world.within)
                asked = [question_of(rng, method, 20) for method in sorted(KINDS)]
                frames = [frame_of("aio-parity", question) for question in asked]
                for frame in frames:
                    frame.groups[0].bodies = world.bodies

                async def ahead() -> AsyncIterator[carom.Frame]:
                    for frame in frames:
                        yield frame

                for source in (frames, ahead()):
                    answers = [answer async for answer in stream.map(source)]
                    for question, answer in zip(asked, answers, strict=True):
                        expect_same(answer[question], world.local.ask(question))
                assert stream.limits is not None
                with pytest.raises(errors.DeadlineExceededError):
                    await stream.receive(timeout=0.02)
                await stream.remove_trackers([0])
                with pytest.raises(errors.InvalidArgumentError):
                    await stream.define_trackers([SQUARE, SQUARE], tracker=[1, 1])
            with pytest.raises(errors.FailedPreconditionError):
                await stream.send(carom.Frame())
            with pytest.raises(errors.OutOfRangeError):
                await stream.receive()

    run(main)


def test_tasks_send_and_receive(caromd: str, world: World) -> None:
    async def main() -> None:
        rng = np.random.default_rng(4)
        asked = [question_of(rng, "cast", 10) for _ in range(60)]
        async with aio.Client(caromd) as client:
            stream = client.stream(max_in_flight=4)

            async def receive() -> list[remote.FrameAnswer]:
                return [answer async for answer in stream]

            receiver = asyncio.create_task(receive())
            for question in asked:
                frame = frame_of("aio-parity", question)
                frame.groups[0].bodies = world.bodies
                await stream.send(frame)
            await stream.finish()
            for question, answer in zip(asked, await receiver, strict=True):
                expect_same(answer[question], world.local.ask(question))

    run(main)


def test_a_stream_is_cancelled(caromd: str) -> None:
    async def main() -> None:
        async with aio.Client(caromd) as client:
            stream = client.stream()
            await stream.send(carom.Frame())
            await stream.receive()
            waiting = asyncio.create_task(stream.receive())
            await asyncio.sleep(0.02)
            stream.cancel()
            for attempt in (waiting, stream.send(carom.Frame()), stream.finish(), stream.receive()):
                with pytest.raises(errors.CancelledError):
                    await attempt
            dropped = client.stream()
            await dropped.send(carom.Frame())
            await dropped.receive()
            del dropped
            for _ in range(200):
                if not [task for task in asyncio.all_tasks() if task.get_name() == "carom stream"]:
                    break
                await asyncio.sleep(0.01)
            assert not [task for task in asyncio.all_tasks() if task.get_name() == "carom stream"]

    run(main)


def test_a_stream_outlives_its_servers(tmp_path: pathlib.Path) -> None:
    pair = Pair(tmp_path)

    async def main() -> None:
        rng = np.random.default_rng(5)
        count = FRAMES // 4
        async with pair.async_client() as client:
            stream = client.stream(max_in_flight=16)
            await stream.define_trackers(pair.shapes, shape=pair.shape)
            fork = await client.fork("other")
            await client.commit(fork, remove=[0])
            asked, found = [], []

            async def receive() -> None:
                found.extend([answer async for answer in stream])

            receiver = asyncio.create_task(receive())
            for i, (frame, question) in enumerate(pair.frames(rng, count)):
                await stream.send(frame)
                asked.append(question)
                if i in (count // 3, 2 * count // 3):
                    server = pair.servers[i // (count // 2)]
                    server.kill()
                    server.start()
                    await asyncio.to_thread(pair.fill, server)
            edited = questions.locate(1.0, 1.0)
            await stream.send(frame_of(fork.name, edited))
            await stream.finish()
            await receiver
            assert [answer.seq for answer in found] == list(range(1, len(asked) + 2))
            assert found.pop()[edited].counts.tolist() == [0]
            for question, answer in zip(asked, found, strict=True):
                expect_same(answer[question], pair.local.ask(question))
            assert stream.reconnects == 2

    try:
        run(main)
    finally:
        for server in pair.servers:
            server.kill()


def test_failures_and_deadlines(caromd: str) -> None:
    async def main() -> None:
        gone = f"127.0.0.1:{servers.unused_port()}"
        async with aio.Client([gone, caromd]) as client:
            assert isinstance(await client.list_scenes(), list)
        async with aio.Client(gone, deadline=0.5) as client:
            began = time.monotonic()
            with pytest.raises((errors.UnavailableError, errors.DeadlineExceededError)):
                await client.list_scenes()
            assert time.monotonic() - began < 5
            stream = client.stream(reconnect_timeout=0.3)
            await stream.send(carom.Frame())
            with pytest.raises(errors.UnavailableError):
                await stream.receive()
            with pytest.raises(errors.UnavailableError):
                await anext(client.watch("x", reconnect_timeout=0.0))
        async with aio.Client(caromd) as client:
            with pytest.raises(errors.NotFoundError) as caught:
                await client.scene("aio-absent").locate(0.0, 0.0)
            assert caught.value.field == "scene"
        with socket.create_server(("127.0.0.1", 0)) as silent:
            async with aio.Client(f"127.0.0.1:{silent.getsockname()[1]}", deadline=0.4) as client:
                with pytest.raises(errors.DeadlineExceededError):
                    await client.list_scenes()
                task = asyncio.create_task(client.scene("aio-parity").locate(0.0, 0.0))
                await asyncio.sleep(0.05)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

    run(main)
