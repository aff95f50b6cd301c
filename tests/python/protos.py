# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""The classes of the .proto files, which protobuf makes: what tests of the package's own wire format compare with."""

from __future__ import annotations

import functools
import pathlib
import tempfile
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOUBLES = (0.0, -0.0, 1.0, -2.5, 1e300, 5e-324, float("inf"), float("nan"))
WORDS = (0, 1, 127, 128, 255, 16383, 16384, 2**21, 2**31, 2**32 - 1)


@functools.cache
def protos() -> dict[str, Any]:
    """The class of each message, by its name. Needs grpcio-tools."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from grpc_tools import protoc

    files = sorted(str(path.relative_to(ROOT / "proto")) for path in (ROOT / "proto/carom/v1").glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/all.pb"
        done = protoc.main(
            ["protoc", f"-I{ROOT / 'proto'}", "--include_imports", f"--descriptor_set_out={out}", *files]
        )
        assert done == 0
        described = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        pool.Add(file)
    classes = message_factory.GetMessageClassesForFiles(files, pool)
    return {name.removeprefix("carom.v1."): cls for name, cls in classes.items()}


def scalar(rng: np.random.Generator, field: Any) -> Any:
    """A value of a field, often one at which encodings differ."""
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
        value = float(rng.choice(DOUBLES)) if rng.random() < 0.5 else float(rng.normal())
        return float(np.float32(np.clip(value, -1e30, 1e30))) if field.type == field.TYPE_FLOAT else value
    if field.type == field.TYPE_BOOL:
        return bool(rng.integers(0, 2))
    if field.type == field.TYPE_STRING:
        return str(rng.choice(["", "a", "scenes/x", "é" * 70, "z" * 300]))
    if field.type == field.TYPE_BYTES:
        return rng.bytes(int(rng.choice([0, 1, 200])))
    if field.type == field.TYPE_ENUM:
        return int(rng.integers(0, 6))
    value = int(rng.choice(WORDS))
    if field.type in (field.TYPE_UINT64, field.TYPE_FIXED64) and rng.random() < 0.5:
        return value << 32 | value
    if field.type in (field.TYPE_INT32, field.TYPE_SINT32):
        return value - 2**31
    return value - 2**31 << 20 if field.type == field.TYPE_INT64 else value


def fill(rng: np.random.Generator, message: Any, depth: int = 0) -> None:
    """Sets fields of a message, and of the messages in it, at random."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.4:
            continue
        count = int(rng.choice([0, 1, 2, 3, 20 if depth < 2 else 1])) if field.is_repeated else 1
        if field.type == field.TYPE_MESSAGE:
            if depth > 4:
                continue
            for _ in range(count):
                inner = getattr(message, field.name)
                inner = inner.add() if field.is_repeated else inner
                inner.SetInParent()
                fill(rng, inner, depth + 1)
        elif field.is_repeated:
            getattr(message, field.name).extend(scalar(rng, field) for _ in range(count))
        else:
            setattr(message, field.name, scalar(rng, field))
