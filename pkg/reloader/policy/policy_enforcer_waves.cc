// How a PolicyEnforcer finds out whether an earlier wave is done.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/policy/policy_enforcer_host.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/rolled_data.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::ObjectRef;
using reloadpolicy::WaveLine;
using reloadpolicy::WaveMember;

/// A line is made from all workloads of a source, and each of them asks for it when the source
/// changes. What was created or deleted meanwhile is in the next one.
constexpr base::Duration kLineLasts = std::chrono::seconds(1);

/// How soon to look again at a workload of an earlier wave of which the API server knows more than
/// the cache. A watch usually tells of it at once.
constexpr base::WallTime::duration kAskAgainOfBehind = std::chrono::seconds(5);

/// The versions of the data that the changes are for: as the workload counts them, and as a whole,
/// since other workloads may count other keys.
reloadpolicy::DataVersions VersionsIn(const std::vector<Change>& changes, const Caches& caches) {
  std::set<std::string> versions;
  for (const Change& change : changes) {
    const std::set<SourceId> causes(change.causes.begin(), change.causes.end());
    for (const auto& [source, digest] : change.sources) {
      if (causes.contains(source)) {
        versions.insert(DataVersionOf(source, digest.ToString()));
      }
    }
    for (const SourceId& cause : causes) {
      if (const auto source = caches.GetSource(cause); source && !source->unknown) {
        versions.insert(DataVersionOf(cause, source->digest.ToString()));
      }
    }
  }
  return {versions.begin(), versions.end()};
}

/// Whether the workload would get other data once the source, which is gone, has some: its pods
/// mention it, or its annotations name it.
bool StillUses(const Workload& workload, const SourceId& gone, const GateHost& host) {
  const std::vector<SourceId> mentioned = ReferencedSources(workload);
  return std::ranges::find(mentioned, gone) != mentioned.end() ||
         (host.concerns && host.concerns(workload, gone));
}

/// Whether a source still has data of one of these versions. Where some keys count only, the whole
/// data may be others while these keys are not: then it has. Where the source is gone and the
/// workload still uses it, there are no others: then it has, too.
bool ArePresent(const reloadpolicy::DataVersions& versions, const Workload& workload,
                const GateHost& host) {
  const std::string& namespace_ = workload.id.key.namespace_;
  std::map<SourceId, std::vector<std::string>> by_source;
  for (const std::string& version : versions) {
    const auto parts = reloadpolicy::PartsOf(version);
    const auto type = parts ? TypeCalled(&SourceTypeNames::kind, parts->kind) : std::nullopt;
    if (type) {
      by_source[{*type, {namespace_, std::string(parts->name)}}].emplace_back(parts->digest);
    }
  }
  return std::ranges::any_of(by_source, [&](const auto& each) {
    const auto& [id, digests] = each;
    const auto source = host.caches.GetSource(id);
    if (!source) {
      return !host.caches.Knows(id.type, namespace_) || StillUses(workload, id, host);
    }
    return source->unknown || digests.size() > 1 || IsOfOtherFields(id, digests.front()) ||
           digests.front() == RecordedDigest(id, source->digest.ToString());
  });
}

/// The source of a version that was recorded under another description than the present one;
/// std::nullopt for all others.
std::optional<SourceId> OldFieldsIn(const std::string& version, const std::string& namespace_) {
  const auto parts = reloadpolicy::PartsOf(version);
  const auto type = parts ? TypeCalled(&SourceTypeNames::kind, parts->kind) : std::nullopt;
  if (!type) {
    return std::nullopt;
  }
  SourceId id{*type, {namespace_, std::string(parts->name)}};
  return IsOfOtherFields(id, parts->digest) ? std::optional(std::move(id)) : std::nullopt;
}

}  // namespace

void PolicyEnforcer::RenewFailedData(const std::string& namespace_) {
  std::map<ObjectRef, reloadpolicy::DataVersions> old;
  {
    const base::MutexLock lock(mu_);
    for (const auto& [ref, failed] : arbiter_.failed_data()) {
      if (ref.key.namespace_ == namespace_ &&
          std::ranges::any_of(failed.versions, [&](const std::string& version) {
            return OldFieldsIn(version, namespace_).has_value();
          })) {
        old.emplace(ref, failed.versions);
      }
    }
  }
  const HostUse host(*this);
  if (old.empty() || host.get() == nullptr) {
    return;
  }
  for (auto& [ref, versions] : old) {
    const reloadpolicy::DataVersions before = versions;
    const auto failed = IdOf(ref);
    const auto workload = failed ? host.get()->caches.GetWorkload(*failed) : std::nullopt;
    const auto record = workload ? OwnBaselineOf(*workload) : std::nullopt;
    for (std::string& version : versions) {
      const auto id = OldFieldsIn(version, namespace_);
      const auto present = id ? host.get()->caches.GetSource(*id) : std::nullopt;
      // A rollout of it that waits is for later data than those that it has failed with.
      const bool is_mended = id && record && record->IsDue(*id);
      if (present && !present->unknown && !is_mended) {
        version = DataVersionOf(*id, present->digest.ToString());
      }
    }
    if (versions != before) {
      Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime) {
        arbiter.ReplaceFailed(ref, before, versions);
      });
    }
  }
}

void PolicyEnforcer::LookAtFailedData(const Workload& workload) {
  RenewFailedData(workload.id.key.namespace_);
  reloadpolicy::FailedData failed;
  {
    const base::MutexLock lock(mu_);
    const auto found = arbiter_.failed_data().find(RefOf(workload.id));
    if (found == arbiter_.failed_data().end()) {
      return;
    }
    failed = found->second;
  }
  const HostUse host(*this);
  if (host.get() == nullptr) {
    return;
  }
  const bool is_past = !ArePresent(failed.versions, workload, *host.get());
  if (is_past != failed.is_past) {
    Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime) {
      arbiter.SetPast(RefOf(workload.id), is_past);
    });
  }
}

bool PolicyEnforcer::HasLowerOrder(const Workload& other, const Workload& workload) const {
  const ObjectRef ref = RefOf(workload.id);
  const ObjectRef other_ref = RefOf(other.id);
  const base::MutexLock lock(mu_);
  const auto own = arbiter_.policies().Resolve(ref, workload.annotations);
  const auto others = arbiter_.policies().Resolve(other_ref, other.annotations);
  if (others.Order() >= own.Order()) {
    return false;
  }
  return !own.waves || !others.waves || own.waves->policy != others.waves->policy ||
         ComesFirst(WaveMemberFor(other_ref, other.annotations, others, other.phase),
                    WaveMemberFor(ref, workload.annotations, own, workload.phase));
}

void PolicyEnforcer::AddWaves(const Workload& workload, const std::vector<Change>& changes,
                              reloadpolicy::Request& request) {
  std::optional<reloadpolicy::Setting<reloadpolicy::Waves>> waves;
  {
    const base::MutexLock lock(mu_);
    waves = arbiter_.policies().Resolve(request.workload, workload.annotations).waves;
  }
  const HostUse host(*this);
  if (!waves || !waves->policy || host.get() == nullptr) {
    return;
  }
  request.data = VersionsIn(changes, host.get()->caches);
  std::set<SourceId> causes;
  for (const Change& change : changes) {
    causes.insert(change.causes.begin(), change.causes.end());
  }
  for (const SourceId& cause : causes) {
    // The last good data need no canary: whoever has others gets them at once.
    const auto source = host.get()->caches.GetSource(cause);
    if (waves->value.Restores() && source && source->restored) {
      continue;
    }
    const LineKey key(cause, *waves->policy);
    const Line line = LineOf(key, waves->value, *host.get());
    const std::size_t wave = line.line->WaveOf(request.workload);
    request.earlier_wave = FirstUndone(key, line, wave, waves->value.healthy_for, *host.get());
    if (request.earlier_wave) {
      return;  // one is reason enough
    }
  }
}

PolicyEnforcer::Line PolicyEnforcer::LineOf(const LineKey& key, const reloadpolicy::Waves& waves,
                                            const GateHost& host) {
  const SourceId& source = key.first;
  const base::TimePoint now = options_.clock.Now();
  const auto present = host.caches.GetSource(source);
  const Digest digest = present ? present->digest : kNoSource;
  {
    const base::MutexLock lock(mu_);
    std::erase_if(lines_, [&](const auto& each) { return each.second.made + kLineLasts <= now; });
    if (const auto known = lines_.find(key);
        known != lines_.end() && known->second.digest == digest) {
      return known->second;
    }
  }
  std::vector<WaveMember> members;
  const Caches::Concerned concerned = host.caches.WorkloadsOf(source);
  for (const auto* ids : {&concerned.by_name, &concerned.by_pattern}) {
    for (const WorkloadId& id : *ids) {
      const auto workload = host.caches.GetWorkload(id);
      if (!workload || (host.concerns && !host.concerns(*workload, source))) {
        continue;
      }
      const ObjectRef ref = RefOf(id);
      const base::MutexLock lock(mu_);
      const auto effective = arbiter_.policies().Resolve(ref, workload->annotations);
      if (effective.waves && effective.waves->policy == key.second) {
        members.push_back(WaveMemberFor(ref, workload->annotations, effective, workload->phase));
      }
    }
  }
  Line line{.made = now,
            .digest = digest,
            .line = std::make_shared<const WaveLine>(waves, std::move(members))};
  const base::MutexLock lock(mu_);
  lines_.insert_or_assign(key, line);
  return line;
}

std::optional<reloadpolicy::EarlierWave> PolicyEnforcer::FirstUndone(const LineKey& key,
                                                                     const Line& line,
                                                                     std::size_t wave,
                                                                     base::Duration healthy_for,
                                                                     const GateHost& host) {
  const std::string version = DataVersionOf(key.first, line.digest.ToString());
  reloadpolicy::EarlierWave undone{.wave = wave + 1, .waves = line.line->waves()};
  const auto is_followed = [this](const ObjectRef& ref) {
    const base::MutexLock lock(mu_);
    return arbiter_.IsFollowed(ref);
  };
  const auto is_begun = [this](const ObjectRef& ref, const Workload& member) {
    const base::MutexLock lock(mu_);
    return arbiter_.IsFollowed(ref) || arbiter_.IsToBeTold(ref, member.uid, member.annotations);
  };
  // Whether somebody else, such as a release, has made the pods anew, and these have not been
  // healthy for long enough. Of its own rollouts the operator knows itself how they have ended.
  const auto is_soaking = [&](const ObjectRef& ref, const Workload& member) {
    if (reloadpolicy::WasRolledFor(version, member.annotations, member.uid)) {
      return false;
    }
    const base::MutexLock lock(mu_);
    const auto since = arbiter_.SettledSince(ref);
    if (IsUnsettled(member.phase) || since == base::WallTime::max()) {
      return true;
    }
    const auto soak = std::chrono::duration_cast<base::WallTime::duration>(healthy_for);
    if (since && *since + soak > options_.clock.Wall()) {
      undone.until = *since + soak;
    }
    return undone.until.has_value();
  };
  // A replica that begins to lead may not have been told yet of what has become of earlier waves.
  const auto is_behind = [&](const Workload& member) {
    if (!host.is_current || host.is_current(member)) {
      return false;
    }
    undone.until = options_.clock.Wall() + kAskAgainOfBehind;
    return true;
  };
  std::size_t done = line.done;
  for (; done < line.line->MembersBefore(wave); ++done) {
    const ObjectRef& ref = line.line->members()[done].workload;
    const auto id = IdOf(ref);
    const auto member = id ? host.caches.GetWorkload(*id) : std::nullopt;
    // Asked once more at last: one that needs no rollout any more may just have begun it.
    if (member && (is_followed(ref) || host.needs_rollout(*member, key.first) ||
                   is_begun(ref, *member) || is_soaking(ref, *member) || is_behind(*member))) {
      undone.waits_for = ref;
      break;
    }
  }
  const base::MutexLock lock(mu_);
  if (const auto known = lines_.find(key);
      known != lines_.end() && known->second.line == line.line) {
    known->second.done = std::max(known->second.done, done);
  }
  return done < line.line->MembersBefore(wave) ? std::optional(std::move(undone)) : std::nullopt;
}

}  // namespace kubexx::reloader
