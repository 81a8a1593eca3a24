#!/usr/bin/env python3
"""mutations.py TREE [--seeds N] [--minutes M] [--only NAME] [--jobs J]: whether the simulation finds what is wrong with the code.

TREE is a copy of this tree that is changed, built and run. All faults are put into it at once, and are switched off: the
environment variable KX_MUTATION says which one is on. So one build serves all. First the simulation runs with none of
them, which has to find nothing; then with each until a seed finds it. Prints a line of a table for each: the fault, how
many seeds were run until it was found, the seed, and what was said. A fault that N seeds do not find, or a problem
without a fault, makes it end with status 1. TREE stays as it was changed.

mutations.py --check: only whether each place is where this script looks for it, in the tree that it is in.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

RELOADER = "pkg/reloader/"
STATE = "pkg/cache/internal/reflector/reflector_state.cc"
ELECTION = "pkg/leaderelection/election.cc"

# Name, and for each change: file, what stands there once, what takes its place. MUTANT is true when the fault is on.
MUTATIONS = [
    ("what pods had before a rotation counts as new", [(
        RELOADER + "watch/provider_classes.cc",
        "    history.erase(history.begin(), history.upper_bound(report.version));\n",
        "    if (!MUTANT) {\n      history.erase(history.begin(), history.upper_bound(report.version));\n    }\n")]),
    ("a Deployment's template is not looked at for Rollouts that name it", [(
        RELOADER + "watch/caches.cc",
        "      to.push_back({WorkloadKind::kRollout, std::move(key)});\n",
        "      if (!MUTANT) {\n        to.push_back({WorkloadKind::kRollout, std::move(key)});\n      }\n")]),
    ("a failed canary does not stop later waves", [(
        "pkg/reloadpolicy/arbiter_waves.cc",
        "  if (const auto* failed = FindFailed(failed_data_, request.workload, request.data)) {\n",
        "  if (const auto* failed =\n          MUTANT ? nullptr : FindFailed(failed_data_, request.workload, request.data)) {\n")]),
    ("a wave does not wait for the one before", [(
        "pkg/reloadpolicy/arbiter_waves.cc",
        "  } else if (request.earlier_wave) {\n", "  } else if (!MUTANT && request.earlier_wave) {\n")]),
    ("a wave waits for rollouts of the one before, and not for their health", [(
        RELOADER + "policy/policy_enforcer_waves.cc",
        "    if (member && (is_followed(ref) || host.needs_rollout(*member, key.first) ||\n"
        "                   is_begun(ref, *member) || is_soaking(ref, *member) || is_behind(*member))) {\n",
        "    if (member && ((!MUTANT && is_followed(ref)) || host.needs_rollout(*member, key.first) ||\n"
        "                   (!MUTANT && (is_begun(ref, *member) || is_soaking(ref, *member))) || is_behind(*member))) {\n")]),
    ("a reload in place that failed is taken for done", [(
        RELOADER + "operator/reconciler_in_place.cc",
        "    if (is_same && report.state == State::kDone) {\n",
        "    if (is_same && (report.state == State::kDone || (MUTANT && report.state == State::kFailed))) {\n")]),
    ("a source is reloaded in place that a container has in its environment", [
        (RELOADER + "in_place/in_place_verdict.cc",
         "      if (HasReference(container.references, source)) {\n",
         "      if (!MUTANT && HasReference(container.references, source)) {\n"),
        # What the pods themselves are looked at for.
        (RELOADER + "in_place/mount_check.cc",
         "        if (sources.contains(id)) {\n          return CannotReach(",
         "        if (!MUTANT && sources.contains(id)) {\n          return CannotReach(")]),
    ("a source of another namespace counts without its permission", [(
        RELOADER + "watch/caches.cc",
        "    if (!object || !Allows(*object, id.key.namespace_)) {\n",
        "    if (!object || (!MUTANT && !Allows(*object, id.key.namespace_))) {\n")]),
    ("nobody looks again when a source of another namespace gives its permission", [(
        RELOADER + "watch/event_router_foreign.cc",
        "    NoteWorkloads(source, nullptr);\n    return;\n  }\n  if (!event.is_single_change) {\n",
        "    if (!MUTANT) {\n      NoteWorkloads(source, nullptr);\n    }\n    return;\n  }\n  if (!event.is_single_change) {\n")]),
    ("a Job that has ended is made anew", [(
        RELOADER + "write/job_writer.cc",
        "  if (IsOver(job)) {\n", "  if (!MUTANT && IsOver(job)) {\n")]),
    ("an API of policies that is gone counts as one that may not be read", [(
        "pkg/reloader/permissions/policy_access.cc",
        "  const bool is_believed = is_certain || now - *refusal.unserved_since >= options_.patience;\n",
        "  const bool is_believed =\n      !MUTANT && (is_certain || now - *refusal.unserved_since >= options_.patience);\n")]),
    ("a rollout whose event is on its way is made again", [(
        RELOADER + "operator/awaited_templates.cc",
        "  const bool begins = is_in_place && ", "  const bool begins = !MUTANT && is_in_place && ")]),
    ("a failed write is not tried again", [(
        RELOADER + "operator/workers.cc",
        "    parts_.queue.AddAfter(key, retries_.After(key, answer.failure, changed));\n",
        "    if (MUTANT) {\n      return;\n    }\n"
        "    parts_.queue.AddAfter(key, retries_.After(key, answer.failure, changed));\n")]),
    ("a write whose answer was lost counts as not made", [(
        RELOADER + "operator/reconciler_write.cc",
        "if (!written && !MayHaveBeenMade(written.error())) {",
        "if (!written && (MUTANT || !MayHaveBeenMade(written.error()))) {")]),
    ("a write ignores the version that it was planned for", [(
        RELOADER + "operator/reconciler.cc",
        "    const bool checks = ChecksVersions();\n",
        "    const bool checks = !MUTANT && ChecksVersions();\n")]),
    ("the first write of a tenure goes by the cache, and by no version", [
        (RELOADER + "write/fresh_reads.cc",
         "  return read_ && !LastReadIn(workload.id, tenure);\n",
         "  return !MUTANT && read_ && !LastReadIn(workload.id, tenure);\n"),
        (RELOADER + "operator/reconciler.cc",
         "  return parts_.fresh_reads != nullptr && parts_.fresh_reads->CanRead();\n",
         "  return !MUTANT && parts_.fresh_reads != nullptr && parts_.fresh_reads->CanRead();\n")]),
    ("a copied baseline is believed", [(
        RELOADER + "plan/baseline.cc",
        "  return is_own ? baseline : std::nullopt;\n",
        "  return is_own || MUTANT ? baseline : std::nullopt;\n")]),
    ("a baseline is not doubted though a source was written after a release", [(
        RELOADER + "plan/slot_planner.cc",
        "  if (!written) {",
        "  if (MUTANT || !written) {")]),
    ("any write of the operator moves the time of its last rollout", [(
        RELOADER + "write/rest_writer.cc",
        "records == Records::kJob ? kFieldManager",
        "MUTANT || records == Records::kJob ? kFieldManager")]),
    ("a process does not go by the version of its own rollout", [(
        RELOADER + "plan/pair_memory_writes.cc",
        "  if (rolled) {",
        "  if (rolled && MUTANT) {\n    known.template_since = 0;\n  } else if (rolled) {")]),
    ("a reload in place that failed asks nobody before the rollout", [(
        RELOADER + "operator/reconciler_in_place.cc",
        "  if (parts_.gate != nullptr && !parts_.gate->AdmitNewer(workload, plan.changes, annotations)) {",
        "  if (!MUTANT && parts_.gate != nullptr && !parts_.gate->AdmitNewer(workload, plan.changes, annotations)) {")]),
    ("a baseline is not written anew after a release that an operator saw", [(
        RELOADER + "plan/planner_baseline.cc",
        "  return plan.is_released && std::ranges::any_of(",
        "  return !MUTANT && plan.is_released && std::ranges::any_of("),
       (RELOADER + "plan/planner_baseline.cc",
        "  return plan.template_written && on.workload.id.kind !=",
        "  return !MUTANT && plan.template_written && on.workload.id.kind !=")]),
    ("a baseline gets the time of a release with the next write of a source only", [(
        RELOADER + "plan/planner_baseline.cc",
        "         (on.recorded == nullptr || plan.is_released);\n",
        "         !MUTANT && (on.recorded == nullptr || plan.is_released);\n")]),
    ("a baseline tells of a release that a watch has not reached", [(
        RELOADER + "plan/planner.cc",
        "    return sources_.over->SeenUpTo(source) >= VersionNumber(written_by);\n",
        "    return MUTANT || sources_.over->SeenUpTo(source) >= VersionNumber(written_by);\n")]),
    ("a plan counts more than what was told of while it was made", [(
        RELOADER + "plan/pair_memory.cc",
        "               there->second.digest != state.digest && HasUnseenMove(known, plan, source)) {\n",
        "               there->second.digest != state.digest && !MUTANT &&\n"
        "               HasUnseenMove(known, plan, source)) {\n")]),
    ("a release within a second of another is not noticed", [(
        RELOADER + "watch/event_router_workloads.cc",
        "  if (!HasOtherTemplate(before, now)) {\n    if (before.paused",
        "  const bool is_unnoticed = MUTANT && before.template_written == now.template_written &&\n"
        "                            before.undone == now.undone && !IsOwnRollout(before, now);\n"
        "  if (is_unnoticed || !HasOtherTemplate(before, now)) {\n    if (before.paused")]),
    ("a restart counts as if it made no pods", [(
        RELOADER + "watch/event_router_workloads.cc",
        "  const bool is_own = IsOwnRollout(before, now);\n",
        "  if (MUTANT && before.undone != now.undone) {\n    return;\n  }\n"
        "  const bool is_own = IsOwnRollout(before, now);\n")]),
    ("keys that a workload does not use count", [(
        RELOADER + "policy/policy_enforcer_sources.cc",
        "  return arbiter_.policies().Resolve(RefOf(workload.id), workload.annotations).Keys() ==\n",
        "  return !MUTANT && arbiter_.policies().Resolve(RefOf(workload.id), workload.annotations).Keys() ==\n")]),
    ("a workload that is on hold is rolled", [(
        "pkg/reloadpolicy/policy.cc",
        "    settings.paused = ParseBool(value);\n",
        "    settings.paused = MUTANT ? std::optional(false) : ParseBool(value);\n")]),
    ("a baseline that an undo brought back is believed", [(
        RELOADER + "plan/slot_planner.cc",
        "  if (!input_.workload.baseline_restored || member.id.type ==",
        "  if (MUTANT || !input_.workload.baseline_restored || member.id.type ==")]),
    ("what pods began with is not known by the order of writes", [
        (RELOADER + "plan/slot_planner.cc",
         "  return input_.workload.id.kind != WorkloadKind::kCronJob && member.resource_version != 0 &&\n",
         "  return !MUTANT && input_.workload.id.kind != WorkloadKind::kCronJob && member.resource_version != 0 &&\n"),
        (RELOADER + "plan/begun_pods.cc",
         "    if (earlier != moves.rend()) {\n",
         "    if (!MUTANT && earlier != moves.rend()) {\n"),
        (RELOADER + "plan/pair_memory.cc",
         "  if (now && now->version != 0 && now->version < known.template_since) {\n",
         "  if (!MUTANT && now && now->version != 0 && now->version < known.template_since) {\n")]),
    ("pods that are older than the change count as newer", [(
        RELOADER + "plan/slot_planner.cc",
        "         member.resource_version < input_.known.template_since;\n",
        "         member.resource_version < input_.known.template_since + (MUTANT ? 4U : 0U);\n")]),
    ("a variable with the right value is taken for proof", [(
        RELOADER + "plan/slot_planner.cc",
        "  if (member.settled || IsOlderThanPods(member) ||\n"
        "      IsRolledByOthers(member, slot, input_.known.stamps_of_others)) {\n",
        "  if (member.settled || (MUTANT && slot.is_right) || IsOlderThanPods(member) ||\n"
        "      IsRolledByOthers(member, slot, input_.known.stamps_of_others)) {\n")]),
    ("a write in place whose request was lost counts as made", [(
        RELOADER + "plan/slot_planner.cc",
        "  if (is_made == false && has_changed) {\n",
        "  if (!MUTANT && is_made == false && has_changed) {\n")]),
    ("a Deployment's template that a Rollout uses does not tell that it was written", [(
        RELOADER + "plan/slot_planner.cc",
        "  if (IsOfDeployment(input_.workload) &&\n      (is_made == true ||",
        "  if (!MUTANT && IsOfDeployment(input_.workload) &&\n      (is_made == true ||")]),
    ("data that are mended after an undo make no new pods", [(
        RELOADER + "plan/strategy.cc",
        "      (strategy == ReloadStrategy::kEnvVars && AreInPlace(workload, write.variables))) {\n",
        "      (!MUTANT && strategy == ReloadStrategy::kEnvVars && AreInPlace(workload, write.variables))) {\n")]),
    ("late news of a template that a rollout has replaced count", [(
        RELOADER + "plan/pair_memory_templates.cc",
        "  if (change.until != 0 && change.until < known.told_at && IsOwnRolloutOnTheWay(known)) {\n",
        "  if (!MUTANT && change.until != 0 && change.until < known.told_at && IsOwnRolloutOnTheWay(known)) {\n")]),
    ("an operator that leads again trusts what it knew before", [(
        RELOADER + "plan/planner.cc",
        "    if (!recorded_ || workload_.baseline_restored || workload_.baseline_is_foreign) {\n",
        "    if (MUTANT || !recorded_ || workload_.baseline_restored || workload_.baseline_is_foreign) {\n")]),
    ("a rollout records what was there before", [(
        RELOADER + "operator/reconciler_write.cc",
        "      Records(workload) ? BaselineAfter(plan, plan.changes, pods) : std::string();\n",
        "      Records(workload) ? BaselineAfter(plan, MUTANT ? std::vector<Change>() : plan.changes, pods)\n"
        "                        : std::string();\n")]),
    ("a Job that is made anew has a baseline that names no Job", [(
        RELOADER + "plan/baseline.cc",
        "  const bool is_own = baseline && (baseline->is_of_next ? workload.is_made_with_baseline\n",
        "  const bool is_own = baseline && (baseline->is_of_next ? !MUTANT && workload.is_made_with_baseline\n")]),
    ("a baseline that somebody took away stays away", [(
        RELOADER + "plan/baseline_schedule.cc",
        "  return std::max(Doubled(options_.workload_interval, write.lost, options_.lost_interval),\n",
        "  if (MUTANT && write.lost > 0) {\n    return std::chrono::hours(24);\n  }\n"
        "  return std::max(Doubled(options_.workload_interval, write.lost, options_.lost_interval),\n")]),
    ("a right that was missing once is never asked for again", [(
        RELOADER + "plan/baseline_schedule.cc",
        "  forbidden_until_[{workload.kind, workload.key.namespace_}] = now + options_.forbidden_interval;\n",
        "  forbidden_until_[{workload.kind, workload.key.namespace_}] =\n"
        "      now + (MUTANT ? base::Duration(std::chrono::hours(24)) : options_.forbidden_interval);\n")]),
    ("a person's pause is ended as if it was the operator's", [(
        RELOADER + "write/pause.cc",
        "                            .paused = state.paused && state.by_others};\n",
        "                            .paused = !MUTANT && state.paused && state.by_others};\n")]),
    ("a new leader does not look at what it missed", [(
        RELOADER + "ha/leadership.cc",
        "    if (options_.on_acquired) {\n      options_.on_acquired(shard);\n",
        "    if (!MUTANT && options_.on_acquired) {\n      options_.on_acquired(shard);\n")]),
    ("who does not lead a shard writes, too", [(
        RELOADER + "ha/held_shards.cc",
        "    if (!entry.open) {\n      return std::nullopt;\n",
        "    if (!MUTANT && !entry.open) {\n      return std::nullopt;\n")]),
    ("the Lease is given back while a write is on its way", [(
        RELOADER + "ha/held_shards.cc",
        "    while (entry.writes > 0) {\n      if (clock_",
        "    while (!MUTANT && entry.writes > 0) {\n      if (clock_")]),
    ("the Lease is given back before the last write has begun", [
        (RELOADER + "ha/held_shards.cc",
         "    entry.open = false;\n    stop = entry.stop;\n",
         "    entry.open = false;\n    if (!MUTANT) {\n      stop = entry.stop;\n    }\n"),
        (RELOADER + "ha/held_shards.cc",
         "entry.writes > 0) {\n      if (clock_", "entry.writes > 0) {\n      if (MUTANT) {\n        break;\n      }\n      if (clock_"),
        (RELOADER + "ha/held_shards.cc",
         "    while (entry.writes > 0) {\n      ended_.wait(mu_);\n",
         "    while (!MUTANT && entry.writes > 0) {\n      ended_.wait(mu_);\n")]),
    ("who is to end leading gives the Lease back at once", [(
        ELECTION,
        "    return EnterRelease();\n  }\n  Do(Kind::kStopWork);\n",
        "    return EnterRelease();\n  }\n  if (MUTANT) {\n    Do(Kind::kStopWork);\n    return EnterRelease();\n  }\n"
        "  Do(Kind::kStopWork);\n")]),
    ("a Lease is taken while another holds it", [(
        ELECTION,
        "      return HeldByOther() ? RetryLater() : Claim();\n",
        "      return HeldByOther() && !MUTANT ? RetryLater() : Claim();\n")]),
    ("a leader goes on when its time is over", [
        (ELECTION,
         "  if (phase_ == Phase::kLeading && now_.steady >= LeadsUntil() && !IsRenewal(input)) {\n",
         "  if (!MUTANT && phase_ == Phase::kLeading && now_.steady >= LeadsUntil() &&\n"
         "      !IsRenewal(input)) {\n"),
        # What each write asks for besides.
        (ELECTION,
         "  return phase_ == Phase::kLeading && now < LeadsUntil();\n",
         "  return phase_ == Phase::kLeading && (MUTANT || now < LeadsUntil());\n")]),
    ("a watch that expired is begun where it was, for ever", [
        (STATE,
         "  if (expired || last_rv_.empty() || last_rv_ == \"0\") {\n",
         "  if ((expired && !MUTANT) || last_rv_.empty() || last_rv_ == \"0\") {\n"),
        (STATE,
         "  if (!outage && !input.sit_out && ++failures_ >= kMaxFailures) {\n",
         "  if (!MUTANT && !outage && !input.sit_out && ++failures_ >= kMaxFailures) {\n")]),
    ("a watch is resumed one version too late", [(
        STATE,
        "  action.options.resource_version = last_rv_;\n  action.options.allow_watch_bookmarks = true;\n  action.on_trial",
        "  action.options.resource_version =\n      MUTANT && IsNumber(last_rv_) ? std::to_string(std::stoll(last_rv_) + 1) : last_rv_;\n"
        "  action.options.allow_watch_bookmarks = true;\n  action.on_trial")]),
    ("a list does not tell of what is gone", [(
        "pkg/cache/internal/informer/distributor.cc",
        "    if (!store_->Find(old->namespace_(), old->name())) {\n",
        "    if (!MUTANT && !store_->Find(old->namespace_(), old->name())) {\n")]),
    ("a list does not tell of what has changed", [(
        "pkg/cache/internal/informer/distributor.cc",
        "    } else if (!SameContent(*old, *entry)) {\n      tell(",
        "    } else if (!MUTANT && !SameContent(*old, *entry)) {\n      tell(")]),
    ("a key whose delay is over wakes no worker", [(
        "pkg/workqueue/queue.cc",
        " : SettledLocked(node, timer->due)) {\n      WakeWorkerLocked();\n",
        " : SettledLocked(node, timer->due)) {\n      if (!MUTANT) {\n        WakeWorkerLocked();\n      }\n")]),
    ("a key that comes while it is worked on is forgotten", [(
        "pkg/workqueue/queue.cc",
        "  if (node->dirty) {\n    ready_->Push(node);\n",
        "  node->dirty = node->dirty && !MUTANT;\n  if (node->dirty) {\n    ready_->Push(node);\n")]),
    ("a handler is not woken for its events", [(
        "pkg/cache/internal/informer/listener.cc",
        "  // The lock is released, because the step takes it first of all.\n  task_.Wake(hurry);\n",
        "  // The lock is released, because the step takes it first of all.\n  if (!MUTANT) {\n    task_.Wake(hurry);\n  }\n")]),
    ("a task that is woken in its step has no further step", [(
        "pkg/base/executor/executor.cc",
        "  if (more || task->woken_) {\n",
        "  if (more || (task->woken_ && !MUTANT)) {\n")]),
    ("a notification between the look and the sleep is lost", [(
        "pkg/base/cond_var.cc", "  ++wakes_;\n", "  if (!MUTANT) {\n    ++wakes_;\n  }\n")]),
    ("the server leaves out the first event of a resumed watch", [(
        "pkg/apiserver/cacher/watch_cache_begin.cc",
        "  const auto first = std::ranges::upper_bound(events_, revision, {}, revision_of);\n",
        "  auto first = std::ranges::upper_bound(events_, revision, {}, revision_of);\n"
        "  if (MUTANT && first != events_.end()) {\n    ++first;\n  }\n")]),
    ("the server resumes a watch from before its events without a word", [(
        "pkg/apiserver/cacher/watch_cache_begin.cc",
        "  if (revision < window_begin_) {\n", "  if (!MUTANT && revision < window_begin_) {\n")]),
    ("the server takes a write that was made for an older version", [(
        "pkg/apiserver/storage/internal/memory_store.cc",
        "    swap.done = item.mod != 0 && item.mod == expected;\n",
        "    swap.done = item.mod != 0 && (MUTANT ? item.mod >= expected : item.mod == expected);\n")]),
]

DECLARATION = 'extern "C" int kx_mutation;\n'
DEFINITION = (
    "\n#include <cstdlib>\n\n" + DECLARATION + "int kx_mutation =\n"
    '    std::getenv("KX_MUTATION") == nullptr ? 0 : std::atoi(std::getenv("KX_MUTATION"));\n')


def change(tree):
    """Puts the faults into the tree's files; ends the program when one has no place."""
    texts = {}
    for number, (name, edits) in enumerate(MUTATIONS, 1):
        for file, old, new in edits:
            text = texts.get(file)
            if text is None:
                text = (tree / file).read_text()
            if text.count(old) != 1:
                sys.exit(f"{name}: {file} has {text.count(old)} times: {old}")
            texts[file] = text.replace(old, new.replace("MUTANT", f"(kx_mutation == {number})"))
    return {file: DECLARATION + text for file, text in texts.items()}


def run(tree, mutation, options):
    """The first seed with a problem, how many were run, and what it said; nothing found: None."""
    command = ["build/release/bin/simulate", "--seeds", str(options.seeds), "--minutes", str(options.minutes)]
    command += ["--seed", "1", "--jobs", str(options.jobs), "--seconds", "30"]
    environment = {**os.environ, "KX_MUTATION": str(mutation)}
    out = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, errors="replace").stdout
    found = re.search(r"^seed (\d+): (.*)$", out, re.MULTILINE)
    ran = re.search(r"^(\d+) seeds in", out, re.MULTILINE)
    return (int(found[1]), int(ran[1]), found[2]) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=pathlib.Path, nargs="?")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--only", default="", help="those whose names contain this")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        change(pathlib.Path(__file__).resolve().parents[2])
        return
    if options.tree is None:
        parser.error("which tree?")
    if b"kx_mutation" not in (options.tree / "test/simulation/main.cc").read_bytes():
        for file, text in change(options.tree).items():
            (options.tree / file).write_text(text)
        with (options.tree / "test/simulation/main.cc").open("a") as main_file:
            main_file.write(DEFINITION)
    if subprocess.run(["hack/build", "release", "simulate"], cwd=options.tree).returncode != 0:
        sys.exit("it does not compile")
    missed = 0
    for number, name in enumerate(["none"] + [name for name, _ in MUTATIONS]):
        if number != 0 and options.only not in name:
            continue
        begin = time.monotonic()
        found = run(options.tree, number, options)
        took = time.monotonic() - begin
        if found:
            print(f"| {name} | {found[1]} | seed {found[0]}: {found[2][:160]} | {took:.0f} s", flush=True)
        else:
            print(f"| {name} | not in {options.seeds} | | {took:.0f} s", flush=True)
        missed += (found is None) != (number == 0)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
