#!/usr/bin/env python3
"""ui_changes.py create FILE: creates the objects of FILE, one JSON object a line, at the API server KX_SERVER.
ui_changes.py change WORKLOADS RATE SECONDS: changes the status of RATE of the Deployments app-N a second, one after the other.

For ui_frames.sh. It asks with the token of that script's writer, over one connection: kubectl would take more of the machine than what is measured.
"""
import http.client
import json
import os
import ssl
import sys
import time
import urllib.parse

HEADERS = {"Authorization": "Bearer writers-token", "Content-Type": "application/json"}
PATHS = {"ConfigMap": "/api/v1/namespaces/shop/configmaps", "Deployment": "/apis/apps/v1/namespaces/shop/deployments"}


def connect():
    at = urllib.parse.urlsplit(os.environ["KX_SERVER"])
    # The server of a test, on this machine, with a certificate that it has made itself.
    context = ssl._create_unverified_context()  # pylint: disable=protected-access
    return http.client.HTTPSConnection(at.hostname, at.port, context=context, timeout=60)


def ask(connection, method, path, body, kind="application/json"):
    connection.request(method, path, body, {**HEADERS, "Content-Type": kind})
    answer = connection.getresponse()
    said = answer.read()
    if answer.status >= 300:
        sys.exit(f"{method} {path}: {answer.status} {said.decode(errors='replace')[:300]}")


def create(file):
    connection = connect()
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            ask(connection, "POST", PATHS[json.loads(line)["kind"]], line)


def change(workloads, rate, seconds):
    connection = connect()
    width = len(str(workloads))
    begin = time.monotonic()
    for i in range(rate * seconds):
        number = i * 7 % workloads + 1
        available = (i // workloads + i) % 2
        status = {"status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": available}}
        ask(connection, "PATCH", f"{PATHS['Deployment']}/app-{number:0{width}}/status", json.dumps(status), "application/merge-patch+json")
        ahead = begin + (i + 1) / rate - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
    print(f"{rate * seconds} changes in {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "create":
        create(sys.argv[2])
    elif len(sys.argv) == 5 and sys.argv[1] == "change":
        change(*(int(word) for word in sys.argv[2:]))
    else:
        sys.exit(__doc__)
