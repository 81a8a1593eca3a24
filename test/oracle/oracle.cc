#include "oracle/oracle.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

using apiserver::storage::Event;
using codec::JsonTree;

constexpr std::string_view kRegistry = "/registry/";
constexpr std::array<std::string_view, 4> kWorkloads = {"deployments/", "statefulsets/",
                                                        "daemonsets/", "rollouts/"};
/// Stand before the names of Rollouts, of Builds, and of what pods tell of SecretProviderClasses.
constexpr std::array<std::string_view, 3> kGroups = {"argoproj.io/", "secrets-store.csi.x-k8s.io/",
                                                     "ci.example.com/"};
constexpr std::string_view kPodStatuses = "secretproviderclasspodstatuses/";
constexpr std::string_view kRolloutsDefinition =
    "apiextensions.k8s.io/customresourcedefinitions/rollouts.argoproj.io";
constexpr std::string_view kCronJobs = "cronjobs/";
constexpr std::string_view kJobs = "jobs/";
constexpr std::string_view kConfigMaps = "configmaps/";
constexpr std::string_view kSecrets = "secrets/";
constexpr std::string_view kLeases = "leases/";

bool IsSource(std::string_view name) {
  return name.starts_with(kConfigMaps) || name.starts_with(kSecrets) || IsObject(name);
}

bool IsWorkload(std::string_view name) {
  return std::ranges::any_of(kWorkloads, [name](auto prefix) { return name.starts_with(prefix); });
}

bool IsOfInterest(std::string_view name) {
  return IsSource(name) || IsWorkload(name) || name.starts_with(kCronJobs) ||
         name.starts_with(kJobs) || name.starts_with(kLeases) || name.starts_with(kPodStatuses);
}

}  // namespace

Oracle::Oracle(apiserver::storage::Storage& storage, Tell tell, OracleOptions options)
    : storage_(&storage),
      tell_(std::move(tell)),
      options_(std::move(options)),
      seen_(options_.first),
      thread_([this](const std::stop_token& stop) { Follow(stop); }) {}

void Oracle::Restart(apiserver::storage::Storage& storage, apiserver::storage::Revision base) {
  thread_ = {};
  storage_ = &storage;
  {
    const base::MutexLock lock(mu_);
    restored_ = storage.CurrentRevision({}).value_or(0);
    seen_ = base;
    data_.clear();
    data_before_.clear();
    changed_at_.clear();
    written_at_.clear();
    data_written_.clear();
    bases_.clear();
    referring_.clear();
    classes_.clear();
    jobs_.clear();
    paused_.clear();
    shared_.clear();
    workloads_.clear();
    formers_.clear();
    holders_.clear();
    for (auto& [source, kept] : kept_) {
      kept.replaced.clear();  // the backup may be older than these restores
    }
    waves_ = {};
    watched_ = false;
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { Follow(stop); });
}

void Oracle::Follow(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto ended = storage_->Watch(
        kRegistry, {.from_revision = seen()},
        [this](std::shared_ptr<const Event> event) -> apimachinery::Result<void> {
          Apply(*event);
          return {};
        },
        stop);
    if (!ended && !stop.stop_requested()) {
      tell_("oracle", "cannot follow the storage: " + ended.error().ToString());
      if (ended.error().reason == apimachinery::Reason::kExpired) {
        const base::MutexLock lock(mu_);
        lost_sight_ = "nobody can judge, since the history is gone: " + ended.error().ToString();
        return;
      }
      base::Clock::Real().SleepFor(std::chrono::seconds(1), stop);
    }
  }
}

void Oracle::Apply(const Event& event) {
  const base::MutexLock lock(mu_);
  if (!event.more) {
    seen_ = event.kv.mod_revision;
  }
  if (event.type == Event::Type::kProgress) {
    return;
  }
  ++counts_.events;
  applied_ = event.kv.mod_revision;
  is_restored_ = event.kv.mod_revision <= restored_;
  std::string name = event.kv.key.substr(kRegistry.size());
  for (const std::string_view group : kGroups) {
    name.erase(0, name.starts_with(group) ? group.size() : 0);
  }
  if (name == kRolloutsDefinition) {
    rollouts_served_ = event.type == Event::Type::kDelete
                           ? std::nullopt
                           : std::optional(rollouts_served_.value_or(options_.now()));
  }
  if (!IsOfInterest(name)) {
    return;
  }
  MeetLocked(name);
  if (IsSource(name)) {
    written_at_[name] = event.kv.mod_revision;
  }
  if (event.type == Event::Type::kDelete) {
    ForgetLocked(name);
  } else if (const auto object = JsonTree::Parse(*event.kv.value)) {
    OnObjectLocked(name, *object);
  } else {
    lost_sight_ = "nobody can judge, since this cannot be read: " + name;
  }
}

void Oracle::ForgetLocked(const std::string& name) {
  bases_.erase(name);
  referring_.erase(name);
  if (IsSource(name)) {
    paused_.erase(name);
    data_written_.erase(name);
    OnKeysLocked(name, std::nullopt);
    OnSharedLocked(name, nullptr);
  } else if (name.starts_with(kPodStatuses)) {
    GoneLocked(name);
  } else if (const auto found = workloads_.find(name); found != workloads_.end()) {
    if (name.starts_with(kJobs) && !found->second.mark.starts_with(kDeleteMark)) {
      if (found->second.has_ended) {
        SetWrongLocked(name + " was deleted by an operator, though it had ended");
      }
      found->second.is_gone = true;  // an operator makes it anew
      return;
    }
    JudgeLocked(name, found->second);
    workloads_.erase(found);
    formers_.erase(name);
  }
}

void Oracle::OnObjectLocked(const std::string& name, const JsonTree& object) {
  if (IsSource(name)) {
    data_written_[name] = DataWrittenIn(object);
    NotePauseLocked(name,
                    object.At({"metadata", "annotations", reloader::kSourcePaused}) != nullptr);
    JudgeRestoreLocked(name, object);
    OnKeysLocked(name, DataOf(object));
    OnSharedLocked(name, &object);
    return;
  }
  NoteRolledLocked(name, object);
  if (object.At({"metadata", "annotations", kBaseAnnotation}) != nullptr) {
    OnBaseLocked(name, object);
  } else if (object.At({"spec", "workloadRef"}) != nullptr) {
    OnReferringLocked(name, object);
  } else if (IsWorkload(name)) {
    OnWorkloadLocked(name, object);
  } else if (name.starts_with(kCronJobs)) {
    OnCronJobLocked(name, object);
  } else if (name.starts_with(kJobs)) {
    OnJobLocked(name, object);
  } else if (name.starts_with(kPodStatuses)) {
    OnPodStatusLocked(name, object);
  } else {
    OnLeaseLocked(name, object);
  }
}

void Oracle::OnLeaseLocked(const std::string& key, const JsonTree& object) {
  const JsonTree* const holder = object.At({"spec", "holderIdentity"});
  const std::string* const name = holder == nullptr ? nullptr : holder->AsString();
  std::string& known = holders_[key];
  if (name != nullptr && known != *name) {
    tell_("storage", key + " is held by " + *name);
    known = *name;
    led_since_ = options_.now();
  }
}

void Oracle::AddReasonLocked(const std::string& source) {
  for (auto& [name, workload] : workloads_) {
    if (Uses(workload, source)) {
      ++workload.reasons;
      workload.is_undone = false;
    }
  }
}

void Oracle::NotePauseLocked(const std::string& source, bool paused) {
  if (paused == paused_.contains(source)) {
    return;
  }
  for (auto& [name, workload] : workloads_) {
    const bool is_held = Uses(workload, source);
    workload.was_asked_for = workload.was_asked_for || is_held;
    workload.was_held = workload.was_held || is_held;
    workload.is_undone = workload.is_undone && !is_held;
  }
  if (paused) {
    paused_.insert(source);
  } else {
    paused_.erase(source);
    AddReasonLocked(source);  // what was held back is made up for
  }
}

bool Oracle::Uses(const ObservedWorkload& workload, const std::string& source) {
  return workload.read.contains(source) ||
         std::ranges::any_of(workload.read,
                             [&](const auto& each) { return SourceOf(each.first) == source; });
}

void Oracle::OnKeysLocked(const std::string& source, const std::optional<std::string>& data) {
  OnSourceLocked(source, data);
  const auto by_key = data ? DataByKey(*data) : std::map<std::string, std::string>();
  std::vector<std::string> gone;
  const std::string views = ViewOf(source, "");
  for (auto each = data_.lower_bound(views); each != data_.end() && each->first.starts_with(views);
       ++each) {
    if (!by_key.contains(each->first.substr(views.size()))) {
      gone.push_back(each->first);
    }
  }
  for (const std::string& view : gone) {
    OnSourceLocked(view, std::nullopt);
  }
  for (const auto& [key, value] : by_key) {
    OnSourceLocked(ViewOf(source, key), value);
  }
}

void Oracle::OnSourceLocked(const std::string& key, std::optional<std::string> data) {
  const auto found = data_.find(key);
  if (data ? found != data_.end() && found->second == *data : found == data_.end()) {
    return;
  }
  if (!IsView(key) && !IsForeign(key)) {
    tell_("storage", key + (data ? " is now " + *data : " is gone"));
    ++counts_.changes;
  }
  const base::TimePoint now = options_.now();
  changed_at_[key] = now;
  for (auto& [name, workload] : workloads_) {
    if (workload.read.contains(key)) {
      ++workload.reasons;
      workload.is_undone = false;
      workload.is_data_new = true;
      workload.data_since = now;
    }
  }
  if (found != data_.end()) {
    data_before_[key] = found->second;
  }
  if (data) {
    data_[key] = *std::move(data);
  } else {
    data_.erase(found);
  }
}

const std::string* Oracle::DataOfLocked(const std::string& source) const {
  const auto told = classes_.find(source);
  if (told != classes_.end() && told->second.told.empty()) {
    return nullptr;  // who begins now knows nothing of it
  }
  const auto found = paused_.contains(SourceOf(source)) ? data_.end() : data_.find(source);
  return found == data_.end() ? nullptr : &found->second;
}

std::optional<std::string> Oracle::Stale() {
  auto old = OldPods();
  return old ? old : OldRecord();
}

std::optional<std::string> Oracle::OldPods() {
  const base::MutexLock lock(mu_);
  if (lost_sight_) {
    return lost_sight_;
  }
  for (const auto& [name, workload] : workloads_) {
    if (workload.is_gone) {
      return name + " was deleted by an operator, and was not made anew";
    }
    if (workload.is_paused && !workload.is_held) {
      return name + " is paused, and nobody holds it";
    }
    if (workload.is_opted_out || workload.is_on_hold || (workload.is_unrecorded && !watched_) ||
        workload.awaits_resume || workload.has_ended) {
      continue;  // of what changes while nothing watches nobody can know then
    }
    for (const auto& [source, data] : workload.read) {
      const std::string* const now = DataOfLocked(source);
      if (data && now != nullptr && !HasLocked(source, *data) &&
          !IsHiddenLocked(workload, source) && !IsUntoldLocked(workload, source) &&
          !HasBegunWithLocked(name, workload, source)) {
        return name + " runs with " + source + " " + *data + ", which is " + *now;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> Oracle::OldRecord() {
  const base::MutexLock lock(mu_);
  for (const auto& [name, workload] : workloads_) {
    if (workload.is_opted_out || workload.is_on_hold || workload.is_unrecorded ||
        workload.has_ended) {
      continue;
    }
    for (const auto& [source, data] : workload.read) {
      const std::string* const now = DataOfLocked(source);
      const bool is_as_before = data && IsRecorded(workload.baseline, source, *data);
      if (now != nullptr && !IsRecordedLocked(workload, source) &&
          !(is_as_before && IsUntoldLocked(workload, source))) {
        return name + " has a record of other data of " + source + " than " + *now + ": " +
               workload.baseline;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> Oracle::LeftInDoubt() {
  const base::MutexLock lock(mu_);
  for (const auto& [name, workload] : workloads_) {
    if (workload.is_opted_out || workload.is_on_hold || workload.is_unrecorded ||
        name.starts_with(kCronJobs) || name.starts_with(kJobs)) {
      continue;  // of the last two no release makes pods
    }
    // What a source leaves in doubt that its people have paused waits, and the time with it.
    const std::set<std::string>& paused = paused_;
    const bool is_waiting = std::ranges::any_of(workload.read, [&paused](const auto& each) {
      return paused.contains(SourceOf(each.first));
    });
    for (const auto& [source, data] : workload.read) {
      if (DataOfLocked(source) != nullptr &&
          (IsInDoubtOfLocked(name, workload, source) ||
           (!is_waiting && StaysInDoubt({.baseline = workload.baseline,
                                         .template_written = workload.template_written,
                                         .own_written = workload.own_written,
                                         .undone = workload.undone},
                                        source)))) {
        return name + " has a record that leaves in doubt what its pods have of " + source + ": " +
               workload.baseline;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> Oracle::TooMany() {
  const base::MutexLock lock(mu_);
  for (auto& [name, workload] : workloads_) {
    JudgeLocked(name, workload);
    // Who begins now may not know that the pods have what there is.
    workload.doubts = options_.exact && !IsUpToDateLocked(workload) ? 1 : 0;
    CountLeftBehindLocked(name, workload);
  }
  return std::exchange(too_many_, std::nullopt);
}

std::optional<std::string> Oracle::Wrong() {
  const base::MutexLock lock(mu_);
  return std::exchange(wrong_, std::nullopt);
}

void Oracle::SetWrongLocked(std::string what) {
  if (!wrong_) {
    tell_("oracle", what);
    wrong_ = std::move(what);
  }
}

void Oracle::SetStrict(bool strict, bool limited) {
  const base::MutexLock lock(mu_);
  strict_ = strict;
  limited_ = limited;
  for (auto& [name, workload] : workloads_) {
    workload.was_asked_for = false;
  }
}

void Oracle::SetWatched(bool watched) {
  const base::MutexLock lock(mu_);
  watched_ = watched;
}

void Oracle::AllowBlind(const std::string& workload) {
  const base::MutexLock lock(mu_);
  for (auto& [key, each] : workloads_) {
    if (key == workload || each.base == workload) {
      each.blind = options_.now();
    }
  }
}

std::string Oracle::HolderOf(const std::string& lease) {
  const base::MutexLock lock(mu_);
  const auto found = holders_.find(lease);
  return found == holders_.end() ? "" : found->second;
}

std::optional<Oracle::Former> Oracle::FormerOf(const std::string& workload) {
  const base::MutexLock lock(mu_);
  const auto found = formers_.find(workload);
  return found == formers_.end() || found->second.empty() ? std::nullopt
                                                          : std::optional(found->second.back());
}

Oracle::Counts Oracle::counts() {
  const base::MutexLock lock(mu_);
  return counts_;
}

apiserver::storage::Revision Oracle::seen() {
  const base::MutexLock lock(mu_);
  return seen_;
}

}  // namespace kubexx::oracle
