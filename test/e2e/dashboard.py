#!/usr/bin/env python3
"""The dashboard and the alert rules of the chart, against a Prometheus that scrapes the operator.

dashboard.py names METRICS FILE...       every metric that the files name is in METRICS, what the operator's /metrics says
dashboard.py documented METRICS PAGE     every metric of METRICS is in PAGE, with its labels
dashboard.py check URL DASHBOARD         every query of the dashboard returns numbers from the Prometheus at URL
dashboard.py draw URL DASHBOARD PICTURE  draws the dashboard of the last minutes, in its own layout (needs matplotlib)
"""
import json
import math
import re
import sys
import time
import urllib.parse
import urllib.request

NAME = re.compile(r"\b(?:reloader|kubexx|workqueue|reflector|informer|rest_client|process|leader_election)_[a-z0-9_]+")
VARIABLES = {"$job": ".+", "$__rate_interval": "30s"}
DRAWN_SECONDS = 120


def substitute(expression):
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return expression


def queries(dashboard):
    """(title, legend, expression) of every query."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["legendFormat"], substitute(target["expr"])


def ask(url, path, **parameters):
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=10) as answer:
        return json.load(answer)["data"]["result"]


def check_names(metrics, files):
    known = set(re.findall(r"^# TYPE (\S+)", metrics, re.MULTILINE))
    known |= {name + suffix for name in known for suffix in ("_bucket", "_count", "_sum")}
    used = {name for text in files for name in NAME.findall(text)}
    if not used:
        sys.exit("the files name no metrics")
    if used - known:
        sys.exit(f"metrics that the operator does not have: {sorted(used - known)}")
    return len(used)


def check_documented(metrics, page):
    known = re.findall(r"^# TYPE (\S+)", metrics, re.MULTILINE)
    missing = [name for name in known if f"`{name}`" not in page]
    if missing or not known:
        sys.exit(f"metrics that are not documented: {missing}")
    has, says = labels_of(metrics), labels_in(page)
    wrong = [f"{name}: {sorted(has[name])} instead of {sorted(says[name])}" for name in known
             if name in has and name in says and has[name] != says[name]]
    if wrong:
        sys.exit(f"metrics with other labels than documented: {wrong}")
    return len(known)


def labels_of(metrics):
    """The names of the labels of each metric that has a sample; those of the parts of a histogram count as its own."""
    labels = {}
    for name, pairs in re.findall(r"^([a-z_]+)(?:{(.*)})? ", metrics, re.MULTILINE):
        found = set(re.findall(r'([a-z_]+)="', pairs)) - {"le"}
        for each in (name, re.sub("_(bucket|count|sum)$", "", name)):
            labels.setdefault(each, set()).update(found)
    return labels


def labels_in(page):
    """The same by the tables of the page: the names, the labels or "the same", and what it is."""
    labels, last = {}, set()
    for names, cell in re.findall(r"^\| (`.*?`) \| ([^|]*)\|[^|]*\|$", page, re.MULTILINE):
        last = last if "the same" in cell else set(re.findall("`([a-z_]+)`", cell))
        labels.update({name: last for name in re.findall("`([a-z_]+)`", names)})
    return labels


def check_queries(url, dashboard):
    empty = []
    for title, legend, expression in queries(dashboard):
        values = [float(series["value"][1]) for series in ask(url, "query", query=expression)]
        if not any(math.isfinite(value) for value in values):
            empty.append(f"{title} ({legend}): {expression}: {values}")
    if empty:
        sys.exit("no data for\n" + "\n".join(empty))
    return sum(1 for _ in queries(dashboard))


def legend_of(pattern, labels):
    return re.sub(r"{{(\w+)}}", lambda match: labels.get(match.group(1), ""), pattern)


def readable(value, unit):
    if unit == "bytes":
        return f"{value / 2**20:.1f} MiB"
    if unit == "s":
        return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"
    return f"{value:.0f}"


def draw_stat(axes, url, panel):
    axes.axis("off")
    unit = panel["fieldConfig"]["defaults"]["unit"]
    result = ask(url, "query", query=substitute(panel["targets"][0]["expr"]))
    text = readable(float(result[0]["value"][1]), unit) if result else "no data"
    axes.text(0.5, 0.4, text, ha="center", va="center", fontsize=20, color="#3274d9")


def draw_table(axes, url, panel):
    axes.axis("off")
    target = panel["targets"][0]
    rows = sorted(legend_of(target["legendFormat"], one["metric"])
                  for one in ask(url, "query", query=substitute(target["expr"])))
    axes.text(0, 1, "\n".join(rows[:12]) or "no data", ha="left", va="top", fontsize=5.5)


DRAW = {"stat": draw_stat, "table": draw_table}


def draw_lines(axes, url, panel):
    end = time.time()
    unit = panel["fieldConfig"]["defaults"]["unit"]
    scale = 2**20 if unit == "bytes" else 1
    for target in panel["targets"]:
        series = ask(url, "query_range", query=substitute(target["expr"]), start=end - DRAWN_SECONDS, end=end, step=1)
        for one in series:
            points = [(float(at) - end, float(value) / scale) for at, value in one["values"]]
            axes.plot(*zip(*points), linewidth=1.2, label=legend_of(target["legendFormat"], one["metric"]))
    axes.set_ylim(bottom=0)
    axes.set_ylabel({"bytes": "MiB", "s": "seconds", "ops": "a second", "reqps": "a second"}.get(unit, ""), fontsize=7)
    axes.tick_params(labelsize=6)
    axes.grid(alpha=0.3)
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > 10:
        handles, labels = handles[:10], labels[:9] + [f"and {len(labels) - 9} more"]
    axes.legend(handles, labels, fontsize=5.5, loc="upper left", framealpha=0.6)


def draw(url, dashboard, picture):
    import matplotlib  # only here: the checks do without
    matplotlib.use("Agg")
    from matplotlib import pyplot
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"])
    figure = pyplot.figure(figsize=(15, rows * 0.36))
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        left, width, height = at["x"] / 24, at["w"] / 24, at["h"] / rows
        bottom = 1 - at["y"] / rows - height
        axes = figure.add_axes([left + 0.03, bottom + 0.13 * height, width - 0.04, 0.72 * height])
        axes.set_title(panel["title"], fontsize=9, loc="left")
        DRAW.get(panel["type"], draw_lines)(axes, url, panel)
    figure.savefig(picture, dpi=64)


def main(arguments):
    command = arguments[0] if arguments else ""
    if command == "names" and len(arguments) > 2:
        texts = [open(name, encoding="utf-8").read() for name in arguments[1:]]
        print(f"{check_names(texts[0], texts[1:])} metrics are named, and exist")
    elif command == "documented" and len(arguments) == 3:
        texts = [open(name, encoding="utf-8").read() for name in arguments[1:]]
        print(f"{check_documented(*texts)} metrics are documented")
    elif command in ("check", "draw") and len(arguments) == (4 if command == "draw" else 3):
        with open(arguments[2], encoding="utf-8") as file:
            dashboard = json.load(file)
        if command == "check":
            print(f"{check_queries(arguments[1], dashboard)} queries return data")
        else:
            draw(arguments[1], dashboard, arguments[3])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
