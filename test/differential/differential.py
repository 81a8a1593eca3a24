#!/usr/bin/env python3
"""Sends the same generated requests to kube-apiserver and kubexx-apiserver and compares what they answer.

Status codes, bodies and streams of events have to be the same after versions, uids and times have been given names. A
difference that known.py does not have ends the test with its request, and with the command that shows it again.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "apiserver"))

from generator import MARKER, Generator, placeholders_filled  # noqa: E402
from known import unknown  # noqa: E402
from normalise import Memory, differences  # noqa: E402
from servers import Answer, ApiServer, Client, Target  # noqa: E402

WATCH_SECONDS = 15.0


class Side:
    """One of the two servers, in one sequence."""

    def __init__(self, name, target):
        self.name = name
        self._target = target
        self._client = Client(target)
        self._memory = Memory()

    def ask(self, request):
        """What it answered, as a tree that can be compared, and the code."""
        path = self._memory.fill(request.path)
        body = placeholders_filled(request.body, self._memory.fill)
        if request.watch:
            return self._watch(path)
        answer = self._client.request(request.method, path, body, request.content_type, request.headers)
        self._memory.learn(request, answer)
        return {"code": answer.code, "type": answer.content_type.split(";")[0], "body": self._memory.normal(answer.body)}

    def _watch(self, path):
        """The events up to the marker's."""
        connection = self._target.connect(WATCH_SECONDS)
        try:
            connection.request("GET", path, headers=self._target.headers)
            got = connection.getresponse()
            if got.status != 200:
                body = Answer(got.status, "", got.read()).body
                return {"code": got.status, "body": self._memory.normal(body)}
            events = []
            for line in got:
                event = json.loads(line)
                events.append({"type": event["type"], "object": self._memory.normal(_comparable(event))})
                if self._is_last(event, path):
                    break
            return {"code": 200, "events": [one for one in events if not _is_plain_bookmark(one)]}
        finally:
            connection.close()

    @staticmethod
    def _is_last(event, path):
        if event["type"] == "ERROR":
            return True
        if "sendInitialEvents" in path:
            return event["type"] == "BOOKMARK"
        return event["object"]["metadata"].get("name") == MARKER

    def close(self):
        self._client.close()


def _comparable(event):
    """A bookmark is told by one annotation; the rest of its object is empty in ways that differ."""
    if event["type"] != "BOOKMARK":
        return event["object"]
    annotations = (event["object"].get("metadata") or {}).get("annotations") or {}
    return {"initial-events-end": annotations.get("k8s.io/initial-events-end")}


def _is_plain_bookmark(event):
    return event["type"] == "BOOKMARK" and event["object"]["initial-events-end"] is None


def show(request, sides, found, limit=12):
    """The request and the first differences, for people."""
    lines = [f"  {request.method} {request.path}  ({request.verb} {request.resource})"]
    for name, value in request.headers.items():
        lines.append(f"  {name}: {value}")
    if request.body is not None:
        lines += [f"  Content-Type: {request.content_type}", "  " + (request.body if isinstance(request.body, str) else json.dumps(request.body))]
    for path, real, ours in found[:limit]:
        lines += [f"    at {path}", f"      {sides[0].name}: {_short(real)}", f"      {sides[1].name}: {_short(ours)}"]
    if len(found) > limit:
        lines.append(f"    and {len(found) - limit} more")
    return "\n".join(lines)


def _short(value, limit=600):
    text = value if isinstance(value, str) else repr(value) if not isinstance(value, (dict, list)) else json.dumps(value, default=repr)
    return text if len(text) <= limit else text[:limit] + "..."


def run_sequence(seed, tag, count, targets, go_on):
    """The number of requests, and descriptions of what differs."""
    sides = [Side("kube-apiserver", targets[0]), Side("kubexx-apiserver", targets[1])]
    reports = []
    number = 0
    with ThreadPoolExecutor(2) as both:
        for number, request in enumerate(Generator(seed, tag).requests(count), 1):
            real, ours = both.map(lambda side, asked=request: side.ask(asked), sides)
            found = unknown(request, f"{real['code']}/{ours['code']}", differences(real, ours))
            if found:
                reports.append(f"seed {seed}, request {number}:\n{show(request, sides, found)}")
                if not go_on:
                    break
    for side in sides:
        side.close()
    return number, reports


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", default=os.environ.get("KUBEXX_TEST_KUBECONFIG"), help="kubeconfig of a kube-apiserver")
    parser.add_argument("--ours", help="kubeconfig of a kubexx-apiserver; without it one is started")
    parser.add_argument("--seed", type=int, default=1, help="of the first sequence")
    parser.add_argument("--sequences", type=int, default=20)
    parser.add_argument("--requests", type=int, default=60, help="of each sequence, and the watches at its end")
    parser.add_argument("--all", action="store_true", help="go on after a difference")
    options = parser.parse_args()
    if not options.real:
        sys.exit("differential.py: no kube-apiserver: give --real, or run it with: hack/test --integration -R differential")
    with tempfile.TemporaryDirectory() as folder:
        server = None
        if not options.ours:
            server = ApiServer(folder)
            server.start()
        try:
            return compare(options, [Target(options.real), Target(options.ours or str(server.kubeconfig))])
        finally:
            if server is not None:
                server.kill()


def compare(options, targets):
    """The exit status."""
    requests = 0
    # Nobody finishes namespaces here: those of an earlier run are still there.
    tag = format(int(time.time()), "x")
    for seed in range(options.seed, options.seed + options.sequences):
        count, reports = run_sequence(seed, tag, options.requests, targets, options.all)
        requests += count
        for report in reports:
            print(report)
        if reports and not options.all:
            print(f"again: test/differential/differential.py --real {options.real} --seed {seed} --sequences 1 --requests {options.requests}")
            return 1
    print(f"{requests} requests in {options.sequences} sequences from seed {options.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
