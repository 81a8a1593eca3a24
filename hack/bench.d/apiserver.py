"""Measures kubexx-apiserver beside kube-apiserver with etcd, and writes docs/bench/apiserver.md. Called by hack/bench."""

import argparse
import contextlib
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from free_port import free_port  # noqa: E402
from outside import Figure, Rows, await_idle, memory_mib, middle, write  # noqa: E402
from programs import log  # noqa: E402

# Made once: a default context reads every certificate of the system, which takes longer than the server to start.
ANY_SERVER = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ANY_SERVER.check_hostname, ANY_SERVER.verify_mode = False, ssl.CERT_NONE

OWN, PEER = "kubexx-apiserver", "kube-apiserver and etcd"


class OwnServer:
    """kubexx-apiserver with its objects in memory, for the length of a `with` block."""

    def __init__(self, settings, *flags):
        self.port = free_port()
        self.kubeconfig = os.path.join(settings.folder, "kubexx.kubeconfig")
        self.log = os.path.join(settings.folder, "kubexx-apiserver.log")
        self.command = [os.path.join(settings.build, "bin", "kubexx-apiserver"), "--address", f"127.0.0.1:{self.port}",
                        "--write-kubeconfig", self.kubeconfig, *flags]

    def __enter__(self):
        began = time.monotonic()
        with open(self.log, "w", encoding="utf-8") as output:
            self.process = subprocess.Popen(self.command, stdout=output, stderr=output)
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > began + 30:
                sys.exit(f"bench: kubexx-apiserver does not get ready; see {self.log}")
            time.sleep(0.0005)
        self.start_ms = (time.monotonic() - began) * 1000
        self.pids = [self.process.pid]
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def ready(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as plain, ANY_SERVER.wrap_socket(plain) as connection:
                connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return b" 200 " in connection.recv(4096)
        except OSError:
            return False


@contextlib.contextmanager
def cluster(settings, name):
    """kube-apiserver and etcd with nothing in it: its kubeconfig and processes."""
    name = f"{settings.cluster_name}-{name}"
    folder = os.path.join(settings.clusters, name)
    subprocess.run([settings.cluster, "--name", name, "up"], check=True)
    try:
        pids = []
        for process in ("apiserver", "etcd"):
            with open(os.path.join(folder, process + ".pid"), encoding="utf-8") as file:
                pids.append(int(file.read()))
        yield os.path.join(folder, "kubeconfig"), pids
    finally:
        subprocess.run([settings.cluster, "--name", name, "down"], check=True)


def start(settings, measured):
    log("start: until /readyz is answered, and of one in a test's own process; idle: 10 s later")
    rows = []
    for _ in range(settings.runs * 3):
        with OwnServer(settings) as server:
            rows.append(measured.add({"command": "start", "ms": round(server.start_ms, 1)}))
    with OwnServer(settings) as server:
        time.sleep(min(10, settings.settle))
        resident, peak = memory_mib(server.process.pid)
    done = subprocess.run([os.path.join(settings.build, "bin", "apiserver_server_bench"), "--benchmark_format=json", "--benchmark_repetitions=5"],
                          capture_output=True, text=True, check=True)
    in_process = next(row["real_time"] for row in json.loads(done.stdout)["benchmarks"] if row.get("aggregate_name") == "median")
    measured.add({"command": "start in process", "ms": round(in_process, 1)})
    measured.add({"command": "idle", "rss_mb": round(resident, 1), "peak_mb": round(peak, 1)})
    return [Figure("from its start until it is ready, with TLS", middle(rows, "ms"), 50, unit=" ms"),
            Figure("in a test's own process: to start, and to end", in_process, 50, unit=" ms"),
            Figure("resident memory when idle", resident, 20, unit=" MiB")]


def fanout(settings, measured):
    watchers, seconds = str(1000 // settings.smaller), f"{max(3, settings.seconds // 4)}s"
    # kube-apiserver ends a watch whose connection is slow; of our own server that is a failure.
    log(f"fanout: one writer, {watchers} watchers with a connection each, for {seconds}")

    def run(who, kubeconfig, pids, protocol, *flags):
        return measured.run([settings.fanout, "--kubeconfig", kubeconfig, "--pids", ",".join(map(str, pids)), "--watchers", watchers,
                             "--for", seconds, "--protocol", protocol, *flags], failures=0 if who == OWN else 2, server=who)

    kinds = {"kubexx": [], "kube http/1.1": [], "kube h2": []}
    with cluster(settings, "fanout") as (kubeconfig, pids):
        for _ in range(settings.runs):
            with OwnServer(settings) as server:
                kinds["kubexx"].append(run(OWN, server.kubeconfig, server.pids, "http/1.1"))
            kinds["kube http/1.1"].append(run(PEER, kubeconfig, pids, "http/1.1"))
            kinds["kube h2"].append(run(PEER, kubeconfig, pids, "h2"))
        # At the same pace, for the reader: each event is on its own then.
        with OwnServer(settings) as server:
            run(OWN, server.kubeconfig, server.pids, "http/1.1", "--rate", "10")
        run(PEER, kubeconfig, pids, "http/1.1", "--rate", "10")
    ours, *theirs = (middle(rows, "events_per_cpu_s") for rows in kinds.values())
    return [Figure("watch fan-out: events for a second of processor time, of kube-apiserver's and etcd's, in its better protocol",
                   ours / max(theirs), 3, at_most=False)]


def memory(settings, measured):
    count = str(100000 // settings.smaller)
    log(f"memory: {count} pods")

    def fill(who, kubeconfig, pids):
        measured.run([settings.load, "--kubeconfig", kubeconfig, "--count", count], timeout=3600, server=who)
        await_idle(pids, min(15, settings.settle))
        resident, anonymous = (sum(column) for column in zip(*(memory_mib(pid, "VmRSS", "RssAnon") for pid in pids)))
        measured.add({"command": "memory", "server": who, "rss_mb": round(resident, 1), "anonymous_mb": round(anonymous, 1)})
        return resident

    with OwnServer(settings) as server:
        ours = fill(OWN, server.kubeconfig, server.pids)
    with cluster(settings, "memory") as (kubeconfig, pids):
        theirs = fill(PEER, kubeconfig, pids)
    return [Figure(f"resident memory with {count} pods, of kube-apiserver's and etcd's", ours / theirs, 0.15)]


PARTS = {"start": start, "fanout": fanout, "memory": memory}


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "folder", "out", "machine", "peers", "cluster", "cluster-name", "clusters"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--settle", type=int, default=30, help="how long the servers are left alone before their memory is read, at most; 0 to try it")
    parser.add_argument("--smaller", type=int, default=1, help="divides all sizes")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--check", action="store_true")
    settings = parser.parse_args()
    settings.fanout, settings.load = (os.path.join(settings.peers, name) for name in ("fanout", "load"))
    os.makedirs(settings.out, exist_ok=True)
    measured = Rows()
    figures = [figure for name in settings.parts.split(",") for figure in PARTS[name](settings, measured)]
    write(os.path.join(settings.out, "apiserver.md"), "kubexx-apiserver beside kube-apiserver", f"""Written by `hack/bench --apiserver` on {time.strftime('%Y-%m-%d')}; {settings.machine}. The load generators, client-go's, share the machine with
the servers, which run one after the other. kubexx-apiserver has its objects in memory, kube-apiserver in etcd. Medians of {settings.runs} runs,
of starts three times as many. The writer of the fan-out writes as fast as the server takes it.""", figures, measured.rows)
    if settings.check and not all(figure.met for figure in figures):
        sys.exit("bench: a target is missed")


if __name__ == "__main__":
    main()
