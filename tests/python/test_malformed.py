# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does a client do with bytes that no server should send? It reads other forms, and refuses the rest."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import numpy as np
import pytest
from conftest import LONG
from protos import protos
from random_worlds import KINDS, Rng, question_of
from test_client import SQUARE, World
from test_wire import mangled

import carom
from carom import aio, errors, questions
from carom._generated.wire_tables import METHODS
from carom._question import Question
from carom._remote import messages, wire
from carom._remote.frames import FrameAnswer, single
from carom.client import Client

ROUNDS = 2000 if LONG else 60


class Recorder:
    """Bytes of the answers of a server, by question."""

    def __init__(self, address: str) -> None:
        with Client(address) as client:
            self.world = World(client, "malformed", 40)
        self._channel = grpc.insecure_channel(address)

    def answer(self, question: Question[Any]) -> tuple[Any, bytes]:
        """The frame that asks a question, and the message FrameAnswer."""
        asked = single("scenes/malformed", (question,), bodies=self.world.bodies, tables=self.world.trackers.messages())
        response = self._channel.unary_unary(METHODS["Evaluate"])(asked.encode(), timeout=20)
        begin, end = messages.ranges("EvaluateResponse", response)[1][0]
        return asked, response[begin:end]


@pytest.fixture(scope="module")
def recorder(caromd: str) -> Recorder:
    return Recorder(caromd)


def read(asked: Any, data: bytes, question: Question[Any]) -> dict[str, bytes]:
    """All columns of an answer."""
    found = FrameAnswer(asked, data, [(0, len(data))])[question]
    columns = {path: found._column(path).tobytes() for path in found._layout.rows}
    assert all(str(error) for error in found.errors)
    return columns


@pytest.mark.parametrize("method", sorted(KINDS))
def test_answers_in_other_forms_are_read_alike(recorder: Recorder, method: str) -> None:
    rng = np.random.default_rng(len(method))
    for _ in range(3):
        question = question_of(rng, method, 60)
        asked, data = recorder.answer(question)
        expected = read(asked, data, question)
        for _ in range(3):
            other = mangled(rng, data, "FrameAnswer")
            assert len(protos()["FrameAnswer"].FromString(other).groups) == 1
            assert read(asked, other, question) == expected


def spoiled(rng: Rng, data: bytes) -> bytes:
    """Bytes with a few of them changed, lost or repeated."""
    made = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(0, len(made) + 1)) if rng.random() < 0.5 else int(rng.integers(0, min(len(made) + 1, 60)))
        sort = int(rng.integers(0, 4))
        if sort == 0:
            made[at : at + 1] = rng.bytes(1)
        elif sort == 1:
            del made[at : at + int(rng.integers(1, 9))]
        elif sort == 2:
            made[at:at] = rng.bytes(int(rng.integers(1, 9)))
        else:
            del made[at:]
    return bytes(made)


@pytest.mark.parametrize("method", sorted(KINDS))
def test_spoiled_answers_are_read_or_refused(recorder: Recorder, method: str) -> None:
    rng = np.random.default_rng(100 + len(method))
    question = question_of(rng, method, 20)
    asked, data = recorder.answer(question)
    refused = 0
    for _ in range(ROUNDS):
        try:
            read(asked, spoiled(rng, data), question)
        except errors.CaromError:  # of the package, or of a status that was changed
            refused += 1
    assert refused > ROUNDS / 10


@pytest.mark.parametrize("method", sorted(KINDS))
def test_columns_that_do_not_fit_are_refused(recorder: Recorder, method: str) -> None:
    """Each column is given one entry more, which fits nothing."""
    rng = np.random.default_rng(200 + len(method))
    question = question_of(rng, method, 30)
    asked, data = recorder.answer(question)
    answer = protos()["FrameAnswer"].FromString(data)
    columns = getattr(answer.groups[0], question.kind.name)
    grown = 0
    for field, values in columns.ListFields():
        if field.type == field.TYPE_MESSAGE or field.name in ("truncated", "stuck", "ends_inside"):
            continue
        values.append(values[0])
        grown += 1
        with pytest.raises(errors.InternalError):
            read(asked, answer.SerializeToString(), question)
        del values[-1]
    assert grown > 0
    assert read(asked, answer.SerializeToString(), question) == read(asked, data, question)


def test_answers_to_other_questions_are_refused(recorder: Recorder) -> None:
    rng = np.random.default_rng(5)
    first, second = question_of(rng, "locate", 10), question_of(rng, "locate", 11)
    asked, data = recorder.answer(first)
    other, _ = recorder.answer(second)
    with pytest.raises(errors.InternalError):
        read(other, data, second)
    answer = protos()["FrameAnswer"].FromString(data)
    for change in ("seq", "groups"):
        changed = protos()["FrameAnswer"].FromString(data)
        if change == "seq":
            changed.seq = 5
        else:
            changed.groups.append(answer.groups[0])
        with pytest.raises(errors.InternalError):
            read(asked, changed.SerializeToString(), first)
    unknown = protos()["FrameAnswer"].FromString(data)
    unknown.groups[0].points.location.extend([])
    unknown.groups[0].points.location[0] = 77
    with pytest.raises(errors.InternalError):
        read(asked, unknown.SerializeToString(), first)


def test_bits_of_bodies_are_checked(recorder: Recorder) -> None:
    """Each item has as many words, and as many bits as its count says."""
    question = question_of(np.random.default_rng(6), "sees", 30)
    asked, data = recorder.answer(question)
    expected = read(asked, data, question)
    for change in ("more", "fewer", "other", "moved", "count", "none"):
        answer = protos()["FrameAnswer"].FromString(data)
        found = answer.groups[0].sees
        assert len(found.seen) == 30
        item = int(np.argmax(found.counts))
        if change == "more":
            found.seen.append(0)
        elif change == "fewer":
            del found.seen[(item + 1) % 30]
        elif change == "other":
            found.seen[item] ^= 1 << 63
        elif change == "moved":  # the sum is the same
            place = int(np.argmin(found.counts))
            found.seen[item], found.seen[place] = found.seen[place], found.seen[item]
        elif change == "count":
            found.counts[item] -= 1
        else:
            del found.seen[:]
        with pytest.raises(errors.InternalError, match=r"sees\.seen"):
            read(asked, answer.SerializeToString(), question)
    answer = protos()["FrameAnswer"].FromString(data)
    wide = answer.groups[0].sees
    wide.seen[:] = [word for each in list(wide.seen) for word in (each, 0)]
    columns = FrameAnswer(asked, answer.SerializeToString(), [(0, answer.ByteSize())])[question]
    assert np.frombuffer(expected["seen"], np.uint64).tolist() == columns.seen[::2].tolist()
    assert columns.matrix().shape == (30, 128)


def test_errors_of_items_are_checked(recorder: Recorder) -> None:
    question = questions.locate([np.nan, 1.0, np.nan], np.ones(3))
    asked, data = recorder.answer(question)
    for change in ("index", "order", "field"):
        answer = protos()["FrameAnswer"].FromString(data)
        found = answer.groups[0].points.errors
        assert len(found) == 2
        if change == "index":
            found[1].index = 3
        elif change == "order":
            found[1].index = 0
        else:
            found[0].field = "shoe_size"
        with pytest.raises(errors.InternalError):
            read(asked, answer.SerializeToString(), question)
    later = protos()["FrameAnswer"].FromString(data)
    for error in later.groups[0].points.errors:
        error.fault = 99  # of a later release
        error.message = "must not be what it is"
    answered = FrameAnswer(asked, later.SerializeToString(), [(0, later.ByteSize())])[question]
    assert answered.errors[0].message == "must not be what it is"
    assert answered.error[0] != 0


# --- A server that sends the bytes of a test ------------------------------------------------------


class Scripted:
    """A server whose calls get given bytes, or a status with details."""

    def __init__(self) -> None:
        self.responses: list[bytes] = []
        self.abort: tuple[grpc.StatusCode, str, bytes] | None = None
        self.calls = 0
        self._server = grpc.server(futures.ThreadPoolExecutor(8))
        self._server.add_generic_rpc_handlers([self])
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def service(self, details: Any) -> Any:
        """The handler of a method."""
        name = details.method.rpartition("/")[2]
        if name == "Stream":
            return grpc.stream_stream_rpc_method_handler(self._stream)
        if name in ("ExportScene", "WatchScene"):
            return grpc.unary_stream_rpc_method_handler(self._several)
        if name == "ImportScene":
            return grpc.stream_unary_rpc_method_handler(lambda requests, context: self._one(list(requests), context))
        return grpc.unary_unary_rpc_method_handler(self._one)

    def _fail(self, context: Any) -> None:
        self.calls += 1
        if self.abort is not None:
            code, message, data = self.abort
            context.set_trailing_metadata((("grpc-status-details-bin", data),))
            context.abort(code, message)

    def _one(self, request: Any, context: Any) -> bytes:
        self._fail(context)
        return self.responses[0]

    def _several(self, request: Any, context: Any) -> Iterator[bytes]:
        self._fail(context)
        yield from self.responses

    def _stream(self, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        self._fail(context)
        for _, response in zip(requests, self.responses, strict=False):
            yield response

    def stop(self) -> None:
        self._server.stop(0).wait()


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    made = Scripted()
    yield made
    made.stop()


def message(name: str, **values: Any) -> bytes:
    made: bytes = protos()[name](**values).SerializeToString()
    return made


BAD = [b"\x0a", b"\xff" * 20, b"\x0a\x7fabc", b"\x0b"]


@pytest.mark.parametrize("data", BAD)
def test_malformed_responses_are_internal_errors(scripted: Scripted, data: bytes) -> None:
    scripted.responses = [data]
    with Client(scripted.address) as client:
        calls: list[Callable[[], Any]] = [
            lambda: client.get_scene("x"), client.list_scenes, lambda: client.versions("x"), lambda: client.fork("x"),
            lambda: client.create_scene("x", [SQUARE]), lambda: client.commit("x"), lambda: client.lint("x"),
            lambda: client.import_scene("x", [SQUARE]), lambda: client.export_polygons("x"),
            lambda: client.scene("x").locate(0.0, 0.0), lambda: next(client.watch("x")),
        ]  # fmt: skip
        for call in calls:
            with pytest.raises(errors.InternalError):
                call()
        with pytest.raises(errors.InternalError), client.stream() as stream:
            stream.send(carom.Frame())

        async def main() -> None:
            async with aio.Client(scripted.address) as other:
                for made in (other.get_scene("x"), other.scene("x").locate(0.0, 0.0), anext(other.watch("x"))):
                    with pytest.raises(errors.InternalError):
                        await made
                stream = other.stream()
                await stream.send(carom.Frame())
                with pytest.raises(errors.InternalError):
                    await stream.receive()

        asyncio.run(asyncio.wait_for(main(), 30))


def test_answers_without_content_are_internal_errors(scripted: Scripted) -> None:
    scripted.responses = [b""]
    with Client(scripted.address) as client:
        for call in (
            lambda: client.scene("x").locate(0.0, 0.0),
            lambda: client.export_polygons("x"),
            lambda: next(client.watch("x")),
        ):
            with pytest.raises(errors.InternalError):
                call()
        with pytest.raises(errors.InternalError):
            client.get_scene("x")
        scripted.responses = []
        with pytest.raises(errors.InternalError):
            client.export_polygons("x")


def test_outlines_in_broken_columns_are_internal_errors(scripted: Scripted) -> None:
    scripted.responses = [message("LintSceneResponse", findings=[{"outline": {"x": [0.0], "y": []}}])]
    with Client(scripted.address) as client, pytest.raises(errors.InternalError):
        client.lint("x")


def test_scenes_in_broken_pieces_are_internal_errors(scripted: Scripted) -> None:
    ring = {"x": [0.0, 1.0], "y": [0.0, 1.0]}
    pieces: dict[str, list[dict[str, Any]]] = {
        "other id": [
            {"polygons": [{"id": 1, "rings": [ring]}], "continues": True},
            {"polygons": [{"id": 2, "rings": [ring]}]},
        ],
        "no end": [{"polygons": [{"id": 1, "rings": [ring]}], "continues": True}],
        "no piece": [{"polygons": [{"id": 1, "rings": [ring]}], "continues": True}, {}],
        "unequal": [{"polygons": [{"id": 1, "rings": [{"x": [0.0], "y": []}]}]}],
        "empty ring": [{"polygons": [{"id": 1, "rings": [ring, {}]}]}],
        "no ring": [{"polygons": [{"id": 1}]}],
        "no polygon": [{"continues": True}, {"polygons": [{"id": 1, "rings": [ring]}]}],
    }
    with Client(scripted.address) as client:
        for name, chunks in pieces.items():
            scripted.responses = [message("ExportSceneResponse", **chunk) for chunk in chunks]
            with pytest.raises(errors.InternalError):
                client.export_polygons("x")
            assert name
        whole: list[dict[str, Any]] = [
            {"scene": {"name": "scenes/x"}, "polygons": [{"id": 1, "rings": [ring]}], "continues": True},
            {"polygons": [{"id": 1, "rings": [{}, ring]}, {"id": 2, "rings": [ring], "category": 0}]},
        ]
        scripted.responses = [message("ExportSceneResponse", **chunk) for chunk in whole]
        made = client.export_polygons("x")
        assert (made.ring_count.tolist(), made.ring_size.tolist()) == ([2, 1], [2, 2, 2])
        assert made.category.tolist() == [1, 0]


def test_updates_that_do_not_follow_are_internal_errors(scripted: Scripted) -> None:
    def update(version: int, base: int, **values: Any) -> bytes:
        return message("WatchSceneResponse", scene={"version": version}, base_version=base, **values)

    row = {"polygon_id": [1], "change": [1], "min_x": [0.0], "min_y": [0.0], "max_x": [1.0], "max_y": [1.0]}
    broken = [
        [update(5, 4)], [update(0, 0)], [update(5, 0), update(5, 5)], [update(5, 0, **{**row, "change": [9]})],
        [update(5, 0, polygon_id=[1])], [update(5, 0, continues=True)],
    ]  # fmt: skip
    with Client(scripted.address) as client:
        for responses in broken:
            scripted.responses = responses
            watch = client.watch("x", reconnect_timeout=0.0)
            with pytest.raises(errors.InternalError):
                list(itertools.islice(watch, len(responses)))
        scripted.responses = [update(5, 0, more=True, **row), message("WatchSceneResponse", **row)]
        assert next(client.watch("x")).polygon_id.tolist() == [1, 1]


def test_a_stream_is_told_limits_and_refuses_wrong_answers(scripted: Scripted) -> None:
    with Client(scripted.address) as client:
        for seq in (2, 0):
            scripted.responses = [message("StreamResponse", answer={"seq": seq}, limits={"max_frames_in_flight": 2})]
            stream = client.stream(reconnect_timeout=0.0)
            stream.send(carom.Frame())
            with pytest.raises(errors.InternalError):
                stream.receive()
        scripted.responses = [message("StreamResponse", answer={"seq": 1}, limits={"max_frames_in_flight": 2})]
        stream = client.stream(reconnect_timeout=0.0)
        stream.send(carom.Frame())
        assert stream.receive().seq == 1
        assert stream.limits is not None
        assert stream.limits.max_frames_in_flight == 2
        stream.cancel()


def test_a_fault_of_the_client_ends_a_stream(caromd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carom._remote.flow.FrameAnswer", None)
    monkeypatch.setattr("threading.excepthook", lambda *_: None)
    with Client(caromd) as client:
        stream = client.stream()
        stream.send(carom.Frame())
        with pytest.raises(errors.InternalError, match="a fault of the client"):
            stream.receive()


# --- Statuses -------------------------------------------------------------------------------------


def details(*parts: tuple[str, bytes]) -> bytes:
    """A google.rpc.Status."""
    out = wire.Message()
    for url, value in parts:
        any_of = wire.Message()
        any_of.data(wire.tag(1, wire.LENGTH), f"type.googleapis.com/google.rpc.{url}".encode())
        any_of.data(wire.tag(2, wire.LENGTH), value)
        out.message(wire.tag(3, wire.LENGTH), any_of)
    return out.join()


def violation(field: str, text: str) -> bytes:
    data = message("FieldViolation", field=field, description=text)
    return wire.tag(1, wire.LENGTH) + wire.varint(len(data)) + data


def retry(seconds: int, nanos: int) -> bytes:
    duration = wire.tag(1, 0) + wire.varint(seconds) + wire.tag(2, 0) + wire.varint(nanos)
    return wire.tag(1, wire.LENGTH) + wire.varint(len(duration)) + duration


def test_details_of_a_status_are_read(scripted: Scripted) -> None:
    code = grpc.StatusCode
    with Client(scripted.address) as client:
        both = details(
            ("BadRequest", violation("a.b", "must be c") + violation("d", "")), ("RetryInfo", retry(1, 500000000))
        )
        scripted.abort = (code.RESOURCE_EXHAUSTED, "a.b: must be c (the first of 2 violations)", both)
        with pytest.raises(errors.ResourceExhaustedError) as caught:
            client.get_scene("x")
        assert (caught.value.field, caught.value.message) == ("a.b", "must be c (the first of 2 violations)")
        assert caught.value.violations == (("a.b", "must be c"), ("d", ""))
        assert caught.value.retry_after == 1.5
        for data in (
            b"",
            b"\xff",
            b"\x1a\x05abc",
            details(("BadRequest", b"\xff")),
            details(("Other", b"x")),
            b"\x1a\0",
        ):
            scripted.abort = (code.NOT_FOUND, "nothing", data)
            with pytest.raises(errors.NotFoundError) as plain:
                client.get_scene("x")
            assert (plain.value.field, plain.value.message, plain.value.retry_after) == ("", "nothing", None)
        for number, class_ in errors.CLASSES.items():
            if number != errors.UnavailableError.number:
                scripted.abort = (next(each for each in code if each.value[0] == number), "why", b"")
                with pytest.raises(class_) as each:
                    client.get_scene("x")
                assert type(each.value) is class_
        scripted.abort = (code.UNKNOWN, "why", b"")
        with pytest.raises(errors.CaromError) as unknown:
            client.get_scene("x")
        assert unknown.value.code == "UNKNOWN"


def test_calls_that_may_be_repeated_are(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carom._remote.channel._FIRST_PAUSE", 0.001)
    scripted.abort = (grpc.StatusCode.UNAVAILABLE, "shutting down", b"")
    with Client(scripted.address, deadline=30) as client:
        repeated: list[Callable[[], Any]] = [
            lambda: client.get_scene("x"), lambda: client.commit("x"), lambda: client.scene("x").locate(0.0, 0.0),
            lambda: client.export_polygons("x"),
        ]  # fmt: skip
        once: list[Callable[[], Any]] = [
            lambda: client.delete_scene("x"), lambda: client.create_scene("x", []), lambda: client.rollback("x", 1),
            lambda: client.import_scene("x", []), lambda: client.commit("x", edit_id=""),
        ]  # fmt: skip
        for calls, several in ((repeated, True), (once, False)):
            for call in calls:
                scripted.calls = 0
                with pytest.raises(errors.UnavailableError):
                    call()
                assert scripted.calls == (7 if several else 1)
        scripted.calls = 0
        with pytest.raises(errors.UnavailableError):
            client.fork("x")
        assert scripted.calls == 2
    far = details(("RetryInfo", retry(5, 0)))
    scripted.abort, scripted.calls = (grpc.StatusCode.UNAVAILABLE, "later", far), 0
    with Client(scripted.address, deadline=4) as client, pytest.raises(errors.UnavailableError) as caught:
        client.get_scene("x")
    assert (scripted.calls, caught.value.retry_after) == (1, 5.0)


def test_a_response_that_is_too_large_is_an_error(scripted: Scripted) -> None:
    scripted.responses = [bytes(5000)]
    with Client(scripted.address, max_receive_bytes=1024) as client, pytest.raises(errors.ResourceExhaustedError):
        client.get_scene("x")
