# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Many items over many processes: cuts columns into chunks, which processes or Dask workers answer.

    from carom import farm

    if __name__ == "__main__":
        columns = {"ax": ax, "ay": ay, "bx": bx, "by": by}
        hits = farm.map_batches("arena.carom", "cast", columns, options={"detail": "fraction"}, dense=("fraction",))
        hits["fraction"]

`map_batches` has all answers in memory, in Parquet files, or as lazy Dask arrays; `iter_batches` yields those to one
chunk after the other. The answers are byte for byte those of one call, in the order of the items, whatever the size of
a chunk, the number of workers and the kind of them, also if a worker dies.
"""

from __future__ import annotations

import collections
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ._columns import refuse
from ._farm.plan import Plan, ProgressLike, SceneLike, make_plan, needed
from ._farm.processes import Backend, Inline, Processes
from ._farm.progress import Progress
from ._farm.work import ITEM, Part, Task, located

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Batch", "Settings", "Written", "iter_batches", "map_batches"]

QuestionLike = str | Callable[..., Any]
_WINDOW = 3  # chunks in flight for each worker


class Settings(TypedDict, total=False):
    """The keyword arguments of `map_batches` and `iter_batches`, with their defaults.

    What is asked:
    options: arguments that are equal for all items, such as `{"detail": "fraction", "mask": 3}`; {}
    fields: columns of the answers, with a row for each entry: those of item i are `counts[i]` rows
    dense: columns with a row for each item, that of its first entry, in place of `fields`; a row of fans has all beams
    fill: [as the column] what dense columns have for items without entries; NaN. Integers have 0 in place of NaN
    strict: whether an item that cannot be answered raises an error; if not, the column `error` has its fault; True

    How it is spread:
    chunk: items of a chunk, 1 or more; 262,144, or so many fans as have 262,144 beams
    client: of Dask, whose workers answer; None: processes of this machine
    processes: their number, without `client`; 0: none but this one; None: one for each usable core
    start_method: of processes, "spawn" or "forkserver"; "spawn". A script must start runs under
        `if __name__ == "__main__":`
    attempts: processes that may die while they answer the same chunk, until InternalError is raised; 3. With Dask, its
        option `distributed.scheduler.allowed-failures` counts, and a chunk that has failed so is tried once more, since
        Dask counts a death against all chunks that a worker has
    in_flight: chunks that are sent or answered, and not yet returned; 3 for each worker
    send: how workers of Dask receive scenes. "path": from files, also those of scenes of this process; "bytes": through
        the network, each once for a worker; "auto": "bytes" for the scenes of this process, unless all workers that
        there are find their files. Choose "bytes" if workers on other machines join later
    worker_timeout: [seconds] how long a Dask cluster may have no workers, until UnavailableError is raised; 60
    cache_bytes: each worker keeps scenes open whose bundles have at most so many bytes in all, and one at least; 2^30
    progress: True for a line on standard error; or a function, which is called with the numbers of items that are done
        and of all; False
    """

    options: Mapping[str, Any] | None
    fields: Sequence[str] | str | None
    dense: Sequence[str] | str | None
    fill: float
    strict: bool
    chunk: int | None
    client: Client | None
    processes: int | None
    start_method: Literal["spawn", "forkserver"]
    attempts: int
    in_flight: int | None
    send: Literal["auto", "path", "bytes"]
    worker_timeout: float
    cache_bytes: int
    progress: ProgressLike


class Batch(NamedTuple):
    """The answers to the items in [begin, end)."""

    chunk: int  # its index
    begin: int
    end: int
    columns: dict[str, NDArray[Any]]


class Written(NamedTuple):
    """The Parquet files of a run."""

    files: list[Path]  # in the order of the items
    items: int
    skipped: int  # files that were there before


@overload
def map_batches(
    scene: SceneLike | Sequence[SceneLike], question: QuestionLike, columns: Mapping[str, Any], *,
    out: None = None, lazy: Literal[False] = False, **settings: Unpack[Settings],
) -> dict[str, NDArray[Any]]: ...  # fmt: skip


@overload
def map_batches(
    scene: SceneLike | Sequence[SceneLike], question: QuestionLike, columns: Mapping[str, Any], *,
    out: str | os.PathLike[str], lazy: Literal[False] = False, **settings: Unpack[Settings],
) -> Written: ...  # fmt: skip


@overload
def map_batches(
    scene: SceneLike | Sequence[SceneLike], question: QuestionLike, columns: Mapping[str, Any], *,
    out: None = None, lazy: Literal[True], **settings: Unpack[Settings],
) -> dict[str, Any]: ...  # fmt: skip


def map_batches(
    scene: SceneLike | Sequence[SceneLike], question: QuestionLike, columns: Mapping[str, Any], *,
    out: str | os.PathLike[str] | None = None, lazy: bool = False, **settings: Unpack[Settings],
) -> dict[str, NDArray[Any]] | Written:  # fmt: skip
    """Answers a question about all items, by many processes.

    scene: a Scene, or the path of a bundle, which all workers must have; or a list of these, and then the column
        `scene` has the index of the scene of each item. Each worker opens a bundle once. Runs are fastest if items of
        the same scene follow each other
    question: a name such as "cast", or a function of `carom.questions`; or a function `f(scene, **columns, **options)`
        that returns a dict of arrays. These have a row for each item; if one of them is `counts`, the other ones have
        `counts[i]` rows for item i. `f` is called for each chunk and each scene in it, so a row must depend on its item
        alone. It must be importable by workers; if cloudpickle is installed, functions of scripts and notebooks will
        do, too
    columns: arrays by the names of the parameters, of equal length. What has a type and slices, such as np.memmap or a
        Dask array, is read by chunks. Beside arrays of the caller, only chunks in flight are in memory
    out: a folder for Parquet files, which all workers must have; see below
    lazy: whether to return Dask arrays, which are computed when they are used
    settings: see `Settings`

    Returns the columns of the answers by name. The column `counts` has the number of entries of each item, if items
    have entries.

    With `out`, workers write a file for each chunk, with a row for each item: its index `item`, and the columns, where
    the entries of an item are a list. A run that is started again with the same arguments keeps the files that are
    complete. FailedPreconditionError: the folder has answers to other items, scenes or options, or the workers do not
    share it.

    With `lazy`, columns with a row for each item have known chunks; the length of the other ones is unknown. The first
    item is answered at once, for types and shapes. The graph has the columns and the scenes of this process, but reads
    Dask arrays by blocks, and bundles from files.

    Raises InvalidArgumentError for arguments, NotFoundError for a bundle that a worker does not find, ItemError for an
    item; these and all other errors of workers are CaromErrors that name the chunk and its items. Exceptions of
    functions are CaromErrors of the code UNKNOWN.
    """
    if lazy:
        return _lazy(scene, question, columns, out, settings)
    plan = make_plan(scene, question, columns, out=out, **settings)
    if plan.job.folder:
        return _write(plan)
    gathered: dict[str, list[NDArray[Any]]] = {}
    whole: dict[str, NDArray[Any]] = {}
    for task, part in _parts(plan):
        for name, level, dtype, shape in part.signature:
            if level == ITEM:
                if name not in whole:
                    whole[name] = np.empty((plan.items, *shape), dtype)
                whole[name][task.begin : task.end] = part.columns[name]
            else:
                gathered.setdefault(name, []).append(part.columns[name])
        names = [name for name, *_ in part.signature]
    return {name: whole[name] if name in whole else np.concatenate(gathered.pop(name)) for name in names}


def iter_batches(
    scene: SceneLike | Sequence[SceneLike], question: QuestionLike, columns: Mapping[str, Any],
    **settings: Unpack[Settings],
) -> Iterator[Batch]:  # fmt: skip
    """Answers a question like `map_batches`, and yields the answers to each chunk, in the order of the items.

    At most `in_flight` chunks are in memory: a slow consumer makes workers wait. The arrays may be read-only. Workers
    start with the first `next`, and end with the iterator, which one thread at a time may use.
    """
    plan = make_plan(scene, question, columns, **settings)
    return (Batch(task.index, task.begin, task.end, part.columns) for task, part in _parts(plan))


def _lazy(scene: Any, question: Any, columns: Any, out: Any, settings: Any) -> dict[str, Any]:
    if out is not None or settings.get("progress"):
        raise refuse("lazy", "is accepted without `out` and `progress`")
    from ._farm import cluster

    return cluster.lazy_arrays(make_plan(scene, question, columns, **settings))


def _write(plan: Plan) -> Written:
    from ._farm import tables

    needed("pyarrow.parquet", "out")
    folder, skipped = plan.job.folder, 0
    tables.prepare(folder, plan.chunks)
    for task, part in _parts(plan):
        skipped += part.skipped
        tables.check_visible(folder, task.index)
    tables.clean(folder, plan.chunks)
    return Written([Path(tables.file_name(folder, i)) for i in range(plan.chunks)], plan.items, skipped)


def _backend(plan: Plan) -> Backend:
    if plan.client is not None:
        from ._farm.cluster import Cluster

        return Cluster(plan, plan.client)
    return Inline(plan) if plan.processes == 0 else Processes(plan)


def _parts(plan: Plan) -> Iterator[tuple[Task, Part]]:
    """The answers to all chunks in their order, with tasks that have no columns any more."""
    with tempfile.TemporaryDirectory(prefix="carom-farm-") as folder:
        plan.place(folder)
        backend = _backend(plan)
        progress = Progress(plan.progress, plan.items)
        first: Part | None = None
        try:
            for task, part in _in_order(plan, backend):
                first = first or part
                if part.signature != first.signature:
                    error = refuse("question", f"returned {part.signature}, where chunk 0 has {first.signature}")
                    raise located(error, task.index, task.begin, task.end)
                yield task, part
                progress(task.end)
        finally:
            progress.close()
            backend.close()


def _in_order(plan: Plan, backend: Backend) -> Iterator[tuple[Task, Part]]:
    """Submits chunks while few are in flight, and returns the first of them when it is answered."""
    pending: collections.deque[tuple[Task, Part | None]] = collections.deque()
    for task in plan.tasks():
        part = _finished(plan, task)
        pending.append((Task(task.index, task.begin, task.end, {}, None), part))
        if part is None:
            backend.submit(task)
        while len(pending) >= (plan.in_flight or _WINDOW * backend.capacity()):
            yield _result(backend, *pending.popleft())
    while pending:
        yield _result(backend, *pending.popleft())


def _result(backend: Backend, task: Task, part: Part | None) -> tuple[Task, Part]:
    return task, part or backend.result(task)


def _finished(plan: Plan, task: Task) -> Part | None:
    """The answers that are in the folder of the run already."""
    if not plan.job.folder:
        return None
    from ._farm import tables

    found = tables.finished(plan.job, task)
    return None if found is None else Part({}, found, skipped=True)
