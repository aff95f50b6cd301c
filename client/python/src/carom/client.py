# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes of a server: questions, edits, watches and streams of frames.

    import carom

    client = carom.Client("127.0.0.1:7420")
    client.import_scene("arena", [[(0, 0), (4, 0), (4, 3), (0, 3)]])
    hits = client.scene("arena").cast([-2, -2], [1, 9], [6, 6], [1, 9])
    hits.counts, hits.fraction, hits.point

Questions and answers are those of a scene in this process: `client.scene("arena")` stands where a `carom.Scene` stood.
Many questions of one tick go to the server as one `Frame`, and the frames of a tick loop over a `Stream`.

Every call has a deadline and raises a `CaromError`; a call that changes nothing, or that the server makes once however
often it is sent, is repeated while no server can be reached. Lengths are in the unit of the caller's coordinates,
times in seconds. Needs the extra `client` of the package.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from ._generated.asking import Asker
from ._question import Question
from ._remote import operations, parts
from ._remote.base import DEFAULT, ClientBase, SceneBase, Trackers
from ._remote.forks import Operation
from ._remote.frames import Frame, FrameAnswer, Group, GroupAnswer
from ._remote.pictures import Pictures
from ._remote.run import Runner, make_channel
from ._remote.stream import Stream
from ._remote.values import (
    Edits,
    FrameStats,
    LintFinding,
    LintOptions,
    PolygonChange,
    SceneLike,
    SceneSummary,
    SceneUpdate,
    SceneVersion,
    StreamLimits,
    Tls,
    instance,
    scene_name,
)
from ._remote.watch import Watch

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._answers import Answers
    from .local import Scene
    from .polygons import Polygons, PolygonsLike

__all__ = [
    "Client", "Edits", "Frame", "FrameAnswer", "FrameStats", "Group", "GroupAnswer", "LintFinding", "LintOptions",
    "PolygonChange", "RemoteScene", "SceneSummary", "SceneUpdate", "SceneVersion", "Stream", "StreamLimits", "Tls",
    "Trackers", "Watch",
]  # fmt: skip

A = TypeVar("A", bound="Answers")
T = TypeVar("T")


class Client(ClientBase):
    """A client of one server, or of several that have the same scenes; it uses one of them at a time. Thread-safe.

    addresses: `host:port` or `unix:PATH`, several as a list or with commas; a call that cannot reach its server makes
        later calls go to the next one
    token, token_file: a token that every call carries, or the path of a file with one, which is read again when it
        changes; over TLS, or to a server on this machine
    tls: `Tls(...)`, or True for the authorities of the system; plain text if absent
    credentials: a grpc.ChannelCredentials in place of tls
    deadline: [seconds] of every call, attempts included; None: none. Streams and watches have none.
    keepalive: [seconds] without data after which the server is pinged, at least 10; 0: never
    max_receive_bytes: of one message
    own_connection: whether the client shares no connection with others of this process

    The network connection is made by the first call. Raises InvalidArgumentError for a malformed address, and for
    files that cannot be used. A client does not survive a fork of the process (`os.fork`): its methods then raise
    FailedPreconditionError in the child.
    """

    _make_channel = staticmethod(make_channel)

    def _begin(self) -> None:
        self._runner = Runner(self._addresses, self._channels)
        self._pictures = Pictures(self._run)

    def _run(self, operation: Operation[T], deadline: float | None = DEFAULT) -> T:
        return self._runner.run(operation, self._limit(deadline))

    # --- Scenes -----------------------------------------------------------------------------------

    def scene(
        self, name: SceneLike, *, version: int = 0, min_version: int = 0, deadline: float | None = DEFAULT
    ) -> RemoteScene:
        """Returns a scene to ask. No call is made.

        version: the version that is asked, as far as the server keeps it; 0: the current one
        min_version: the least version that is asked; the server waits for it, for up to 0.8 of the deadline
        deadline: [seconds] of each question, in place of that of the client
        """
        return RemoteScene(self, scene_name(name), version, min_version, None, None, self._limit(deadline))

    def create_scene(
        self, name: SceneLike, polygons: PolygonsLike, *, deadline: float | None = DEFAULT, **options: Any
    ) -> SceneSummary:
        """Registers a scene of what `Polygons` accepts, with its options. Raises AlreadyExistsError.

        Raises InvalidArgumentError with a path such as `polygons[3].rings[0].x[7]`, and ResourceExhaustedError over a
        limit of the server.
        """
        made = operations.polygons_of(polygons, options)
        return self._run(operations.create_scene(scene_name(name), made), deadline)

    def import_scene(
        self, name: SceneLike, source: PolygonsLike | Scene | bytes | str | os.PathLike[str], *, replace: bool = False,
        deadline: float | None = DEFAULT, **options: Any,
    ) -> SceneSummary:  # fmt: skip
        """Registers a scene of any size. It becomes visible when the server has all of it.

        source: what `Polygons` accepts, with its options; a scene in this process; a bundle as bytes or as a path
        replace: whether a scene of this name is replaced, as a new version; else it raises AlreadyExistsError
        """
        made = operations.polygons_of(source, options)
        return self._run(operations.import_scene(scene_name(name), made, replace=replace), deadline)

    def export_scene(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> Scene:
        """Returns a version of a scene, 0: the current one, as a scene in this process with the same version.

        Raises NotFoundError, and OutOfRangeError if the server does not keep the polygons of the version.
        """
        summary, polygons = self._run(operations.export_scene(scene_name(name), version), deadline)
        made: Scene = operations.local_scene(polygons, summary.version)
        return made

    def export_bundle(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> bytes:
        """Returns a version of a scene as the bytes of a bundle (docs/bundle.md)."""
        return self._run(operations.export_bundle(scene_name(name), version), deadline)

    def export_polygons(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> Polygons:
        """Returns the polygons of a version of a scene, in ascending order of their ids. Needs no core."""
        return self._run(operations.export_scene(scene_name(name), version), deadline)[1]

    def get_scene(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> SceneSummary:
        """Returns the summary of a version of a scene, 0: the current one. Raises NotFoundError, OutOfRangeError."""
        return self._run(operations.get_scene(scene_name(name), version), deadline)

    def list_scenes(self, *, deadline: float | None = DEFAULT) -> list[SceneSummary]:
        """Returns the current versions of all scenes, by ascending name."""
        return self._run(operations.list_scenes(), deadline)

    def delete_scene(self, name: SceneLike, *, version: int = 0, deadline: float | None = DEFAULT) -> None:
        """Deletes a scene with all its versions.

        version: raises AbortedError if another one is current; 0: any
        """
        return self._run(operations.delete_scene(self._addresses.forks, scene_name(name), version), deadline)

    def commit(
        self, name: SceneLike, *, add: PolygonsLike | None = None, replace: PolygonsLike | None = None,
        remove: ArrayLike = (), edit_id: str | None = None, base_version: int = 0, deadline: float | None = DEFAULT,
    ) -> SceneSummary:  # fmt: skip
        """Edits a scene: all of the edits are made, as one version, or none.

        add, replace: polygons with ids of their own (`Polygons(..., ids=...)`); remove: ids
        edit_id: at most 64 bytes; a commit with an id that the history has changes nothing and returns its version;
            chosen if absent, so that a commit that is sent again happens once
        base_version: raises AbortedError if another version is current; 0: any

        Raises AlreadyExistsError, NotFoundError and InvalidArgumentError with the path `edits[i]`, where i counts
        added, then replaced, then removed polygons.
        """
        operation = operations.commit(
            self._addresses.forks, scene_name(name), add, replace, remove, edit_id, base_version
        )
        return self._run(operation, deadline)

    def versions(self, name: SceneLike, *, deadline: float | None = DEFAULT) -> list[SceneVersion]:
        """Returns the history of a scene as far as the server keeps it, ascending; the last version is current."""
        return self._run(operations.versions(scene_name(name)), deadline)

    def rollback(
        self, name: SceneLike, version: int, *, base_version: int = 0, deadline: float | None = DEFAULT
    ) -> SceneSummary:
        """Makes a version with the polygons of an older one. Raises OutOfRangeError if the server has them no more."""
        operation = operations.rollback(self._addresses.forks, scene_name(name), version, base_version)
        return self._run(operation, deadline)

    def fork(
        self, base: SceneLike, *, name: SceneLike | None = None, version: int = 0, lease: float | None = None,
        deadline: float | None = DEFAULT,
    ) -> SceneSummary:  # fmt: skip
        """Makes a fork: a scene that begins as a version of another one, and is edited independently.

        name: of the fork; chosen if absent
        version: of the base; 0: the current one
        lease: [seconds] without use after which the server deletes the fork, at least 1; None: 60

        A fork exists on one server, until `delete_scene` or the end of its lease. If a server loses it, streams of
        this client make it again.
        """
        operation = operations.fork(
            self._addresses.forks, scene_name(base, "base"), version, None if name is None else scene_name(name), lease
        )
        return self._run(operation, deadline)

    def lint(
        self, name: SceneLike, *, deadline: float | None = DEFAULT, **options: Unpack[LintOptions]
    ) -> list[LintFinding]:
        """Returns the probable mistakes in a scene. Raises UnimplementedError by a server that has no such call."""
        return self._run(operations.lint(scene_name(name), options), deadline)

    def watch(
        self, name: SceneLike, *, from_version: int = 0, polygons: bool = False, reconnect_timeout: float = 30.0
    ) -> Watch:
        """Returns an iterator of the versions of a scene, each once, as they are made.

        from_version: the version that the caller has, after which the watch begins; 0: with the current one
        polygons: whether updates have the added and replaced polygons
        reconnect_timeout: [seconds] for which a broken call is made again
        """
        self._channels.check()
        return Watch(self._runner, scene_name(name), from_version, polygons, reconnect_timeout)

    # --- Frames -----------------------------------------------------------------------------------

    def evaluate(self, frame: Frame, *, deadline: float | None = DEFAULT) -> FrameAnswer:
        """Answers a frame: `answer[question]` has the answers to a question of it.

        Raises the error of a frame that the server refuses as a whole; those of groups are raised by `answer[...]`.
        """
        return self._run(operations.evaluate(self._addresses, frame, self._pictures.draw), deadline)

    def stream(self, *, max_in_flight: int = 8, reconnect_timeout: float = 30.0) -> Stream:
        """Opens a stream of frames: `with client.stream() as stream: stream.send(frame); stream.receive()`.

        max_in_flight: `send` waits while so many frames have no answer
        reconnect_timeout: [seconds] for which a broken stream tries to get a frame answered, by any of the servers
        """
        self._channels.check()
        made = Stream(self._runner, max_in_flight, reconnect_timeout, self._pictures.draw)
        self._streams.add(made)
        return made

    # --- The end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends streams and connections: calls in progress raise CancelledError, later ones FailedPreconditionError."""
        for channel in self._end():
            channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RemoteScene(SceneBase, Asker):
    """A scene of a server: answers the questions that a `carom.Scene` answers, with the same answers. Thread-safe.

    A question is one call, unless it is larger than a frame (65,536 items or beams, 4 MiB, or 262,144 rows of the
    answer): it is then asked in parts, one after the other, about one version of the scene.
    """

    __slots__ = ()

    def ask(self, question: Question[A], *, out: A | None = None, strict: bool = False) -> A:
        """Answers a question that a function of `carom.questions` made: see `carom.Scene.ask`."""
        client: Client = self._client
        instance(question, Question, "question")
        operation = parts.ask(client._addresses, self, question, client._pictures.draw, out)
        made = client._run(operation, self._deadline)
        return made.check() if strict else made

    def evaluate(self, *asked: Question[Any], strict: bool = False) -> tuple[Any, ...]:
        """Answers questions of different kinds by one call: see `carom.questions`."""
        client: Client = self._client
        frame = self.asked(asked, self.version)
        answer = client._run(operations.evaluate(client._addresses, frame, client._pictures.draw), self._deadline)
        return self._all(answer, asked, strict)

    def summary(self) -> SceneSummary:
        """Returns the summary of the scene."""
        found: SceneSummary = self._client.get_scene(self.name, version=self.version, deadline=self._deadline)
        return found

    def export(self) -> Scene:
        """Returns the scene as one in this process."""
        made: Scene = self._client.export_scene(self.name, version=self.version, deadline=self._deadline)
        return made
