"""What is seen of a program from outside: its processor time, its memory, and what load generators say of it."""

import json
import os
import statistics
import subprocess
import sys
import time

from figures import Target
from programs import log


class Figure(Target):
    """A figure that may well be 0."""

    @property
    def met(self):
        return self.value <= self.limit if self.at_most else self.value >= self.limit


def middle(rows, field):
    return statistics.median(row[field] for row in rows)


def cpu_seconds(pid):
    """Processor time so far."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid, *names):
    """Fields of /proc/PID/status, in MiB; VmRSS and VmHWM when none are named."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        fields = dict(line.split(":", 1) for line in status)
    return tuple(int(fields[name].split()[0]) / 1024 for name in names or ("VmRSS", "VmHWM"))


def await_idle(pids, seconds, limit=180):
    """Until the processes together have used next to no processor time for so long."""
    total = lambda: sum(map(cpu_seconds, pids))
    end, since, used = time.monotonic() + limit, time.monotonic(), total()
    while time.monotonic() < min(end, since + seconds):
        time.sleep(1)
        if total() - used > 0.1:
            since, used = time.monotonic(), total()


class Rows:
    """What was measured, line by line."""

    def __init__(self, rows=None):
        self.rows = [] if rows is None else rows

    def add(self, row):
        self.rows.append(row)
        log("  " + " ".join(f"{k}={v}" for k, v in row.items()))
        return row

    def run(self, command, timeout=900, failures=0, **more):
        """Runs a program that ends with a line of JSON; again when it fails, `failures` times at most."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        if done.returncode != 0 and failures > 0:
            log(f"  failed, once more: {done.stderr.strip()[-200:]}")
            return self.run(command, timeout, failures - 1, **more)
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command[:2])} failed: {done.stderr.strip()[-2000:]}")
        return self.add({**more, **json.loads(done.stdout.strip().splitlines()[-1])})


def write(path, title, text, figures, rows):
    for figure in figures:
        log(("met    " if figure.met else "MISSED ") + figure.row().strip("| ").replace(" | ", ", "))
    table = "\n".join(figure.row() for figure in figures)
    raw = "\n".join(json.dumps(row) for row in rows)
    with open(path, "w", encoding="utf-8") as report:
        report.write(f"""# {title}

{text}

| what | measured | asked | met |
|---|---|---|---|
{table}

What the programs printed:

```
{raw}
```
""")
