# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Workers on this machine: this process itself, or processes that it starts and, if they die, replaces.

A process has two pipes. It reads tasks in a thread, so that its parent never waits while it sends one, and has at most
two of them: the next one is there when it has answered one. The parent keeps tasks until they are answered.
"""

from __future__ import annotations

import collections
import multiprocessing
import os
import pickle
import queue
import signal
import threading
from multiprocessing import connection
from typing import Any, Protocol

from ..errors import CaromError, FailedPreconditionError, InternalError
from .plan import Plan
from .work import Job, Part, Task, located, run

_AHEAD = 2  # tasks of a process
_SECONDS = 5.0  # until a process that should end is terminated


class Backend(Protocol):
    """What has workers."""

    def submit(self, task: Task) -> None:
        """Takes a chunk. Does not wait for a worker."""
        ...

    def result(self, task: Task) -> Part:
        """Returns the answers to a chunk that was submitted; raises its error. A chunk has one result."""
        ...

    def capacity(self) -> int:
        """The number of chunks that are answered at the same time."""
        ...

    def close(self) -> None:
        """Ends the workers that the backend has started, and drops its chunks."""
        ...


class Inline:
    """This process as the only worker."""

    def __init__(self, plan: Plan) -> None:
        self._job = plan.job
        self._tasks: dict[int, Task] = {}

    def submit(self, task: Task) -> None:
        self._tasks[task.index] = task

    def result(self, task: Task) -> Part:
        return run(self._job, self._tasks.pop(task.index), {})

    def capacity(self) -> int:
        return 1

    def close(self) -> None:
        self._tasks.clear()


# --- In a worker ------------------------------------------------------------------------------------------------------


def _read(tasks: Any, into: queue.SimpleQueue[bytes | None]) -> None:
    try:
        while True:
            into.put(tasks.recv_bytes())
    except (EOFError, OSError):
        into.put(None)


def serve(tasks: Any, results: Any, pickled: bytes) -> None:
    """Answers tasks until the parent closes the pipe or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    read: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(tasks, read), daemon=True).start()
    job: Job = pickle.loads(pickled)
    try:
        results.send_bytes(pickle.dumps(None))
        while (data := read.get()) is not None:
            task: Task = pickle.loads(data)
            try:
                outcome: Part | CaromError = run(job, task, {})
            except CaromError as error:
                outcome = error
            results.send_bytes(pickle.dumps((task.index, outcome), 5))
    except OSError:
        pass  # the parent has closed its pipes, or ended


# --- In the parent ----------------------------------------------------------------------------------------------------


class _Worker:
    """A process with the tasks that it has, the first of which it answers."""

    def __init__(self, context: Any, pickled: bytes) -> None:
        task_reader, self.tasks = context.Pipe(duplex=False)
        self.results, result_writer = context.Pipe(duplex=False)
        self.assigned: collections.deque[Task] = collections.deque()
        self.ready = False
        self.process = context.Process(target=serve, args=(task_reader, result_writer, pickled), daemon=True)
        try:
            self.process.start()
        finally:
            task_reader.close()
            result_writer.close()

    def close(self) -> None:
        self.tasks.close()
        self.results.close()


class Processes:
    """Processes of this machine. Not thread-safe."""

    def __init__(self, plan: Plan) -> None:
        self._context = multiprocessing.get_context(plan.start_method)
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._limit = min(plan.processes or usable, plan.chunks)
        self._attempts = plan.attempts
        self._pickled = pickle.dumps(plan.job, 5)
        self._workers: list[_Worker] = []
        self._waiting: collections.deque[Task] = collections.deque()
        self._done: dict[int, Part | CaromError] = {}
        self._tries: collections.Counter[int] = collections.Counter()
        self._failed_starts = 0

    def capacity(self) -> int:
        return self._limit

    def submit(self, task: Task) -> None:
        self._waiting.append(task)
        self._start()
        self._pump(0.0)

    def result(self, task: Task) -> Part:
        while task.index not in self._done:
            self._pump(None)
        outcome = self._done.pop(task.index)
        if isinstance(outcome, CaromError):
            raise outcome
        return outcome

    def close(self) -> None:
        busy = [worker for worker in self._workers if worker.assigned or not worker.ready]
        for worker in self._workers:
            worker.close()
        for worker in busy:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()
        self._waiting.clear()

    def _start(self) -> None:
        """Starts a process, if there may be more of them and tasks wait."""
        idle = sum(not worker.assigned for worker in self._workers)
        if len(self._workers) < self._limit and len(self._waiting) > idle:
            try:
                self._workers.append(_Worker(self._context, self._pickled))
            except (AssertionError, OSError, RuntimeError, ValueError) as error:
                raise FailedPreconditionError(f"a process cannot be started: {error}", field="processes") from error

    def _pump(self, timeout: float | None) -> None:
        """Waits until a process sends something or ends; then takes results, and sends tasks."""
        watched: dict[Any, _Worker] = {}
        for worker in self._workers:
            watched |= {worker.results: worker, worker.process.sentinel: worker}
        for worker in {id(watched[each]): watched[each] for each in connection.wait(list(watched), timeout)}.values():
            if not self._receive(worker):
                self._replace(worker)
        for worker in sorted((each for each in self._workers if each.ready), key=lambda each: len(each.assigned)):
            if not self._send(worker):
                self._replace(worker)

    def _receive(self, worker: _Worker) -> bool:
        """Takes what a process has sent; returns whether it lives."""
        try:
            while worker.results.poll():
                message = pickle.loads(worker.results.recv_bytes())
                if message is None:
                    worker.ready, self._failed_starts = True, 0
                else:
                    index, self._done[message[0]] = message
                    worker.assigned.popleft()
                    self._tries.pop(index, None)
        except (EOFError, OSError):
            return False
        return not connection.wait([worker.process.sentinel], 0.0)

    def _send(self, worker: _Worker) -> bool:
        """Gives tasks to a process; returns whether it lives."""
        share = max(1, min(_AHEAD, (len(self._waiting) + len(self._workers) - 1) // len(self._workers)))
        while self._waiting and len(worker.assigned) < share:
            task = self._waiting.popleft()
            worker.assigned.append(task)
            try:
                worker.tasks.send_bytes(pickle.dumps(task, 5))
            except OSError:
                return False
        return True

    def _replace(self, worker: _Worker) -> None:
        """Puts the tasks of a process that ended first in the queue, and starts another process."""
        worker.process.join()
        code = worker.process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        self._workers.remove(worker)
        worker.close()
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= self._attempts:
                raise FailedPreconditionError(
                    f"{self._failed_starts} processes ended before their first chunk, the last {how}; a program that "
                    "is run as a script must start under: if __name__ == '__main__':",
                    field="processes",
                )
        if worker.assigned:
            first = worker.assigned[0]
            self._tries[first.index] += 1
            if self._tries[first.index] >= self._attempts:
                worker.assigned.popleft()
                error = InternalError(f"{self._attempts} processes ended while they answered it, the last {how}")
                self._done[first.index] = located(error, first.index, first.begin, first.end)
        self._waiting.extendleft(reversed(worker.assigned))
        self._start()
