# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""The mixed load of the soak test: what clients and operators do, all at once, again and again.

Each method of `Mix` that `ACTS` names is one round of one client. A round leaves nothing behind: what it makes, it
deletes, except for the scene `SHARED`, which exists as long as the load. So a server without load has no live object.
"""

import collections
import itertools
import json
import math
import os
import random
import secrets
import signal
import subprocess
import threading
import time
import traceback

from server import Client, Refused, WAIT, wait, WebSocket, write

SCENES, QUERIES = "SceneService/", "QueryService/"
SHARED = "scenes/soak-shared"  # that all clients of one load use
SHAPE = {"capsule": {"ax": -1, "bx": 1, "radius": 0.5}}  # that moves
SIDE = 64.0  # length of the square in which the polygons lie
POLYGONS = 200

# The name of a method and the pause in seconds between two rounds, which leaves the server some of the processors.
ACTS = {"stream": 0, "streams_that_break": 0.1, "web_socket": 0.1, "change_scenes": 0.05, "import_scenes": 0.5,
        "watch": 0.1, "watch_by_command": 0.5, "evaluate": 0.01, "misuse": 0.1, "compare": 1,
        "replace_certificate": 10, "reload": 5}
EDIT_PAUSE = 0.02


def polygon(number):
    """A polygon of 3 to 12 vertices, in the JSON of protobuf."""
    x, y, size = random.uniform(0, SIDE), random.uniform(0, SIDE), random.uniform(0.5, 3)
    turns = sorted(random.uniform(0, 2 * math.pi) for _ in range(random.randint(3, 12)))
    return {"id": str(number), "rings": [{"x": [x + size * math.cos(turn) for turn in turns],
                                          "y": [y + size * math.sin(turn) for turn in turns]}]}


def map_polygon(polygon):
    """The same polygon as map files and `carom eval` have it."""
    ring = polygon["rings"][0]
    return {"id": int(polygon["id"]), "rings": [[list(point) for point in zip(ring["x"], ring["y"])]]}


def points(count):
    return [random.uniform(-4, SIDE + 4) for _ in range(count)]


def rows(answer, *columns):
    """Yields for each item the list of its rows, each with the given columns of a batch's answer."""
    counts = answer.get("counts", [])
    values = zip(*(answer.get(column, []) for column in columns))
    for count in counts:
        yield list(itertools.islice(values, count))


class Mix:
    """All clients, each on a thread of its own, from the beginning to the end of a `with` statement."""

    def __init__(self, server):
        self.server = server
        self.stopped = threading.Event()
        self.edits_stopped = threading.Event()
        self.failures = collections.Counter()
        self.rounds = collections.Counter()
        self.numbers = itertools.count(1)
        self.threads = []

    def __enter__(self):
        self.stopped.clear()
        self.edits_stopped.clear()
        with Client(self.server) as client:
            client.call(SCENES + "CreateScene", {"name": SHARED, "polygons": list(map(polygon, range(POLYGONS)))})
        self.threads = [threading.Thread(target=self.repeat, args=act) for act in ACTS.items()]
        self.editor = threading.Thread(target=self.repeat, args=("edit", EDIT_PAUSE, self.edits_stopped))
        for thread in (self.editor, *self.threads):
            thread.start()
        return self

    def __exit__(self, *_):
        """Ends each client after its round, of which each has at least one. Watches wait for edits, which end last."""
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        self.edits_stopped.set()
        self.editor.join()
        if self.server.process.poll() is None:
            with Client(self.server) as client:
                client.call(SCENES + "DeleteScene", {"name": SHARED})

    def repeat(self, name, pause, stopped=None):
        with Client(self.server) as client:
            while self.server.process.poll() is None:
                try:
                    getattr(self, name)(client)
                except Exception as error:  # whatever it is, the run has failed, and goes on
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    self.failures[f"{name}: {type(error).__name__}: {error} ({where.name}:{where.lineno})"] += 1
                self.rounds[name] += 1
                if (stopped or self.stopped).wait(pause):
                    return

    def new_name(self, kind):
        return f"scenes/soak-{kind}-{next(self.numbers)}"

    # --- Streams ---

    def load(self, *arguments):
        """Starts `carom load` with streams of bullets and trackers; a part of the answers is checked."""
        return self.server.carom("load", "--connections", "2", "--bullets", "16", "--trackers", "64", "--polygons",
                                 "300", "--check", "16", "--duration", "86400", "--seed",
                                 str(random.randrange(1 << 30)), *arguments,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def stream(self, _):
        """Streams that stay as long as the load, on a scene that is edited."""
        process = self.load("--streams", "6", "--rate", "20", "--edits", "20")
        try:
            while not self.stopped.wait(0.2) and process.poll() is None:
                pass
            process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=WAIT)[0]
        finally:
            process.kill()
        assert process.returncode == 0, f"carom load: exit code {process.returncode}: {output}"

    def streams_that_break(self, client):
        """Streams of a process that is killed, so that the server must notice. Fast trackers use their memory less."""
        process = self.load("--streams", "8", "--rate", "30", "--speed", "40")
        time.sleep(random.uniform(0.5, 3))
        process.kill()
        process.communicate()
        prefix = f"scenes/carom-load-{process.pid}-"
        for scene in client.call(SCENES + "ListScenes", {"pageSize": 1000}).get("scenes", []):
            if scene["name"].startswith(prefix):
                client.call(SCENES + "DeleteScene", {"name": scene["name"]})

    def web_socket(self, _):
        """Trackers of a web socket, in a scene that is edited. Each second socket ends without a close."""
        count = 16
        x, y = points(count), points(count)
        frame = {"trackers": [{"shapes": [SHAPE] * count}]}
        with WebSocket(self.server, self.server.read_token()) as web_socket:
            for _ in range(10):
                frame["groups"] = [{"scene": SHARED, "moves": {"x": x, "y": y}}]
                answer = web_socket.exchange(frame)
                assert "status" not in answer and "status" not in answer["groups"][0], answer
                x, y = ([value + random.uniform(-0.2, 0.2) for value in column] for column in (x, y))
                frame = {}
            if random.random() < 0.5:
                code = web_socket.close()
                assert code == 1000, f"web socket: close code {code}"

    # --- Scenes ---

    def edit(self, client):
        edits = [{"replace": polygon(number)} for number in random.sample(range(POLYGONS), 2)]
        client.call(SCENES + "CommitEdits", {"name": SHARED, "edits": edits, "editId": secrets.token_hex(8)})

    def change_scenes(self, client):
        """The life of a scene and of two forks: one is deleted, the other ends with its lease."""
        scene, fork, leased = (self.new_name(kind) for kind in ("scene", "fork", "leased"))
        made = client.call(SCENES + "CreateScene", {"name": scene, "polygons": [polygon(i) for i in range(50)]})
        for i in range(5):
            client.call(SCENES + "CommitEdits", {"name": scene, "edits": [
                {"add": polygon(100 + i)}, {"replace": polygon(2 * i)}, {"remove": str(2 * i + 1)}]})
        client.call(SCENES + "RollbackScene", {"name": scene, "version": made["scene"]["version"]})
        client.call(SCENES + "ListSceneVersions", {"name": scene})
        for name, seconds in (fork, 60), (leased, 5):
            client.call(SCENES + "ForkScene", {"base": scene, "name": name, "leaseSeconds": seconds})
            for i in range(5):
                # Edits and a query of what they make.
                group = {"scene": name, "points": {"x": points(4), "y": points(4)}, "edits": {
                    "editId": secrets.token_hex(8), "edits": [{"replace": polygon(i)}, {"add": polygon(200 + i)}]}}
                answer = client.call(QUERIES + "Evaluate", {"frame": {"groups": [group]}})["answer"]
                assert "status" not in answer["groups"][0], answer
        client.call(SCENES + "DeleteScene", {"name": scene})
        client.call(SCENES + "DeleteScene", {"name": fork})

    def import_scenes(self, _):
        """Imports over gRPC, of scenes of several sizes under one name."""
        name = self.new_name("import")
        path = self.server.path("map.json")
        for count in 20, 2000:
            write(path, json.dumps({"polygons": [map_polygon(polygon(i)) for i in range(count)]}))
            self.server.run_carom("scene", "import", "--replace", name, path)
        self.server.run_carom("scene", "export", name)
        self.server.run_carom("scene", "delete", name)

    # --- Watches ---

    def watch(self, client):
        with client.watch(SHARED, polygons=random.random() < 0.5) as message:
            for _ in range(random.randint(1, 20)):
                message()

    def watch_by_command(self, _):
        """A watch over gRPC that is killed when it has printed some versions."""
        process = self.server.carom("scene", "watch", SHARED, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with process:
            try:
                for _ in range(random.randint(1, 5)):
                    line = process.stdout.readline()
                    assert '"version"' in line, f"carom scene watch: {line}"
            finally:
                process.kill()

    # --- Queries ---

    def evaluate(self, client):
        """Queries of many kinds in one frame. After some hundred calls the connection is replaced."""
        x, y, ends = points(8), points(8), points(8)
        group = {"scene": SHARED, "segments": {"ax": x, "ay": y, "bx": ends, "by": y, "mode": "CAST_MODE_ALL"},
                 "points": {"x": x, "y": y}, "fans": {"x": [x[0]], "y": [y[0]], "angle": [0], "step": [0.1],
                                                      "range": [SIDE], "beams": [16]},
                 "distances": {"movers": {"shapes": [SHAPE], "x": [x[1]], "y": [y[1]]}},
                 "sweeps": {"movers": {"shapes": [SHAPE], "x": [x[2]], "y": [y[2]]}, "dx": [9], "dy": [1]}}
        answer = client.call(QUERIES + "Evaluate", {"frame": {"groups": [group]}})["answer"]
        assert "status" not in answer and "status" not in answer["groups"][0], answer
        if random.random() < 0.005:
            client.close()

    def misuse(self, client):
        """Requests that must fail, and leave nothing behind."""
        evaluate = QUERIES + "Evaluate"
        client.refused("invalid_argument", evaluate, b'{"frame":')
        client.refused("invalid_argument", evaluate, {"frame": {"unknown": 1}})
        client.refused("not_found", SCENES + "GetScene", {"name": "scenes/missing"})
        client.refused("already_exists", SCENES + "CreateScene", {"name": SHARED})
        bad_ring = {"name": SHARED, "edits": [{"replace": {"id": "1", "rings": [{"x": [0], "y": []}]}}]}
        client.refused("invalid_argument", SCENES + "CommitEdits", bad_ring)
        with Client(self.server, token="wrong") as stranger:
            stranger.refused("unauthenticated", evaluate, {})
        with WebSocket(self.server, token="wrong") as stranger:
            code = stranger.close_code()
            assert code == 4016, f"web socket with a wrong token: close code {code}"
        # A connection that ends in the middle of a body.
        with Client(self.server) as other:
            other.begin(evaluate, b'{"frame":', length=1000)

    def compare(self, client):
        """Asks the same over gRPC, by `carom eval`, and in JSON. The answers must be equal to the last bit."""
        polygons = [polygon(i) for i in range(100)]
        ax, ay, bx, by = (points(20) for _ in range(4))
        lines = [{"op": "scene", "polygons": list(map(map_polygon, polygons))}]
        lines += [{"op": "segment", "a": a, "b": b} for a, b in zip(zip(ax, ay), zip(bx, by))]
        lines += [{"op": "point", "p": p} for p in zip(ax, ay)]
        lines += [{"op": "circle", "c": c, "r": 2} for c in zip(bx, by)]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        by_grpc = [json.loads(line) for line in self.server.run_carom("eval", text=text).splitlines()]

        name = self.new_name("compared")
        client.call(SCENES + "CreateScene", {"name": name, "polygons": polygons})
        segments = {"ax": ax, "ay": ay, "bx": bx, "by": by}
        groups = [{"scene": name, "segments": segments, "points": {"x": ax, "y": ay},
                   "circles": {"x": bx, "y": by, "radius": [2] * 20}},
                  {"scene": name, "segments": {**segments, "mode": "CAST_MODE_ALL"}}]
        answer = client.call(QUERIES + "Evaluate", {"frame": {"groups": groups}})["answer"]
        client.call(SCENES + "DeleteScene", {"name": name})
        by_json = self.as_lines(*answer["groups"])
        # `carom eval` answers more of a segment, which is not compared.
        by_grpc = [{key: line[key] for key in other if key in line} for line, other in zip(by_grpc, by_json)]
        assert by_grpc == by_json, f"JSON {by_json}, gRPC {by_grpc}"

    @staticmethod
    def as_lines(first, every):
        """The answers of `compare` in the form of `carom eval`."""
        lines = []
        columns = ("fraction", "polygonId", "normalX", "normalY", "exitFraction")
        for hits, others in zip(rows(first["segments"], *columns), rows(every["segments"], "polygonId", "fraction")):
            line = {"hit": bool(hits), "all": [[int(number), t] for number, t in others]}
            for t, number, x, y, exit_t in hits:
                line.update(t=t, poly=int(number), normal=[x, y], exit_t=exit_t)
            lines.append(line)
        for holders in rows(first["points"], "polygonId", "location"):
            inside, on = ([int(number) for number, where in holders if where == location]
                          for location in ("LOCATION_INSIDE", "LOCATION_BOUNDARY"))
            lines.append({"in": inside, "on": on})
        for touched in rows(first["circles"], "polygonId"):
            lines.append({"ids": [int(number) for number, in touched]})
        return lines

    # --- What an operator does ---

    def replace_certificate(self, _):
        issued = self.server.authority.issue(self.server.pem)
        for address, protocol in (self.server.grpc, "h2"), (self.server.http, "http/1.1"):
            wait(f"the new certificate on {address}",
                 lambda: self.server.served_certificate(address, protocol) == issued)

    def reload(self, client):
        """Replaces a token, a limit and the log level."""
        token = secrets.token_hex(32)
        level, streams = random.choice(("info", "debug", "warning")), random.randint(200, 2000)
        self.server.write_credentials(token)
        self.server.write_config(log_level=level, max_streams=streams)
        self.server.reload()

        def is_reloaded():
            config = self.server.get("config")
            return f'log_level = "{level}"' in config and f"max_streams = {streams}\n" in config
        wait("the settings after SIGHUP", is_reloaded)
        with Client(self.server, token) as other:
            def is_admitted():
                try:
                    return other.call(SCENES + "ListScenes", {"pageSize": 1}) is not None
                except Refused as error:
                    if error.code != "unauthenticated":
                        raise
            wait("the new token", is_admitted)
            self.server.write_credentials()
            wait("the end of the token", lambda: is_admitted() is None)
