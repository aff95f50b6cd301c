# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What a run consists of: checks the arguments of `carom.farm` before a worker starts, and cuts columns into chunks."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import math
import os
import pickle
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from .._columns import refuse
from .._generated import layout, questions
from .._layout import Kind
from ..errors import FailedPreconditionError, NotFoundError
from ..local import Scene
from ..shapes import as_shapes
from .work import EDGE, ENTRY, FLAGS, HEADER_BYTES, ITEM, Column, Job, SceneRef, Task, file_header

SceneLike: TypeAlias = "Scene | str | os.PathLike[str]"
ProgressLike: TypeAlias = "bool | Callable[[int, int], object]"

ROWS = 1 << 18  # of a chunk, unless the caller chooses: two megabytes in each column, and 30 ms of work or more
_STATEFUL = {"move": "trackers", "body_contacts": "bodies", "sees": "bodies"}


@dataclass
class Plan:
    """A run with its arguments checked. `job.scenes` is empty until `place` or `refer` fills it."""

    job: Job
    columns: dict[str, Any]  # without `scene`
    scene: Any  # the column `scene`, or None
    sources: list[Scene | SceneRef]  # scenes of this process, and bundles
    items: int
    chunk: int
    client: Any
    processes: int | None
    start_method: Literal["spawn", "forkserver"]
    attempts: int
    in_flight: int | None
    send: Literal["auto", "path", "bytes"]
    worker_timeout: float
    progress: ProgressLike

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.items // self.chunk)

    def task(self, index: int) -> Task:
        """Cuts a chunk out of the columns. Arrays are not copied; what else has slices is read here."""
        begin, end = index * self.chunk, min((index + 1) * self.chunk, self.items)
        columns = {name: np.asarray(values[begin:end]) for name, values in self.columns.items()}
        if "shape" not in columns and self.shape_count > 1:
            columns["shape"] = np.arange(begin, end, dtype=np.uint32)
        return Task(index, begin, end, columns, self._scene_slice(begin, end))

    @property
    def shape_count(self) -> int:
        """The number of shapes where item i has shape i; else 0."""
        shapes = self.job.options.get("shapes") if self.job.kind else None
        return len(shapes) if shapes is not None else 0

    def _scene_slice(self, begin: int, end: int) -> Column | None:
        if self.scene is None:
            return None
        numbers = np.asarray(self.scene[begin:end])
        wrong = np.flatnonzero((numbers < 0) | (numbers >= len(self.sources)))
        if len(wrong):
            at = int(wrong[0])
            raise refuse(f"scene[{begin + at}]", f"is {numbers[at]}; accepted is [0, {len(self.sources) - 1}]")
        return numbers.astype(np.int64)

    def tasks(self) -> Iterator[Task]:
        """Cuts all chunks, one after the other."""
        return (self.task(index) for index in range(self.chunks))

    def place(self, folder: str) -> None:
        """Writes scenes as bundles into a folder, each once, and fills `job.scenes`."""
        written: dict[int, SceneRef] = {}
        for number, source in enumerate(self.sources):
            if isinstance(source, Scene) and id(source) not in written:
                data = source.to_bundle()
                path = os.path.join(folder, f"{number}.carom")
                with open(path, "wb") as file:
                    file.write(data)
                written[id(source)] = scene_ref(source, data, path)
        self._fill(written)

    def refer(self) -> dict[int, bytes]:
        """Fills `job.scenes`, and returns the bundles of scenes by number, of equal scenes the same object."""
        scenes = {id(source): source for source in self.sources if isinstance(source, Scene)}
        data = {key: scene.to_bundle() for key, scene in scenes.items()}
        self._fill({key: scene_ref(scene, data[key], "") for key, scene in scenes.items()})
        return {number: data[id(source)] for number, source in enumerate(self.sources) if id(source) in data}

    def _fill(self, refs: dict[int, SceneRef]) -> None:
        scenes = tuple(refs[id(source)] if isinstance(source, Scene) else source for source in self.sources)
        self.job = replace(self.job, scenes=scenes)


def scene_ref(scene: Scene, data: bytes, path: str) -> SceneRef:
    """How workers find a scene of the caller."""
    header = hashlib.sha256(data[:HEADER_BYTES]).digest()
    key = f"{hashlib.sha256(data).hexdigest()}:{scene.version}"
    return SceneRef(key, path, header, scene.version, len(data))


def path_ref(path: str) -> SceneRef:
    """How workers find a bundle. One that the caller cannot read is checked by the workers."""
    try:
        status = os.stat(path)
        header = file_header(path)
    except OSError:
        return SceneRef("", path, b"", None, 0)
    key = f"{path}:{status.st_size}:{status.st_mtime_ns}:{header.hex()}"
    return SceneRef(key, path, header, None, status.st_size)


# --- Checks -----------------------------------------------------------------------------------------------------------


def limited(name: str, value: object, least: int, most: int | None = None) -> int:
    """Returns an integer of [least, most]."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise refuse(name, f"is {value!r}; an integer is accepted")
    if value < least or (most is not None and value > most):
        raise refuse(name, f"is {value}; accepted is {f'[{least}, {most}]' if most else f'{least} or more'}")
    return int(value)


def _chosen(name: str, value: object, choices: tuple[str, ...]) -> Any:
    if value not in choices:
        raise refuse(name, f"is {value!r}; accepted are {', '.join(map(repr, choices))}")
    return value


def _sources(scene: Any, local: bool) -> tuple[list[Scene | SceneRef], bool]:
    many = not isinstance(scene, Scene | str | os.PathLike)
    if many and not isinstance(scene, Sequence):
        raise refuse(
            "scene", f"is {type(scene).__name__}; a Scene, the path of a bundle, or a list of these is accepted"
        )
    sources: list[Scene | SceneRef] = []
    for i, each in enumerate(scene if many else [scene]):
        field = f"scene[{i}]" if many else "scene"
        if isinstance(each, Scene):
            if each._bodies is not None or each._trackers is not None:
                raise refuse(field, "has bodies or trackers, which stay in this process; make them in a function")
            each._open()
            sources.append(each)
        elif isinstance(each, str | os.PathLike):
            ref = path_ref(os.path.abspath(os.fsdecode(each)))
            if local and not ref.header:
                raise NotFoundError(f"the bundle {ref.path} cannot be read", field=field)
            sources.append(ref)
        else:
            raise refuse(field, f"is {type(each).__name__}; a Scene or the path of a bundle is accepted")
    if not sources:
        raise refuse("scene", "is an empty list")
    return sources, many


def _sliceable(name: str, values: Any) -> Any:
    """A column whose slices are arrays: what has a type and dimensions, as it is; else an array of it."""
    lazy = isinstance(getattr(values, "dtype", None), np.dtype) and hasattr(values, "shape")
    if not lazy or hasattr(values, "to_numpy"):
        try:
            values = np.asarray(values)
        except ValueError as error:
            raise refuse(name, f"must be numbers: {error}") from None
    if len(values.shape) < 1:
        raise refuse(name, "is a scalar; an array is accepted, or the scalar in `options`")
    if values.dtype.hasobject:
        raise refuse(name, f"has the type {values.dtype}; numbers are accepted")
    if not math.isfinite(values.shape[0]):
        raise refuse(name, "has an unknown length; `compute_chunk_sizes()` of Dask finds it")
    return values


def _columns(columns: Any, many: bool) -> tuple[dict[str, Any], Any, int]:
    """The columns, the column `scene`, and the number of items."""
    if not isinstance(columns, Mapping) or not columns:
        raise refuse("columns", "must be a dict of names and arrays, and have one at least")
    made: dict[str, Any] = {}
    items, first = -1, ""
    for name, values in columns.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise refuse("columns", f"has the name {name!r}; names of parameters are accepted")
        made[name] = _sliceable(name, values)
        if items < 0:
            items, first = int(made[name].shape[0]), name
        elif made[name].shape[0] != items:
            raise refuse(name, f"has {made[name].shape[0]} entries, where {first} has {items}")
    if items == 0:
        raise refuse(first, "is empty; one item at least is needed")
    scene = made.pop("scene", None)
    if many != (scene is not None):
        raise refuse("scene", "is a column where, and only where, a list of scenes is given")
    if scene is not None and (scene.dtype.kind not in "iu" or len(scene.shape) != 1):
        raise refuse("scene", f"has the type {scene.dtype}; indices of scenes are accepted")
    return made, scene, items


def _kind(question: Any) -> Kind | None:
    """The kind of question that a name or a function of `carom.questions` means; None for a function of the caller."""
    kinds = {kind.method: kind for kind in layout.KINDS}
    if isinstance(question, str):
        if question not in kinds:
            raise refuse("question", f"is {question!r}; accepted are {', '.join(map(repr, sorted(kinds)))}")
        return kinds[question]
    if not callable(question):
        raise refuse("question", f"is {type(question).__name__}; the name of a question, or a function is accepted")
    name = getattr(question, "__name__", "")
    return kinds.get(name) if getattr(questions, name, None) is question else None


def _check_parameters(kind: Kind, columns: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Checks the names of columns and options."""
    if kind.method in _STATEFUL:
        raise refuse("question", f"is {kind.method!r}, which needs {_STATEFUL[kind.method]}; make them in a function")
    parameters = inspect.signature(getattr(questions, kind.method)).parameters
    accepted = {spec.name for spec in kind.question.columns} | ({"fov"} if kind.method == "fans" else set())
    for name in columns:
        if name not in accepted:
            what = "one value for all: give it in `options`" if name in parameters else f"no column of {kind.method}"
            raise refuse(name, f"is {what}; accepted are {', '.join(sorted(accepted))}")
        if name == "pushes":
            raise refuse(name, "is accepted in `options` alone")
    for name, value in options.items():
        if name not in parameters:
            raise refuse(name, f"is no option of {kind.method}; accepted are {', '.join(parameters)}")
        if name in accepted and np.ndim(value):
            raise refuse(name, "is an array; give it in `columns`")
    if kind.name == "slides" and options.get("pushes", 1) != 1:
        raise refuse("pushes", "is above 1, where dx and dy have more entries than items; use a function")
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty and name not in {*columns, *options, "fov"}:
            raise refuse(name, "is required")


def _check_names(kind: Kind, names: Any, dense: bool) -> tuple[str, ...]:
    """Checks the columns of answers that the caller wants."""
    rows = kind.answers.rows
    accepted = {name: about.level for name, about in rows.items() if about.level in (ITEM, ENTRY, EDGE)}
    accepted |= {name: ITEM for name in FLAGS if name in rows}
    accepted |= {
        name[:-2]: level for name, level in accepted.items() if name.endswith("_x") and f"{name[:-2]}_y" in rows
    }
    if dense:
        accepted = {name: level for name, level in accepted.items() if level != EDGE}
    what = "dense" if dense else "fields"
    made = (names,) if isinstance(names, str) else tuple(names)
    for name in made or ("",):
        if name not in accepted:
            raise refuse(what, f"has {name!r}; accepted are {', '.join(sorted(accepted))}")
    return tuple(dict.fromkeys(name for name in made if name not in ("counts", "legs")))


def _pickled(function: Any) -> bytes:
    """A function as bytes: by its name where it can be imported, else with its code, if cloudpickle is installed."""
    try:
        pickler: Any = importlib.import_module("cloudpickle")
    except ImportError:
        pickler = pickle
    try:
        data: bytes = pickler.dumps(function)
    except Exception as error:
        raise refuse("question", f"cannot be pickled: {type(error).__name__}: {error}") from None
    return data


# --- Fingerprints -----------------------------------------------------------------------------------------------------


def _code(code: types.CodeType) -> str:
    """What a function does, without the places of its lines."""
    constants = [
        _code(each) if isinstance(each, types.CodeType)
        else str(sorted(map(repr, each))) if isinstance(each, frozenset) else repr(each)
        for each in code.co_consts
    ]  # fmt: skip
    return repr((code.co_code, code.co_names, code.co_varnames, constants))


def _fingerprint(job: Job, function: Any) -> str:
    total = hashlib.sha256()
    total.update(repr((job.kind, job.names, job.dense, job.fill, job.beams, job.strict)).encode())
    if not job.kind:
        code = getattr(function, "__code__", None)
        name = getattr(function, "__qualname__", type(function).__qualname__)
        total.update(f"{name}:{_code(code) if code else ''}".encode())
    for name in sorted(job.options):
        try:
            data = pickle.dumps(job.options[name], 5)
        except Exception as error:
            raise refuse(name, f"cannot be pickled: {type(error).__name__}: {error}") from None
        total.update(f"{name}:".encode() + hashlib.sha256(data).digest())
    return total.hexdigest()


def task_fingerprint(job: Job, task: Task) -> str:
    """Returns a number, in hexadecimal, of all that the answers to a chunk depend on."""
    total = hashlib.sha256(f"{job.fingerprint}:{task.index}:{task.begin}:{task.end}".encode())
    columns = dict(task.columns)
    if task.scene is not None:
        columns["scene"] = task.scene
    for name in sorted(columns):
        values = np.ascontiguousarray(columns[name])
        total.update(f"{name}:{values.dtype.str}:{values.shape};".encode())
        total.update(values.data)
    numbers = [0] if task.scene is None else np.unique(task.scene).tolist()
    for number in numbers:
        ref = job.scenes[number]
        total.update(ref.header or ref.path.encode())
    return total.hexdigest()


# --- Plans ------------------------------------------------------------------------------------------------------------


def make_plan(
    scene: Any, question: Any, columns: Any, *, options: Mapping[str, Any] | None = None, fields: Any = None,
    dense: Any = None, fill: float = math.nan, strict: bool = True, chunk: int | None = None, client: Any = None,
    processes: int | None = None, start_method: str = "spawn", attempts: int = 3, in_flight: int | None = None,
    send: str = "auto", worker_timeout: float = 60.0, cache_bytes: int = 1 << 30, out: Any = None,
    progress: ProgressLike = False,
) -> Plan:  # fmt: skip
    """Checks the arguments of a run: see `carom.farm.Settings`."""
    sources, many = _sources(scene, client is None)
    made, scene_column, items = _columns(columns, many)
    given = dict(options or {})
    for name in given:
        if name in made or name == "scene":
            raise refuse(name, "is in `options`, and is a column or the scene")
    kind = _kind(question)
    names: tuple[str, ...] = ()
    if kind is None:
        if fields is not None or dense is not None:
            raise refuse("fields", "is accepted with questions alone; a function returns the columns that it chooses")
    else:
        _check_parameters(kind, made, given)
        if (fields is None) == (dense is None):
            raise refuse("fields", "or dense must be given, and not both")
        names = _check_names(kind, dense if fields is None else fields, fields is None)
        if given.get("shapes") is not None:
            given["shapes"] = as_shapes(given["shapes"])
    if client is not None:
        check_client(client)
        if processes is not None:
            raise refuse("processes", "is accepted without `client`")
    elif processes is not None:
        limited("processes", processes, 0)
    job = Job(
        kind=kind.method if kind else "", function=b"" if kind else _pickled(question), options=given, names=names,
        dense=dense is not None, fill=fill, beams=0, strict=bool(strict), scenes=(), many=many,
        cache_bytes=limited("cache_bytes", cache_bytes, 1),
        folder="" if out is None else os.path.abspath(os.fspath(out)), fingerprint="",
    )  # fmt: skip
    if not worker_timeout > 0:
        raise refuse("worker_timeout", f"is {worker_timeout!r}; a number of seconds above 0 is accepted")
    plan = Plan(
        job, made, scene_column, sources, items, chunk=0, client=client, processes=processes,
        start_method=_chosen("start_method", start_method, ("spawn", "forkserver")),
        attempts=limited("attempts", attempts, 1),
        in_flight=None if in_flight is None else limited("in_flight", in_flight, 1),
        send=_chosen("send", send, ("auto", "path", "bytes")), worker_timeout=worker_timeout, progress=progress,
    )  # fmt: skip
    if kind:
        _try_first(plan, kind)
    plan.chunk = limited("chunk", chunk, 1) if chunk is not None else max(1, ROWS // max(1, plan.job.beams))
    plan.job = replace(plan.job, fingerprint=_fingerprint(plan.job, question))
    return plan


def _try_first(plan: Plan, kind: Kind) -> None:
    """Makes the question of the first item, which refuses options and types; reads the number of beams of fans."""
    if plan.shape_count > 1 and "shape" not in plan.columns and plan.shape_count != plan.items:
        raise refuse(
            "shapes", f"has {plan.shape_count} entries, where there are {plan.items} items and no column shape"
        )
    plan.chunk = 1
    columns = plan.task(0).columns
    question = getattr(questions, kind.method)(**columns, **plan.job.options)
    if question.items != 1:
        raise refuse("columns", "has no column with an entry for each item")
    if kind.name == "fans":
        beams = dict(zip((spec.name for spec in kind.question.columns), question.arrays(), strict=True))["beams"]
        plan.job = replace(plan.job, beams=int(beams[0]))


def check_client(client: Any) -> None:
    """Checks that a client is one of Dask, and synchronous."""
    distributed = needed("distributed", "client")
    if not isinstance(client, distributed.Client):
        raise refuse("client", f"is {type(client).__name__}; a distributed.Client is accepted")
    if client.asynchronous:
        raise refuse("client", "is asynchronous; a synchronous one is accepted")


def needed(module: str, name: str) -> Any:
    """Returns a module that the argument `name` needs."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise FailedPreconditionError(
            f"needs {module}, which is missing: {error}; to install it: pip install 'carom[dask]'", field=name
        ) from None
