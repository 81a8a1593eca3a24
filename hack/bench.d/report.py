"""Writes the report: tables of medians and spread, ratios, targets, how to repeat."""

import os
import time

from figures import ratio, slopes, spread, targets
from scenarios import watch_scenarios

PROGRAMS = ("kubexx", "client-go", "kube-rs")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def compared(results, scenario, fields):
    """One row a program; fields are (name, heading, digits)."""
    rows = []
    for program in PROGRAMS:
        if results.of(scenario, program):
            rows.append([program] + [spread(results, scenario, program, f).text(d) for f, _, d in fields])
    for other in PROGRAMS[1:]:
        if results.of(scenario, other):
            rows.append([f"kubexx / {other}"] + [f"**{ratio(results, scenario, f, other):.3f}**" for f, _, _ in fields])
    return table([""] + [h for _, h, _ in fields], rows)


SYNC_FIELDS = (("wall_s", "wall s", 2), ("cpu_s", "CPU s", 2), ("rss_mb", "resident MiB", 1), ("peak_mb", "peak MiB", 1))
WATCH_FIELDS = (("events_per_cpu_s", "events / CPU s", 0), ("cpu_us_per_event", "CPU µs / event", 2),
                ("events_per_s", "events / s", 0), ("rss_mb", "resident MiB", 1))
SELECT_FIELDS = (("list_ms", "ms each", 3), ("list_cpu_ms", "CPU ms each", 3), ("first_ms", "the first, ms", 2), ("rss_mb", "resident MiB", 1))
QUEUE_FIELDS = (("ops_per_s", "operations / s", 0), ("ops_per_cpu_s", "operations / CPU s", 0))


def sync_section(results, settings):
    text = f"""## Sync: {settings.objects:,} pods from a real kube-apiserver

From the start of a shared informer until its store holds every object and its handler was given each one's key. CPU and memory are the
client process's own; the resident memory is read at the end. Every run of kubexx then decodes 100 objects at random and fails unless
each has all its parts, `managedFields` included. kubexx and client-go take protobuf, kube-rs takes JSON, all by WatchList. Each program
is run once without being measured just before, so that none pays for the garbage that another has left in the server.

{compared(results, 'sync', SYNC_FIELDS)}
![Sync](sync.svg)

Other ways to fill the store:

"""
    rows = []
    for scenario, what in (("sync-list", "LIST instead of WatchList"), ("sync-json", "JSON instead of protobuf"),
                           ("sync-object", "a handler that reads every object")):
        for program in PROGRAMS:
            if results.of(scenario, program):
                rows.append([what, program] + [spread(results, scenario, program, f).text(d) for f, _, d in SYNC_FIELDS])
    return text + table(["", ""] + [h for _, h, _ in SYNC_FIELDS], rows)


def select_section(results, settings):
    found = spread(results, "select", "kubexx", "found").median
    return f"""## Lists by a label selector, from the cache

The lister is asked for {found:,.0f} of {settings.selected:,} pods of the replay server, 8 KB of protobuf each, {settings.lists:,} times; a run's figure is the median. kubexx
looks the label up in an index, which the first list makes, and decodes what is selected. client-go compares the labels of every pod, and hands out
pods that it has kept decoded.

{compared(results, 'select', SELECT_FIELDS)}
"""


def rate_of_replay(results, scenario, protocol_json):
    rows = [r for r in results.of(scenario, "replay") if r["json"] == protocol_json and r.get("command") == "rate"]
    return rows[0] if rows else {"events_per_s": 0, "bytes_per_event": 0}


def watch_section(results, settings):
    text = """## Watch: updates at full speed

A replay server (`test/bench/replay`) makes updates from recorded pods, each with another resourceVersion, times and digests, and sends them as
fast as the client takes them, over TLS. A typed handler reads fields of the old and of the new object of every update, which are decoded for it. The
measurement lies between two updates in the handler, so connecting and the first list are not in it.

"""
    among = {
        "watch": f"half of {settings.watched:,} pods, over and over",
        "watch-random": f"{settings.watched * 5:,} pods, in no order",
        "watch-spread": f"{settings.watched * 10:,} pods, one after the other",
        "watch-large": f"an eighth of {settings.watched:,} pods, over and over",
    }
    for scenario, templates, events, *_ in watch_scenarios(settings):
        rate = rate_of_replay(results, "replay-" + templates.removesuffix(".jsonl"), False)
        fields, key = (" and ".join((spread(results, f"{scenario}-{handler}", "kubexx", "events_per_cpu_s").text(0) + " events / CPU s",
                                     spread(results, f"{scenario}-{handler}", "kubexx", "cpu_us_per_event").text(2) + " CPU µs / event"))
                       for handler in ("fields", "key"))
        text += f"""{events:,} updates of {rate['bytes_per_event']:,} bytes (protobuf) of {among[scenario]}; the server makes {rate['events_per_s']:,.0f} of them a second:

{compared(results, scenario, WATCH_FIELDS)}

A handler of kubexx that reads four fields of both objects of each, and has neither decoded: {fields}.
One that takes the key of each: {key}. client-go has decoded every object by then, whether it is read or not.

"""
    return text + "![Watch](watch.svg)\n"


def queue_section(results, settings):
    text = f"""
## Work queue: add, get and done

{settings.operations:,} operations, each an add, a get and a done, of the rate-limited queue with its default limiter. With eight threads each adds,
takes and is done, on one queue.

"""
    for threads in (1, 8):
        text += f"{threads} thread{'s' if threads > 1 else ''}:\n\n{compared(results, f'queue-{threads}', QUEUE_FIELDS)}\n"
    return text + "![Work queue](queue.svg)\n"


def scale_section(results, settings):
    rows = []
    for objects in settings.scale:
        scenario = f"scale-{objects}"
        rows.append([f"{objects:,}"] + [spread(results, scenario, "kubexx", f).text(d) for f, _, d in SYNC_FIELDS] +
                    [f"{spread(results, scenario, 'kubexx', 'cpu_s').median / objects * 1e6:.1f}",
                     f"{spread(results, scenario, 'kubexx', 'rss_mb').median / objects * 2**20:,.0f}"])
    steps = [[f"to {large:,}", f"{cpu:.1f}", f"{memory:,.0f}"] for large, cpu, memory in slopes(results, settings.scale)]
    return f"""
## Cost of an object as their number grows

Pods of the replay server, no two alike, with the status that a kubelet reports: 8 KB of protobuf each.

{table(["objects"] + [h for _, h, _ in SYNC_FIELDS] + ["CPU µs each", "bytes each"], rows)}
What each further object costs, without what the process takes anyway:

{table(["step", "CPU µs", "bytes resident"], steps)}
![Scale](scale.svg)

## Reads

{settings.reads:,} reads of random pods through the lister, unpacked and decoded; keys alone; an index of {settings.objects // 1000 or 1} keys or more a value.

{table(["", "CPU µs"], [[what, spread(results, 'reads', 'kubexx', f).text(3)] for f, what in (("read_us", "a pod from the lister"), ("key_us", "a key, of all keys"), ("index_us", "a key, by index"))])}"""


def write(results, settings, path):
    versions = "\n".join(f"- {line}" for line in settings.versions)
    text = f"""# Speed and memory, measured

Written by `hack/bench` on {time.strftime('%Y-%m-%d')}. Medians, with the least, the greatest and the number of runs in brackets. The
programs take turns, each once the machine has come to rest; a ratio is the median of the ratios of the rounds.
Raw results: [results.jsonl](results.jsonl), a line for each run. {settings.note}

## Targets

{table(["", "measured", "target", "met"], [t.row().strip('| ').split(' | ') for t in targets(results, settings)])}
{sync_section(results, settings)}
{select_section(results, settings)}{watch_section(results, settings)}{queue_section(results, settings)}{scale_section(results, settings)}
## Machine and versions

- {settings.machine}; client, API server, etcd and replay server share it
{versions}

What was measured when:

{table(["part", "kubexx", "on"], settings.of_parts)}
## To repeat it

    hack/bench               # everything: about {settings.minutes} minutes, once the programs are built
    hack/bench --quick       # a few hundred objects, to see that it works
    hack/bench --check       # also fails when a target is missed

A single figure: `build/release/bin/kubexx-bench sync --kubeconfig FILE`, and `--help`.
"""
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return os.path.getsize(path)
