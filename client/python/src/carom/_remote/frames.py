# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does a program ask in one tick, and what does a server answer?

A `Frame` has groups, each of which asks one scene, and its `FrameAnswer` has one answer for each group. `snapshot`
turns a frame into bytes at once, so that the arrays of its questions may change afterwards.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from .._columns import column, number, refuse
from .._generated import layout
from .._generated.asking import Collector
from .._generated.enums import BodyRotation, Coherence
from .._histories import choose_rotation, define, pose, whole
from .._question import Question
from ..errors import CaromError, InternalError
from ..local import Bodies
from . import encode, messages, wire
from .body_sets import Definition as SetDefinition
from .body_sets import Tick, check_handle, tick_of
from .decode import FORMS, Columns
from .status import of_message
from .values import Edits, FrameStats, SceneLike, instance, scene_name, seconds, text
from .wire import LENGTH, Message, Range, tag

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._answers import Answers
    from .._layout import Layout
    from ..shapes import ShapesLike

A = TypeVar("A", bound="Answers")
# Draws a question about a version of a scene: scene, version, bodies, question; None: the scene alone.
Picture = Callable[[str, int, "Bodies | None", "Question[Any] | None"], str]

_GROUP = messages.table("Group").by_name
_GROUP_ANSWER = {name: field.number for name, field in messages.table("GroupAnswer").by_name.items()}
_FRAME_ANSWER = {name: field.number for name, field in messages.table("FrameAnswer").by_name.items()}
MOST_BUDGET = 60.0  # [seconds]
_CHOICES = layout.CHOICES["carom_coherence"]


def new_edit_id() -> str:
    """Returns an id that no other edits have: 128 random bits."""
    return secrets.token_hex(16)


class Group(Collector):
    """The questions of a frame about one scene, at most one of each kind. Made by `Frame.group`."""

    __slots__ = (
        "bodies", "body_set", "edits", "min_version", "questions", "rotation", "scene", "version", "version_at_tick",
    )  # fmt: skip

    def __init__(self, scene: str, min_version: int, version: int, bodies: Bodies | None, edits: Edits | None) -> None:
        self.scene = scene
        self.min_version = min_version
        self.version = version
        self.bodies = bodies
        self.edits = edits
        self.body_set: int | None = None
        self.rotation = 0  # the number of a BodyRotation; 0: the default
        self.version_at_tick: int | None = None
        self.questions: list[Question[Any]] = []

    def ask(self, question: Question[A]) -> Question[A]:
        """Adds a question that a function of `carom.questions` made, and returns it."""
        instance(question, Question, "question")
        if any(other.kind is question.kind for other in self.questions):
            raise refuse("question", f"is the second of the kind {question.kind.method} in the group; one is accepted")
        self.questions.append(question)
        return question

    def __repr__(self) -> str:
        return f"<Group of {self.scene}: {len(self.questions)} questions>"


class Frame:
    """What a program asks in one tick: groups, each for one scene.

    seq: a number that the answer repeats; a stream numbers frames without one
    budget: [seconds] from the server's receipt of the frame, in [0, 60]: groups that are not answered by then raise
        DeadlineExceededError; None: no budget
    coherence: whether moves use the memories of trackers; no answer changes
    supersede: on a stream, whether a later frame with `supersede` replaces this one, if it is not begun by then

    A frame may be sent several times. One thread at a time.
    """

    __slots__ = (
        "_body_sets", "_definitions", "_removed", "_removed_sets", "_ticks", "budget", "coherence", "groups", "seq",
        "supersede",
    )  # fmt: skip

    def __init__(
        self, *, seq: int | None = None, budget: float | None = None,
        coherence: Coherence | Literal["on", "off"] | None = None, supersede: bool = False,
    ) -> None:  # fmt: skip
        if seq is not None:
            encode.check_number("seq", seq, 0, 2**64)
        self.seq = seq
        self.budget = None if budget is None else seconds(budget, "budget", MOST_BUDGET)
        self.coherence = _coherence(coherence)
        self.supersede = supersede
        self.groups: list[Group] = []
        self._definitions: list[Definition] = []
        self._removed: list[NDArray[np.uint32]] = []
        self._removed_sets: list[int] = []
        self._body_sets: list[SetDefinition] = []
        self._ticks: list[Tick] = []

    def group(
        self, scene: SceneLike, *, min_version: int = 0, version: int = 0, bodies: Bodies | None = None,
        edits: Edits | None = None, body_set: int | None = None,
        rotation: BodyRotation | Literal["nearest", "linear"] | None = None, version_at_tick: int | None = None,
    ) -> Group:  # fmt: skip
        """Adds a group, whose methods ask: `group.cast(...)` returns the question whose answers `answer[question]` has.

        scene: a name, or what has one
        min_version: the least version that is read; the server waits for it within the budget of the frame
        version: the version that is read, as far as the server keeps it; 0: the current one
        bodies: shapes that exist for this group alone
        edits: of a fork, made before the questions are answered
        body_set: handle of a body set, in place of bodies: each item considers them at its moment `as_of`
        rotation: of these bodies between two ticks: that of the nearest tick, the default, or the angle between
        version_at_tick: of `body_set`, a set of the fork `scene`: the group reads the fork as it was when the tick came
        """
        for name, value in (("min_version", min_version), ("version", version)):
            encode.check_number(name, value, 0, 2**64)
        if bodies is not None:
            instance(bodies, Bodies, "bodies")
        if edits is not None:
            instance(edits, Edits, "edits")
        made = Group(scene_name(scene, "scene"), min_version, version, bodies, edits)
        made.body_set = None if body_set is None else check_handle(body_set)
        made.rotation = choose_rotation(rotation)
        if version_at_tick is not None:
            made.version_at_tick = whole("version_at_tick", version_at_tick, 0, 2**64 - 1)
        self.groups.append(made)
        return made

    def define_body_set(
        self, body_set: int, shapes: ShapesLike, *, shape: ArrayLike | None = None, category: ArrayLike | None = None,
        owner: ArrayLike | None = None, keep_ticks: int | None = None, fork: SceneLike | None = None,
    ) -> None:  # fmt: skip
        """Defines bodies that the server keeps, with their poses by tick, for shots in the past.

        body_set: handle, below 65,536, chosen by the caller
        shapes: body i is shapes[shape[i]], or shapes[i] without `shape`
        category: of each body, bits that are compared with masks; 1 if absent
        owner: of each body, see `ignore_owner`; 0, none, if absent
        keep_ticks: ticks that the set keeps, the last that came; in [1, 256]; None: 64
        fork: the fork that keeps the set, for all of its streams; None: the stream keeps it

        The same definition again changes nothing. Without a stream, the set ends with its frame.
        """
        self._body_sets.append(SetDefinition(body_set, define(shapes, shape, category, owner, keep_ticks), fork))

    def add_poses(
        self, body_set: int, tick: int, x: ArrayLike, y: ArrayLike, *, c: ArrayLike | None = None,
        s: ArrayLike | None = None, angle: ArrayLike | None = None, alive: ArrayLike | None = None,
        teleported: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Adds a tick to a body set, before the groups are answered: see `local.BodyHistory.add`."""
        self._ticks.append(tick_of(body_set, pose(tick, x, y, c, s, angle, alive, teleported)))

    def remove_body_sets(self, body_set: ArrayLike) -> None:
        """Removes body sets by their handles, defined or not, before others are defined.

        The set of a fork goes for all of its streams.
        """
        self._removed_sets += column(body_set, "I", "body_set").reshape(-1).tolist()

    def define_trackers(
        self, shapes: ShapesLike, *, shape: ArrayLike | None = None, tracker: ArrayLike | None = None,
        first_tracker: int = 0, mask: int | None = None, within: float = 0.0, remove: ArrayLike = (),
    ) -> None:  # fmt: skip
        """Defines trackers before the groups are answered: see `local.Trackers.define`.

        On a stream they stay defined for later frames; otherwise for this frame alone.
        """
        self.remove_trackers(remove)
        self._definitions.append(Definition(shapes, shape, tracker, first_tracker, mask, within))

    def remove_trackers(self, tracker: ArrayLike) -> None:
        """Removes trackers by their handles, defined or not, before others are defined."""
        self._removed.append(column(tracker, "I", "remove").reshape(-1))

    def snapshot(self) -> Asked:
        """Returns the frame as bytes."""
        return Asked(self)

    def __repr__(self) -> str:
        return f"<Frame: {len(self.groups)} groups, {sum(len(group.questions) for group in self.groups)} questions>"


def _coherence(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, str) and value in _CHOICES:
        return _CHOICES[value]
    if isinstance(value, int) and not isinstance(value, bool) and value in _CHOICES.values():
        return int(value)
    raise refuse("coherence", f"is {value!r}; accepted are {', '.join(map(repr, _CHOICES))}")


class Definition:
    """Definitions of trackers, as bytes and as what a stream sends again."""

    __slots__ = ("handles", "mask", "message", "shape", "shapes", "within")

    def __init__(
        self, shapes: ShapesLike, shape: ArrayLike | None, tracker: ArrayLike | None, first_tracker: int,
        mask: int | None, within: float,
    ) -> None:  # fmt: skip
        made = encode.tracker_definitions(shapes, shape, tracker, first_tracker, mask, within)
        self.message: bytes = made.message.join()
        self.shapes = made.shapes
        self.shape: list[int] = made.shape
        self.handles: list[int] = made.handles
        self.mask = mask
        self.within = number(within, "within")


class AskedGroup:
    """A group as bytes, and what its answer needs."""

    __slots__ = ("bodies", "edits", "fields", "has_body_set", "questions", "scene")

    def __init__(self, group: Group) -> None:
        self.scene = group.scene
        self.bodies = group.bodies
        self.has_body_set = group.body_set is not None
        self.questions = tuple(group.questions)
        self.edits: list[encode.Edit] = []
        fields: list[tuple[int, bytes, Any]] = []
        for question in self.questions:
            plan = encode.PLANS[question.kind.number]
            fields.append((plan.number, plan.key, encode.question_message(question)))
        for name in ("min_version", "version"):
            value = getattr(group, name)
            if value:
                fields.append((_GROUP[name].number, _GROUP[name].key + wire.varint(value), None))
        for name, value in (("body_set", group.body_set), ("version_at_tick", group.version_at_tick)):
            if value is not None:
                fields.append((_GROUP[name].number, _GROUP[name].key + wire.varint(value), None))
        if group.rotation:
            rotation = _GROUP["body_set_rotation"]
            fields.append((rotation.number, rotation.key + wire.varint(group.rotation), None))
        if group.bodies is not None and len(group.bodies):
            fields.append((_GROUP["bodies"].number, _GROUP["bodies"].key, encode.bodies_message(group.bodies)))
        if group.edits is not None:
            fields.append((_GROUP["edits"].number, _GROUP["edits"].key, self._edits(group.edits)))
        self.fields = Message()
        for _, key, inner in sorted(fields, key=lambda field: field[0]):
            if inner is None:
                self.fields.add(key)
            else:
                self.fields.message(key, inner)

    def _edits(self, edits: Edits) -> Message:
        self.edits = encode.edits_of(edits.add, edits.replace, edits.remove)
        encode.check_number("base_version", edits.base_version, 0, 2**64)
        return messages.build(
            "GroupEdits",
            {
                "edit_id": new_edit_id() if edits.edit_id is None else text(edits.edit_id, "edit_id"),
                "base_version": edits.base_version,
                "edits": [edit.message() for edit in self.edits],
            },
        )

    def message(self, handle: int | None) -> Message:
        """The message of the group, which names its scene by a handle if there is one."""
        out = Message()
        if handle is None:
            out.data(_GROUP["scene"].key, self.scene.encode())
        else:
            out.add(_GROUP["scene_handle"].key + wire.varint(handle))
        out.parts += self.fields.parts
        out.size += self.fields.size
        return out


class Asked:
    """A frame as it was when it was sent."""

    __slots__ = (
        "_coherence", "_frame", "body_sets", "definitions", "groups", "removed", "removed_sets", "seq", "tables",
        "ticks",
    )  # fmt: skip

    def __init__(self, frame: Frame) -> None:
        self.groups = [AskedGroup(group) for group in frame.groups]
        self.definitions = tuple(frame._definitions)
        self.removed = [int(handle) for handles in frame._removed for handle in handles]
        self.removed_sets = tuple(frame._removed_sets)
        self.body_sets = tuple(frame._body_sets)
        self.ticks = tuple(frame._ticks)
        self.seq = frame.seq  # None: the stream gives the frame a number
        self.tables: list[Message] = []  # further definitions of trackers
        self._coherence = frame.coherence
        for group in frame.groups:
            for question in group.questions:
                self._agree(encode.coherence_of(question))
        budget = 0 if frame.budget is None else max(round(frame.budget * 1e6), 1 if frame.budget > 0 else 0)
        self._frame = {"budget_us": budget, "coherence": self._coherence, "supersede": frame.supersede}

    def _agree(self, coherence: int) -> None:
        if coherence and self._coherence not in (0, coherence):
            raise refuse("coherence", "differs between the questions of a frame, or from that of the frame")
        self._coherence = self._coherence or coherence

    def encode(self, handles: dict[str, int] | None = None, bindings: dict[str, int] | None = None) -> bytes:
        """Returns the request of a call, or the message of a stream.

        handles: of scenes that the stream has bound; bindings: handles that this frame binds
        """
        bound = {**(handles or {}), **(bindings or {})}
        values = dict(
            self._frame,
            seq=self.seq or 0,
            bindings=[{"handle": handle, "scene": scene} for scene, handle in (bindings or {}).items()],
            groups=[group.message(bound.get(group.scene)) for group in self.groups],
            removed_trackers=np.array(self.removed, np.uint32),
            removed_body_sets=np.array(self.removed_sets, np.uint32),
            body_sets=[definition.message for definition in self.body_sets],
            poses=[tick.message for tick in self.ticks],
            trackers=[*(definition.message for definition in self.definitions), *self.tables],
        )
        out = Message()
        out.message(tag(1, LENGTH), messages.build("Frame", values))
        return out.join()


# --- Answers ----------------------------------------------------------------------------------------


class _Part:
    """The answers to one question of a group: see `_answers.Source`."""

    __slots__ = ("_columns", "_group")

    def __init__(self, group: GroupAnswer, columns: Columns) -> None:
        self._group = group
        self._columns = columns

    def column(self, layout: Layout, path: str) -> NDArray[Any]:
        return self._columns.column(path)

    def number(self, layout: Layout, path: str) -> int:
        """The numbers of moves, which a server counts for all groups of a frame together."""
        number: int = getattr(self._group._stats(), path)
        return number

    def version(self) -> int:
        return self._group.version

    def picture(self, question: Question[Any]) -> str:
        return self._group.draw(question)

    def describe(self, column: int, fault: int) -> tuple[str, str]:
        return self._columns.describe(column, fault)


class GroupAnswer:
    """The answers to a group: `answer[question]` has those to one of its questions."""

    __slots__ = ("_asked", "_data", "_made", "_picture", "_stats", "_where", "edited_version", "error", "version")

    def __init__(
        self, asked: AskedGroup, data: bytes, where: Range, stats: Callable[[], FrameStats], picture: Picture | None
    ) -> None:
        found = wire.scan(data, *where, messages.table("GroupAnswer").wires)
        self._asked = asked
        self._data = data
        self._where = found
        self._made: dict[int, Answers] = {}
        self._picture = picture
        self._stats = stats
        self.version = wire.last_number(data, found, _GROUP_ANSWER["version"])  # of the scene that every item read
        # The version that the edits made; 0: none.
        self.edited_version = wire.last_number(data, found, _GROUP_ANSWER["edited_version"])
        status = found.get(_GROUP_ANSWER["status"])
        # Why the group was not answered; None: it was.
        self.error: CaromError | None = (
            None if status is None else of_message(messages.decode("Status", wire.joined(data, status)))
        )

    @property
    def scene(self) -> str:
        """`scenes/{scene}`."""
        return self._asked.scene

    @property
    def questions(self) -> tuple[Question[Any], ...]:
        """The questions of the group."""
        return self._asked.questions

    def part(self, question: Question[A]) -> _Part:
        """Returns the source of the answers to a question; raises why the group was not answered."""
        if not any(question is other for other in self._asked.questions):
            raise refuse("question", "is not one of the group")
        self.check()
        form = FORMS[question.kind.number]
        return _Part(self, Columns(form, self._data, self._where.get(form.key, []), question.items))

    def __getitem__(self, question: Question[A]) -> A:
        found = self._made.get(id(question))
        if found is None:
            found = self._made[id(question)] = question.answers(question, self.part(question))
        return found  # type: ignore[return-value]

    def check(self) -> None:
        """Raises why the group was not answered, if it was not."""
        if self.error is not None:
            raise self.error.with_traceback(None)

    def draw(self, question: Question[Any]) -> str:
        """Returns an SVG document of scene, question and answers; of the scene alone if the group has a body set."""
        if self._picture is None:
            return ""
        drawn = None if self._asked.has_body_set else question
        return self._picture(self.scene, self.version, self._asked.bodies, drawn)

    def __repr__(self) -> str:
        text = f"<GroupAnswer of {self.scene}"
        return f"{text}: {self.error}>" if self.error else f"{text}, version {self.version}>"


class FrameAnswer:
    """The answer to a frame: `answer[question]`, `answer.groups[i][question]`."""

    __slots__ = ("_owners", "_stats", "error", "groups", "seq", "skipped")

    def __init__(self, asked: Asked, data: bytes, where: list[Range], picture: Picture | None = None) -> None:
        if len(where) != 1:
            data = wire.joined(data, where)
            where = [(0, len(data))]
        found = wire.scan(data, *where[0], messages.table("FrameAnswer").wires)
        self.seq = wire.last_number(data, found, _FRAME_ANSWER["seq"])
        status, stats = found.get(_FRAME_ANSWER["status"]), found.get(_FRAME_ANSWER["stats"])
        # Why the server refused the frame as a whole; None: it did not.
        self.error: CaromError | None = (
            None if status is None else of_message(messages.decode("Status", wire.joined(data, status)))
        )
        self._stats: FrameStats | bytes = wire.joined(data, stats or [])
        # Whether a later frame superseded this one.
        self.skipped = bool(wire.last_number(data, found, _FRAME_ANSWER["skipped"]))
        groups = found.get(_FRAME_ANSWER["groups"], [])
        expected = 0 if self.skipped or status is not None else len(asked.groups)
        if self.seq != (asked.seq or 0) or len(groups) != expected:
            raise InternalError("the server sent the answer to another frame")
        self.groups = [
            GroupAnswer(group, data, each, self._read_stats, picture)
            for group, each in zip(asked.groups, groups, strict=False)
        ]
        self._owners: dict[int, GroupAnswer | None] | None = None

    def _read_stats(self) -> FrameStats:
        if isinstance(self._stats, bytes):
            self._stats = FrameStats(**messages.decode("FrameStats", self._stats))
        return self._stats

    @property
    def stats(self) -> FrameStats:
        """What the frame cost the server."""
        return self._read_stats()

    def __getitem__(self, question: Question[A]) -> A:
        self.check()
        if self._owners is None:  # the group of each question; None for one in several groups
            self._owners = {}
            for group in self.groups:
                for each in group.questions:
                    self._owners[id(each)] = None if id(each) in self._owners else group
        if id(question) not in self._owners:
            what = "is not one of the frame"
            raise refuse("question", f"{what}, or the frame was skipped" if self.skipped else what)
        owner = self._owners[id(question)]
        if owner is None:
            raise refuse("question", "is in several groups: use answer.groups[i][question]")
        return owner[question]

    def check(self) -> None:
        """Raises why the server refused the frame, if it did."""
        if self.error is not None:
            raise self.error.with_traceback(None)

    def __repr__(self) -> str:
        state = str(self.error) if self.error else "skipped" if self.skipped else f"{len(self.groups)} groups"
        return f"<FrameAnswer {self.seq}: {state}>"


def single(
    scene: str, asked: tuple[Question[Any], ...], *, bodies: Bodies | None = None, version: int = 0,
    min_version: int = 0, budget: float | None = None, tables: list[Message] | None = None,
) -> Asked:  # fmt: skip
    """Returns a frame of one group. tables: definitions of trackers"""
    frame = Frame(budget=budget)
    group = frame.group(scene, bodies=bodies, version=version, min_version=min_version)
    for question in asked:
        group.ask(question)
    made = frame.snapshot()
    made.tables = tables or []
    return made
