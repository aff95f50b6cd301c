# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Does a client prove who it is by tokens and certificates, make sure of its server, and take files that change?"""

from __future__ import annotations

import asyncio
import os
import pathlib
import time
from collections.abc import Callable
from typing import Any

import grpc
import pytest
import servers
from test_client import SQUARE

import carom
from carom import aio, errors
from carom.client import Client, Tls

WRITER, READER = "w" * 40, "r" * 40


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder of certificates."""
    folder = tmp_path_factory.mktemp("keys")
    servers.certificates(folder)
    return folder


def credentials(folder: pathlib.Path, *lines: str) -> str:
    file = folder / "credentials"
    fresh = folder / "credentials.new"
    fresh.write_text("".join(lines))
    fresh.chmod(0o600)
    fresh.rename(file)
    return str(file)


def replaced(path: pathlib.Path, text: str) -> None:
    """Puts a file in place as a whole, with another time."""
    fresh = path.with_suffix(".fresh")
    fresh.write_text(text)
    fresh.rename(path)


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """The result of a call that is made again while it raises UnauthenticatedError."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return call()
        except errors.UnauthenticatedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_tokens_tenants_and_roles(tmp_path: pathlib.Path) -> None:
    lines = [servers.token_line(WRITER, "acme", "writer"), servers.token_line(READER, "acme", "reader"),
             servers.token_line("o" * 40, "other", "writer")]  # fmt: skip
    file = credentials(tmp_path, *lines)
    with servers.caromd(tmp_path / "server", "--credentials", file) as server:
        with Client(server.address) as stranger:
            for call in (
                stranger.list_scenes,
                lambda: stranger.scene("arena").locate(0.0, 0.0),
                lambda: next(stranger.watch("arena")),
            ):
                with pytest.raises(errors.UnauthenticatedError):
                    call()
            stream = stranger.stream()
            stream.send(carom.Frame())
            with pytest.raises(errors.UnauthenticatedError):
                stream.receive()
        with Client(server.address, token=WRITER) as writer, Client(server.address, token=READER) as reader:
            writer.create_scene("arena", [SQUARE])
            assert reader.scene("arena").locate(1.0, 1.0).counts.tolist() == [1]
            with reader.stream() as stream:
                stream.send(carom.Frame())
                assert stream.receive().error is None
            with pytest.raises(errors.PermissionDeniedError):
                reader.commit("arena", remove=[0])
        with Client(server.address, token="o" * 40) as other, pytest.raises(errors.NotFoundError):
            other.get_scene("arena")

        async def main() -> None:
            async with aio.Client(server.address, token=READER) as client:
                assert (await client.scene("arena").locate(1.0, 1.0)).counts.tolist() == [1]
                with pytest.raises(errors.PermissionDeniedError):
                    await client.delete_scene("arena")

        asyncio.run(asyncio.wait_for(main(), 30))


def test_a_file_of_a_token_is_read_again(tmp_path: pathlib.Path) -> None:
    file = credentials(tmp_path, servers.token_line(WRITER, "acme", "writer"))
    token = tmp_path / "token"
    token.write_text(f"{WRITER}\n")
    started = servers.caromd(tmp_path / "server", "--credentials", file)
    with started as server, Client(server.address, token_file=token) as client:
        assert client.list_scenes() == []
        credentials(tmp_path, servers.token_line(READER, "acme", "writer"))
        replaced(token, READER)
        assert within(10, client.list_scenes) == []
        replaced(token, "two words")  # is not used
        assert client.list_scenes() == []
        token.unlink()
        assert client.list_scenes() == []


def test_tls_with_and_without_a_client_certificate(keys: pathlib.Path, tmp_path: pathlib.Path) -> None:
    options = ("--tls-certificate", str(keys / "server.pem"), "--tls-key", str(keys / "server.key"))
    with servers.caromd(tmp_path / "one", *options) as server:
        for tls in (Tls(keys / "ca.pem"), Tls((keys / "ca.pem").read_bytes())):
            with Client(server.address, tls=tls) as client:
                assert client.list_scenes() == []
        given = grpc.ssl_channel_credentials((keys / "ca.pem").read_bytes())
        with Client(server.address, credentials=given) as client:
            client.create_scene("arena", [SQUARE])
            assert client.scene("arena")._repr_svg_().startswith("<svg")
        for wrong in (None, True, Tls(keys / "other.pem")):
            if isinstance(wrong, Tls):
                servers.run(keys, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-subj", "/CN=other", "-keyout", "other.key", "-out", "other.pem")  # fmt: skip
            with Client(server.address, tls=wrong, deadline=20.0) as client, pytest.raises(errors.UnavailableError):
                client.delete_scene("arena")
    with servers.caromd(tmp_path / "two", *options, "--tls-client-ca", str(keys / "ca.pem")) as server:
        stranger = Client(server.address, tls=Tls(keys / "ca.pem"), deadline=20.0)
        with stranger, pytest.raises(errors.UnavailableError):
            stranger.delete_scene("arena")
        own = Tls(keys / "ca.pem", keys / "client.pem", keys / "client.key")
        with Client(server.address, tls=own) as client, client.stream() as stream:
            stream.send(carom.Frame())
            assert stream.receive().error is None

        async def main() -> None:
            async with aio.Client(server.address, tls=own) as client:
                assert await client.list_scenes() == []

        asyncio.run(asyncio.wait_for(main(), 30))


def test_certificates_are_read_again(keys: pathlib.Path, tmp_path: pathlib.Path) -> None:
    options = ("--tls-certificate", str(keys / "server.pem"), "--tls-key", str(keys / "server.key"))
    ca = tmp_path / "ca.pem"
    servers.run(tmp_path, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=other", "-keyout", "other.key", "-out", "ca.pem")  # fmt: skip
    with servers.caromd(tmp_path / "server", *options) as server, Client(server.address, tls=Tls(ca)) as client:
        with pytest.raises(errors.UnavailableError):
            client.delete_scene("x")
        replaced(ca, "no certificate")
        time.sleep(1.1)
        with pytest.raises(errors.UnavailableError):
            client.delete_scene("x")
        replaced(ca, (keys / "ca.pem").read_text())
        time.sleep(1.1)
        assert client.list_scenes() == []


def test_files_that_cannot_be_used_are_refused(keys: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty").write_text("\n")
    os.mkfifo(tmp_path / "unused")
    ca, pem, key = keys / "ca.pem", keys / "client.pem", keys / "client.key"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"token": ""}, "token"),
        ({"token": "two words"}, "token"),
        ({"token": "é"}, "token"),
        ({"token": "a", "token_file": "b"}, "token"),
        ({"token_file": tmp_path / "absent"}, "token_file"),
        ({"token_file": tmp_path / "empty"}, "token_file"),
        ({"tls": Tls(tmp_path / "absent")}, "tls.ca"),
        ({"tls": Tls(tmp_path / "empty")}, "tls.ca"),
        ({"tls": Tls(b"no certificate")}, "tls.ca"),
        ({"tls": Tls(ca, pem)}, "tls.key"),
        ({"tls": Tls(ca, None, key)}, "tls.certificate"),
        ({"tls": Tls(ca, pem, keys / "ca.key")}, "tls.key"),
        ({"tls": Tls(ca, pem, tmp_path / "empty")}, "tls.key"),
        ({"tls": "yes"}, "tls"),
        ({"tls": True, "credentials": object()}, "credentials"),
    ]
    for options, field in cases:
        with pytest.raises(errors.InvalidArgumentError) as caught:
            Client("127.0.0.1:1", **options)
        assert caught.value.field == field, options
        assert "two words" not in str(caught.value)
    assert "key" not in repr(Tls(ca, pem, key))


@pytest.mark.parametrize("address", ["10.0.0.1:7420", "127.example:7420", "[::2]:7420", "127.0.0.1:1,10.0.0.1:2"])
def test_a_token_does_not_cross_a_network_in_plain_text(address: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        Client(address, token=WRITER)
    assert caught.value.field == "tls"
    assert WRITER not in str(caught.value)
    Client(address, token=WRITER, tls=True).close()
    for near in ("127.9.9.9:1", "localhost:1", "[::1]:1", "unix:/tmp/x"):
        Client(near, token=WRITER).close()
