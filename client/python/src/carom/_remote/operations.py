# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Which calls does each operation of a client make, and what does it return?

An operation is a generator: it yields calls, and gets their responses or their errors. The synchronous and the
asynchronous client differ only in how they make the calls (run.py, aio.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._columns import column, number, refuse
from ..errors import AlreadyExistsError, InternalError, NotFoundError, UnavailableError
from ..polygons import Polygons, PolygonsLike
from . import encode, messages, wire
from .channel import Addresses, Download, Unary, Upload
from .forks import ForkLog, Operation
from .frames import Asked, Frame, FrameAnswer, Picture, new_edit_id
from .joiner import Joiner
from .values import LintFinding, LintOptions, SceneSummary, SceneVersion, instance, text, time_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_LARGEST_PAGE = 1000
_CREATE, _REPLACE = 1, 2
_WINDINGS = ("any", "ccw", "cw")  # by number of LintWinding


def _scene(response: bytes) -> SceneSummary:
    """The summary in a response, whose field `scene` has the number 1 in all of them."""
    found = messages.decode("GetSceneResponse", response)["scene"]
    if found is None:
        raise InternalError("the server sent no summary of the scene")
    return SceneSummary.of(found)


def _request(method: str, **values: Any) -> bytes:
    return messages.encode(f"{method}Request", values)


def _check(**versions: object) -> None:
    for name, version in versions.items():
        encode.check_number(name, version, 0, 2**64)


def create_scene(name: str, polygons: Polygons) -> Operation[SceneSummary]:
    """Registers a scene by one message; one that is larger than a message by an import."""
    each = encode.polygon_messages(polygons)
    if sum(map(len, each)) > encode.CHUNK_BYTES:
        return (yield from import_scene(name, polygons, replace=False))
    return _scene((yield Unary("CreateScene", _request("CreateScene", name=name, polygons=each), False)))


def import_scene(name: str, polygons: Polygons, *, replace: bool) -> Operation[SceneSummary]:
    """Registers or replaces a scene of any size."""
    mode = _REPLACE if replace else _CREATE

    def chunks() -> Iterator[bytes]:
        return encode.import_chunks(name, mode, polygons)

    return _scene((yield Upload("ImportScene", chunks)))


def get_scene(name: str, version: int) -> Operation[SceneSummary]:
    """Returns the summary of a version."""
    _check(version=version)
    return _scene((yield Unary("GetScene", _request("GetScene", name=name, version=version), True)))


def list_scenes() -> Operation[list[SceneSummary]]:
    """Returns all scenes, page after page."""
    found: list[SceneSummary] = []
    token = ""
    while True:
        request = _request("ListScenes", page_size=_LARGEST_PAGE, page_token=token)
        page = messages.decode("ListScenesResponse", (yield Unary("ListScenes", request, True)))
        found += [SceneSummary.of(scene) for scene in page["scenes"]]
        if page["next_page_token"] in ("", token):
            return found
        token = page["next_page_token"]


def delete_scene(forks: ForkLog, name: str, version: int) -> Operation[None]:
    """Deletes a scene."""
    _check(version=version)
    try:
        yield Unary("DeleteScene", _request("DeleteScene", name=name, version=version), False)
    except NotFoundError:
        forks.remove(name)
        raise
    forks.remove(name)


def commit(
    forks: ForkLog, name: str, add: PolygonsLike | None, replace: PolygonsLike | None, remove: ArrayLike,
    edit_id: str | None, base_version: int,
) -> Operation[SceneSummary]:  # fmt: skip
    """Edits a scene. The id makes a commit that is sent again happen once."""
    _check(base_version=base_version)
    edits = encode.edits_of(add, replace, remove)
    own_id = new_edit_id() if edit_id is None else text(edit_id, "edit_id")
    made_edits = [edit.message() for edit in edits]
    request = _request("CommitEdits", name=name, base_version=base_version, edit_id=own_id, edits=made_edits)
    server: list[int] = []
    made = _scene((yield Unary("CommitEdits", request, edit_id != "", answered=server.append)))
    forks.record(name, edits, made.version, server[0])
    return made


def versions(name: str) -> Operation[list[SceneVersion]]:
    """Returns the history of a scene, ascending."""
    response = yield Unary("ListSceneVersions", _request("ListSceneVersions", name=name), True)
    return [
        SceneVersion(SceneSummary.of(each["scene"]), each["edit_id"], time_of(each["created_us"]))
        for each in messages.decode("ListSceneVersionsResponse", response)["versions"]
    ]


def rollback(forks: ForkLog, name: str, version: int, base_version: int) -> Operation[SceneSummary]:
    """Makes a version with the polygons of an older one. The log of forks has no rollbacks, so it forgets the scene."""
    _check(version=version, base_version=base_version)
    request = _request("RollbackScene", name=name, version=version, base_version=base_version)
    made = _scene((yield Unary("RollbackScene", request, False)))
    forks.remove(name)
    return made


def fork(forks: ForkLog, base: str, version: int, name: str | None, lease: float | None) -> Operation[SceneSummary]:
    """Makes a fork. If its name is chosen here, the call is made again once after UNAVAILABLE."""
    _check(version=version)
    own = name or f"scenes/fork-{new_edit_id()}"
    seconds = 0 if lease is None else _seconds(lease)
    request = _request("ForkScene", base=base, version=version, name=own, lease_seconds=seconds)
    server: list[int] = []
    call = Unary("ForkScene", request, False, answered=server.append)
    try:
        response = yield call
    except UnavailableError:
        if name is not None:
            raise
        try:
            response = yield call
        except AlreadyExistsError:  # the first call made it
            get = _request("GetScene", name=own)
            made = _scene((yield Unary("GetScene", get, True, answered=server.append)))
            forks.add(made, seconds, server[0])
            return made
    made = _scene(response)
    forks.add(made, messages.decode("ForkSceneResponse", response)["lease_seconds"], server[0])
    return made


def _seconds(lease: float) -> int:
    """A lease in whole seconds, at least 1."""
    if not isinstance(lease, int | float) or not 0 < lease < 2**31:
        raise refuse("lease", f"is {lease!r}; a number of seconds above 0 is accepted")
    return max(int(lease), 1)


def _lint_field(field: str, value: object) -> Any:
    """The value of an option as a field of the request. The server checks its range."""
    match field:
        case "version" | "max_findings":
            encode.check_number(field, value, 0, 2**64 if field == "version" else 2**32)
            return value
        case "kinds":
            return np.atleast_1d(column(value, "I", field))
        case "from_x" | "from_y":
            return np.atleast_1d(column(value, "d", field))
        case "winding":
            if value not in _WINDINGS:
                raise refuse(field, f"is {value!r}; accepted is one of {', '.join(_WINDINGS)}")
            return _WINDINGS.index(value)
        case "gap_radius" | "mover_radius" | "lattice_pitch" | "near_distance":
            return number(value, field)
    raise TypeError(f"lint() got an unexpected keyword argument {field!r}")


def lint(name: str, options: LintOptions) -> Operation[list[LintFinding]]:
    """Returns the probable mistakes in a scene."""
    fields = {field: _lint_field(field, value) for field, value in options.items()}
    response = yield Unary("LintScene", _request("LintScene", name=name, **fields), True)
    return [_finding(each) for each in messages.decode("LintSceneResponse", response)["findings"]]


def _finding(message: dict[str, Any]) -> LintFinding:
    fields = {name: message[name] for name in LintFinding.__match_args__}
    if ring := message["outline"]:
        if len(ring["x"]) != len(ring["y"]):
            raise InternalError("the server sent a ring with columns of unequal length")
        ring = zip(ring["x"].tolist(), ring["y"].tolist(), strict=True)
    fields["outline"] = tuple(ring or ())
    return LintFinding(**fields)


def export_scene(name: str, version: int) -> Operation[tuple[SceneSummary, Polygons]]:
    """Returns a version of a scene with its polygons."""
    _check(version=version)
    joiner = Joiner()
    summaries: list[SceneSummary] = []

    def take(chunk: bytes) -> None:
        found = messages.ranges("ExportSceneResponse", chunk)
        if not summaries:
            summaries.append(_scene(chunk))
        joiner.add(chunk, found.get(2, []), bool(wire.last_number(chunk, found, 3)))

    yield Download("ExportScene", _request("ExportScene", name=name, version=version), take)
    if not summaries:
        raise InternalError("the server sent no scene")
    return summaries[0], joiner.finish()


def export_bundle(name: str, version: int) -> Operation[bytes]:
    """Returns a version of a scene as the bytes of a bundle."""
    _check(version=version)
    made = bytearray()

    def take(chunk: bytes) -> None:
        for begin, end in messages.ranges("ExportSceneResponse", chunk).get(4, []):
            made.extend(chunk[begin:end])

    yield Download("ExportScene", _request("ExportScene", name=name, version=version, bundle=True), take)
    return bytes(made)


def evaluate(addresses: Addresses, frame: Frame | Asked, picture: Picture | None) -> Operation[FrameAnswer]:
    """Answers a frame. Repeating it changes nothing: questions have no effect, and edits have ids."""
    asked = frame if isinstance(frame, Asked) else instance(frame, Frame, "frame").snapshot()
    server: list[int] = []
    response = yield Unary("Evaluate", asked.encode(), True, answered=server.append)
    found = messages.ranges("EvaluateResponse", response).get(1, [])
    answer = FrameAnswer(asked, response, found, picture)
    answer.check()
    for group, answered in zip(asked.groups, answer.groups, strict=False):
        if answered.edited_version:
            addresses.forks.record(group.scene, group.edits, answered.edited_version, server[0])
    return answer


def polygons_of(source: Any, options: dict[str, Any]) -> Polygons:
    """Returns polygons from what an import accepts: a scene, a bundle as bytes or as a path, or polygons."""
    from ..local import Scene

    if isinstance(source, Scene):
        made: Any = source.polygons()
    elif isinstance(source, bytes | bytearray | memoryview):
        made = Scene.from_bundle(source).polygons()
    elif isinstance(source, str | os.PathLike):
        made = Scene.load(source).polygons()
    else:
        made = source
    return made if isinstance(made, Polygons) and not options else Polygons(made, **options)


def local_scene(polygons: Polygons, version: int) -> Any:
    """Returns a scene in this process."""
    from ..local import Scene

    return Scene.from_polygons(polygons, version=version)
