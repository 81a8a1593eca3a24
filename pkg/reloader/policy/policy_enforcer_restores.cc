// What a PolicyEnforcer knows of data that may be restored.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/policy/policy_enforcer_host.h"
#include "kubexx/reloader/restore/snapshot.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/rolled_data.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::ObjectRef;
using reloadpolicy::Policy;

bool IsNamed(const SourceId& source, const reloadpolicy::Waves& waves) {
  if (IsDescribed(source.type)) {
    return false;  // its fields belong to its controller
  }
  if (IsForeign(source)) {
    return false;  // nobody who rolls a workload here may write in another namespace
  }
  return source.type != SourceType::kSecret ||
         std::ranges::find(waves.restore_secrets, source.key.name) != waves.restore_secrets.end();
}

/// The sources of these versions, and the digests that the versions have of each.
std::map<SourceId, std::set<std::string>> SourcesIn(const reloadpolicy::DataVersions& versions,
                                                    const std::string& namespace_) {
  std::map<SourceId, std::set<std::string>> sources;
  for (const std::string& version : versions) {
    const auto parts = reloadpolicy::PartsOf(version);
    const auto type = parts ? TypeCalled(&SourceTypeNames::kind, parts->kind) : std::nullopt;
    if (type) {
      sources[{*type, {namespace_, std::string(parts->name)}}].emplace(parts->digest);
    }
  }
  return sources;
}

/// Whether the workload has pods that show whether the data are good.
bool ShowsData(const Workload& workload) {
  return reloadpolicy::HasRollouts(KindName(workload.id.kind)) &&
         workload.phase != reloadpolicy::Phase::kWithoutPods;
}

/// What a rollout of the workload for these versions, which has failed, is for the sources as they
/// are now.
FailedRollout FailureOf(const ObjectRef& workload, const reloadpolicy::DataVersions& versions,
                        const reloadpolicy::Waves& waves, const Caches& caches) {
  FailedRollout failure{.workload = workload, .may_be_cut = reloadpolicy::MayBeCut(versions)};
  for (const auto& [each, digests] : SourcesIn(versions, workload.key.namespace_)) {
    const auto present = caches.GetSource(each);
    const bool is_gone = !present && caches.Knows(each.type, workload.key.namespace_);
    // That of another namespace may have lost its permission: it has no other data by that.
    const bool is_unseen = present && present->unknown;
    if (is_gone || is_unseen ||
        (present && digests.contains(RecordedDigest(each, present->digest.ToString())))) {
      failure.sources.push_back({.id = each,
                                 .bad = present && !is_unseen
                                            ? present->digest
                                            : Digest::Parse(*digests.begin()).value_or(kNoSource),
                                 .is_named = IsNamed(each, waves)});
    } else if (!present || !present->restored) {
      failure.changed = each;
    } else {
      failure.others_put_back = true;
    }
  }
  return failure;
}

bool RestoresData(const std::optional<Policy>& policy) {
  return policy && policy->settings.waves && policy->settings.waves->Restores();
}

}  // namespace

std::optional<reloadpolicy::Setting<reloadpolicy::Waves>> PolicyEnforcer::RestoringWaves(
    const ObjectRef& workload, const Annotations& annotations) const {
  if (!options_.consider) {
    return std::nullopt;
  }
  const base::MutexLock lock(mu_);
  auto waves = arbiter_.policies().Resolve(workload, annotations).waves;
  return waves && waves->policy && waves->value.Restores() ? std::move(waves) : std::nullopt;
}

void PolicyEnforcer::ConsiderFailed(const Workload& workload) {
  const ObjectRef ref = RefOf(workload.id);
  reloadpolicy::DataVersions versions;
  {
    const base::MutexLock lock(mu_);
    const auto failed = arbiter_.failed_data().find(ref);
    if (failed != arbiter_.failed_data().end() && !failed->second.is_past) {
      versions = failed->second.versions;
    }
  }
  if (versions.empty() || !RestoringWaves(ref, workload.annotations)) {
    return;
  }
  std::vector<SourceId> sources;
  for (const auto& [source, digests] : SourcesIn(versions, workload.id.key.namespace_)) {
    sources.push_back(source);
  }
  options_.consider(sources);
}

void PolicyEnforcer::ConsiderSettled(const Workload& workload) {
  const auto waves = RestoringWaves(RefOf(workload.id), workload.annotations);
  if (!waves) {
    return;
  }
  std::vector<SourceId> sources = ReferencedSources(workload);
  std::erase_if(sources, [](const SourceId& source) {
    return source.type == SourceType::kSecretProviderClass;
  });
  if (!sources.empty()) {
    options_.consider(sources);
  }
}

RestoreStanding PolicyEnforcer::StandingOf(const SourceId& source,
                                           const std::optional<Digest>& good) {
  RestoreStanding standing;
  const HostUse host(*this);
  if (host.get() == nullptr) {
    return standing;
  }
  const Caches& caches = host.get()->caches;
  const auto present = caches.GetSource(source);
  if (present ? present->unknown : !caches.Knows(source.type, source.key.namespace_)) {
    return standing;
  }
  if (present) {
    standing.present = present->digest;
  }
  AddFailure(source, present, *host.get(), standing);
  if (present && !standing.failure) {
    AddSettled(source, good, *host.get(), standing);
  }
  const base::MutexLock lock(mu_);
  if (standing.policy && standing.is_named && !standing.unsettled.empty()) {
    unsettled_.insert_or_assign(source, std::pair(*standing.policy, standing.unsettled));
  } else {
    unsettled_.erase(source);
  }
  return standing;
}

bool PolicyEnforcer::HasFailedWithOthers(const Workload& workload, const SourceId& source,
                                         const reloadpolicy::FailedData& failed,
                                         const GateHost& host) const {
  const auto sources = SourcesIn(failed.versions, source.key.namespace_);
  if (failed.is_past || !sources.contains(source)) {
    return false;
  }
  const ObjectRef ref = RefOf(workload.id);
  const auto is_tried_anew = [&] {
    const base::WallTime now = options_.clock.Wall();
    const base::MutexLock lock(mu_);
    // One that has failed is followed until the workload is healthy.
    return (arbiter_.IsFollowed(ref) && !arbiter_.FailureOf(ref, now)) ||
           arbiter_.IsToBeTold(ref, workload.uid, workload.annotations);
  };
  return !is_tried_anew() && !host.needs_rollout(workload, source);
}

void PolicyEnforcer::AddFailure(const SourceId& source, const std::optional<Source>& present,
                                const GateHost& host, RestoreStanding& standing) const {
  std::vector<std::pair<ObjectRef, reloadpolicy::FailedData>> all;
  {
    const base::MutexLock lock(mu_);
    for (const auto& each : arbiter_.failed_data()) {
      if (each.first.key.namespace_ == source.key.namespace_) {
        all.emplace_back(each);
      }
    }
  }
  const std::string version =
      present ? DataVersionOf(source, present->digest.ToString()) : std::string();
  for (const auto& [ref, failed] : all) {
    const bool is_of_present = std::ranges::find(failed.versions, version) != failed.versions.end();
    if (!is_of_present && present && present->restored) {
      continue;
    }
    const auto id = IdOf(ref);
    const auto workload = id ? host.caches.GetWorkload(*id) : std::nullopt;
    const auto waves = workload ? RestoringWaves(ref, workload->annotations) : std::nullopt;
    if (!waves || (!is_of_present && !HasFailedWithOthers(*workload, source, failed, host))) {
      continue;
    }
    standing.failure = FailureOf(ref, failed.versions, waves->value, host.caches);
    standing.policy = waves->policy;
    standing.is_named = IsNamed(source, waves->value);
    if (is_of_present) {
      return;  // there is something to be put back
    }
  }
}

void PolicyEnforcer::AddSettled(const SourceId& source, const std::optional<Digest>& good,
                                const GateHost& host, RestoreStanding& standing) const {
  std::vector<std::pair<Workload, base::Duration>> members;
  const Caches::Concerned concerned = host.caches.WorkloadsOf(source);
  for (const auto* ids : {&concerned.by_name, &concerned.by_pattern}) {
    for (const WorkloadId& id : *ids) {
      auto workload = host.caches.GetWorkload(id);
      if (!workload || (host.concerns && !host.concerns(*workload, source))) {
        continue;
      }
      const auto waves = RestoringWaves(RefOf(id), workload->annotations);
      if (!waves) {
        continue;
      }
      const bool is_named = IsNamed(source, waves->value);
      standing.is_named = standing.policy ? standing.is_named || is_named : is_named;
      standing.policy = standing.policy ? standing.policy : waves->policy;
      if (standing.present == good) {
        return;
      }
      members.emplace_back(*std::move(workload), waves->value.healthy_for);
    }
  }
  const std::string version = DataVersionOf(source, standing.present->ToString());
  bool is_any_healthy = false;
  base::Duration wait{};
  for (const auto& [member, healthy_for] : members) {
    const ObjectRef ref = RefOf(member.id);
    const auto is_in_the_way = [&] {
      const base::MutexLock lock(mu_);
      const auto failed = arbiter_.failed_data().find(ref);
      return arbiter_.IsFollowed(ref) || arbiter_.IsToBeTold(ref, member.uid, member.annotations) ||
             (failed != arbiter_.failed_data().end() &&
              std::ranges::find(failed->second.versions, version) != failed->second.versions.end());
    };
    // Asked once more at last: one that needs no rollout any more may just have begun it.
    if (is_in_the_way() || host.needs_rollout(member, source) || is_in_the_way()) {
      standing.unsettled =
          ref.ToString() + " has not been rolled for the present data, or that is not over";
      return;
    }
    const auto left = HealthLeft(member, healthy_for);
    if (!left) {
      standing.unsettled =
          ref.ToString() +
          (member.phase == reloadpolicy::Phase::kPaused
               ? " is paused"
               : " has pods that are not of its present template or not available");
      return;
    }
    wait = std::max(wait, *left);
    is_any_healthy = is_any_healthy || ShowsData(member);
  }
  if (!is_any_healthy && !members.empty()) {
    standing.unsettled = "no workload that uses it has pods, which would show that it is good";
  }
  standing.is_settled = is_any_healthy && wait == base::Duration(0);
  if (is_any_healthy && !standing.is_settled) {
    standing.settles_after = wait;
  }
}

std::optional<base::Duration> PolicyEnforcer::HealthLeft(const Workload& workload,
                                                         base::Duration healthy_for) const {
  if (!ShowsData(workload)) {
    return base::Duration(0);
  }
  const base::MutexLock lock(mu_);
  const auto since = arbiter_.SettledSince(RefOf(workload.id));
  if (workload.phase != reloadpolicy::Phase::kComplete || since == base::WallTime::max()) {
    return std::nullopt;
  }
  // Of the time before this process nothing is known.
  const base::Duration healthy = options_.clock.Wall() - since.value_or(looked_since_);
  return std::clamp(healthy_for - healthy, base::Duration(0), healthy_for);
}

void PolicyEnforcer::OnSourceGone(const SourceId& source) {
  const auto of = options_.snapshot_gone ? SourceOfSnapshot(source) : std::nullopt;
  if (of) {
    options_.snapshot_gone(*of);
  }
  if (options_.consider && IsOfFailure(source)) {
    options_.consider({source});  // a person has to know that there is nothing to restore now
  }
}

bool PolicyEnforcer::IsOfFailure(const SourceId& source) const {
  const base::MutexLock lock(mu_);
  return std::ranges::any_of(arbiter_.failed_data(), [&source](const auto& each) {
    return each.first.key.namespace_ == source.key.namespace_ &&
           SourcesIn(each.second.versions, source.key.namespace_).contains(source);
  });
}

bool PolicyEnforcer::NoteRestore(const RestoreReport& report) {
  const base::MutexLock lock(mu_);
  const bool is_told = std::ranges::any_of(restores_, [&report](const auto& each) {
    const auto& [source, other] = each;
    return source != report.source && other.outcome == RestoreReport::Outcome::kHeld &&
           other.outcome == report.outcome && other.policy == report.policy &&
           other.message == report.message;
  });
  if (report.outcome == RestoreReport::Outcome::kOver ||
      arbiter_.policies().Find(report.policy) == nullptr) {
    restores_.erase(report.source);
  } else if (report.is_earlier) {
    restores_.try_emplace(report.source, report);
  } else {
    restores_.insert_or_assign(report.source, report);
  }
  return !is_told;
}

void PolicyEnforcer::WakeRestoring(const std::optional<Policy>& before,
                                   const std::optional<Policy>& now) {
  const HostUse host(*this);
  if (!options_.consider || host.get() == nullptr || !RestoresData(now) ||
      (before && before->settings.waves == now->settings.waves && before->names == now->names &&
       before->kinds == now->kinds && before->namespaces == now->namespaces &&
       before->excluded_namespaces == now->excluded_namespaces)) {
    return;
  }
  host.get()->caches.ForEachWorkload([&](const Workload& workload) {
    if (now->Governs(RefOf(workload.id))) {
      host.get()->wake(workload.id, base::Duration(0));
    }
  });
}

}  // namespace kubexx::reloader
