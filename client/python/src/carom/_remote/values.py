# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What a client gives to a server, and gets from it, beside questions and answers: plain values."""

from __future__ import annotations

import datetime
import enum
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._columns import refuse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..polygons import Polygons, PolygonsLike

T = TypeVar("T")
Bounds = tuple[float, float, float, float]
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MOST_MICROSECONDS = 253_402_300_799_999_999  # the last one of the year 9999


class Named(Protocol):
    """What has the name of a scene."""

    @property
    def name(self) -> str:
        """`scenes/{scene}`."""
        ...


SceneLike = str | Named


def scene_name(scene: object, field: str = "name") -> str:
    """Returns `scenes/{scene}`, from this or from the last part alone; the server checks the name."""
    name = text(scene if isinstance(scene, str) else getattr(scene, "name", None), field, "the name of a scene")
    return name if name.startswith("scenes/") else f"scenes/{name}"


def text(value: object, field: str, what: str = "a text") -> str:
    """Returns a text that UTF-8 can have. Raises InvalidArgumentError."""
    if not isinstance(value, str):
        raise refuse(field, f"is {value!r}; {what} is accepted")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise refuse(field, "has characters that UTF-8 does not have") from None
    return value


def instance(value: object, of: type[T], field: str) -> T:
    """Returns a value of a type. Raises InvalidArgumentError."""
    if not isinstance(value, of):
        raise refuse(field, f"is {value!r}; a {of.__name__} is accepted")
    return value


def capped(most: int, limit: int) -> int:
    """Returns the smaller number; a limit of 0 is unknown."""
    return most if limit == 0 else min(most, limit)


def seconds(value: object, field: str, most: float = 1e9) -> float:
    """Returns a time in [0, most] seconds. Raises InvalidArgumentError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise refuse(field, f"is {value!r}; accepted is [0, {most:g}] seconds")
    return float(value)


def time_of(microseconds: int) -> datetime.datetime:
    """Returns the time, in UTC, of a number of microseconds since 1970, at most the end of the year 9999."""
    return _EPOCH + datetime.timedelta(microseconds=min(max(microseconds, 0), _MOST_MICROSECONDS))


@dataclass(frozen=True, slots=True)
class SceneSummary:
    """One version of a scene, without its polygons."""

    name: str  # `scenes/{scene}`
    version: int  # grows with every change, by 1 or more
    polygon_count: int
    vertex_count: int
    bounds: Bounds | None  # min_x, min_y, max_x, max_y of all vertices; None: the scene has no polygon
    base: str = ""  # of a fork: the scene that it was made from
    base_version: int = 0  # of a fork: the version of the base

    @classmethod
    def of(cls, message: dict[str, Any] | None) -> SceneSummary:
        """Returns the summary in a message."""
        found = message or {}
        box = found.get("bounds")
        bounds = None if box is None else (box["min_x"], box["min_y"], box["max_x"], box["max_y"])
        return cls(
            found.get("name", ""), found.get("version", 0), found.get("polygon_count", 0),
            found.get("vertex_count", 0), bounds, found.get("base", ""), found.get("base_version", 0),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SceneVersion:
    """One version in the history of a scene."""

    scene: SceneSummary
    edit_id: str  # of the commit that made the version; empty: none
    created: datetime.datetime  # in UTC


class PolygonChange(enum.IntEnum):
    """How a polygon differs between a version and the one before it."""

    ADDED = 1
    REPLACED = 2
    REMOVED = 3


@dataclass(frozen=True, slots=True, eq=False)
class SceneUpdate:
    """A version of a scene that a watch returns, with its changes since the version before it: one entry a polygon."""

    scene: SceneSummary
    base_version: int  # the version before; 0: this update has the whole scene
    edit_id: str  # of the commit that made the version; empty: none
    created: datetime.datetime  # in UTC
    polygon_id: NDArray[np.uint64]  # of the polygons that changed, ascending
    change: NDArray[np.uint8]  # a PolygonChange
    box: NDArray[np.float64]  # (entries, 4): min_x, min_y, max_x, max_y of the polygon before and after the change
    polygons: Polygons | None  # added and replaced ones, all of them if base_version is 0; None: not asked for


class LintOptions(TypedDict, total=False):
    """What `lint` searches: fields of LintSceneRequest in scene_service.proto, which has their ranges."""

    version: int  # 0: the current one
    kinds: ArrayLike  # numbers of LintKind; absent: all kinds
    gap_radius: float  # a gap is narrower than twice this; 0: no gaps
    mover_radius: float  # of the disc that starts at (from_x, from_y), and cannot reach the pockets
    from_x: ArrayLike  # where the disc starts; absent: no pockets
    from_y: ArrayLike
    winding: Literal["any", "ccw", "cw"]  # the sense of rotation of outer rings
    lattice_pitch: float  # 0: found in the scene
    near_distance: float  # 0: some rounding errors
    max_findings: int  # 0: 1,000


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One probable mistake in a scene."""

    polygon_id: int
    ring: int
    edge: int
    x: float
    y: float
    description: str  # what to do about it
    kind: int  # a number of LintKind in scene_service.proto
    other_polygon_id: int
    other_ring: int
    other_edge: int
    other_x: float
    other_y: float
    measure: float  # length, width, distance or area, as the kind defines it
    outline: tuple[tuple[float, float], ...]  # of a pocket, the vertices around it, counter-clockwise; else empty


@dataclass(frozen=True, slots=True)
class FrameStats:
    """What a frame cost. Informative: the numbers differ from run to run, unlike the answers."""

    elapsed_ns: int = 0  # from the receipt of the frame to the answer of its last group, waits included
    evaluate_ns: int = 0  # without waiting, decoding and encoding
    work_units: int = 0  # polygons, edges and index nodes visited
    quiet_moves: int = 0  # answered by one comparison
    near_moves: int = 0  # answered from the edges in the memory of the tracker
    refreshed_moves: int = 0  # that searched the scene
    cold_moves: int = 0  # answered without memory
    tracker_bytes: int = 0  # of all trackers of the stream
    shadow_moves: int = 0  # that the server also answered without memory, to compare
    shadow_differences: int = 0  # batches in which the two answers differ: a fault of the server
    staleness_us: int = 0  # the frame read every change that any server of a fleet had made this long before
    quiet_eyes: int = 0  # of areas and observers: answered from the memory of the eye
    refreshed_eyes: int = 0  # for which a memory was made
    cold_eyes: int = 0  # answered without memory
    shadow_eyes: int = 0  # that the server also answered without memory, to compare


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """The limits of a stream, options of the server."""

    max_frames_in_flight: int = 0
    max_frame_bytes: int = 0
    max_queries_per_frame: int = 0
    max_groups_per_frame: int = 0
    max_answer_rows_per_frame: int = 0
    max_work_units_per_frame: int = 0  # 0: no limit


@dataclass(frozen=True, slots=True, eq=False)
class Edits:
    """Edits of a fork, as a part of a group: all of them are made, or none, before the group's questions are answered.

    add, replace: polygons, as `Polygons` accepts them; remove: ids
    edit_id: at most 64 bytes; edits that are sent twice with one id are made once; chosen if absent
    base_version: the version that the edits were made for; another one is an AbortedError; 0: any
    """

    add: PolygonsLike | None = None
    replace: PolygonsLike | None = None
    remove: ArrayLike = ()
    edit_id: str | None = None
    base_version: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Tls:
    """How a client makes sure of its server, and proves who it is. Each is a path, or PEM as bytes.

    ca: certificates of the authorities that sign the server's certificate; those of the system if absent
    certificate, key: of the client, both or none; the key has no passphrase

    Files are read again when they change, for later connections.
    """

    ca: str | os.PathLike[str] | bytes | None = None
    certificate: str | os.PathLike[str] | bytes | None = None
    key: str | os.PathLike[str] | bytes | None = None

    def __repr__(self) -> str:
        return f"<Tls{', with a certificate' if self.certificate else ''}>"
