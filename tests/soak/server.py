# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""A caromd that runs with TLS and credentials, and a client of its HTTP port."""

import contextlib
import hashlib
import http.client
import json
import os
import re
import secrets
import signal
import socket
import ssl
import subprocess
import time
import urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
CAROMD = os.environ.get("CAROMD_BINARY", os.path.join(ROOT, "build/release/server/caromd"))
CAROM = os.environ.get("CAROM_BINARY", os.path.join(ROOT, "build/release/client/carom"))

WAIT = 30  # seconds for what takes less than one where no other program runs
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never by way of a proxy


def wait(what, condition, seconds=WAIT):
    """Waits until `condition` returns something true, and returns that."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.05)
    return result


def write(path, text):
    """Replaces a file by a rename, so that no process reads half of it."""
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


class Authority:
    """A certificate authority that exists for one run."""

    KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]

    def __init__(self, folder):
        self.key, self.certificate = os.path.join(folder, "ca.key"), os.path.join(folder, "ca.pem")
        self.request("-subj", "/CN=authority", "-keyout", self.key, "-out", self.certificate)
        # No authority of the system is trusted.
        self.context = ssl.create_default_context(cafile=self.certificate)

    def request(self, *arguments):
        subprocess.run(["openssl", "req", "-x509", *self.KEY, *arguments], check=True, capture_output=True)

    def issue(self, path):
        """Replaces the PEM file by one with another certificate and key, and returns the certificate."""
        key, certificate = path + ".key", path + ".crt"
        self.request("-CA", self.certificate, "-CAkey", self.key, "-subj", "/CN=caromd", "-addext",
                     "basicConstraints=critical,CA:FALSE", "-addext", "subjectAltName=IP:127.0.0.1",
                     "-keyout", key, "-out", certificate)
        with open(key) as first, open(certificate) as second:
            pem = second.read()
            write(path, first.read() + pem)
        return ssl.PEM_cert_to_DER_cert(pem)


class Server:
    """A caromd with sqlite, TLS, credentials and all ports. Everything that it writes is in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.authority = Authority(folder)
        self.pem, self.credentials, self.config = map(self.path, ("server.pem", "credentials", "caromd.toml"))
        self.token = self.path("token")
        write(self.token, secrets.token_hex(32))
        self.authority.issue(self.pem)
        self.write_credentials()
        self.write_config()
        with open(self.path("out"), "w") as out, open(self.path("log"), "w") as log:
            # A variable, such as CAROM_STORE of the other tests, would override the file.
            environment = {name: value for name, value in os.environ.items()
                           if not name.startswith("CAROM_")}
            self.process = subprocess.Popen([CAROMD, "--config", self.config], stdout=out, stderr=log,
                                            env=environment)
        try:
            self.grpc, self.http, self.admin = map(self.printed, ("listening", "http", "admin"))
        except BaseException:
            self.kill()
            raise

    def path(self, name):
        return os.path.join(self.folder, name)

    def printed(self, what):
        def find():
            if self.process.poll() is not None:
                raise AssertionError(f"caromd ended with exit code {self.process.returncode}: {self.log()[-2000:]}")
            with open(self.path("out")) as file:
                found = re.search(rf"(?m)^caromd {what} on (\S+)$", file.read())
            return found and found[1]
        return wait(f"the line `caromd {what} on …`", find)

    def log(self):
        with open(self.path("log")) as file:
            return file.read()

    def read_token(self):
        with open(self.token) as file:
            return file.read()

    # --- What changes while it runs ---

    def write_credentials(self, *others):
        """One token for all of the load, and others."""
        hashes = [hashlib.sha256(token.encode()).hexdigest() for token in (self.read_token(), *others)]
        write(self.credentials, "".join(f"token {each} soak admin\n" for each in hashes))

    def write_config(self, **changes):
        settings = {
            "address": "127.0.0.1:0", "admin_address": "127.0.0.1:0", "http_address": "127.0.0.1:0",
            "store": "sqlite", "state_dir": self.path("state"), "credentials": self.credentials,
            "tls_certificate": self.pem, "tls_key": self.pem,
            # Every batch of moves is also answered without the memory of the trackers, and compared.
            "shadow_interval": 1,
            # A slow frame says that the machine is busy, which is no fault of caromd.
            "slow_frame_ms": 0, **changes}
        # Values of TOML are like those of JSON, but for what does not occur here.
        write(self.config, "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    # --- What it answers ---

    def get(self, path):
        with OPENER.open(f"http://{self.admin}/{path}", timeout=WAIT) as response:
            return response.read().decode()

    def scrape(self):
        """All series of /metrics: their values by name, with labels as Prometheus writes them."""
        rows = (line.rsplit(" ", 1) for line in self.get("metrics").splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in rows}

    def served_certificate(self, address, protocol):
        """The certificate that a new connection gets."""
        host, port = address.rsplit(":", 1)
        context = ssl.create_default_context(cafile=self.authority.certificate)
        context.set_alpn_protocols([protocol])
        with socket.create_connection((host, int(port)), WAIT) as plain:
            with context.wrap_socket(plain, server_hostname=host) as connection:
                return connection.getpeercert(True)

    # --- Programs that use it ---

    def carom(self, *arguments, **options):
        """Starts the command line with a subcommand of two words or one, such as `scene list`."""
        words = 2 if arguments[0] == "scene" else 1
        access = ["--address", self.grpc, "--ca", self.authority.certificate, "--token-file", self.token]
        return subprocess.Popen([CAROM, *arguments[:words], *access, *arguments[words:]],
                                text=True, **options)

    def run_carom(self, *arguments, text=None):
        """Runs the command line to its end and returns what it prints."""
        process = self.carom(*arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output, errors = process.communicate(text, timeout=2 * WAIT)
        if process.returncode != 0:
            raise AssertionError(f"carom {' '.join(arguments)}: exit code {process.returncode}: {errors}")
        return output

    def stop(self):
        """Ends caromd as an operator does, and returns its exit code."""
        self.process.terminate()
        return self.process.wait(2 * WAIT)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class WebSocket:
    """A stream over a web socket, as a browser opens it: the token is in the first message."""

    TEXT, CLOSE = 1, 8

    def __init__(self, server, token):
        host, port = server.http.rsplit(":", 1)
        plain = socket.create_connection((host, int(port)), WAIT)
        self.socket = server.authority.context.wrap_socket(plain, server_hostname=host)
        self.stream = self.socket.makefile("rb")
        self.socket.sendall(f"GET /carom.v1.QueryService/Stream HTTP/1.1\r\nHost: {server.http}\r\n"
                            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                            "Sec-WebSocket-Protocol: carom.v1\r\n\r\n".encode())
        status = self.stream.readline()
        assert b" 101 " in status, f"web socket: {status}"
        while self.stream.readline().strip():
            pass
        self.send(json.dumps({"authorization": f"Bearer {token}"}).encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()

    def send(self, data, kind=TEXT):
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
        self.socket.sendall(bytes([0x80 | kind]) + size + bytes(4) + data)  # a mask of zeros changes nothing

    def receive(self):
        """Returns the kind and the data of the next message."""
        kind, length = self.stream.read(2)
        if length >= 126:
            length = int.from_bytes(self.stream.read(2 if length == 126 else 8), "big")
        return kind & 0xF, self.stream.read(length)

    def exchange(self, frame):
        """Sends a frame of JSON and returns its answer."""
        self.send(json.dumps({"frame": frame}).encode())
        kind, data = self.receive()
        assert kind == self.TEXT, f"web socket: {data}"
        return json.loads(data)["answer"]

    def close(self):
        """Closes as a browser does, and returns the code that caromd sends."""
        self.send((1000).to_bytes(2, "big"), self.CLOSE)
        return self.close_code()

    def close_code(self):
        kind, data = self.receive()
        assert kind == self.CLOSE, f"web socket: {data}"
        return int.from_bytes(data[:2], "big")


class Refused(Exception):
    """An error of a call: `code` is that of Connect, such as `not_found`."""

    def __init__(self, method, status, answer):
        self.code = answer.get("code")
        super().__init__(f"{method}: HTTP status {status}, {self.code}: {answer.get('message')}")


class Client:
    """Calls in JSON over one connection that stays open. Used by one thread."""

    def __init__(self, server, token=None):
        self.server, self.connection = server, None
        self.headers = {"Authorization": f"Bearer {token or server.read_token()}"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def begin(self, method, body, content_type="application/json", length=None):
        """Sends a request, or the beginning of one with a body of `length` bytes."""
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(self.server.http, timeout=WAIT,
                                                          context=self.server.authority.context)
        self.connection.request("POST", f"/carom.v1.{method}", body, {
            **self.headers, "Content-Type": content_type, "Content-Length": str(length or len(body))})

    def call(self, method, message):
        """Returns the answer to a call of `Service/Method`."""
        try:
            self.begin(method, message if isinstance(message, bytes) else json.dumps(message).encode())
            response = self.connection.getresponse()
            text = response.read()
        except BaseException:
            self.close()  # a connection whose answer was not read cannot be used again
            raise
        answer = json.loads(text)
        if response.status != 200:
            raise Refused(method, response.status, answer)
        return answer

    def refused(self, code, method, message):
        """Makes a call that must fail with the code."""
        try:
            self.call(method, message)
        except Refused as error:
            if error.code == code:
                return
            raise
        raise AssertionError(f"{method} was answered, though {code} is right")

    @contextlib.contextmanager
    def watch(self, scene, **options):
        """Watches a scene until the context ends, which closes the connection in the middle of the answer.

        Yields a function that returns the next message."""
        body = json.dumps({"name": scene, **options}).encode()
        self.begin("SceneService/WatchScene", b"\0" + len(body).to_bytes(4, "big") + body,
                   "application/connect+json")
        response = self.connection.getresponse()

        def message():
            head = response.read(5)
            text = json.loads(response.read(int.from_bytes(head[1:], "big")))
            if head[0] != 0:
                raise Refused("WatchScene", response.status, text.get("error", {}))
            return text
        try:
            yield message
        finally:
            # Without its own close the response would keep the descriptor.
            response.close()
            self.close()
