"""Medians, ratios, and whether the targets are met."""

import math
import statistics
from dataclasses import dataclass


@dataclass
class Spread:
    median: float
    low: float
    high: float
    count: int

    def text(self, digits=2):
        if self.count == 0:
            return "–"
        return f"{self.median:,.{digits}f} ({self.low:,.{digits}f}–{self.high:,.{digits}f}; {self.count})"


def spread(results, scenario, program, field):
    values = [row[field] for row in results.of(scenario, program) if field in row]
    if not values:
        return Spread(0, 0, 0, 0)
    return Spread(statistics.median(values), min(values), max(values), len(values))


def ratio(results, scenario, field, other="client-go", scenario_of_other=None):
    """The median of the ratios of the rounds: what ran one after the other met the same machine, whose speed may change later."""
    ours, theirs = ({row["run"]: row[field] for row in results.of(of, program) if field in row}
                    for of, program in ((scenario, "kubexx"), (scenario_of_other or scenario, other)))
    ratios = [ours[run] / theirs[run] for run in ours if theirs.get(run)]
    return statistics.median(ratios) if ratios else 0


@dataclass
class Target:
    what: str
    value: float
    limit: float
    at_most: bool = True
    unit: str = ""
    part: str = ""  # of the measurements, as in hack/bench --only

    @property
    def met(self):
        return self.value > 0 and (self.value <= self.limit if self.at_most else self.value >= self.limit)

    def row(self):
        sign = "≤" if self.at_most else "≥"
        return f"| {self.what} | {self.value:.3g}{self.unit} | {sign} {self.limit:g}{self.unit} | {'yes' if self.met else '**no**'} |"


def slopes(results, sizes):
    """What each further object costs, from one size to the next: µs of processor time and resident bytes; medians of the rounds."""
    rounds = slopes_of_rounds(results, sizes)
    return [(large, *(statistics.median(one[step][part] for one in rounds) if rounds else 0 for part in (0, 1)))
            for step, large in enumerate(sizes[1:])]


def slopes_of_rounds(results, sizes):
    """The same of each round, whose sizes met the same machine."""
    runs = [{row["run"]: (row["cpu_s"] * 1e6, row["rss_mb"] * 2**20) for row in results.of(f"scale-{size}", "kubexx")} for size in sizes]
    numbers = sorted(set.intersection(*(set(one) for one in runs))) if runs else []
    return [[tuple((large[number][part] - small[number][part]) / (sizes[i + 1] - sizes[i]) for part in (0, 1))
             for i, (small, large) in enumerate(zip(runs, runs[1:]))] for number in numbers]


def targets(results, settings):
    """What is asked for, and what was measured; each with the part that it belongs to."""
    by_part = {"sync": sync_targets(results), "select": select_targets(results), "watch": watch_targets(results), "queue": queue_targets(results),
               "scale": scale_targets(results, settings)}
    for part, found in by_part.items():
        for target in found:
            target.part = part
    return [target for found in by_part.values() for target in found]


def sync_targets(results):
    resident = spread(results, "sync", "kubexx", "rss_mb").median
    return [
        Target("sync, time on the wall, of client-go's", ratio(results, "sync", "wall_s"), 0.45),
        Target("sync, processor time, of client-go's", ratio(results, "sync", "cpu_s"), 0.25),
        Target("sync, resident memory, of client-go's", ratio(results, "sync", "rss_mb"), 0.05),
        Target("sync, peak of the resident memory after it", spread(results, "sync", "kubexx", "peak_mb").median / max(resident, 1), 1.3),
        Target("read of a pod from the lister", spread(results, "reads", "kubexx", "read_us").median, 15, unit=" µs"),
        Target("key-only query, each key", spread(results, "reads", "kubexx", "key_us").median, 1, unit=" µs"),
        Target("index query, each key", spread(results, "reads", "kubexx", "index_us").median, 1, unit=" µs"),
    ]


def select_targets(results):
    return [Target("list of 1 % of 5,000 pods in the cache, by a label", spread(results, "select", "kubexx", "list_ms").median, 1, unit=" ms")]


def watch_targets(results):
    def target(scenario, handler, what, limit):
        return Target(f"watch, events per processor second, {what}, of client-go's",
                      ratio(results, f"{scenario}-{handler}", "events_per_cpu_s", scenario_of_other=scenario), limit, False)
    return [target("watch", "key", "both objects there to be read", 5),
            target("watch-random", "fields", "many pods in no order, fields of both objects read", 4),
            target("watch-spread", "fields", "many pods in turn, fields of both objects read", 4)]


def queue_targets(results):
    return [
        Target("queue, operations per second, one thread, of client-go's", ratio(results, "queue-1", "ops_per_s"), 3, False),
        Target("queue, operations per second, 8 threads, of client-go's", ratio(results, "queue-8", "ops_per_s"), 3, False),
    ]


def scale_targets(results, settings):
    found = []
    rounds = [one for one in slopes_of_rounds(results, settings.scale) if len(one) > 1]
    # Flat: from the last size but one to the last a further object costs no more than in the step before. Earlier steps hide in
    # what the process has free anyway.
    if any(min(one[-2]) > 0 for one in rounds):
        for part, what in enumerate(("processor time", "memory")):
            found.append(Target(f"{what} of a further object, last step of the scale to the one before",
                                statistics.median(one[-1][part] / one[-2][part] if one[-2][part] > 0 else math.inf for one in rounds), 1.1))
    if settings.scale and settings.scale[-1] >= 1_000_000:
        largest = f"scale-{settings.scale[-1]}"
        found.append(Target("memory of a million pods, peak", spread(results, largest, "kubexx", "peak_mb").median / 1024, 1, unit=" GiB"))
    return found
