"""Draws the report's pictures."""

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "kubexx"  # the same picture for the same figures
matplotlib.rcParams["svg.fonttype"] = "none"
import matplotlib.pyplot as plt  # noqa: E402  (after choosing how to draw)

from figures import spread  # noqa: E402

COLOURS = {"kubexx": "#2b6cb0", "client-go": "#a0aec0", "kube-rs": "#dd6b20"}


def save(figure, folder, name):
    figure.tight_layout()
    figure.savefig(f"{folder}/{name}.svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def bars(results, folder, name, panels):
    """One panel for each (scenario, field, title): a bar for each program, with the spread."""
    figure, axes = plt.subplots(1, len(panels), figsize=(3 * len(panels), 3))
    for axis, (scenario, field, title) in zip(axes if len(panels) > 1 else [axes], panels):
        programs = [p for p in COLOURS if results.of(scenario, p)]
        spreads = [spread(results, scenario, p, field) for p in programs]
        medians = [s.median for s in spreads]
        errors = [[s.median - s.low for s in spreads], [s.high - s.median for s in spreads]]
        drawn = axis.bar(programs, medians, yerr=errors, color=[COLOURS[p] for p in programs], capsize=4)
        axis.bar_label(drawn, [f"{m:,.3g}" if m < 1000 else f"{m:,.0f}" for m in medians], padding=2, fontsize=8)
        axis.set_title(title, fontsize=10)
        axis.margins(y=0.2)
        axis.tick_params(labelsize=8)
    save(figure, folder, name)


def scale(results, folder, sizes):
    figure, axes = plt.subplots(1, 2, figsize=(9, 3))
    for axis, field, factor, title in ((axes[0], "cpu_s", 1e6, "CPU µs per object"), (axes[1], "rss_mb", 2**20, "resident bytes per object")):
        values = [spread(results, f"scale-{n}", "kubexx", field).median / n * factor for n in sizes]
        axis.plot(sizes, values, "o-", color=COLOURS["kubexx"])
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(title + " (the process included)", fontsize=10)
        axis.set_xlabel("objects", fontsize=8)
        axis.grid(alpha=0.3)
    save(figure, folder, "scale")


def draw(results, settings, folder):
    bars(results, folder, "sync", [("sync", "wall_s", "wall, s"), ("sync", "cpu_s", "CPU, s"), ("sync", "rss_mb", "resident, MiB")])
    bars(results, folder, "watch", [("watch", "events_per_cpu_s", "events per CPU s, small pods"),
                                    ("watch-large", "events_per_cpu_s", "events per CPU s, large pods")])
    bars(results, folder, "queue", [("queue-1", "ops_per_s", "operations per s, 1 thread"), ("queue-8", "ops_per_s", "operations per s, 8 threads")])
    scale(results, folder, settings.scale)
