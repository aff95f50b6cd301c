# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""The answers to chunks as Parquet files: `part-00000012.parquet` has those to chunk 12.

A file has a row for each item: its index `item`, columns with a value an item, and lists of the entries of the item.
Its metadata has a fingerprint of the chunk, so that a run which is started again finds what is finished. A file gets
its name when it is complete.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import socket
import threading
from typing import Any

import numpy as np

from .._columns import refuse
from ..errors import FailedPreconditionError
from .work import EDGE, ENTRY, ITEM, Column, Job, Part, Task, item_lengths

_KEY = b"carom.farm"
_NAME = re.compile(r"part-(\d{8,})\.parquet")


def file_name(folder: str, index: int) -> str:
    """The file of a chunk."""
    return os.path.join(folder, f"part-{index:08d}.parquet")


def _list(lengths: Column, values: Any, pa: Any) -> Any:
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return pa.LargeListArray.from_arrays(pa.array(offsets), values)


def _rows(values: Column, pa: Any) -> Any:
    """A column as an array of Arrow; the rows of arrays with more dimensions are lists of fixed size."""
    made = pa.array(np.ascontiguousarray(values).reshape(-1))
    for size in reversed(values.shape[1:]):
        made = pa.FixedSizeListArray.from_arrays(made, size)
    return made


def _table(task: Task, part: Part, pa: Any) -> Any:
    columns: dict[str, Any] = {"item": pa.array(np.arange(task.begin, task.end, dtype=np.uint64))}
    for name, level, _, _ in part.signature:
        if name == "item":
            raise refuse("question", "returned item, which is the index of an item in Parquet files")
        values = part.columns[name]
        made = _rows(values, pa)
        if level == EDGE:
            made = _list(part.columns["edge_counts"], made, pa)
        if level != ITEM:
            made = _list(item_lengths(part.columns, ENTRY), made, pa)
        columns[name] = made
    return pa.table(columns)


def write(job: Job, task: Task, part: Part) -> None:
    """Writes the answers to a chunk into `job.folder`."""
    import pyarrow as pa
    from pyarrow import parquet

    from .plan import task_fingerprint

    table = _table(task, part, pa)
    about = {"fingerprint": task_fingerprint(job, task), "columns": part.signature}
    table = table.replace_schema_metadata({_KEY: json.dumps(about)})
    name = file_name(job.folder, task.index)
    own = f"{name}.{socket.gethostname()}.{os.getpid()}.{threading.get_ident()}.tmp"
    unfinished = os.path.join(job.folder, f".{os.path.basename(own)}")
    try:
        with open(unfinished, "wb") as file:
            parquet.write_table(table, file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, name)
    except FileNotFoundError:
        if not os.path.exists(name):  # else another worker has written the same chunk
            raise
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def prepare(folder: str, chunks: int) -> None:
    """Makes the folder. Raises FailedPreconditionError if it has chunks that this run does not have."""
    try:
        os.makedirs(folder, exist_ok=True)
        names = os.listdir(folder)
    except OSError as error:
        raise refuse("out", f"is {folder}, which cannot be used: {error.strerror}") from None
    for name in names:
        found = _NAME.fullmatch(name)
        if found and int(found[1]) >= chunks:
            raise FailedPreconditionError(f"{folder} has {name}, where this run has {chunks} chunks", field="out")


def finished(job: Job, task: Task) -> Any:
    """Returns the signature of the answers to a chunk that are in the folder, or None.

    Raises FailedPreconditionError for the answers of another run. A file that cannot be read counts as none.
    """
    from pyarrow import parquet

    from .plan import task_fingerprint

    name = file_name(job.folder, task.index)
    if not os.path.exists(name):
        return None
    try:
        about = json.loads(parquet.read_schema(name).metadata[_KEY])
        known, columns = about["fingerprint"], about["columns"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if known != task_fingerprint(job, task):
        raise FailedPreconditionError(
            f"{name} has answers to other items, scenes or options (chunk {task.index}, items {task.begin} to "
            f"{task.end - 1}); choose another folder",
            field="out",
        )
    return tuple((name, level, dtype, tuple(shape)) for name, level, dtype, shape in columns)


def check_visible(folder: str, index: int) -> None:
    """Checks that this process finds a file that a worker has written."""
    if not os.path.exists(file_name(folder, index)):
        raise FailedPreconditionError(
            f"chunk {index} is written, but {folder} does not have it here; the folder must be shared by all workers",
            field="out",
        )


def clean(folder: str, chunks: int) -> None:
    """Removes what workers have left that ended while they wrote one of the finished chunks."""
    for name in glob.glob(os.path.join(glob.escape(folder), ".part-*.parquet.*.tmp")):
        if int(os.path.basename(name)[6:].partition(".")[0]) < chunks:
            with contextlib.suppress(OSError):
                os.unlink(name)
