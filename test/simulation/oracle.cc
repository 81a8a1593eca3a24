#include "oracle.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "kubexx/codec/base64.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/plan/baseline.h"

namespace kubexx::simulation {
namespace {

using apiserver::storage::Event;
using codec::JsonTree;

constexpr std::array<std::string_view, 3> kWorkloads = {
    "/registry/deployments/", "/registry/statefulsets/", "/registry/daemonsets/"};
constexpr std::string_view kCronJobs = "/registry/cronjobs/";
constexpr std::string_view kJobs = "/registry/jobs/";
constexpr std::string_view kConfigMaps = "/registry/configmaps/";
constexpr std::string_view kSecrets = "/registry/secrets/";
constexpr std::string_view kLeases = "/registry/leases/";

std::string JoinedData(const JsonTree& source) {
  const JsonTree* const data = source.Find("data");
  const JsonTree* const binary = source.Find("binaryData");
  return (data == nullptr ? "" : data->ToJson()) + (binary == nullptr ? "" : binary->ToJson());
}

/// "deployments/ns/name" of a key.
std::string ShortOf(std::string_view key) {
  return std::string(key.substr(std::string_view("/registry/").size()));
}

}  // namespace

Oracle::Oracle(apiserver::storage::Storage& storage, Timeline& timeline)
    : storage_(&storage),
      timeline_(timeline),
      thread_([this](const std::stop_token& stop) { Follow(stop, kFirst); }) {}

void Oracle::Restart(apiserver::storage::Storage& storage, apiserver::storage::Revision base) {
  thread_ = {};
  {
    const base::MutexLock lock(mu_);
    storage_ = &storage;
    restored_ = storage.CurrentRevision({}).value_or(0);
    data_.clear();
    changed_at_.clear();
    jobs_.clear();
    paused_.clear();
    workloads_.clear();
    holders_.clear();
  }
  thread_ = std::jthread([this, base](const std::stop_token& stop) { Follow(stop, base); });
}

void Oracle::Follow(const std::stop_token& stop, apiserver::storage::Revision seen) {
  while (!stop.stop_requested()) {
    const auto ended = storage_->Watch(
        "/registry/", {.from_revision = seen},
        [this, &seen](std::shared_ptr<const Event> event) -> apimachinery::Result<void> {
          seen = event->kv.mod_revision;
          Apply(*event);
          return {};
        },
        stop);
    if (!ended && !stop.stop_requested()) {
      timeline_.Add("oracle", "cannot follow the storage: " + ended.error().ToString());
      base::Clock::Real().SleepFor(std::chrono::seconds(1), stop);
    }
  }
}

void Oracle::Apply(const Event& event) {
  if (event.type == Event::Type::kProgress) {
    return;
  }
  const std::string& key = event.kv.key;
  const bool is_source = key.starts_with(kConfigMaps) || key.starts_with(kSecrets);
  const bool is_workload = std::ranges::any_of(
      kWorkloads, [&key](std::string_view prefix) { return key.starts_with(prefix); });
  const bool is_cron_job = key.starts_with(kCronJobs);
  const base::MutexLock lock(mu_);
  ++events_;
  is_restored_ = event.kv.mod_revision <= restored_;
  if (!is_source && !is_workload && !is_cron_job && !key.starts_with(kJobs) &&
      !key.starts_with(kLeases)) {
    return;
  }
  if (event.type == Event::Type::kDelete) {
    if (is_source) {
      paused_.erase(ShortOf(key));
      OnSourceLocked(ShortOf(key), std::nullopt);
    } else if (is_workload || is_cron_job) {
      workloads_.erase(ShortOf(key));
    }
    return;
  }
  auto object = JsonTree::Parse(*event.kv.value);
  if (!object) {
    timeline_.Add("oracle", "cannot read " + key);
    return;
  }
  if (is_source) {
    NotePauseLocked(ShortOf(key),
                    object->At({"metadata", "annotations", reloader::kSourcePaused}) != nullptr);
    OnSourceLocked(ShortOf(key), JoinedData(*object));
  } else if (is_workload) {
    OnWorkloadLocked(ShortOf(key), std::move(*object));
  } else if (is_cron_job) {
    OnCronJobLocked(ShortOf(key), *object);
  } else if (key.starts_with(kJobs)) {
    OnJobLocked(ShortOf(key), *object);
  } else if (const JsonTree* const holder = object->At({"spec", "holderIdentity"})) {
    const std::string* const name = holder->AsString();
    std::string& known = holders_[ShortOf(key)];
    if (name != nullptr && known != *name) {
      timeline_.Add("storage", ShortOf(key) + " is held by " + *name);
      known = *name;
    }
  }
}

void Oracle::AddReasonLocked(const std::string& source) {
  for (auto& [name, workload] : workloads_) {
    workload.reasons += workload.read.contains(source) ? 1 : 0;
  }
}

void Oracle::NotePauseLocked(const std::string& source, bool paused) {
  if (paused == paused_.contains(source)) {
    return;
  }
  for (auto& [name, workload] : workloads_) {
    const bool is_held = workload.read.contains(source);
    workload.was_asked_for = workload.was_asked_for || is_held;
    workload.was_held = workload.was_held || is_held;
  }
  if (paused) {
    paused_.insert(source);
  } else {
    paused_.erase(source);
    AddReasonLocked(source);  // what was held back is made up for
  }
}

void Oracle::OnSourceLocked(const std::string& key, std::optional<std::string> data) {
  const auto found = data_.find(key);
  if (data ? found != data_.end() && found->second == *data : found == data_.end()) {
    return;
  }
  timeline_.Add("storage", key + (data ? " is now " + *data : " is gone"));
  ++changes_;
  changed_at_[key] = timeline_.now();
  AddReasonLocked(key);
  for (auto& [name, workload] : workloads_) {
    if (workload.read.contains(key)) {
      workload.is_data_new = true;
      workload.data_since = timeline_.now();
    }
  }
  if (data) {
    data_[key] = *std::move(data);
  } else {
    data_.erase(found);
  }
}

bool Oracle::IsRecordedLocked(const std::string& workload, const std::string& source) {
  const std::size_t begin = source.find('/') + 1;
  const std::size_t end = source.find('/', begin);
  const std::string space = source.substr(begin, end - begin);
  const auto baseline = reloader::Baseline::Parse(workloads_[workload].baseline, space);
  if (!baseline) {
    return false;
  }
  const bool is_secret = source.starts_with("secrets/");
  const auto found = baseline->digests.find(
      {is_secret ? reloader::SourceType::kSecret : reloader::SourceType::kConfigMap,
       {space, source.substr(end + 1)}});
  const auto data = JsonTree::Parse(data_[source]);
  if (found == baseline->digests.end() || !data) {
    return false;
  }
  std::string value(data->TextAt("key"));
  if (is_secret) {
    const std::string encoded = std::exchange(value, {});
    codec::DecodeBase64(encoded, value);
  }
  reloader::DigestBuilder digest;
  digest.Add("key", value);
  return found->second == digest.Finish();
}

std::optional<std::string> Oracle::Stale() {
  const base::MutexLock lock(mu_);
  for (const auto& [name, workload] : workloads_) {
    if (workload.is_paused && !workload.is_held) {
      return name + " is paused, and nobody holds it";
    }
    if (workload.is_opted_out || workload.is_unrecorded) {
      continue;  // of what changes while nothing watches nobody can know then
    }
    for (const auto& [source, data] : workload.read) {
      const auto now = paused_.contains(source) ? data_.end() : data_.find(source);
      if (data && now != data_.end() && now->second != *data) {
        return name + " runs with " + source + " " + *data + ", which is " + now->second;
      }
      if (now != data_.end() && !IsRecordedLocked(name, source)) {
        return name + " has a record of other data of " + source + " than " + now->second + ": " +
               workload.baseline;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> Oracle::TooMany() {
  const base::MutexLock lock(mu_);
  std::optional<std::string> found;
  for (auto& [name, workload] : workloads_) {
    if (workload.rolled > workload.reasons && !found) {
      found = name + " was rolled " + std::to_string(workload.rolled) + " times for " +
              std::to_string(workload.reasons) + " changes";
    }
    workload.rolled = 0;
    workload.reasons = 0;
  }
  return found;
}

std::optional<std::string> Oracle::Wrong() {
  const base::MutexLock lock(mu_);
  return wrong_;
}

void Oracle::SetStrict(bool strict, bool limited) {
  const base::MutexLock lock(mu_);
  strict_ = strict;
  limited_ = limited;
  for (auto& [name, workload] : workloads_) {
    workload.was_asked_for = false;
  }
}

void Oracle::SetOldestOperator(Nanoseconds since) {
  const base::MutexLock lock(mu_);
  oldest_operator_ = since;
}

void Oracle::AllowBlind(const std::string& workload) {
  const base::MutexLock lock(mu_);
  if (const auto found = workloads_.find(workload); found != workloads_.end()) {
    found->second.blind = timeline_.now();
  }
}

std::optional<Oracle::Former> Oracle::FormerOf(const std::string& workload) {
  const base::MutexLock lock(mu_);
  const auto found = workloads_.find(workload);
  return found == workloads_.end() || found->second.formers.empty()
             ? std::nullopt
             : std::optional(found->second.formers.back());
}

std::string Oracle::HolderOf(const std::string& lease) {
  const base::MutexLock lock(mu_);
  const auto found = holders_.find(lease);
  return found == holders_.end() ? "" : found->second;
}

std::vector<Oracle::Unfinished> Oracle::UnfinishedWorkloads() {
  const base::MutexLock lock(mu_);
  std::vector<Unfinished> unfinished;
  for (const auto& [key, workload] : workloads_) {
    if (workload.observed < workload.generation) {
      const std::size_t begin = key.find('/') + 1;
      const std::size_t end = key.find('/', begin);
      unfinished.push_back({.plural = key.substr(0, begin - 1),
                            .space = key.substr(begin, end - begin),
                            .name = key.substr(end + 1),
                            .generation = workload.generation,
                            .replicas = workload.replicas});
    }
  }
  return unfinished;
}

bool Oracle::AwaitUnfinished(const std::stop_token& stop) {
  const base::MutexLock lock(mu_);
  while (std::ranges::none_of(
      workloads_, [](const auto& each) { return each.second.observed < each.second.generation; })) {
    if (base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max()) ==
        base::Wake::kStopped) {
      return false;
    }
  }
  return true;
}

std::uint64_t Oracle::rollouts() {
  const base::MutexLock lock(mu_);
  return rollouts_;
}

std::uint64_t Oracle::changes() {
  const base::MutexLock lock(mu_);
  return changes_;
}

std::uint64_t Oracle::events() {
  const base::MutexLock lock(mu_);
  return events_;
}

}  // namespace kubexx::simulation
