// What an Oracle makes of what pods tell of their SecretProviderClasses.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {

using codec::JsonTree;

namespace {

/// A watch that is half-open is noticed within this time.
constexpr std::chrono::minutes kLongestWatch{10};

/// What the names of all pods of "plural/ns/name" begin with.
std::string MountersOf(const std::string& key) {
  return key.substr(0, key.find('/')) + "-" + key.substr(key.rfind('/') + 1) + "-";
}

/// The same of those that have the present template.
std::string MountersOf(const std::string& key, const ObservedWorkload& workload) {
  return MountersOf(key) +
         std::to_string(std::hash<std::string>()(workload.uid + workload.template_text));
}

}  // namespace

// As operators have it (see reloader::ProviderClasses): pods that begin have the last version or a
// newer one; only a pod that has told of another before shows that there was a change.
void Oracle::OnPodStatusLocked(const std::string& key, const JsonTree& object) {
  const JsonTree* const status = object.Find("status");
  const JsonTree* const objects = status == nullptr ? nullptr : status->Find("objects");
  if (objects == nullptr || objects->elements().empty()) {
    return;
  }
  const std::size_t space = key.find('/') + 1;
  const std::string source = std::string(kProviderClasses) +
                             key.substr(space, key.find('/', space) + 1 - space) +
                             std::string(status->TextAt("secretProviderClassName"));
  ProviderClass& known = classes_[source];
  const std::string version(objects->elements().front().TextAt("version"));
  if (known.told.empty()) {
    known.told_since = options_.now();
  }
  known.began.try_emplace(key, ProviderClass::Beginning{version, known.told_since});
  if (std::exchange(known.told[key], version) == version) {
    return;
  }
  const JsonTree* const generation = object.At({"metadata", "generation"});
  if (generation != nullptr && generation->AsInt().value_or(1) > 1) {
    for (const std::string& before : known.current) {
      known.replaced[before] = options_.now();
    }
    known.may_be_recorded.clear();
    known.untold.clear();
    if (!known.current.contains(version)) {
      known.witnesses.clear();
    }
    known.witnesses.insert(key);
    known.replaced.erase(version);
    known.current = {version};
    OnSourceLocked(source, version);
  } else if (known.current.insert(version).second && !data_.contains(source)) {
    tell_("storage", source + " is told of as " + version);
    data_[source] = version;
  }
}

void Oracle::GoneLocked(const std::string& key) {
  for (auto& [source, known] : classes_) {
    if (known.told.erase(key) == 0) {
      continue;
    }
    const bool was_last_witness = known.witnesses.erase(key) != 0 && known.witnesses.empty();
    for (const auto& [version, at] : known.replaced) {
      if (options_.now() - at >= kLongestWatch) {
        continue;
      }
      if (known.told.empty()) {
        known.may_be_recorded.insert(version);
      } else if (was_last_witness) {
        known.untold.insert(version);
      }
    }
    if (known.told.empty()) {
      known.untold.clear();  // who tells of it later need not have begun since
    }
  }
}

bool Oracle::HasLocked(const std::string& source, const std::string& data) const {
  if (const auto found = classes_.find(source); found != classes_.end()) {
    return found->second.current.contains(data);
  }
  const auto there = data_.find(source);
  return there != data_.end() && there->second == data;
}

bool Oracle::IsRecordedLocked(const ObservedWorkload& workload, const std::string& source) const {
  if (const auto found = classes_.find(source); found != classes_.end()) {
    const auto is_recorded = [&](const std::string& version) {
      return IsRecorded(workload.baseline, source, version);
    };
    return std::ranges::any_of(found->second.current, is_recorded) ||
           std::ranges::any_of(found->second.may_be_recorded, is_recorded);
  }
  const auto there = data_.find(source);
  return there != data_.end() && IsRecorded(workload.baseline, source, there->second);
}

bool Oracle::IsUntoldLocked(const ObservedWorkload& workload, const std::string& source) const {
  const auto found = classes_.find(source);
  const auto read = workload.read.find(source);
  if (found == classes_.end() || read == workload.read.end() || !read->second ||
      !workload.is_of_others) {
    return false;
  }
  const ProviderClass& known = found->second;
  return known.untold.contains(*read->second) &&
         std::ranges::all_of(known.told, [&known](const auto& each) {
           return known.current.contains(each.second);
         });
}

bool Oracle::HasBegunWithLocked(const std::string& key, const ObservedWorkload& workload,
                                const std::string& source) const {
  const auto found = classes_.find(source);
  if (found == classes_.end()) {
    return false;
  }
  const ProviderClass& known = found->second;
  const std::string status = "secretproviderclasspodstatuses/" + std::string(SpaceOf(key)) + "/" +
                             MountersOf(key, workload);
  auto pod = known.began.lower_bound(status);
  const bool is_told = pod != known.began.end() && pod->first.starts_with(status);
  for (; pod != known.began.end() && pod->first.starts_with(status); ++pod) {
    if (!known.current.contains(pod->second.version) ||
        pod->second.told_since > workload.template_since) {
      return false;
    }
  }
  return is_told;
}

std::vector<Oracle::Mount> Oracle::Mounts() {
  const base::MutexLock lock(mu_);
  std::vector<Mount> mounts;
  for (const auto& [key, workload] : workloads_) {
    for (const auto& [source, data] : workload.read) {
      if (!IsProviderClass(source)) {
        continue;
      }
      mounts.push_back({.space = std::string(SpaceOf(key)),
                        .provider_class = source.substr(source.rfind('/') + 1),
                        .workload = MountersOf(key),
                        .pods = MountersOf(key, workload),
                        .is_through = workload.observed >= workload.generation});
    }
  }
  return mounts;
}

}  // namespace kubexx::oracle
