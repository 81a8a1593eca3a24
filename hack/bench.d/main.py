"""Measures, compares and writes the report. Called by hack/bench, which builds everything first."""

import argparse
import os
import sys
import time

import programs as programs_module
import report
import scenarios
from figures import targets
from programs import Programs, Results, log

SCENARIOS = {"sync": (scenarios.sync, scenarios.variants, scenarios.reads), "select": (scenarios.select,),
             "watch": (scenarios.replay_rate, scenarios.watch),
             "queue": (scenarios.queue,), "scale": (scenarios.scale,)}


PARTS = {"sync": ("sync", "warm-up", "reads"), "select": ("select",), "watch": ("watch", "replay"), "queue": ("queue",), "scale": ("scale",)}


def part_of(scenario):
    return next(part for part, names in PARTS.items() if scenario.startswith(names))


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("build", "peers", "folder", "out", "templates", "kubeconfig", "machine", "revision"):
        parser.add_argument("--" + name, required=True)
    for name in ("objects", "runs", "events", "watched", "operations", "reads", "selected", "lists", "minutes", "settle"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--scale", type=lambda text: [int(n) for n in text.split(",")], required=True)
    parser.add_argument("--versions", action="append", default=[])
    parser.add_argument("--note", default="", help="a remark for the report")
    parser.add_argument("--only", default=",".join(SCENARIOS))
    parser.add_argument("--with-kube-rs", action="store_true")
    parser.add_argument("--check", action="store_true")
    settings = parser.parse_args()
    settings.template = lambda name: os.path.join(settings.templates, name)
    return settings


def measured_at(results, part):
    """The revisions and the days of a part's rows; more than one only where runs were mixed by hand."""
    rows = [row for row in results.rows if part_of(row["scenario"]) == part]
    return tuple(", ".join(sorted({row.get(field, "unknown") for row in rows})) for field in ("revision", "date"))


def main():
    settings = arguments()
    programs_module.SETTLE = settings.settle
    only = settings.only.split(",")
    os.makedirs(settings.out, exist_ok=True)
    programs = Programs(settings.build, settings.peers, settings.with_kube_rs)
    stamp = {"revision": settings.revision, "date": time.strftime("%Y-%m-%d")}
    results = Results(os.path.join(settings.out, "results.jsonl"), lambda scenario: part_of(scenario) not in only, stamp)
    for name, parts in SCENARIOS.items():
        if name in only:
            for part in parts:
                part(programs, results, settings)
    measured = {part_of(row["scenario"]) for row in results.rows}
    found = [t for t in targets(results, settings) if t.value > 0 or measured == set(PARTS)]
    for target in found:
        earlier = "" if target.part in only else " (of an earlier run, and not checked)"
        log(("met    " if target.met else "MISSED ") + target.row().strip("| ").replace(" | ", ", ") + earlier)
    if measured == set(PARTS):
        import plots  # needs matplotlib, which a part of the scenarios does without

        settings.of_parts = [(part, *measured_at(results, part)) for part in PARTS]
        report.write(results, settings, os.path.join(settings.out, "report.md"))
        plots.draw(results, settings, settings.out)
        log(f"report: {os.path.relpath(settings.out)}/report.md")
    else:
        log("only a part has been measured: no report is written")
    if settings.check and not all(t.met for t in found if t.part in only):
        sys.exit("bench: a target is missed")


if __name__ == "__main__":
    main()
