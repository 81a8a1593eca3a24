"""Measures kubexx-reloader from outside, against a real API server, and writes docs/bench/operator.md. Called by hack/bench."""

import argparse
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from outside import Figure, Rows, await_idle, memory_mib, middle, write
from programs import log

ADDRESS = "127.0.0.1:19190"


class Operator:
    """kubexx-reloader for the length of a `with` block."""

    def __init__(self, settings, *flags):
        self.settings = settings
        self.command = [os.path.join(settings.build, "bin", "kubexx-reloader"), "--kubeconfig", settings.kubeconfig,
                        "--metrics-addr", ADDRESS, *flags]

    def __enter__(self):
        self.log = open(os.path.join(self.settings.folder, "operator.log"), "w", encoding="utf-8")
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        end = time.monotonic() + 120
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"bench: the operator does not get ready; see {self.log.name}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.log.close()

    def ready(self):
        try:
            with urllib.request.urlopen(f"http://{ADDRESS}/ready", timeout=1) as response:
                return response.status == 200
        except (urllib.error.URLError, OSError):
            return False


class Measured(Rows):
    """What test/bench/rollouts says of a cluster."""

    def __init__(self, settings, rows=None):
        super().__init__(rows)
        self.settings = settings

    def rollouts(self, command, *flags, timeout=900):
        return self.run([self.settings.rollouts, command, "--kubeconfig", self.settings.kubeconfig, *flags], timeout)


@contextlib.contextmanager
def other_cluster(settings, name):
    """The settings for an empty cluster, which is there for the length of a `with` block."""
    name = f"{settings.cluster_name}-{name}"
    clusters = os.path.dirname(os.path.dirname(settings.kubeconfig))
    subprocess.run([settings.cluster, "--name", name, "up"], check=True)
    try:
        yield argparse.Namespace(**{**vars(settings), "cluster_name": name, "kubeconfig": os.path.join(clusters, name, "kubeconfig")})
    finally:
        subprocess.run([settings.cluster, "--name", name, "down"], check=True)


def in_other_cluster(part, settings, measured, name, *arguments):
    with other_cluster(settings, name) as other:
        return part(other, Measured(other, measured.rows), *arguments)


def memory(settings, measured, counts, limits, flags=(), how=""):
    """Fills an empty cluster and starts the operator on it with these flags, several times. `how` tells of them."""
    configmaps, secrets, deployments = (max(1, n // settings.smaller) for n in counts)
    log(f"memory: {configmaps} ConfigMaps, {secrets} Secrets, {deployments} Deployments")
    measured.rollouts("fill", "--namespace", "memory", "--configmaps", str(configmaps), "--secrets", str(secrets),
                      "--deployments", str(deployments), timeout=3600)
    rows = []
    for _ in range(settings.runs):
        with Operator(settings, *flags) as operator:
            await_idle([operator.process.pid], 32)  # Baselines are recorded, and what that needed is given back.
            resident, peak = memory_mib(operator.process.pid)
        rows.append(measured.add({"command": "memory", "objects": configmaps + secrets + deployments, "rss_mb": round(resident, 1),
                                  "peak_mb": round(peak, 1)}))
    what = f"{configmaps + secrets + deployments:,} objects{how and ', ' + how}"
    figures = [Figure(f"resident memory after sync, {what}", middle(rows, "rss_mb"), limits[0], unit=" MiB")]
    if limits[1]:
        figures.append(Figure(f"peak of it, {what}", middle(rows, "peak_mb"), limits[1], unit=" MiB"))
    return figures


def speed(settings, measured):
    log("speed: one ConfigMap of 500 Deployments; 50 edits a second; beside 2,000 Deployments; the settle window")
    seconds = f"{max(5, settings.seconds)}s"
    deployments = str(2000 // settings.smaller)
    figures = []
    with Operator(settings):
        rows = [measured.rollouts("fanout", "--namespace", f"fanout-{n}", "--deployments", str(500 // settings.smaller)) for n in range(settings.runs)]
        figures.append(Figure("one ConfigMap of 500 Deployments: until all are patched", middle(rows, "all_s"), 5, unit=" s"))
        row = measured.rollouts("storm", "--namespace", "storm", "--configmaps", "200", "--rate", "50", "--for", seconds)
        figures.append(Figure("50 edits a second on 200 ConfigMaps: final states missing 5 s after the last edit", row["missing_after_grace"], 0))
        row = measured.rollouts("latency", "--namespace", "latency", "--deployments", deployments, "--configmaps", deployments, "--rate", "5",
                                "--for", seconds)
        figures.append(Figure("from an edit's acceptance to the changed pod template, beyond the settle window: median", row["p50_ms"], 12, unit=" ms"))
        figures.append(Figure("the same, 99th percentile", row["p99_ms"], 40, unit=" ms"))
        figures.append(Figure("edits without a rollout", row["edits"] - row["rolled"], 0))
        row = measured.rollouts("settle", "--namespace", "settle")
        figures.append(Figure("soonest write after an edit", row["soonest_ms"], 90, at_most=False, unit=" ms"))
        figures.append(Figure("rollouts for a ConfigMap and a Secret edited together", row["rollouts"] / row["edits"], 1))
    return figures


def faults(settings, measured):
    log("faults: the API server is killed and started again under load")
    cluster = shlex.join([settings.cluster, "--name", settings.cluster_name])
    with Operator(settings):
        row = measured.rollouts("storm", "--namespace", "restarts", "--configmaps", "50", "--rate", "20", "--for", f"{max(5, settings.seconds)}s",
                                "--grace", "30s", "--disturb", f"{cluster} kill-apiserver && {cluster} start-apiserver")
    figures = [Figure(f"API server killed {row['disturbed']} times under load: final states missing", row["missing_at_end"], 0),
               Figure("the same: rollouts too many", row["twice"], 0)]
    kills = max(5, 200 // settings.smaller)
    log(f"faults: killed {kills} times")
    command = shlex.join([os.path.join(settings.build, "bin", "kubexx-reloader"), "--metrics-addr", "127.0.0.1:0"])
    row = measured.rollouts("faults", "--namespace", "faults", "--configmaps", "50", "--rate", "10", "--kills", str(kills), "--operator", command)
    return figures + [Figure(f"killed at random {kills} times: final states missing", row["missing"], 0),
                      Figure("the same: rollouts too many", row["twice"], 0)]


def settings_of(parts):
    """What hack/bench says on the command line; without --parts all of these are measured."""
    parser = argparse.ArgumentParser()
    for name in ("build", "folder", "out", "kubeconfig", "machine", "rollouts", "cluster", "cluster-name"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--smaller", type=int, default=1, help="divides all sizes")
    parser.add_argument("--parts", default=parts)
    parser.add_argument("--check", action="store_true")
    settings = parser.parse_args()
    os.makedirs(settings.out, exist_ok=True)
    return settings


def check(settings, figures):
    if settings.check and not all(figure.met for figure in figures):
        sys.exit("bench: a target is missed")


def main():
    settings = settings_of("speed,faults,memory,memory-large")
    measured = Measured(settings)
    parts = {
        "speed": lambda: speed(settings, measured),
        "faults": lambda: in_other_cluster(faults, settings, measured, "faults"),
        "memory": lambda: in_other_cluster(memory, settings, measured, "memory", (10000, 10000, 2000), (20, 40)),
        "memory-large": lambda: in_other_cluster(memory, settings, measured, "memory-large", (75000, 20000, 5000), (60, 0)),
    }
    figures = [figure for name in settings.parts.split(",") for figure in parts[name]()]
    write(os.path.join(settings.out, "operator.md"), "kubexx-reloader, measured from outside", f"""Written by `hack/bench --operator` on {time.strftime('%Y-%m-%d')}; {settings.machine}. A real kube-apiserver and etcd and the load generator share the
machine with the operator. Deployments have no replicas. Medians of {settings.runs} runs where a figure can be had more than once.""", figures, measured.rows)
    check(settings, figures)


if __name__ == "__main__":
    main()
