"""Measures what ordinary clients of kubexx-apiserver notice of attacks, and writes docs/bench/attacks.md. Called by hack/bench."""

import argparse
import json
import os
import subprocess
import sys
import time

from apiserver import OwnServer
from outside import Figure, Rows, write
from programs import log

# What an attack may add to the resident memory, and what ordinary clients and health checks may wait.
MEMORY_MIB, P99_MS, HEALTH_MS = 1024, 50, 1000
# So that rights are looked at, and that there is somebody to wait for.
FLAGS = ("--authorization-mode", "RBAC", "--enable-admission-plugins", "ServiceAccount")


def attack(settings, measured, server):
    """The lines of all attacks on one server, one after the other."""
    command = [os.path.join(settings.peers, "attack"), "--kubeconfig", server.kubeconfig, "--pid", str(server.process.pid), "--for", f"{settings.seconds}s"]
    if settings.only:
        command += ["--only", settings.only]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        rows = [measured.add(json.loads(line)) for line in process.stdout]
        trouble = process.stderr.read().strip()
    if trouble:
        log(f"  {trouble}")
    if not rows:
        sys.exit(f"bench: attack printed nothing: {trouble}")
    return rows


def figures(rows):
    for row in rows:
        what = row["attack"]
        yield Figure(f"{what}: requests of ordinary clients, 99th percentile", row["p99_ms"], P99_MS, unit=" ms")
        yield Figure(f"{what}: requests of ordinary clients that failed", row["failed"], 0)
        yield Figure(f"{what}: the slowest answer to whether the server is healthy", row["health_max_ms"], HEALTH_MS, unit=" ms")
        yield Figure(f"{what}: resident memory added", max(0, row["rss_peak_mb"] - row["rss_before_mb"]), MEMORY_MIB, unit=" MiB")
        yield Figure(f"{what}: descriptors left open", max(0, row["fds_after"] - row["fds_before"]), 4)


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "folder", "out", "machine", "peers", "cluster", "cluster-name"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--smaller", type=int)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    settings = parser.parse_args()
    os.makedirs(settings.out, exist_ok=True)
    measured = Rows()
    with OwnServer(settings, *FLAGS) as server:
        rows = attack(settings, measured, server)
    about = subprocess.run([os.path.join(settings.peers, "attack"), "--list"], capture_output=True, text=True, check=True).stdout
    found = list(figures(rows))
    write(os.path.join(settings.out, "attacks.md"), "kubexx-apiserver under attack", f"""Written by `hack/bench --attacks` on {time.strftime('%Y-%m-%d')}; {settings.machine}. A hundred ordinary clients, a service account with rights in its own namespace, ask five
times a second each, or watch, and are measured, and so is `/healthz` over a new connection each time; attackers and clients share the machine with the
server, in processes of their own, the attackers with a lower priority (`nice -n 10`), as if they had machines of their own; the server is one process for all attacks and runs with `{' '.join(FLAGS)}`.

```
{about.strip()}
```""", found, measured.rows)
    if settings.check and not all(figure.met for figure in found):
        sys.exit("bench: a target is missed")


if __name__ == "__main__":
    main()
