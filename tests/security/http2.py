# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of HTTP/2, as bytes, and a client over TLS that may send any of them in any order."""

import socket
import ssl
import struct

DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
# What a connection that the other side has closed raises; silence raises TimeoutError.
CLOSED = (ConnectionError, ssl.SSLError)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header of HPACK that no table is needed for: at most 126 bytes each."""
    return b"\0" + b"".join(bytes([len(x)]) + x for x in (name.encode(), value.encode()))


def request(path, extra=()):
    """The header block of a call."""
    headers = [(":method", "POST"), (":scheme", "https"), (":path", path), (":authority", "guard"),
               ("content-type", "application/grpc"), ("te", "trailers"), *extra]
    return b"".join(literal(*header) for header in headers)


def message(data=b""):
    return struct.pack(">BI", 0, len(data)) + data


class Client:
    """A connection. Its source is an address of 127/8, so that one host plays many."""

    def __init__(self, port, source="127.0.0.1", window=1 << 20, timeout=10):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(("127.0.0.1", port), timeout, (source, 0))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(plain)
        self.unread, self.next_stream = b"", 1
        settings = struct.pack(">HI", 4, window)
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        """The next frame as (kind, flags, stream, payload); None at the end of the connection."""
        while len(self.unread) < 9 or len(self.unread) < 9 + int.from_bytes(self.unread[:3], "big"):
            try:
                data = self.socket.recv(65536)
            except CLOSED:
                data = b""
            if not data:
                return None
            self.unread += data
        size = int.from_bytes(self.unread[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", self.unread[3:9])
        payload, self.unread = self.unread[9:9 + size], self.unread[9 + size:]
        if kind == SETTINGS and not flags & ACK:
            self.send(frame(SETTINGS, ACK, 0))
        if kind == DATA and size:
            self.send(frame(WINDOW, 0, 0, struct.pack(">I", size)))
        return kind, flags, stream, payload

    def discard(self):
        """Reads what there is, and waits for nothing."""
        timeout = self.socket.gettimeout()
        self.socket.settimeout(0)
        try:
            while self.socket.recv(65536):
                pass
            raise ConnectionResetError
        except (ssl.SSLWantReadError, BlockingIOError):
            self.socket.settimeout(timeout)

    def count(self, kind, part):
        """How many frames of a kind with these bytes have come by now."""
        self.socket.settimeout(0.01)
        count = 0
        try:
            while (got := self.receive()) is not None:
                count += got[0] == kind and part in got[3]
        except TimeoutError:
            pass
        return count

    def open(self, path, extra=()):
        """Begins a call and returns its stream."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.send(frame(HEADERS, END_HEADERS, stream, request(path, extra)))
        return stream

    def finish(self, stream):
        """What comes until a stream ends: (headers and trailers, data), or None if it never ends well."""
        headers = data = b""
        while (got := self.receive()) is not None:
            kind, flags, of, payload = got
            if of != stream:
                continue
            if kind == RST:
                return None
            headers += payload if kind == HEADERS else b""
            data += payload if kind == DATA else b""
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                return headers, data
        return None

    def call(self, path, data=b"", extra=()):
        stream = self.open(path, extra)
        self.send(frame(DATA, END_STREAM, stream, message(data)))
        return self.finish(stream)

    def close(self):
        self.socket.close()
