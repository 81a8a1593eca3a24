"""Runs the programs that are compared and keeps what they print."""

import json
import os
import subprocess
import sys
import time


def log(text):
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


class Programs:
    """Where the programs are: the library's in the build folder, the peers' in the cache."""

    def __init__(self, build, peers, with_kubers):
        self.kubexx = os.path.join(build, "bin", "kubexx-bench")
        self.clientgo = os.path.join(peers, "clientgo")
        self.workqueue = os.path.join(peers, "workqueue-clientgo")
        self.replay = os.path.join(peers, "replay")
        self.kubers = os.path.join(peers, "kubers-bench") if with_kubers else None


class Results:
    """Every line that a program printed, with the scenario it belongs to; also written to a file."""

    def __init__(self, path, keep, stamp):
        """Takes over from an earlier run the scenarios that `keep` says yes to. Each new row has `stamp`: of what, and when."""
        self.rows = []
        self.stamp = stamp
        if os.path.exists(path):
            with open(path, encoding="utf-8") as earlier:
                self.rows = [row for row in map(json.loads, earlier) if keep(row["scenario"])]
        self.file = open(path, "w", encoding="utf-8")
        for row in self.rows:
            self.file.write(json.dumps(row) + "\n")

    def add(self, scenario, run, row):
        row = {"scenario": scenario, "run": run, **row, **self.stamp}
        self.rows.append(row)
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def of(self, scenario, program):
        return [r for r in self.rows if r["scenario"] == scenario and r["program"] == program]


def run_once(results, scenario, number, command, timeout):
    """Runs a program that prints one JSON line. Ends everything when it fails: a figure that is missing is no figure."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        sys.exit(f"bench: {os.path.basename(command[0])} failed with status {done.returncode}: {done.stderr.strip()[-2000:]}")
    row = json.loads(done.stdout.strip().splitlines()[-1])
    results.add(scenario, number, row)
    shown = {k: row[k] for k in ("objects", "wall_s", "cpu_s", "rss_mb", "events_per_cpu_s", "ops_per_s", "list_ms") if k in row}
    log(f"  {scenario} #{number} {row['program']}: " + " ".join(f"{k}={v}" for k, v in shown.items()))
    return row


def busy_seconds():
    """Processor time that the machine has spent on work so far, all processors together."""
    with open("/proc/stat", encoding="utf-8") as stat:
        user, nice, system = map(int, stat.readline().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


# How long await_quiet waits at most, in seconds; 0 where only the programs are tried, beside other work.
SETTLE = 30


def await_quiet():
    """Until a second passes in which the machine does next to nothing: a server still collects the garbage of the program before."""
    end = time.monotonic() + SETTLE
    while time.monotonic() < end:
        before = busy_seconds()
        time.sleep(1)
        if busy_seconds() - before < 0.15:
            return


def alternate(results, scenario, runs, commands, timeout=600, others=(), prepare=False):
    """Runs the commands in turn, so that what else happens on the machine meets them alike; `others` are (scenario, command).
    With `prepare` each is run once more just before: what the server has to clear away is then of the same program's run."""
    commands = [(scenario, command) for command in commands] + list(others)
    for number in range(1, runs + 1):
        for scenario, command in commands if number % 2 else reversed(commands):
            if prepare:
                run_once(results, "warm-up", number, command, timeout)
            await_quiet()
            run_once(results, scenario, number, command, timeout)


class Replay:
    """A replay server for the length of a `with` block; its own measurements are kept, too."""

    def __init__(self, programs, folder, results, scenario, **flags):
        self.results, self.scenario = results, scenario
        self.kubeconfig = os.path.join(folder, f"replay-{scenario}.kubeconfig")
        self.command = [programs.replay, "serve", "--kubeconfig", self.kubeconfig]
        for name, value in flags.items():
            self.command.append(f"--{name}={str(value).lower() if isinstance(value, bool) else value}")

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit("bench: the replay server does not start")
        return self

    def __exit__(self, *_):
        # It ends with its standard input, a second after its last client at the latest.
        time.sleep(0.3)
        out, _ = self.process.communicate()
        for line in out.splitlines():
            self.results.add(self.scenario, 0, json.loads(line))
