#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Does each alert of docs/operations fire when it should, and does each panel of the dashboard show data?

A Prometheus scrapes several servers of caromd every second. At first all servers are well, and no alert may fire.
Then each server gets faults, and each alert must fire. In the end each query of the dashboard must return data.
The alerts are those of docs/operations/alerts.yml, with seconds in place of minutes.

Skips, with exit code 77, where Prometheus or etcd is missing; fails there if CI is set.
"""

import collections
import contextlib
import http.server
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tests/security"))
import http2  # noqa: E402  (of another folder)

RULES = os.path.join(ROOT, "docs/operations/alerts.yml")
DASHBOARD = os.path.join(ROOT, "docs/operations/grafana.json")
RUNBOOK = os.path.join(ROOT, "docs/runbook.md")
NEEDED = ("prometheus", "promtool", "etcd")

EVALUATE, STREAM = "/carom.v1.QueryService/Evaluate", "/carom.v1.QueryService/Stream"
IMPORT = "/carom.v1.SceneService/ImportScene"

# Which server each alert fires for. CaromNotScraped has no server: it fires while there is none.
FIRES_FOR = {
    "CaromNotScraped": None,
    "CaromDown": "restarted",
    "CaromNotReady": "draining",
    "CaromRestarting": "restarted",
    "CaromShadowDifference": "differing",
    "CaromFramesSlow": "main",
    "CaromCallsFailing": "limited",
    "CaromRefusals": "limited",
    "CaromMemoryNearLimit": "limited",
    "CaromCredentialsRefused": "guarded",
    "CaromConnectionsRefused": "guarded",
    "CaromDescriptorsNearLimit": "guarded",
    "CaromEventLoopBusy": "busy",
    "CaromJournalFailing": "full",
    "CaromJournalSlow": "fleet",
    "CaromEtcdStale": "fleet",
}

# Alerts that may fire for a server that is well, if other tests run at the same time on few processors.
NEEDS_TIME = {"CaromFramesSlow", "CaromJournalSlow", "CaromEventLoopBusy"}

DESCRIPTORS = 512  # that the server `guarded` may have: it takes two for each connection of gRPC

END = time.monotonic() + 600  # of the whole test
PAUSE = 0.1  # between two looks at a condition
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never by way of a proxy


def get(url):
    with OPENER.open(url, timeout=10) as response:
        return response.read().decode()


def wait(what, condition, seconds=30):
    """Waits until `condition` returns something true, and returns that."""
    end = min(time.monotonic() + seconds, END)
    while True:
        with contextlib.suppress(OSError):  # what is asked may not listen yet
            if result := condition():
                return result
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain: {what() if callable(what) else what}")
        time.sleep(PAUSE)


def free_port():
    """A port that no process uses, below those that the system gives to outgoing connections."""
    while True:
        port = random.randrange(20000, 32768)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def in_seconds(rules):
    """The rules with 3 seconds in place of each minute of a range, and 2 s in place of each `for`."""
    rules = re.sub(r"\[(\d+)m\]", lambda minutes: f"[{3 * int(minutes[1])}s]", rules)
    return re.sub(r"(?m)^( *for:) \d+m$", r"\1 2s", rules)


def field(number, data):
    """A field of protobuf with a length, which is below 128."""
    return bytes([number << 3 | 2, len(data)]) + data


def evaluation(scene, *coordinates):
    """An EvaluateRequest of one frame with one group with one segment."""
    columns = b"".join(field(i, struct.pack("<d", x)) for i, x in enumerate(coordinates, 1))
    return field(1, field(4, field(1, scene.encode()) + field(4, columns)))


class PlainClient(http2.Client):
    """The client of HTTP/2 without TLS."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.unread, self.next_stream = b"", 1
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + http2.frame(http2.SETTINGS, 0, 0))


class Caller:
    """Makes one call after the other on one connection, and connects again where a call gets no answer."""

    def __init__(self, port, *call):
        self.port, self.arguments, self.client = port, call, None

    def __call__(self):
        try:
            self.client = self.client or PlainClient(self.port)
            answered = self.client.call(*self.arguments) is not None
        except OSError:
            answered = False
        if not answered:
            self.close()

    def close(self):
        if self.client is not None:
            self.client.close()
            self.client = None


class AlteredScrape(http.server.BaseHTTPRequestHandler):
    """Serves a scrape of a server that is well, with one value changed.

    For faults that cannot be caused from outside: /differing reports a wrong answer, which only a bug of caromd
    makes, and /busy an event loop whose threads do nothing but work, which needs more clients than fit on the test's
    machine.
    """
    scrape = ""
    begin = time.monotonic()

    def do_GET(self):
        metric = {"/differing": "carom_shadow_differences_total",
                  "/busy": "carom_event_loop_busy_seconds_total"}[self.path]
        value = 1.0
        if self.path == "/busy":
            threads = re.search(r"(?m)^carom_event_loop_threads(?:\{.*\})? (\S+)", self.scrape)
            value = float(threads[1]) * (time.monotonic() - self.begin)
        body, count = re.subn(rf"(?m)^({metric}(?:\{{.*\}})?) \S+$", rf"\g<1> {value}", self.scrape)
        self.send_response(200 if count == 1 else 500)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments):
        pass


class Server:
    """A caromd that is running. `descriptors` limits its file descriptors."""

    def __init__(self, test, *options, descriptors=None):
        self.output = tempfile.NamedTemporaryFile("w+", dir=test.folder, suffix=".out")
        self.errors = tempfile.NamedTemporaryFile("w+", dir=test.folder, suffix=".err")
        test.addCleanup(self.output.close)
        test.addCleanup(self.errors.close)

        def limit():
            if descriptors is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        # Python ignores SIGXFSZ, and so does a child whose signals are not restored: then a write beyond the limit of
        # file sizes, which the fault `full` sets, is an error of the write and does not end the process.
        self.process = test.start([os.environ["CAROMD_BINARY"], "--address", "127.0.0.1:0",
                                   "--admin-address", "127.0.0.1:0", *options], stdout=self.output,
                                  stderr=self.errors, preexec_fn=limit, restore_signals=False)
        self.address = self.printed("listening")
        self.admin = self.printed("admin")
        self.port = int(self.address.rsplit(":", 1)[1])

    def printed(self, what):
        def find():
            with open(self.output.name) as output:
                found = re.search(rf"(?m)^caromd {what} on (\S+)$", output.read())
            if found is None and self.process.poll() is not None:
                raise AssertionError(f"caromd ended with exit code {self.process.returncode}: {self.logged()}")
            return found and found[1]
        return wait(lambda: f"`caromd {what} on …`; standard error: {self.logged()}", find)

    def logged(self):
        with open(self.errors.name) as errors:
            return errors.read()[-2000:]

    def scrape(self):
        return get(f"http://{self.admin}/metrics")


class PrometheusTest(unittest.TestCase):
    """One Prometheus and several servers."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.targets = folder.name, {}
        self.small, self.large = (self.write_scene(f"{side}.json", side) for side in (2, 64))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w") as file:
            file.write(text)
        os.rename(path + ".new", path)  # so that no process reads half of it
        return path

    def write_scene(self, name, side):
        """A scene of side² squares, each of which caromd charges as 480 bytes."""
        corners = (0, 0), (1, 0), (1, 1), (0, 1)
        polygons = [{"id": side * x + y + 1, "rings": [[[3 * x + dx, 3 * y + dy] for dx, dy in corners]]}
                    for x in range(side) for y in range(side)]
        return self.write(name, json.dumps({"id": "squares", "polygons": polygons}))

    # --- Processes, and what clients do all the time ---

    def start(self, command, **options):
        process = subprocess.Popen(command, **options)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.wait()))
        return process

    def repeat(self, act, pause):
        """Acts again and again on a thread, until the test ends or the function that is returned is called."""
        stopped = threading.Event()

        def run():
            while not stopped.is_set():
                act()
                stopped.wait(pause)
        thread = threading.Thread(target=run)

        def stop():
            stopped.set()
            thread.join()
        thread.start()
        self.addCleanup(stop)
        return stop

    def client(self, server):
        client = PlainClient(server.port)
        self.addCleanup(client.close)
        return client

    def call(self, server, *call):
        """Makes a call of HTTP/2 again and again."""
        caller = Caller(server.port, *call)
        caller()
        self.addCleanup(caller.close)
        self.repeat(caller, 0.1)

    def import_scene(self, server, name, file):
        """Whether caromd takes the scene. Each call is a connection of its own, and so a peer of its own."""
        return subprocess.run([os.environ["CAROM_BINARY"], "scene", "import", "--replace", "--address",
                               server.address, name, file], capture_output=True, timeout=60).returncode == 0

    def load(self, server, *options):
        return self.start([os.environ["CAROM_BINARY"], "load", "--address", server.address, "--duration", "600",
                           "--warmup", "0", "--check", "0", *options], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)

    def start_etcd(self):
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        with open(os.path.join(self.folder, "etcd.log"), "w") as log:
            self.etcd = self.start(["etcd", "--name", "m", "--data-dir", os.path.join(self.folder, "etcd"),
                                    "--listen-client-urls", client, "--advertise-client-urls", client,
                                    "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                                    "--initial-cluster", f"m={peer}", "--log-level", "error"],
                                   stdout=log, stderr=log)
        wait("etcd", lambda: "true" in get(client + "/health"))
        return client.removeprefix("http://")

    # --- Prometheus ---

    def start_prometheus(self):
        with open(RULES) as rules:
            self.write("rules.yml", in_seconds(rules.read()))
        self.write("targets.json", "[]")
        configuration = self.write("prometheus.yml", json.dumps({  # JSON is YAML, too
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yml"],
            "scrape_configs": [{"job_name": "caromd", "file_sd_configs": [
                {"files": ["targets.json"], "refresh_interval": "1s"}]}]}))
        self.prometheus = f"127.0.0.1:{free_port()}"
        with open(os.path.join(self.folder, "prometheus.log"), "w") as log:
            self.start(["prometheus", "--config.file", configuration, "--storage.tsdb.path",
                        os.path.join(self.folder, "prometheus"), "--web.listen-address", self.prometheus,
                        "--log.level", "warn"], stdout=log, stderr=log)
        wait("Prometheus", lambda: get(f"http://{self.prometheus}/-/ready"))

    def scrape(self, name, address, path="/metrics"):
        """Makes an address the target with the label instance="name", in place of the one that had the label."""
        self.targets[name] = {"targets": [address], "labels": {"instance": name, "__metrics_path__": path}}
        self.write("targets.json", json.dumps(list(self.targets.values())))

    def query(self, expression):
        """The result as [(labels, value)]. An expression that is not valid fails the test."""
        arguments = urllib.parse.urlencode({"query": expression})
        try:
            answer = json.loads(get(f"http://{self.prometheus}/api/v1/query?{arguments}"))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expression}: {error.read().decode()}") from error
        self.assertEqual(answer["data"]["resultType"], "vector", expression)
        return [(series["metric"], float(series["value"][1])) for series in answer["data"]["result"]]

    def value(self, expression):
        """The first value, or NaN, which compares as false, if there is none."""
        return next((value for _, value in self.query(expression)), math.nan)

    def rules(self):
        groups = json.loads(get(f"http://{self.prometheus}/api/v1/rules?type=alert"))["data"]["groups"]
        return {rule["name"]: rule for group in groups for rule in group["rules"]}

    def firing(self):
        """The alerts that fire, as {(alert, instance)}; the instance is None where the alert has none."""
        return {(name, alert["labels"].get("instance")) for name, rule in self.rules().items()
                for alert in rule["alerts"] if alert["state"] == "firing"}

    def await_alerts(self, *names):
        expected = {(name, FIRES_FOR[name]) for name in names}

        def missing():
            self.fired |= self.firing() & expected
            return expected - self.fired

        def explanation():
            rules = self.rules()
            return "".join(f"\n  {name} of {instance}: {rules[name]['query']}, alerts {rules[name]['alerts']}"
                           for name, instance in missing())
        begin = time.monotonic()
        wait(explanation, lambda: not missing(), 60)
        print(f"{time.monotonic() - begin:5.1f} s until {', '.join(sorted(names))}", flush=True)

    # --- Steps ---

    def start_servers(self):
        sqlite = ["--store", "sqlite", "--state-dir"]
        token_hash = "0" * 64
        credentials = self.write("credentials", f"token {token_hash} tenant admin\n")
        self.servers = {
            "main": Server(self, *sqlite, os.path.join(self.folder, "main"), "--shadow-interval", "8"),
            "fleet": Server(self, "--store", f"etcd://{self.start_etcd()}/carom"),
            "limited": Server(self, "--store", "memory", "--max-streams", "1", "--memory-limit-bytes",
                              str(256 << 20)),
            "guarded": Server(self, "--store", "memory", "--credentials", credentials, descriptors=DESCRIPTORS),
            "full": Server(self, *sqlite, os.path.join(self.folder, "full")),
            "draining": Server(self, "--store", "memory", "--drain-seconds", "300"),
            "restarted": Server(self, "--store", "memory"),
        }
        for name, server in self.servers.items():
            self.scrape(name, server.admin)

    def show_that_all_is_well(self):
        """Load that the servers can bear raises no alert."""
        main, fleet = self.servers["main"], self.servers["fleet"]
        for server in (main, fleet, self.servers["full"]):
            self.assertTrue(self.import_scene(server, "small", self.small), server.logged())
        self.load(main, "--streams", "4", "--trackers", "16", "--polygons", "1000", "--edits", "10")
        # One of the four coordinates is not finite, which is a fault of the item.
        self.call(main, EVALUATE, evaluation("scenes/small", 0, 0, 1, math.nan))
        self.repeat(lambda: self.import_scene(fleet, "small", self.small), 0.05)
        wait("ten scrapes of all servers under load",
             lambda: self.value('min(count_over_time(up[1m]))') >= 10 and
             self.value('sum(increase(carom_frames_total{instance="main"}[9s]))') > 0 and
             self.value('sum(increase(carom_journal_duration_seconds_count{instance="fleet"}[9s]))') > 0)

        def faults():
            found = [alert for alert in self.firing() if alert[0] not in NEEDS_TIME]
            for name, rule in self.rules().items():
                if name in NEEDS_TIME:
                    continue
                # With `bool` a comparison returns 0 or 1 for each series, and not only the series for which it holds.
                compared = re.sub(r"(==|>|<) ([\d.]+)$", r"\1 bool \2", rule["query"])
                found += [(name, labels) for labels, value in self.query(compared) if value != 0]
            return found
        wait(lambda: f"no alert; there are {faults()}", lambda: not faults())  # a scrape may come late

    def slow_frames(self):
        """Frames of 65,536 long segments in a large map, 32 of them at a time."""
        load = self.load(self.servers["main"], "--streams", "4", "--closed", "8", "--bullets", "65536", "--length",
                         "1000", "--detail", "exit", "--polygons", "200000")
        self.await_alerts("CaromFramesSlow")
        load.kill()

    def restart(self):
        """Kills the server four times, and starts it after all but the last time."""
        started = 'process_start_time_seconds{instance="restarted"}'
        for _ in range(3):
            before = self.value(started)
            self.servers["restarted"].process.kill()
            self.servers["restarted"] = Server(self, "--store", "memory")
            self.scrape("restarted", self.servers["restarted"].admin)
            wait("a scrape after the restart", lambda: self.value(started) > before)
        self.servers["restarted"].process.kill()

    def crowd(self, server):
        """Opens more connections for calls than the server may have, and then others, until nine tenths of its
        descriptors are in use. So the test does not depend on how many descriptors caromd keeps for which port."""
        connections = collections.deque()
        self.addCleanup(lambda: [connection.close() for connection in connections])

        def connect(address):
            host, port = address.rsplit(":", 1)
            with contextlib.suppress(OSError):
                connections.append(socket.create_connection((host, int(port)), 10))
            if len(connections) > 2 * DESCRIPTORS:
                connections.popleft().close()

        def crowd_more():
            connect(server.address)
            used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            for _ in range(min(20, int(0.9 * DESCRIPTORS) - used)):
                connect(server.admin)
        for _ in range(DESCRIPTORS // 2):
            connect(server.address)
        self.repeat(crowd_more, 0.1)

    def fill_memory(self, server):
        """Imports scenes, each of 1.4 % of the share of scenes, until caromd refuses one."""
        for i in range(100):
            if not self.import_scene(server, f"large-{i}", self.large):
                return
        self.fail("caromd took 100 scenes")

    def break_servers(self):
        """Faults of all servers but `fleet`."""
        limited, guarded, full, draining = (self.servers[name] for name in
                                            ("limited", "guarded", "full", "draining"))
        # The one stream that may exist, and calls beside it.
        self.client(limited).open(STREAM)
        self.call(limited, EVALUATE)
        self.fill_memory(limited)
        # A token that is not in the file. The other connections come after its first call.
        self.call(guarded, EVALUATE, b"", [("authorization", "Bearer wrong")])
        self.crowd(guarded)
        # From now on no file of the store can have more than 4 KiB, as on a disk that is full.
        resource.prlimit(full.process.pid, resource.RLIMIT_FSIZE, (4096, 4096))
        self.repeat(lambda: self.import_scene(full, "small", self.small), 0.2)
        # A drain waits for an import whose client sends nothing.
        self.client(draining).open(IMPORT)
        wait("the import", lambda: self.value('sum(carom_connections{instance="draining", port="grpc"})') == 1)
        draining.process.send_signal(signal.SIGTERM)
        # What a bug, and what too many clients would do.
        AlteredScrape.scrape = self.servers["main"].scrape()
        exporter = http.server.ThreadingHTTPServer(("127.0.0.1", 0), AlteredScrape)
        threading.Thread(target=exporter.serve_forever, daemon=True).start()
        self.addCleanup(exporter.server_close)
        self.addCleanup(exporter.shutdown)
        for name in ("differing", "busy"):
            self.scrape(name, f"127.0.0.1:{exporter.server_address[1]}", "/" + name)
        self.restart()
        self.await_alerts(*(name for name, server in FIRES_FOR.items() if server not in (None, "main", "fleet")))

    def break_etcd(self):
        """etcd stands still 0.8 s of each 0.9 s, and then all the time."""
        def stand_still():
            self.etcd.send_signal(signal.SIGSTOP)
            time.sleep(0.8)
            self.etcd.send_signal(signal.SIGCONT)
        end = self.repeat(stand_still, 0.1)
        self.await_alerts("CaromJournalSlow")
        end()
        self.addCleanup(self.etcd.send_signal, signal.SIGCONT)
        self.etcd.send_signal(signal.SIGSTOP)
        self.await_alerts("CaromEtcdStale")

    def check_dashboard(self):
        """Each query is valid and returns a number. No panel may be empty: the servers have every store, and have had
        every fault."""
        with open(DASHBOARD) as file:
            dashboard = json.load(file)
        for panel in dashboard["panels"]:
            if panel["type"] == "row":
                continue
            self.assertTrue(panel["targets"], panel["title"])
            for target in panel["targets"]:
                with self.subTest(panel=panel["title"], query=target["expr"]):
                    query = target["expr"].replace("$__rate_interval", "2m").replace("$instance", ".*")
                    self.assertNotIn("$", query)
                    values = [value for _, value in self.query(query)]
                    self.assertTrue(any(math.isfinite(value) for value in values), values)

    def test_alerts_and_dashboard(self):
        self.fired = set()
        self.start_prometheus()
        self.await_alerts("CaromNotScraped")
        self.start_servers()
        self.show_that_all_is_well()
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.servers["main"].scrape(),
                                 capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.slow_frames()
        self.break_servers()
        self.break_etcd()
        self.assertEqual({name for name, _ in self.fired}, set(self.rules()))
        self.check_dashboard()


class DocumentTest(unittest.TestCase):
    """What can be checked without a server."""

    def test_rules(self):
        checked = subprocess.run(["promtool", "check", "rules", RULES], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        with open(RULES) as file:
            rules = re.split(r"(?m)^ +- alert: ", file.read())[1:]
        names = [rule.split()[0] for rule in rules]
        self.assertEqual(sorted(names), sorted(FIRES_FOR))
        with open(RUNBOOK) as file:
            paragraphs = re.findall(r"(?m)^### (\w+)$", file.read())
        for name, rule in zip(names, rules):
            with self.subTest(alert=name):
                self.assertIn(name, paragraphs)
                self.assertIn(f"runbook_url: docs/runbook.md#{name.lower()}\n", rule)
                for key in ("severity", "summary", "description"):
                    self.assertRegex(rule, rf"(?m)^ +{key}: \S")

    def test_dashboard(self):
        with open(DASHBOARD) as file:
            dashboard = json.load(file)
        self.assertEqual([variable["name"] for variable in dashboard["templating"]["list"]],
                         ["datasource", "instance"])
        self.assertEqual(len({panel["id"] for panel in dashboard["panels"]}), len(dashboard["panels"]))
        for panel in dashboard["panels"]:
            with self.subTest(panel=panel["title"]):
                if panel["type"] == "row":
                    continue
                self.assertTrue(panel["description"].endswith("."))
                self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
                for target in panel["targets"]:
                    self.assertEqual(target["datasource"]["uid"], "${datasource}")
                    # Each metric is read for the chosen instances only.
                    metrics = re.findall(r"\b(?:carom_|process_|up\b|ALERTS\b)\w*", target["expr"])
                    self.assertEqual(len(metrics), target["expr"].count('instance=~"$instance"'), target["expr"])


if __name__ == "__main__":
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        print(f"not installed: {', '.join(missing)} (apt-get install prometheus etcd-server)")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    unittest.main(verbosity=2)
