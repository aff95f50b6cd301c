# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Exact 2D collision queries, in this process or by a server.

`carom.local` has the core in this process, `carom.Client` and `carom.aio.Client` ask a server, `carom.farm` asks over
Dask, and `carom.gym` has robots with lidars for Gymnasium. Questions and answers are the same everywhere.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._generated import questions
from ._generated.answers import (
    ArcHits,
    Areas,
    Bounces,
    Contacts,
    Depenetrations,
    Distances,
    Hits,
    Locations,
    Moves,
    Overlaps,
    RayBounces,
    RotatingSweepHits,
    Scans,
    Seen,
    Sights,
    Slides,
    SweepHits,
)
from ._generated.enums import (
    Against,
    AreaPieceKind,
    BodyRotation,
    CastDetail,
    CastMode,
    CastTarget,
    Coherence,
    ContactKind,
    DistanceMode,
    Feature,
    FillRule,
    InsidePolicy,
    Location,
    OverlapDetail,
    Solidity,
)
from ._question import Question
from .errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    CaromError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ItemError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
)
from .local import Bodies, BodyHistory, Scene, Trackers
from .polygons import Polygons
from .shapes import Shapes, box, capsule, disc

if TYPE_CHECKING:
    from . import aio, farm, gym, local
    from .client import Client, Frame, Stream

__all__ = [
    "AbortedError", "Against", "AlreadyExistsError", "ArcHits", "AreaPieceKind", "Areas", "Bodies", "BodyHistory",
    "BodyRotation", "Bounces",
    "CancelledError", "CaromError", "CastDetail", "CastMode", "CastTarget", "Client", "Coherence", "ContactKind",
    "Contacts", "DataLossError", "DeadlineExceededError", "Depenetrations", "DistanceMode", "Distances",
    "FailedPreconditionError", "Feature", "FillRule", "Frame", "Hits", "InsidePolicy", "InternalError",
    "InvalidArgumentError", "ItemError", "Location", "Locations", "Moves", "NotFoundError", "OutOfRangeError",
    "OverlapDetail", "Overlaps", "PermissionDeniedError", "Polygons", "Question", "RayBounces",
    "ResourceExhaustedError", "RotatingSweepHits", "Scans", "Scene", "Seen", "Shapes", "Sights", "Slides",
    "Solidity", "Stream", "SweepHits", "Trackers", "UnauthenticatedError", "UnavailableError", "UnimplementedError",
    "aio", "box", "capsule", "disc", "farm", "gym", "local", "questions",
]  # fmt: skip

_MODULES = ("aio", "farm", "gym", "local")
_CLIENT = ("Client", "Frame", "Stream")


def __getattr__(name: str) -> Any:
    """Imports what needs more than numpy when it is used first."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("carom")
    if name not in _MODULES and name not in _CLIENT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        return getattr(importlib.import_module(".client", __name__), name)
    except ModuleNotFoundError as error:
        extra = {"farm": "dask", "gym": "gym"}.get(name, "client")
        what = f"carom.{name} needs {error.name}: pip install 'carom[{extra}]'"
        raise ModuleNotFoundError(what, name=error.name) from None
