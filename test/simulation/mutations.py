#!/usr/bin/env python3
"""mutations.py TREE [--seeds N] [--minutes M] [--only NAME] [--first I]: whether the simulation finds what is wrong with the code.

TREE is a copy of this tree that is changed, built and run: a fault is put into it, the simulation runs until a seed finds
it, and the fault is taken out again. Prints a line of a table for each: the fault, the seeds that it took, and what was
said. A fault that N seeds do not find makes it end with status 1.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

# Name, file, what stands there once, what takes its place.
MUTATIONS = [
    ("a failed write is not tried again", "pkg/reloader/operator/operator.cc",
     "        queue_.AddAfter(key, retries_.After(key, answer.failure));\n", "        retries_.Forget(key);\n"),
    ("a write whose answer was lost counts as not made", "pkg/reloader/operator/reconciler.cc",
     "if (!written && !MayHaveBeenMade(written.status())) {", "if (!written) {"),
    ("a write ignores the version that it was planned for", "pkg/reloader/operator/reconciler.cc",
     "    const bool checks = ChecksVersion(*workload);\n", "    const bool checks = false;\n"),
    ("the first write of a tenure goes by the cache", "pkg/reloader/write/fresh_reads.cc",
     "  return found == read_in_.end() || found->second != tenure;\n", "  return found == read_in_.end() && tenure == ~0U;\n"),
    ("a copied baseline is believed", "pkg/reloader/plan/planner.cc",
     "if (baseline && baseline->uid != workload.uid) {", "if (baseline && baseline->uid.empty()) {"),
    ("pods that are newer than the change are rolled", "pkg/reloader/plan/slot_planner.cc",
     "         member.resource_version < input_.known.template_since;\n", "         member.resource_version + 1 == 1;\n"),
    ("pods that are older than the change count as newer", "pkg/reloader/plan/slot_planner.cc",
     "         member.resource_version < input_.known.template_since;\n",
     "         member.resource_version <= input_.known.template_since + 3;\n"),
    ("a new leader does not look at what it missed", "pkg/reloader/ha/leadership.cc",
     "      options_.on_acquired(shard);\n", "      (void)shard;\n"),
    ("the Lease is given back before the last write has ended", "pkg/reloader/ha/held_shards.cc",
     "    while (entry.writes > 0) {\n      if (clock_", "    while (entry.writes > 1000) {\n      if (clock_"),
    ("a Lease is taken while another holds it", "pkg/leaderelection/election.cc",
     "      return HeldByOther() ? RetryLater() : Claim();\n", "      return Claim();\n"),
    ("a leader goes on when its time is over", "pkg/leaderelection/election.cc",
     "  if (phase_ == Phase::kLeading && now_.steady >= LeadsUntil()) {",
     "  if (phase_ == Phase::kLeading && now_.steady >= LeadsUntil() + std::chrono::hours(1)) {"),
    ("a watch that expired is begun where it was", "pkg/cache/internal/reflector/reflector_state.cc",
     "  if (expired || last_rv_.empty() || last_rv_ == \"0\") {", "  if (last_rv_.empty() || last_rv_ == \"0\") {"),
    ("a watch is resumed one version too late", "pkg/cache/internal/reflector/reflector_state.cc",
     "  action.options.resource_version = last_rv_;\n  action.options.allow_watch_bookmarks = true;\n  action.on_trial",
     "  action.options.resource_version =\n      IsNumber(last_rv_) ? std::to_string(std::stoll(last_rv_) + 1) : last_rv_;\n"
     "  action.options.allow_watch_bookmarks = true;\n  action.on_trial"),
    ("a key whose delay is over wakes no worker", "pkg/workqueue/queue.cc",
     "        if (AddLocked(node, node->priority)) {\n          ready_cv_.notify_one();\n",
     "        if (AddLocked(node, node->priority)) {\n          (void)now;\n"),
    ("a handler is not woken for its events", "pkg/cache/internal/informer/listener.cc",
     "    // Without the lock, which the one that is woken takes first of all.\n    not_empty_.notify_one();\n",
     "    // Without the lock, which the one that is woken takes first of all.\n"),
    ("a notification between the look and the sleep is lost", "pkg/base/cond_var.cc", "  ++wakes_;\n", ""),
    ("the server leaves out the first event of a resumed watch", "pkg/apiserver/cacher/watch_cache.cc",
     "  const auto first = std::ranges::upper_bound(events_, revision, {}, revision_of);\n",
     "  auto first = std::ranges::upper_bound(events_, revision, {}, revision_of);\n"
     "  first += first == events_.end() ? 0 : 1;\n"),
    ("an operator that ends gives the Lease back at once", "pkg/leaderelection/election.cc",
     "  if (work_ended_) {\n    return EnterRelease();\n  }\n  Do(Kind::kStopWork);\n",
     "  if (!work_ended_) {\n    Do(Kind::kStopWork);\n  }\n  EnterRelease();\n"),
]


def build(tree):
    return subprocess.run(["hack/build", "release", "simulate"], cwd=tree, capture_output=True).returncode == 0


def run(tree, seeds, minutes):
    """The first seed with a problem, how many were run, and what it said; nothing found: None."""
    command = ["build/release/bin/simulate", "--seeds", str(seeds), "--minutes", str(minutes), "--seed", "1"]
    out = subprocess.run(command, cwd=tree, capture_output=True, text=True, errors="replace").stdout
    found = re.search(r"^seed (\d+): (.*)$", out, re.MULTILINE)
    ran = re.search(r"^(\d+) seeds in", out, re.MULTILINE)
    return (int(found[1]), int(ran[1]), found[2]) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--only", default="", help="those whose names contain this")
    parser.add_argument("--first", type=int, default=0, help="begin with this one")
    options = parser.parse_args()
    missed = 0
    for name, file, old, new in MUTATIONS[options.first :]:
        if options.only not in name:
            continue
        path = options.tree / file
        text = path.read_text()
        if text.count(old) != 1:
            sys.exit(f"{file} has {text.count(old)} times: {old}")
        path.write_text(text.replace(old, new))
        begin = time.monotonic()
        try:
            if not build(options.tree):
                print(f"| {name} | does not compile | |", flush=True)
                missed += 1
                continue
            found = run(options.tree, options.seeds, options.minutes)
        finally:
            path.write_text(text)
        took = time.monotonic() - begin
        if found:
            print(f"| {name} | {found[1]} | seed {found[0]}: {found[2][:160]} | {took:.0f} s", flush=True)
        else:
            print(f"| {name} | not in {options.seeds} | | {took:.0f} s", flush=True)
            missed += 1
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
