# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes of a server in an event loop: `carom.client` with methods that are awaited.

    from carom import aio

    async with aio.Client("127.0.0.1:7420") as client:
        hits = await client.scene("arena").cast([-2, -2], [1, 9], [6, 6], [1, 9])
        async with client.stream() as stream:
            async for answer in stream.map(frames):
                ...

Frames, edits, questions and answers are the same objects. A client belongs to the event loop in which its first call
is made.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from ._generated.asking import AsyncAsker
from ._question import Question
from ._remote import operations, parts
from ._remote.aio_run import Runner, Watch, make_channel
from ._remote.aio_stream import Stream
from ._remote.base import DEFAULT, ClientBase, SceneBase, Trackers
from ._remote.forks import Operation
from ._remote.frames import Frame, FrameAnswer
from ._remote.pictures import Pictures
from ._remote.values import LintFinding, LintOptions, SceneLike, SceneSummary, SceneVersion, instance, scene_name
from .client import Client as _Client

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._answers import Answers
    from .local import Scene
    from .polygons import Polygons, PolygonsLike

__all__ = ["Client", "Frame", "RemoteScene", "Stream", "Trackers", "Watch"]

A = TypeVar("A", bound="Answers")
T = TypeVar("T")


class Client(ClientBase):
    """A client of one server, or of several that have the same scenes, in an event loop: see `carom.Client`."""

    _make_channel = staticmethod(make_channel)

    def _begin(self) -> None:
        self._runner = Runner(self._addresses, self._channels)
        self._pictures = Pictures(self._run_at_once)

    async def _run(self, operation: Operation[T], deadline: float | None = DEFAULT) -> T:
        return await self._runner.run(operation, self._limit(deadline))

    def _run_at_once(self, operation: Operation[T]) -> T:
        """Makes the calls of an operation by a client of its own: notebooks draw without awaiting."""
        with _Client(self._addresses.all, **self._options) as client:
            return client._run(operation)

    # --- Scenes -----------------------------------------------------------------------------------

    def scene(
        self, name: SceneLike, *, version: int = 0, min_version: int = 0, deadline: float | None = DEFAULT
    ) -> RemoteScene:
        """Returns a scene to ask: see `carom.Client.scene`. No call is made."""
        return RemoteScene(self, scene_name(name), version, min_version, None, None, self._limit(deadline))

    async def create_scene(
        self, name: SceneLike, polygons: PolygonsLike, *, deadline: float | None = DEFAULT, **options: Any
    ) -> SceneSummary:
        """Registers a scene: see `carom.Client.create_scene`."""
        made = operations.polygons_of(polygons, options)
        return await self._run(operations.create_scene(scene_name(name), made), deadline)

    async def import_scene(
        self, name: SceneLike, source: PolygonsLike | Scene | bytes | str | os.PathLike[str], *, replace: bool = False,
        deadline: float | None = DEFAULT, **options: Any,
    ) -> SceneSummary:  # fmt: skip
        """Registers or replaces a scene of any size: see `carom.Client.import_scene`."""
        made = operations.polygons_of(source, options)
        return await self._run(operations.import_scene(scene_name(name), made, replace=replace), deadline)

    async def export_scene(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> Scene:
        """Returns a version of a scene as a scene in this process: see `carom.Client.export_scene`."""
        summary, polygons = await self._run(operations.export_scene(scene_name(name), version), deadline)
        made: Scene = operations.local_scene(polygons, summary.version)
        return made

    async def export_bundle(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> bytes:
        """Returns a version of a scene as the bytes of a bundle."""
        return await self._run(operations.export_bundle(scene_name(name), version), deadline)

    async def export_polygons(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> Polygons:
        """Returns the polygons of a version of a scene."""
        return (await self._run(operations.export_scene(scene_name(name), version), deadline))[1]

    async def get_scene(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> SceneSummary:
        """Returns the summary of a version of a scene."""
        return await self._run(operations.get_scene(scene_name(name), version), deadline)

    async def list_scenes(self, *, deadline: float | None = DEFAULT) -> list[SceneSummary]:
        """Returns the current versions of all scenes, by ascending name."""
        return await self._run(operations.list_scenes(), deadline)

    async def delete_scene(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> None:
        """Deletes a scene with all its versions: see `carom.Client.delete_scene`."""
        await self._run(operations.delete_scene(self._addresses.forks, scene_name(name), version), deadline)

    async def commit(
        self, name: SceneLike, *, add: PolygonsLike | None = None, replace: PolygonsLike | None = None,
        remove: ArrayLike = (), edit_id: str | None = None, base_version: int = 0, deadline: float | None = DEFAULT,
    ) -> SceneSummary:  # fmt: skip
        """Edits a scene: see `carom.Client.commit`."""
        operation = operations.commit(
            self._addresses.forks, scene_name(name), add, replace, remove, edit_id, base_version
        )
        return await self._run(operation, deadline)

    async def versions(self, name: SceneLike, *, deadline: float | None = DEFAULT) -> list[SceneVersion]:
        """Returns the history of a scene, ascending."""
        return await self._run(operations.versions(scene_name(name)), deadline)

    async def rollback(
        self, name: SceneLike, version: int, *, base_version: int = 0, deadline: float | None = DEFAULT
    ) -> SceneSummary:
        """Makes a version with the polygons of an older one."""
        operation = operations.rollback(self._addresses.forks, scene_name(name), version, base_version)
        return await self._run(operation, deadline)

    async def fork(
        self, base: SceneLike, *, name: SceneLike | None = None, version: int = 0, lease: float | None = None,
        deadline: float | None = DEFAULT,
    ) -> SceneSummary:  # fmt: skip
        """Makes a fork: see `carom.Client.fork`."""
        operation = operations.fork(
            self._addresses.forks, scene_name(base, "base"), version, None if name is None else scene_name(name), lease
        )
        return await self._run(operation, deadline)

    async def lint(
        self, name: SceneLike, *, deadline: float | None = DEFAULT, **options: Unpack[LintOptions]
    ) -> list[LintFinding]:
        """Returns the probable mistakes in a scene."""
        return await self._run(operations.lint(scene_name(name), options), deadline)

    def watch(
        self, name: SceneLike, *, from_version: int = 0, polygons: bool = False, reconnect_timeout: float = 30.0
    ) -> Watch:
        """Returns an asynchronous iterator of the versions of a scene: see `carom.Client.watch`."""
        self._channels.check()
        return Watch(self._runner, scene_name(name), from_version, polygons, reconnect_timeout)

    # --- Frames -----------------------------------------------------------------------------------

    async def evaluate(self, frame: Frame, *, deadline: float | None = DEFAULT) -> FrameAnswer:
        """Answers a frame: see `carom.Client.evaluate`."""
        return await self._run(operations.evaluate(self._addresses, frame, self._pictures.draw), deadline)

    def stream(self, *, max_in_flight: int = 8, reconnect_timeout: float = 30.0) -> Stream:
        """Opens a stream of frames: `async with client.stream() as stream`. See `carom.Client.stream`."""
        self._channels.check()
        made = Stream(self._runner, max_in_flight, reconnect_timeout, self._pictures.draw)
        self._streams.add(made)
        return made

    # --- The end ----------------------------------------------------------------------------------

    async def close(self) -> None:
        """Ends streams and closes connections: see `carom.Client.close`."""
        for channel in self._end():
            await channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class RemoteScene(SceneBase, AsyncAsker):
    """A scene of a server, whose questions are awaited: see `carom.client.RemoteScene`."""

    __slots__ = ()

    async def ask(self, question: Question[A], *, out: A | None = None, strict: bool = False) -> A:
        """Answers a question that a function of `carom.questions` made: see `carom.Scene.ask`."""
        client: Client = self._client
        instance(question, Question, "question")
        operation = parts.ask(client._addresses, self, question, client._pictures.draw, out)
        made = await client._run(operation, self._deadline)
        return made.check() if strict else made

    async def evaluate(self, *asked: Question[Any], strict: bool = False) -> tuple[Any, ...]:
        """Answers questions of different kinds by one call: see `carom.questions`."""
        client: Client = self._client
        frame = self.asked(asked, self.version)
        answer = await client._run(operations.evaluate(client._addresses, frame, client._pictures.draw), self._deadline)
        return self._all(answer, asked, strict)

    async def summary(self) -> SceneSummary:
        """Returns the summary of the scene."""
        found: SceneSummary = await self._client.get_scene(self.name, version=self.version, deadline=self._deadline)
        return found

    async def export(self) -> Scene:
        """Returns the scene as one in this process."""
        made: Scene = await self._client.export_scene(self.name, version=self.version, deadline=self._deadline)
        return made
