# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How a worker answers one chunk of items: opens the bundle, asks the question, and returns or writes the columns.

Backends pickle a `Job` once for each worker and a `Task` for each chunk. Several threads of a worker may answer chunks
at the same time.
"""

from __future__ import annotations

import collections
import hashlib
import os
import pickle
import socket
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._answers import Answers
from .._columns import refuse
from .._generated import questions
from .._library import library
from ..errors import CaromError, FailedPreconditionError, ItemError, NotFoundError
from ..local import Scene

ITEM, ENTRY, EDGE = "item", "entry", "edge"  # what the rows of a column belong to
FLAGS = ("truncated", "stuck")  # lists of items, which become a column of 0 and 1
HEADER_BYTES = 64 + 12 * 24  # header and table of a bundle: sizes and checksums of all sections
_MAX_SCENES = 1024

Column = NDArray[Any]


class SceneRef(NamedTuple):
    """Where workers find a scene."""

    key: str  # names the content in caches of workers; empty: the file that a worker finds
    path: str  # of the bundle
    header: bytes  # digest of header and table; empty: unknown
    version: int | None  # of a scene whose bundle does not have it
    size: int  # [bytes] of the bundle; 0: unknown


@dataclass(frozen=True)
class Job:
    """What all chunks of a run have in common."""

    kind: str  # name of a function of `carom.questions`; empty: `function`
    function: bytes  # pickled
    options: Mapping[str, Any]
    names: tuple[str, ...]  # the columns of the answers that are returned
    dense: bool  # whether columns have a row for each item
    fill: float
    beams: int  # of each fan, where fans are dense
    strict: bool
    scenes: tuple[SceneRef, ...]
    many: bool  # whether the caller gave a sequence of scenes
    cache_bytes: int
    folder: str  # of Parquet files; empty: columns are returned
    fingerprint: str  # of all that has an influence on the answers, except scenes and columns


@dataclass(frozen=True)
class Task:
    """A chunk: the items in [begin, end)."""

    index: int
    begin: int
    end: int
    columns: dict[str, Column]
    scene: Column | None  # index of the scene of each item


class Part(NamedTuple):
    """The answers to a chunk."""

    columns: dict[str, Column]  # none if they were written to a file
    signature: tuple[tuple[str, str, str, tuple[int, ...]], ...]  # name, level, type and shape of a row of each column
    skipped: bool = False  # whether the file was there before


def file_header(path: str) -> bytes:
    """Returns a digest of the header and the table of a bundle; raises OSError."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read(HEADER_BYTES)).digest()


# --- Scenes -----------------------------------------------------------------------------------------------------------


@dataclass
class _Scenes:
    """The scenes that this process has open: those used last, whose bundles have at most `limit` bytes in all."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    open: collections.OrderedDict[str, tuple[Scene, int]] = field(default_factory=collections.OrderedDict)

    def get(self, ref: SceneRef, number: int, data: bytes | None, limit: int) -> Scene:
        key = ref.key or _found(ref, number)
        with self.lock:
            found = self.open.get(key)
            if found is None:
                found = self.open[key] = (_opened(ref, number, data), ref.size)
                total = sum(size for _, size in self.open.values())
                while len(self.open) > 1 and (total > limit or len(self.open) > _MAX_SCENES):
                    total -= self.open.popitem(last=False)[1][1]
            self.open.move_to_end(key)
            return found[0]


_scenes = _Scenes()


def _found(ref: SceneRef, number: int) -> str:
    """The key of a file that only the worker finds."""
    try:
        status = os.stat(ref.path)
    except OSError as error:
        raise _missing(ref, number, error) from None
    return f"{ref.path}:{status.st_size}:{status.st_mtime_ns}"


def _missing(ref: SceneRef, number: int, error: OSError) -> NotFoundError:
    reason = error.strerror or str(error)
    return NotFoundError(
        f"the bundle {ref.path} cannot be read on {socket.gethostname()}: {reason}", field=f"scene[{number}]"
    )


def _opened(ref: SceneRef, number: int, data: bytes | None) -> Scene:
    if data is not None:
        scene = Scene.from_bundle(data)
    else:
        try:
            header = file_header(ref.path)
        except OSError as error:
            raise _missing(ref, number, error) from None
        if ref.header not in (b"", header):
            raise FailedPreconditionError(
                f"the bundle {ref.path} on {socket.gethostname()} differs from the one of the caller",
                field=f"scene[{number}]",
            )
        scene = Scene.load(ref.path)
    if ref.version in (None, scene.version):
        return scene
    handle = library().make("carom_scene_with_version", scene._open(), ref.version)
    return Scene(type(scene._open())(handle, "carom_scene_destroy"))


# --- Columns ----------------------------------------------------------------------------------------------------------


def signature(columns: Mapping[str, Column], levels: Mapping[str, str]) -> Any:
    """Returns what must be equal for all chunks of a run."""
    return tuple((name, levels[name], values.dtype.str, values.shape[1:]) for name, values in columns.items())


def item_lengths(columns: Mapping[str, Column], level: str) -> Column:
    """The number of rows of each item in a column of this level, which is entry or edge."""
    counts = columns["counts"].astype(np.int64)
    if level == ENTRY:
        return counts
    ends = np.concatenate(([0], np.cumsum(columns["edge_counts"], dtype=np.int64)))
    offsets = np.concatenate(([0], np.cumsum(counts)))
    lengths: Column = np.diff(ends[offsets])
    return lengths


def _level(answers: Answers, name: str) -> str:
    rows = answers._layout.rows
    level = rows[name if name in rows else f"{name}_x"].level
    return ITEM if name in FLAGS else level


def _values(answers: Answers, name: str) -> Column:
    if name in FLAGS:
        flags = np.zeros(len(answers), np.uint8)
        flags[answers._column(name)] = 1
        return flags
    return answers._column(name) if name in answers._layout.rows else answers._pair(name)


def _grid(job: Job, answers: Answers, name: str, items: Column) -> Column:
    """A row of beams for each fan, of `fill` or 0 where the fan is in error."""
    values, counts = _values(answers, name), answers._entry_counts()
    other = np.flatnonzero((counts != job.beams) & (counts != 0))
    if len(other):
        raise refuse(
            f"beams[{items[other[0]]}]",
            f"is {counts[other[0]]}, where item 0 has {job.beams}; `dense` needs equal numbers",
        )
    if len(values) == len(answers) * job.beams:
        return values.reshape(-1, job.beams)
    blank = job.fill if values.dtype.kind == "f" else 0
    result = np.full((len(answers), job.beams), blank, values.dtype)
    result[counts != 0] = values.reshape(-1, job.beams)
    return result


def _read(job: Job, answers: Answers, items: Column) -> tuple[dict[str, Column], dict[str, str]]:
    """The columns of answers that the caller wants, and their levels."""
    counts = answers._entry_counts()
    columns: dict[str, Column] = {}
    if {"counts", "legs"} & answers._layout.rows.keys():
        columns["counts"] = np.array(counts)
    if not job.strict:
        columns["error"] = answers.error
    levels = dict.fromkeys(columns, ITEM)
    names = job.names
    if any(_level(answers, name) == EDGE for name in names) and "edge_counts" not in names:
        names = ("edge_counts", *names)
    entries = int(counts.sum())
    for name in names:
        level = _level(answers, name)
        values = _values(answers, name)
        if level == ENTRY and len(values) != entries:
            raise refuse(job.dense * "dense" or "fields", f"{name} has no values with these options")
        if job.dense and level == ENTRY:
            values = _grid(job, answers, name, items) if job.kind == "fans" else answers.dense(name, job.fill)
            level = ITEM
        columns[name], levels[name] = values if values.flags.owndata else np.array(values), level
    return columns, levels


def _checked(result: object, items: int) -> tuple[dict[str, Column], dict[str, str]]:
    """The columns that a function of the caller returns, and their levels."""
    if not isinstance(result, Mapping) or not result or not all(isinstance(name, str) for name in result):
        raise refuse("question", f"returned {type(result).__name__}; a dict of names and arrays is accepted")
    columns = {name: np.array(values) for name, values in result.items()}
    counts = columns.get("counts")
    entries = items
    if counts is not None:
        if counts.dtype.kind not in "iu" or counts.ndim != 1 or (counts.size and int(counts.min()) < 0):
            raise refuse("question", "returned counts that are no column of integers from 0 on")
        entries = int(counts.sum())
    for name, values in columns.items():
        rows = items if name == "counts" else entries
        if values.dtype.hasobject or values.ndim < 1:
            raise refuse(
                "question", f"returned {name} as {values.dtype} of {values.ndim} dimensions; arrays are accepted"
            )
        if len(values) != rows:
            raise refuse("question", f"returned {len(values)} rows of {name}, where there are {rows}")
    level = ITEM if counts is None else ENTRY
    return columns, {name: ITEM if name == "counts" else level for name in columns}


# --- Chunks -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def load_function(pickled: bytes) -> Callable[..., Any]:
    """Returns the function of the caller."""
    try:
        function: Callable[..., Any] = pickle.loads(pickled)
    except Exception as error:
        raise refuse(
            "question", f"cannot be loaded on {socket.gethostname()}: {type(error).__name__}: {error}"
        ) from None
    return function


@lru_cache(maxsize=8)
def load_job(pickled: bytes) -> Job:
    """Returns the job that a backend pickled."""
    job: Job = pickle.loads(pickled)
    return job


def _groups(task: Task) -> tuple[list[tuple[int, Column | slice]], Column | None]:
    """The scenes of a chunk with the places of their items, and the order that joins these places."""
    scene = task.scene
    if scene is None:
        return [(0, slice(None))], None
    if (scene == scene[0]).all():
        return [(int(scene[0]), slice(None))], None
    order = np.argsort(scene, kind="stable")
    ends = np.flatnonzero(np.diff(scene[order])) + 1
    return [(int(scene[places[0]]), places) for places in np.split(order, ends)], order


def _joined(parts: list[dict[str, Column]], levels: dict[str, str], order: Column) -> dict[str, Column]:
    """The columns of several scenes, in the order of the items."""
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    takes = {ITEM: place}
    for level in set(levels.values()) - {ITEM}:
        lengths = item_lengths(joined, level)
        begins = np.cumsum(lengths) - lengths
        moved = lengths[place]
        shift = begins[place] - (np.cumsum(moved) - moved)
        takes[level] = np.repeat(shift, moved) + np.arange(int(moved.sum()))
    return {name: values[takes[levels[name]]] for name, values in joined.items()}


def _answered(job: Job, task: Task, data: Mapping[int, bytes]) -> tuple[dict[str, Column], dict[str, str]]:
    """The columns of a chunk, and their levels."""
    groups, order = _groups(task)
    everything = np.arange(task.begin, task.end)
    parts: list[dict[str, Column]] = []
    levels: dict[str, str] = {}
    faults: list[ItemError] = []
    first: Any = None
    for number, places in groups:
        scene = _scenes.get(job.scenes[number], number, data.get(number), job.cache_bytes)
        columns = {name: values[places] for name, values in task.columns.items()}
        items = everything[places]
        if job.kind:
            answers = scene.ask(getattr(questions, job.kind)(**columns, **job.options))
            if job.strict:
                faults += [_moved(fault, int(items[fault.index])) for fault in answers.errors]
            if faults:
                continue
            part, levels = _read(job, answers, items)
        else:
            part, levels = _checked(load_function(job.function)(scene, **columns, **job.options), len(items))
        made = signature(part, levels)
        if first not in (None, made):
            raise refuse(
                "question", f"returned columns of other types or shapes for scene {number} than for the one before"
            )
        first = made
        parts.append(part)
    if faults:
        fault = min(faults, key=lambda each: each.index)
        fault.message += f"; {len(faults)} items of the chunk are in error" if len(faults) > 1 else ""
        raise fault
    return (parts[0] if order is None else _joined(parts, levels, order)), levels


def _moved(fault: ItemError, index: int) -> ItemError:
    return ItemError(fault.message, field=fault.column, index=index, fault=fault.fault)


def located(error: BaseException, index: int, begin: int, end: int) -> CaromError:
    """Returns an error of a chunk as an exception that names the chunk and its items."""
    place = f"chunk {index}, items {begin} to {end - 1}"
    if isinstance(error, CaromError) and type(error).__module__ == CaromError.__module__:  # classes that pickle
        made = error
        made.message = f"{error.message} ({place})"
    else:
        made = CaromError(f"{type(error).__name__}: {error} ({place})", field="question")
        made.add_note("".join(traceback.format_exception(error)))
    made.args = (made.message,)
    made.__dict__.update(chunk=index, items=(begin, end))
    return made


def run(job: Job, task: Task, data: Mapping[int, bytes]) -> Part:
    """Answers a chunk. data: the bundles of scenes that are not read from files, by their numbers

    Raises CaromErrors alone, which name the chunk and its items.
    """
    try:
        columns, levels = _answered(job, task, data)
        made = Part(columns, signature(columns, levels))
        if job.folder:
            from . import tables

            tables.write(job, task, made)
            made = Part({}, made.signature)
    except (Exception, SystemExit) as error:
        named = located(error, task.index, task.begin, task.end)
        if named is error:
            raise
        raise named from error
    return made


def scene_numbers(task: Task) -> Iterable[int]:
    """The numbers of the scenes of a chunk, ascending."""
    return (0,) if task.scene is None else np.unique(task.scene).tolist()
