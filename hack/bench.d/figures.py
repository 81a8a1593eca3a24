"""Medians, ratios, and whether the targets are met."""

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


def per_object(results, objects):
    """Processor time in µs and resident bytes of one object, without what an empty process takes."""
    scenario = f"scale-{objects}"
    cpu = spread(results, scenario, "kubexx", "cpu_s").median
    memory = spread(results, scenario, "kubexx", "rss_mb").median
    return cpu, memory


def slopes(results, sizes):
    """What each further object costs, from one size to the next: µs and bytes."""
    out = []
    for small, large in zip(sizes, sizes[1:]):
        (cpu_a, mem_a), (cpu_b, mem_b) = per_object(results, small), per_object(results, large)
        out.append((large, (cpu_b - cpu_a) / (large - small) * 1e6, (mem_b - mem_a) / (large - small) * 2**20))
    return out


def targets(results, settings):
    """What is asked for, and what was measured; each with the part that it belongs to."""
    by_part = {"sync": sync_targets(results), "watch": watch_targets(results), "queue": queue_targets(results),
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


def watch_targets(results):
    return [Target("watch, events per processor second, both objects there to be read, of client-go's",
                   ratio(results, "watch-key", "events_per_cpu_s", scenario_of_other="watch"), 5, False)]


def queue_targets(results):
    return [
        Target("queue, operations per second, one thread, of client-go's", ratio(results, "queue-1", "ops_per_s"), 3, False),
        Target("queue, operations per second, 8 threads, of client-go's", ratio(results, "queue-8", "ops_per_s"), 3, False),
    ]


def scale_targets(results, settings):
    found = []
    costs = slopes(results, settings.scale)
    # Flat: from the last size but one to the last a further object costs no more than in the step before. Earlier steps hide in
    # what the process has free anyway.
    if len(costs) > 1 and costs[-2][1] > 0 and costs[-2][2] > 0:
        found.append(Target("processor time of a further object, last step of the scale to the one before", costs[-1][1] / costs[-2][1], 1.1))
        found.append(Target("memory of a further object, last step of the scale to the one before", costs[-1][2] / costs[-2][2], 1.1))
    if settings.scale and settings.scale[-1] >= 1_000_000:
        largest = f"scale-{settings.scale[-1]}"
        found.append(Target("memory of a million pods, peak", spread(results, largest, "kubexx", "peak_mb").median / 1024, 1, unit=" GiB"))
    return found
