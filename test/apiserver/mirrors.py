#!/usr/bin/env python3
"""mirrors.py GO_PROGRAM [KUBE_RS_PROGRAM]: informers and reflectors of client-go and kube-rs on kubexx-apiserver.

Writes, changes and deletes ConfigMaps by a seeded plan, kills the server with SIGKILL in between and starts it again with its
file. Every mirror must in the end hold what was written, and have been told all of it in order while its watch lasted.
"""

import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time

from servers import ApiServer, Client, Target

PATIENCE = 120.0  # seconds until a mirror must have caught up
SEED = 7
KILLS = 2  # kube-rs waits longer after each
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def fail(text):
    sys.exit(f"mirrors.py: FAILED: {text}")


class Mirror:
    """A program that tells what it sees."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         env=dict(os.environ, **(environment or {})))
        self._stores = queue.Queue()
        self._mu = threading.Lock()
        self._seen = []
        self._synced = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            told = json.loads(line)
            if "store" in told:
                self._stores.put({name: tuple(entry) for name, entry in told["store"].items()})
            elif told["event"] == "synced":
                self._synced.set()
            else:
                with self._mu:
                    self._seen.append(told)

    def wait_synced(self):
        if not self._synced.wait(PATIENCE):
            fail(f"{self.name} has no first list")

    def store(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        try:
            return self._stores.get(timeout=PATIENCE)
        except queue.Empty:
            fail(f"{self.name} does not answer")

    def wait_for(self, wanted):
        deadline = time.monotonic() + PATIENCE
        while (store := self.store()) != wanted:
            if time.monotonic() > deadline:
                fail(f"{self.name} holds {store}, written was {wanted}")
            time.sleep(0.02)

    def told(self):
        with self._mu:
            return [("delete" if e["event"] == "delete" else "write", e["name"], e["value"]) for e in self._seen if "name" in e]

    def end(self):
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reader.join()


class Writer:
    """Changes objects at random, and knows what there is and what happened."""

    def __init__(self, client):
        self.client = client
        self.objects = {}  # name: (version, value)
        self.history = []  # ("write" or "delete", name, value)
        self._random = random.Random(SEED)
        self._serial = 0

    def _ask(self, method, path, body=None):
        answer = self.client.request(method, path, body)
        if answer.code not in (200, 201):
            fail(f"{method} {path}: {answer.code} {answer.raw!r}")
        return answer.body

    def step(self):
        name = f"object-{self._random.randrange(12)}"
        self._serial += 1
        value = f"value-{self._serial}"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": value}}
        if name in self.objects and self._random.random() < 0.3:
            self._ask("DELETE", f"{CONFIGMAPS}/{name}")
            self.history.append(("delete", name, self.objects.pop(name)[1]))
            return
        method, path = ("PUT", f"{CONFIGMAPS}/{name}") if name in self.objects else ("POST", CONFIGMAPS)
        written = self._ask(method, path, body)
        self.objects[name] = (written["metadata"]["resourceVersion"], value)
        self.history.append(("write", name, value))

    def steps(self, count):
        for _ in range(count):
            self.step()


def check_events(mirror, history):
    """While the watch lasted nothing may be missing or out of order. Handlers are called later than the store is changed."""
    deadline = time.monotonic() + PATIENCE
    while (told := mirror.told()[-len(history):]) != history:
        if time.monotonic() > deadline:
            place = next((i for i, pair in enumerate(zip(told, history)) if pair[0] != pair[1]), min(len(told), len(history)))
            fail(f"{mirror.name}: event {place} of {len(history)}: told {told[place:place + 1]}, written {history[place:place + 1]}")
        time.sleep(0.02)


def start_mirrors(server, go_program, rust_program):
    at = ["--kubeconfig", str(server.kubeconfig)]
    mirrors = []
    for streams in ("true", "false"):
        feature = {"KUBE_FEATURE_WatchListClient": streams}
        kind = "streaming" if streams == "true" else "list and watch"
        mirrors.append(Mirror(f"client-go, JSON, {kind}", [go_program, *at], feature))
        mirrors.append(Mirror(f"client-go, protobuf, {kind}", [go_program, *at, "--protobuf"], feature))
    if rust_program:
        mirrors.append(Mirror("kube-rs, streaming", [rust_program, "mirror", *at, "--streaming"]))
        mirrors.append(Mirror("kube-rs, paged", [rust_program, "mirror", *at]))
    return mirrors


def run(server, go_program, rust_program):
    server.start()
    writer = Writer(Client(Target(str(server.kubeconfig))))
    writer.steps(20)
    mirrors = start_mirrors(server, go_program, rust_program)
    try:
        for mirror in mirrors:
            mirror.wait_synced()
            mirror.wait_for(writer.objects)
        writer.history.clear()
        writer.steps(100)
        for mirror in mirrors:
            mirror.wait_for(writer.objects)
            check_events(mirror, writer.history)
        for _ in range(KILLS):
            server.kill()
            server.start()
            writer.client.close()
            writer.steps(20)
            for mirror in mirrors:
                mirror.wait_for(writer.objects)
        listed = writer.client.request("GET", CONFIGMAPS).body["items"]
        there = {o["metadata"]["name"]: (o["metadata"]["resourceVersion"], o["data"]["value"]) for o in listed}
        if there != writer.objects:
            fail(f"the server holds {there}, written was {writer.objects}")
    finally:
        for mirror in mirrors:
            mirror.end()
    print(f"{len(mirrors)} mirrors held what was written, across {KILLS} kills of the server")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        server = ApiServer(folder)
        try:
            run(server, sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
