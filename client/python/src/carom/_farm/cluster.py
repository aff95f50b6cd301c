# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Workers of Dask: chunks as tasks of a `distributed.Client`, or as the blocks of lazy Dask arrays.

The scheduler keeps the arguments of a task until its result is released. So it gives the chunks of a worker that dies
to another one, also those that were answered and not fetched.
"""

from __future__ import annotations

import contextlib
import operator
import os
import pickle
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import CaromError, InternalError, NotFoundError, UnavailableError
from ..local import Scene
from .plan import Plan, needed
from .work import ITEM, Part, Task, load_job, located, run, scene_numbers

_POLL_SECONDS = 1.0
_LARGE = {"distributed.admin.large-graph-warning-threshold": "1 GiB"}  # tasks have their columns, which is meant


def _bytes(data: bytes) -> bytes:
    return data


def _answer(pickled: bytes, task: Task, numbers: list[int], *bundles: bytes) -> Part:
    """Answers a chunk on a worker. bundles: of the scenes with these numbers; files have the others"""
    return run(load_job(pickled), task, dict(zip(numbers, bundles, strict=True)))


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def _reached() -> Iterator[None]:
    """Raises UnavailableError for what a client raises that has lost its cluster."""
    try:
        yield
    except CaromError:
        raise
    except Exception as error:
        raise UnavailableError(f"the cluster cannot be reached: {_text(error)}", field="client") from error


class Cluster:
    """The workers of a client. Not thread-safe."""

    def __init__(self, plan: Plan, client: Any) -> None:
        self._client = client
        self._config = needed("dask.config", "client")
        self._killed = needed("distributed.scheduler", "client").KilledWorker
        self._timeout = plan.worker_timeout
        self._run = f"carom-{plan.job.kind or 'function'}-{uuid.uuid4().hex}"
        self._pending: dict[int, tuple[Task, Any]] = {}
        self._threads, self._asked = 0, -np.inf
        self._refs = plan.job.scenes
        self._sent = self._not_found(plan)
        self._bundles: dict[str, Any] = {}
        self._job = self._send("job", pickle.dumps(plan.job, 5))

    def _not_found(self, plan: Plan) -> set[int]:
        """The numbers of the scenes that are sent: all, none, or those whose files the workers do not have."""
        if plan.send != "auto":
            return set(range(len(self._refs))) if plan.send == "bytes" else set()
        written = [number for number, source in enumerate(plan.sources) if isinstance(source, Scene)]
        if written:
            with _reached():
                seen = self._client.run(os.path.exists, self._refs[written[0]].path, on_error="return")
            if seen and all(found is True for found in seen.values()):
                return set()
        return set(written)

    def _send(self, what: str, data: bytes) -> Any:
        """Sends bytes as a task, which the scheduler repeats if all workers that have the bytes die."""
        with _reached():
            return self._client.submit(_bytes, data, key=f"{self._run}-{what}", pure=False)

    def _bundle(self, number: int) -> Any:
        """The bundle of a scene on the workers, which it reaches once."""
        ref = self._refs[number]
        found = self._bundles.get(ref.path)
        if found is None:
            try:
                with open(ref.path, "rb") as file:
                    data = file.read()
            except OSError as error:
                raise NotFoundError(f"{ref.path} cannot be read: {error.strerror}", field=f"scene[{number}]") from None
            found = self._bundles[ref.path] = self._send(f"scene-{number}", data)
        return found

    def capacity(self) -> int:
        now = time.monotonic()
        if now > self._asked + _POLL_SECONDS:
            with _reached():
                self._threads, self._asked = sum(self._client.nthreads().values()), now
        return max(1, self._threads)

    def submit(self, task: Task) -> None:
        self._pending[task.index] = (task, self._future(task, "first"))

    def _future(self, task: Task, attempt: str) -> Any:
        numbers = [number for number in scene_numbers(task) if number in self._sent]
        bundles = [self._bundle(number) for number in numbers]
        key = (self._run, task.index, attempt)
        with _reached(), self._config.set(_LARGE):
            return self._client.submit(_answer, self._job, task, numbers, *bundles, key=key, pure=False)

    def result(self, task: Task) -> Part:
        whole, future = self._pending.pop(task.index)
        try:
            return self._outcome(task, future)
        except self._killed:
            pass  # may be the fault of another chunk: Dask counts a death against all chunks that the worker has
        try:
            return self._outcome(task, self._future(whole, "second"))
        except self._killed as error:
            named = InternalError(f"too many workers ended while they answered it: {error}")
            raise located(named, task.index, task.begin, task.end) from error

    def _outcome(self, task: Task, future: Any) -> Part:
        """Waits for a chunk; raises KilledWorker, or a CaromError."""
        named: CaromError
        try:
            self._wait(future)
            part: Part = future.result()
        except (CaromError, self._killed):
            raise
        except (CancelledError, OSError) as error:
            named = UnavailableError(f"the cluster has lost the chunk: {_text(error)}", field="client")
            raise located(named, task.index, task.begin, task.end) from error
        except Exception as error:
            named = CaromError(f"the cluster cannot answer the chunk: {_text(error)}", field="client")
            raise located(named, task.index, task.begin, task.end) from error
        finally:
            future.release()
        return part

    def _wait(self, future: Any) -> None:
        """Waits for a future; raises UnavailableError if the cluster has no workers for too long."""
        distributed = needed("distributed", "client")
        since = None
        while not future.done():
            try:
                distributed.wait([future], timeout=_POLL_SECONDS)
            except TimeoutError:
                now = time.monotonic()
                with _reached():
                    workers = self._client.nthreads()
                if workers:
                    since = None
                elif since is None:
                    since = now
                elif now - since > self._timeout:
                    raise UnavailableError(
                        f"the cluster has no workers for {self._timeout} s", field="client"
                    ) from None

    def close(self) -> None:
        if self._pending:
            with contextlib.suppress(Exception):  # the client may have been closed
                self._client.cancel([future for _, future in self._pending.values()])
        self._pending.clear()
        self._bundles.clear()
        self._job = None


# --- Lazy arrays ------------------------------------------------------------------------------------------------------


def _lazy_answer(pickled: bytes, task: Task, columns: dict[str, Any], bundles: dict[int, bytes]) -> dict[str, Any]:
    """Answers a chunk of a graph. columns: those that are Dask arrays"""
    whole = replace(task, columns={**task.columns, **columns})
    return run(
        load_job(pickled), whole, {number: bundles[number] for number in scene_numbers(task) if number in bundles}
    ).columns


def _split(plan: Plan) -> dict[str, Any]:
    """Takes the Dask arrays out of the columns, with a block for each chunk."""
    da = needed("dask.array", "lazy")
    lazy = {name: values for name, values in plan.columns.items() if isinstance(values, da.Array)}
    plan.columns = {name: values for name, values in plan.columns.items() if name not in lazy}
    return {
        name: values.rechunk({0: plan.chunk, **dict.fromkeys(range(1, values.ndim), -1)})
        for name, values in lazy.items()
    }


def _first(plan: Plan, bundles: dict[int, bytes]) -> Part:
    """Answers the first item here, for the types of the columns."""
    chunk, plan.chunk = plan.chunk, 1
    try:
        return run(plan.job, plan.task(0), bundles)
    finally:
        plan.chunk = chunk


def lazy_arrays(plan: Plan) -> dict[str, Any]:
    """Returns the columns as Dask arrays, of a graph that has the columns of the caller and the bundles of scenes."""
    da, graphs = needed("dask.array", "lazy"), needed("dask.highlevelgraph", "lazy")
    bundles = plan.refer()
    found = _first(plan, bundles).signature
    lazy = _split(plan)
    token = uuid.uuid4().hex
    job, kept, chunks = f"carom-job-{token}", f"carom-scenes-{token}", f"carom-chunks-{token}"
    layers: dict[str, Any] = {
        job: {job: pickle.dumps(plan.job, 5)},
        kept: {kept: (dict, [[n, b] for n, b in bundles.items()])},
    }
    layers[chunks] = {
        (chunks, task.index): (
            _lazy_answer, job, task,
            (dict, [[name, (of.name, task.index, *(0,) * (of.ndim - 1))] for name, of in lazy.items()]), kept,
        )
        for task in plan.tasks()
    }  # fmt: skip
    needs: dict[str, set[str]] = {
        job: set(),
        kept: set(),
        chunks: {job, kept, *(values.name for values in lazy.values())},
    }
    for values in lazy.values():
        layers |= values.dask.layers
        needs |= values.dask.dependencies
    sizes = tuple(min(plan.chunk, plan.items - begin) for begin in range(0, plan.items, plan.chunk))
    made = {}
    for name, level, dtype, shape in found:
        own = f"carom-{name}-{token}"
        blocks = {(own, i, *(0,) * len(shape)): (operator.getitem, (chunks, i), name) for i in range(plan.chunks)}
        graph = graphs.HighLevelGraph({**layers, own: blocks}, {**needs, own: {chunks}})
        rows = sizes if level == ITEM else (np.nan,) * plan.chunks
        made[name] = da.Array(graph, own, (rows, *((size,) for size in shape)), np.dtype(dtype))
    return made
