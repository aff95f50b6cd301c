# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes in this process: the collision core without a server.

    from carom.local import Scene

    scene = Scene.from_polygons([[(0, 0), (4, 0), (4, 3), (0, 3)]])
    hits = scene.cast([-2, -2], [1, 9], [6, 6], [1, 9])
    hits.counts, hits.fraction, hits.point

A scene is immutable: `commit` makes another one. Threads may ask one scene at the same time, and a question releases
the global interpreter lock. Bodies and trackers change, so one thread at a time may use them; two at once raise
FailedPreconditionError.
"""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _calls
from ._calls import World, ask, ask_all, closed, write_svg
from ._columns import column, number, refuse, triple
from ._generated import layout, questions
from ._generated.asking import Asker
from ._histories import DefinedBodies, choose_rotation, define, pose
from ._library import Handle, library
from ._question import Question, no_question
from .polygons import Polygons, PolygonsLike
from .shapes import Shapes, ShapesLike, as_shapes, box, capsule, disc

if TYPE_CHECKING:
    from ._answers import Answers
    from ._generated import answers
    from ._generated.enums import BodyRotation, Coherence, OverlapDetail
    from ._layout import Layout

__all__ = ["Bodies", "BodyHistory", "Polygons", "Scene", "Shapes", "Trackers", "box", "capsule", "disc"]

A = TypeVar("A", bound="Answers")


class _Columns(ctypes.Structure):
    """A column that a function takes by value."""

    _fields_ = (("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("stride", ctypes.c_size_t))


def _fill(of: Layout, keep: list[object], **values: Any) -> ctypes.Array[ctypes.c_char]:
    """A struct with columns, numbers and handles by name."""
    words = list(of.defaults)
    for name, value in values.items():
        if name in of.index:
            if value is not None and len(value):
                slot = of.index[name].slot
                words[slot : slot + 3] = triple(value)
                keep.append(value)
        elif name in of.pointers:
            words[of.pointers[name]] = value.address if value is not None else 0
            keep.append(value)
        else:
            words[of.numbers[name]] = value
    return ctypes.create_string_buffer(of.struct.pack(*words), of.struct.size)


def _polygon_set(polygons: Polygons) -> Handle:
    keep: list[object] = []
    names = [spec.path for spec in layout.POLYGONS_COLUMNS.columns]
    columns = {name: column(getattr(polygons, name), spec.code, name)
               for name, spec in zip(names, layout.POLYGONS_COLUMNS.columns, strict=True)}  # fmt: skip
    block = _fill(layout.POLYGONS_COLUMNS, keep, **columns)
    made = library().make("carom_polygon_set_create", ctypes.addressof(block), 0)
    return Handle(made, "carom_polygon_set_destroy")


def shapes_handle(shapes: Shapes) -> Handle:
    """The shapes as the library has them, made at the first use."""
    handle = shapes._handle
    if handle is None:
        with shapes._lock:
            handle = shapes._handle
            if handle is None:
                keep: list[object] = []
                names = ("ax", "ay", "bx", "by", "radius")
                capsules = _fill(layout.CAPSULES_COLUMNS, keep, **{name: getattr(shapes, name) for name in names})
                polygons = _polygon_set(shapes.polygons) if len(shapes.polygons) else None
                made = library().make(
                    "carom_shapes_create",
                    polygons if polygons else 0,
                    ctypes.addressof(capsules) if len(shapes.radius) else 0,
                )
                handle = shapes._handle = Handle(made, "carom_shapes_destroy")
    return handle


def _placed(
    shapes: ShapesLike, x: ArrayLike, y: ArrayLike, shape: ArrayLike | None, c: ArrayLike | None,
    s: ArrayLike | None, angle: ArrayLike | None,
) -> tuple[Shapes, dict[str, NDArray[Any] | None]]:  # fmt: skip
    """The columns of shapes at poses, with an entry for each."""
    question = questions.nearest(shapes, x, y, shape=shape, c=c, s=s, angle=angle)
    columns = {
        spec.name: array
        for spec, array in zip(question.kind.question.columns, question.arrays(), strict=True)
        if spec.path.startswith("movers.")
    }
    assert question.shapes is not None
    return question.shapes, columns


class Bodies:
    """Shapes that questions may hit beside the polygons of a scene: the players of a tick, doors.

    shapes, shape, x, y, c, s, angle: see `Scene.overlap`
    category: bits that are compared with masks; 1 if absent
    owner: bodies of the owner that a question ignores are not hit; 0, none, if absent

    At most 4,096 bodies with 65,536 vertices in all, else ResourceExhaustedError. One thread at a time.
    """

    __slots__ = ("_handle", "columns", "shapes")

    def __init__(
        self, shapes: ShapesLike, x: ArrayLike, y: ArrayLike, *, shape: ArrayLike | None = None,
        c: ArrayLike | None = None, s: ArrayLike | None = None, angle: ArrayLike | None = None,
        category: ArrayLike | None = None, owner: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self._handle: Handle | None = None
        self.place(shapes, x, y, shape=shape, c=c, s=s, angle=angle, category=category, owner=owner)

    def place(
        self, shapes: ShapesLike, x: ArrayLike, y: ArrayLike, *, shape: ArrayLike | None = None,
        c: ArrayLike | None = None, s: ArrayLike | None = None, angle: ArrayLike | None = None,
        category: ArrayLike | None = None, owner: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Replaces all bodies, for the next tick. After an error, the bodies are as before."""
        placed, columns = _placed(shapes, x, y, shape, c, s, angle)
        count = len(columns["x"])  # type: ignore[arg-type]
        named: dict[str, NDArray[Any] | None] = {f"placed.{name}": array for name, array in columns.items()}
        for name, value, code in (("category", category, "Q"), ("owner", owner, "I")):
            array = None if value is None else column(value, code, name)
            named[name] = np.full(count, array) if array is not None and array.ndim == 0 else array
        if self._handle is not None:
            self._create(placed, named, self._handle)
        self.shapes = placed
        self.columns = named

    def _create(self, shapes: Shapes, columns: dict[str, Any], into: Handle | None) -> Handle:
        keep: list[object] = []
        pointer = {"placed.shapes": shapes_handle(shapes)}
        block = _fill(layout.BODY_COLUMNS, keep, **columns, **pointer)
        if into is not None:
            library().call("carom_bodies_place", into, ctypes.addressof(block))
            return into
        made = library().make("carom_bodies_create", ctypes.addressof(block))
        return Handle(made, "carom_bodies_destroy")

    def handle(self) -> Handle:
        """The bodies as the library has them, made at the first use."""
        if self._handle is None:
            self._handle = self._create(self.shapes, self.columns, None)
        return self._handle

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle_bodies, (self.shapes, self.columns))

    def __len__(self) -> int:
        x = self.columns["placed.x"]
        return 0 if x is None else len(x)

    def __repr__(self) -> str:
        return f"<{len(self)} bodies>"


class BodyHistory:
    """Bodies with their poses by tick: questions meet them where they were at a moment, also between two ticks.

    shapes, shape: body i is shapes[shape[i]], or shapes[i] without `shape`
    category: of each body, bits that are compared with masks; 1 if absent
    owner: of each body: bodies of the owner that a question ignores are not hit; 0, none, if absent
    keep_ticks: ticks that are kept, the last that came; in [1, 256]; None: 64

    `scene.with_body_history(history)` answers items as of their moments `as_of`: a shot is judged where its shooter saw
    the others. The limits are those of `Bodies`. One thread at a time.
    """

    __slots__ = ("_handle", "_size")

    def __init__(
        self, shapes: ShapesLike, *, shape: ArrayLike | None = None, category: ArrayLike | None = None,
        owner: ArrayLike | None = None, keep_ticks: int | None = None,
    ) -> None:  # fmt: skip
        bodies: DefinedBodies = define(shapes, shape, category, owner, keep_ticks)
        keep: list[object] = []
        block = _fill(
            layout.BODY_DEFINITION, keep, **bodies.columns, shapes=shapes_handle(bodies.shapes),
            keep_ticks=bodies.keep_ticks,
        )  # fmt: skip
        made = library().make("carom_body_history_create", ctypes.addressof(block))
        self._handle = Handle(made, "carom_body_history_destroy")
        self._size = len(bodies)

    def add(
        self, tick: int, x: ArrayLike, y: ArrayLike, *, c: ArrayLike | None = None, s: ArrayLike | None = None,
        angle: ArrayLike | None = None, alive: ArrayLike | None = None, teleported: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Adds the poses of all bodies at a tick, above all earlier ones; drops the oldest tick beyond `keep_ticks`.

        tick: its number, in [0, 2^53]
        x, y: [length] positions, at most 2^52 in magnitude
        c, s: cosine and sine of the rotation; absent, as angle: not turned; the same in all ticks
        angle: [radians] in place of c and s
        alive: a flag for each body: the others are met by nothing; absent: all are alive
        teleported: a flag for each body: it does not move from the tick before; absent: none

        A tick that is kept changes nothing with the same poses; nor does one below all that are kept. Raises
        InvalidArgumentError, with the path `poses.tick` for a kept tick with other poses and for one that was left out.
        """
        made = pose(tick, x, y, c, s, angle, alive, teleported)
        keep: list[object] = []
        block = _fill(layout.BODY_POSES, keep, tick=made.tick, **made.numbers, **made.bits)
        library().call("carom_body_history_add", self._handle, ctypes.addressof(block))

    def _number(self, what: str, result: Any = ctypes.c_uint64) -> int:
        found: int = library().function(f"carom_body_history_{what}", result, ctypes.c_void_p)(self._handle.address)
        return found

    @property
    def tick_count(self) -> int:
        """The number of ticks that are kept."""
        return self._number("tick_count", ctypes.c_size_t)

    @property
    def oldest_tick(self) -> int | None:
        """The first tick that is kept; None: there is none."""
        return self._number("oldest_tick") if self.tick_count else None

    @property
    def newest_tick(self) -> int | None:
        """The last tick; None: there is none."""
        return self._number("newest_tick") if self.tick_count else None

    def __reduce__(self) -> tuple[Any, ...]:
        raise refuse("body_history", "cannot be pickled: each process makes its own")

    def __len__(self) -> int:
        """The number of bodies."""
        return self._size

    def __repr__(self) -> str:
        return f"<BodyHistory: {len(self)} bodies, {self.tick_count} ticks>"


class Trackers:
    """Shapes with a memory of what is near them, so that a small move costs next to nothing.

    The memory never changes an answer. max_trackers: handles are below this number, at most 2^24; max_bytes: of all
    shapes and memories. One thread at a time.
    """

    __slots__ = ("_handle",)

    def __init__(self, max_trackers: int = 65536, max_bytes: int = 64 << 20) -> None:
        for name, value in (("max_trackers", max_trackers), ("max_bytes", max_bytes)):
            if not isinstance(value, int) or not 1 <= value < 2**63:
                raise refuse(name, f"is {value!r}; accepted is [1, 2^63)")
        made = library().make("carom_trackers_create", max_trackers, max_bytes)
        self._handle = Handle(made, "carom_trackers_destroy")

    def define(
        self, shapes: ShapesLike, *, shape: ArrayLike | None = None, tracker: ArrayLike | None = None,
        first_tracker: int = 0, mask: int | None = None, within: float = 0.0, remove: ArrayLike = (),
    ) -> None:  # fmt: skip
        """Defines trackers: item i is the tracker tracker[i] with the shape shape[i].

        tracker: handles, which the caller chooses; first_tracker, first_tracker + 1 and so on if absent
        mask: categories of the polygons that are considered; None: all
        within: [length] polygons at most this far away count as touched
        remove: handles that are removed first, defined or not
        """
        keep: list[object] = []
        made = as_shapes(shapes)
        arrays = {
            name: None if value is None else np.atleast_1d(column(value, "I", name))
            for name, value in (("shape", shape), ("tracker", tracker))
        }
        if arrays["shape"] is None and arrays["tracker"] is not None and len(made) == 1:
            arrays["shape"] = np.zeros(len(arrays["tracker"]), np.uint32)
        block = _fill(
            layout.TRACKER_DEFINITIONS, keep, **arrays, shapes=shapes_handle(made),
            first_tracker=_limited("first_tracker", first_tracker, 0, 2**32),
            mask=0 if mask is None else _limited("mask", mask, 1, 2**64), within=number(within, "within"),
        )  # fmt: skip
        self._define(remove, ctypes.addressof(block))

    def remove(self, tracker: ArrayLike) -> None:
        """Removes trackers by their handles, defined or not."""
        self._define(tracker, 0)

    def _define(self, remove: ArrayLike, definitions: int) -> None:
        removed = np.atleast_1d(column(remove, "I", "remove"))
        by_value = _Columns(*triple(removed)) if len(removed) else _Columns(None, 0, 0)
        library().call("carom_trackers_define", self._handle, by_value, definitions)

    def move(
        self, scene: Scene, x: ArrayLike, y: ArrayLike, *, tracker: ArrayLike | None = None,
        detail: OverlapDetail | Literal["ids", "edges"] | None = None,
        coherence: Coherence | Literal["on", "off"] | None = None, quiet_radii: bool = False,
        out: answers.Moves | None = None, strict: bool = False, **more: Any,
    ) -> answers.Moves:  # fmt: skip
        """Moves trackers through a scene: `scene.with_trackers(trackers).move(...)`."""
        return scene.with_trackers(self).move(
            x, y, tracker=tracker, detail=detail, coherence=coherence, quiet_radii=quiet_radii, out=out,
            strict=strict, **more,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        raise refuse("trackers", "cannot be pickled: each process makes its own")

    def forget(self) -> None:
        """Drops all memories: no answer changes, but the next moves take longer."""
        library().call("carom_trackers_forget", self._handle)

    @property
    def nbytes(self) -> int:
        """Bytes of the table, with all shapes and memories."""
        size: int = library().function("carom_trackers_bytes", ctypes.c_size_t, ctypes.c_void_p)(self._handle.address)
        return size


def _limited(name: str, value: object, least: int, limit: int) -> int:
    if not isinstance(value, int | np.integer) or not least <= value < limit:
        raise refuse(name, f"is {value!r}; accepted is [{least}, {limit - 1}]")
    return int(value)


def _path(path: object) -> bytes:
    try:
        name = os.fsencode(path)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise refuse("path", f"is {type(path).__name__}: {error}") from None
    if b"\0" in name:
        raise refuse("path", "has a null character")
    return name


class Scene(Asker):
    """An immutable set of polygons with an index. Made by `from_polygons`, `load`, `from_bundle` and `commit`."""

    __slots__ = ("_bodies", "_handle", "_history", "_trackers", "_world")

    def __init__(
        self, handle: Handle, bodies: Bodies | None = None, trackers: Trackers | None = None,
        history: tuple[BodyHistory, int] | None = None,
    ) -> None:  # fmt: skip
        self._handle: Handle | None = handle
        self._bodies = bodies
        self._trackers = trackers
        self._history = history  # in place of bodies, with the number of a BodyRotation
        self._world: World | None = World(
            handle,
            None if bodies is None else bodies.handle(),
            None if trackers is None else trackers._handle,
            None if history is None else history[0]._handle,
            0 if history is None else history[1],
        )

    # --- Making ---------------------------------------------------------------------------------

    @classmethod
    def from_polygons(cls, polygons: PolygonsLike, *, version: int = 1, **options: Any) -> Self:
        """Makes a scene of what `Polygons` accepts, with its options. O(n log n) for n polygons.

        Raises InvalidArgumentError with a path such as `polygons[3].rings[0].x[7]` for a NaN or an id that occurs
        twice, and ResourceExhaustedError above 4,194,304 polygons or 16,777,216 vertices.
        """
        made = polygons if isinstance(polygons, Polygons) and not options else Polygons(polygons, **options)
        number = _limited("version", version, 0, 2**64)
        handle = library().make("carom_scene_create", _polygon_set(made), number, 0)
        return cls(Handle(handle, "carom_scene_destroy"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Opens a bundle (docs/bundle.md), which is mapped into memory while it is read.

        Raises NotFoundError, InvalidArgumentError for a file that is no bundle, DataLossError for a damaged one.
        """
        handle = library().make("carom_scene_open_bundle", ctypes.c_char_p(_path(path)), 0)
        return cls(Handle(handle, "carom_scene_destroy"))

    @classmethod
    def from_bundle(cls, data: bytes | bytearray | memoryview) -> Self:
        """Makes a scene of the bytes of a bundle."""
        view = np.frombuffer(data, np.uint8)
        address, size, _ = triple(view) if len(view) else (0, 0, 0)
        handle = library().make("carom_scene_from_bundle", address, size, 0)
        return cls(Handle(handle, "carom_scene_destroy"))

    def to_bundle(self) -> bytes:
        """Returns the scene as the bytes of a bundle."""
        buffer = Handle(library().make("carom_buffer_create"), "carom_buffer_destroy")
        library().call("carom_scene_to_bundle", self._open(), buffer)
        return _calls.buffer_bytes(buffer)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a bundle. After an error, a file that was there is as before."""
        library().call("carom_scene_save_bundle", self._open(), ctypes.c_char_p(_path(path)))

    def commit(
        self, *, add: PolygonsLike | None = None, replace: PolygonsLike | None = None, remove: ArrayLike = (),
        version: int | None = None,
    ) -> Self:  # fmt: skip
        """Makes the scene after edits; this one stays as it is, and both share what does not change.

        add: new polygons; give them ids, by `Polygons(..., ids=...)`
        replace: polygons in place of those with their ids
        remove: ids
        version: of the new scene; the next number if absent

        Raises AlreadyExistsError and NotFoundError with the path `edits[i]`.
        """
        keep: list[object] = []
        sets = {
            name: None if value is None else _polygon_set(value if isinstance(value, Polygons) else Polygons(value))
            for name, value in (("added", add), ("replaced", replace))
        }
        number = self.version + 1 if version is None else _limited("version", version, 0, 2**64)
        removed = np.atleast_1d(column(remove, "Q", "remove"))
        block = _fill(layout.EDITS, keep, **sets, removed=removed, version=number)
        handle = library().make("carom_scene_commit", self._open(), ctypes.addressof(block), 0)
        return type(self)(Handle(handle, "carom_scene_destroy"), self._bodies, self._trackers, self._history)

    def with_bodies(self, bodies: Bodies) -> Self:
        """Returns the same scene, whose questions may ask bodies: `against="both"` or "bodies"."""
        if not isinstance(bodies, Bodies):
            raise refuse("bodies", f"is {type(bodies).__name__}; Bodies are accepted")
        return type(self)(self._open(), bodies, self._trackers)

    def with_body_history(
        self, history: BodyHistory, *, rotation: BodyRotation | Literal["nearest", "linear"] | None = None
    ) -> Self:
        """Returns the same scene, whose questions may ask bodies as of the moments of their items, `as_of`.

        The history takes the place of other bodies. rotation: of bodies between two ticks: that of the nearest tick,
        the default, or the angle between, turning the shorter way, for ticks without c and s
        """
        if not isinstance(history, BodyHistory):
            raise refuse("history", f"is {type(history).__name__}; a BodyHistory is accepted")
        return type(self)(self._open(), None, self._trackers, (history, choose_rotation(rotation)))

    def with_trackers(self, trackers: Trackers) -> Self:
        """Returns the same scene, which answers `move`."""
        if not isinstance(trackers, Trackers):
            raise refuse("trackers", f"is {type(trackers).__name__}; Trackers are accepted")
        return type(self)(self._open(), self._bodies, trackers, self._history)

    # --- Asking ---------------------------------------------------------------------------------

    def ask(self, question: Question[A], *, out: A | None = None, strict: bool = False) -> A:
        world = self._world
        if world is None:
            raise closed("scene")
        if not isinstance(question, Question):
            raise no_question(question)
        if out is None:
            made = question.answers(question, ask(world, question))
        else:
            if type(out) is not question.answers:
                raise refuse("out", f"is {type(out).__name__}; {question.answers.__name__} is accepted")
            out._clear()
            out._replace(question, ask(world, question))
            made = out
        return made.check() if strict else made

    def evaluate(self, *asked: Question[Any], strict: bool = False) -> tuple[Any, ...]:
        """Answers questions of different kinds by one call: see `carom.questions`."""
        world = self._world
        if world is None:
            raise closed("scene")
        for question in asked:
            if not isinstance(question, Question):
                raise no_question(question)
        parts = ask_all(world, asked)
        made = tuple(question.answers(question, part) for question, part in zip(asked, parts, strict=True))
        if strict:
            for each in made:
                each.check()
        return made

    # --- What is in it --------------------------------------------------------------------------

    def _open(self) -> Handle:
        if self._handle is None:
            raise closed("scene")
        return self._handle

    def _count(self, name: str, result: Any = ctypes.c_size_t) -> int:
        found: int = library().function(name, result, ctypes.c_void_p)(self._open().address)
        return found

    @property
    def version(self) -> int:
        """The number that the maker of the scene chose."""
        return self._count("carom_scene_version", ctypes.c_uint64)

    @property
    def vertex_count(self) -> int:
        """The number of vertices of all polygons."""
        return self._count("carom_scene_vertex_count")

    def __len__(self) -> int:
        """The number of polygons."""
        return self._count("carom_scene_polygon_count")

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The least box that contains all polygons: min_x, min_y, max_x, max_y."""
        box = (ctypes.c_double * 4)()
        library().call("carom_scene_bounds", self._open(), ctypes.addressof(box))
        return (box[0], box[1], box[2], box[3])

    def polygons(self) -> Polygons:
        """Returns the polygons of the scene, in ascending order of their ids."""
        from ._reading import read_polygons

        return read_polygons(self._open())

    def close(self) -> None:
        """Frees the scene, unless a call still uses it. Later calls raise FailedPreconditionError."""
        self._handle = self._world = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_svg_(self) -> str:
        world = self._world
        if world is None:
            raise closed("scene")
        return write_svg(world)

    def __repr__(self) -> str:
        if self._handle is None:
            return "<Scene, closed>"
        return f"<Scene: {len(self)} polygons, {self.vertex_count} vertices, version {self.version}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle, (self.to_bundle(), self.version, self._bodies, self._trackers, self._history))


def _unpickle(
    data: bytes, version: int, bodies: Bodies | None, trackers: Trackers | None,
    history: tuple[BodyHistory, int] | None = None,
) -> Scene:  # fmt: skip
    scene = Scene.from_bundle(data)
    handle = library().make("carom_scene_with_version", scene._open(), version)
    return Scene(Handle(handle, "carom_scene_destroy"), bodies, trackers, history)


def _unpickle_bodies(shapes: Shapes, columns: dict[str, NDArray[Any] | None]) -> Bodies:
    bodies = Bodies((), (), ())
    bodies.shapes, bodies.columns = shapes, columns
    return bodies
