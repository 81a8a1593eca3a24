#include "oracle/oracle.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <memory>
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

constexpr std::array<std::string_view, 3> kWorkloads = {
    "/registry/deployments/", "/registry/statefulsets/", "/registry/daemonsets/"};
constexpr std::string_view kConfigMaps = "/registry/configmaps/";
constexpr std::string_view kSecrets = "/registry/secrets/";
constexpr std::string_view kLeases = "/registry/leases/";

std::int64_t NumberAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

std::string StringAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr || found->AsString() == nullptr ? "" : *found->AsString();
}

/// "deployments/ns/name" of a key.
std::string ShortOf(std::string_view key) {
  return std::string(key.substr(std::string_view("/registry/").size()));
}

bool IsSource(std::string_view key) {
  return key.starts_with(kConfigMaps) || key.starts_with(kSecrets);
}

bool IsWorkload(std::string_view key) {
  return std::ranges::any_of(kWorkloads,
                             [key](std::string_view prefix) { return key.starts_with(prefix); });
}

JsonTree Parsed(const std::string& text) { return JsonTree::Parse(text).value_or(JsonTree()); }

}  // namespace

Oracle::Oracle(apiserver::storage::Storage& storage, Tell tell, OracleOptions options)
    : storage_(storage),
      tell_(std::move(tell)),
      options_(options),
      seen_(options.first),
      thread_([this](const std::stop_token& stop) { Follow(stop); }) {}

void Oracle::Follow(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto ended = storage_.Watch(
        "/registry/", {.from_revision = seen()},
        [this](std::shared_ptr<const Event> event) -> apimachinery::Result<void> {
          Apply(*event);
          return {};
        },
        stop);
    if (!ended && !stop.stop_requested()) {
      tell_("oracle", "cannot follow the storage: " + ended.error().ToString());
      if (ended.error().reason == apimachinery::Reason::kExpired) {
        const base::MutexLock lock(mu_);
        blind_ = "nobody can judge, since the history is gone: " + ended.error().ToString();
        return;
      }
      base::Clock::Real().SleepFor(std::chrono::seconds(1), stop);
    }
  }
}

void Oracle::Apply(const Event& event) {
  const std::string& key = event.kv.key;
  const base::MutexLock lock(mu_);
  if (!event.more) {
    seen_ = event.kv.mod_revision;
  }
  if (event.type == Event::Type::kProgress) {
    return;
  }
  ++counts_.events;
  if (!IsSource(key) && !IsWorkload(key) && !key.starts_with(kLeases)) {
    return;
  }
  if (event.type == Event::Type::kDelete) {
    ForgetLocked(key);
    return;
  }
  const auto object = JsonTree::Parse(*event.kv.value);
  if (!object) {
    blind_ = "nobody can judge, since this cannot be read: " + key;
  } else if (IsWorkload(key)) {
    OnWorkloadLocked(ShortOf(key), *object);
  } else if (IsSource(key)) {
    if (object->At({"metadata", "annotations", reloader::kSourcePaused}) != nullptr) {
      paused_.insert(ShortOf(key));
    } else if (paused_.erase(ShortOf(key)) != 0) {
      AddReasonLocked(ShortOf(key));  // what was held back is made up for
    }
    OnSourceLocked(ShortOf(key), DataOf(*object));
  } else {
    OnLeaseLocked(ShortOf(key), *object);
  }
}

void Oracle::ForgetLocked(const std::string& key) {
  const std::string name = ShortOf(key);
  if (IsSource(key)) {
    paused_.erase(name);
    OnSourceLocked(name, std::nullopt);
  } else if (const auto found = workloads_.find(name); found != workloads_.end()) {
    JudgeLocked(name, found->second);
    workloads_.erase(found);
    expected_.erase(name);
    deleted_.insert(name);
  }
}

void Oracle::OnLeaseLocked(const std::string& key, const JsonTree& object) {
  const std::string holder = StringAt(object, {"spec", "holderIdentity"});
  std::string& known = holders_[key];
  if (object.At({"spec", "holderIdentity"}) != nullptr && known != holder) {
    tell_("storage", key + " is held by " + holder);
    known = holder;
  }
}

void Oracle::AddReasonLocked(const std::string& source) {
  for (auto& [name, workload] : workloads_) {
    workload.reasons += workload.read.contains(source) ? 1 : 0;
  }
}

void Oracle::OnSourceLocked(const std::string& key, std::optional<std::string> data) {
  const auto found = data_.find(key);
  if (data ? found != data_.end() && found->second == *data : found == data_.end()) {
    return;
  }
  tell_("storage", key + (data ? " is now " + *data : " is gone"));
  ++counts_.changes;
  AddReasonLocked(key);
  if (data) {
    data_[key] = *std::move(data);
  } else {
    data_.erase(found);
  }
}

void Oracle::TakeStateLocked(Workload& workload, const JsonTree& object, bool is_new) {
  workload.generation = NumberAt(object, {"metadata", "generation"});
  workload.observed = NumberAt(object, {"status", "observedGeneration"});
  workload.replicas = NumberAt(object, {"spec", "replicas"});
  workload.annotations = TextOf(object.At({"metadata", "annotations"}));
  const bool had_baseline = !workload.baseline.empty();
  workload.baseline = StringAt(object, {"metadata", "annotations", reloader::kBaselineAnnotation});
  const std::string uid = StringAt(object, {"metadata", "uid"});
  if (uid.empty() || !workload.baseline.starts_with("v1 " + uid)) {
    workload.baseline.clear();  // that of another object, which somebody has copied
  }
  if (!is_new && !had_baseline && !workload.baseline.empty()) {
    // What changed before an operator saw it for the first time, nobody could know of.
    ReadLocked(workload);
  }
}

Oracle::By Oracle::WhoChangedLocked(const std::string& key, const Workload& workload,
                                    const std::string& text, const std::string& others,
                                    bool is_new) {
  if (is_new) {
    return By::kMaker;
  }
  if (const auto found = expected_.find(key); found != expected_.end() && found->second == text) {
    expected_.erase(found);
    return By::kUndoer;
  }
  return others == workload.others_text ? By::kOperator : By::kOther;
}

void Oracle::OnWorkloadLocked(const std::string& key, const JsonTree& object) {
  const std::size_t begin = key.find('/') + 1;
  const JsonTree* const pod = object.At({"spec", "template"});
  const auto [found, is_new] = workloads_.try_emplace(key);
  Workload& workload = found->second;
  // An operator that found a rollout under way at its start knows no template from before: pods of
  // any may be alive, so it makes all of them anew once when others change the template then.
  const bool was_under_way = workload.observed < workload.generation;
  const std::string former_annotations = workload.annotations;
  TakeStateLocked(workload, object, is_new);
  std::string text = TextOf(pod);
  if (pod == nullptr || workload.template_text == text) {
    return;
  }
  std::string others = OthersPartOf(*pod);
  const By by = WhoChangedLocked(key, workload, text, others, is_new);
  workload.former_annotations = former_annotations;
  workload.former_template = std::exchange(workload.template_text, std::move(text));
  workload.others_text = std::move(others);
  // Pods that are made of it now read what there is now.
  std::map<std::string, std::optional<std::string>> read;
  for (const std::string& source :
       SourcesOf(*pod, key.substr(begin, key.find('/', begin) - begin))) {
    read[source] = workload.read.contains(source) ? workload.read[source] : std::nullopt;
  }
  workload.read = std::move(read);
  const bool has_news = ReadLocked(workload);
  switch (by) {
    case By::kMaker:
      // One that was made anew in a gap of a watch looks like one whose template was changed.
      workload.doubts += options_.exact && deleted_.contains(key) ? 1 : 0;
      tell_("storage", key + " is there");
      break;
    case By::kOperator:
      tell_("storage", key + " is rolled");
      counts_.without_news += has_news ? 0 : 1;
      CountRolloutLocked(key, workload);
      break;
    case By::kUndoer:
      // A restart of the operator may make the rollout again, for one: see behaviour.md.
      ++workload.doubts;
      ++counts_.undone;
      workload.undone = true;
      tell_("storage", key + " is undone");
      break;
    case By::kOther:
      workload.reasons += was_under_way ? 1 : 0;
      tell_("storage", key + " has another template");
      break;
  }
}

void Oracle::CountRolloutLocked(const std::string& key, Workload& workload) {
  ++workload.rolled;
  ++counts_.rollouts;
  workload.undone = false;
  if (options_.exact && IsUpToDateLocked(workload)) {
    JudgeLocked(key, workload);
  }
}

void Oracle::JudgeLocked(const std::string& key, Workload& workload) {
  if (workload.rolled > workload.reasons + workload.doubts) {
    const std::string what = key + " was rolled " + std::to_string(workload.rolled) +
                             " times for " + std::to_string(workload.reasons) + " changes";
    tell_("oracle", what);
    too_many_ = too_many_.value_or(what);
  } else if (workload.rolled > workload.reasons) {
    counts_.doubted += workload.rolled - workload.reasons;
  }
  workload.rolled = 0;
  workload.reasons = 0;
  workload.doubts = 0;
}

bool Oracle::ReadLocked(Workload& workload) {
  bool has_news = false;
  for (auto& [source, data] : workload.read) {
    const auto there = data_.find(source);
    auto now = there == data_.end() ? std::nullopt : std::optional(there->second);
    has_news = has_news || data != now;
    data = std::move(now);
  }
  return has_news;
}

bool Oracle::IsUpToDateLocked(const Workload& workload) {
  return std::ranges::all_of(workload.read, [this, &workload](const auto& each) {
    const auto now = data_.find(each.first);
    return now == data_.end() || IsRecorded(workload.baseline, each.first, now->second);
  });
}

std::optional<std::string> Oracle::Stale() {
  auto old = OldPods();
  return old ? old : OldRecord();
}

std::optional<std::string> Oracle::OldPods() {
  const base::MutexLock lock(mu_);
  if (blind_) {
    return blind_;
  }
  for (const auto& [name, workload] : workloads_) {
    for (const auto& [source, data] : workload.read) {
      const auto now = paused_.contains(source) ? data_.end() : data_.find(source);
      if (data && now != data_.end() && now->second != *data) {
        return name + " runs with " + source + " " + *data + ", which is " + now->second;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> Oracle::OldRecord() {
  const base::MutexLock lock(mu_);
  for (const auto& [name, workload] : workloads_) {
    for (const auto& [source, data] : workload.read) {
      const auto now = paused_.contains(source) ? data_.end() : data_.find(source);
      if (!workload.undone && now != data_.end() &&
          !IsRecorded(workload.baseline, source, now->second)) {
        return name + " has a record of other data of " + source + " than " + now->second + ": " +
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
  }
  return std::exchange(too_many_, std::nullopt);
}

std::string Oracle::HolderOf(const std::string& lease) {
  const base::MutexLock lock(mu_);
  const auto found = holders_.find(lease);
  return found == holders_.end() ? "" : found->second;
}

std::optional<Oracle::Former> Oracle::FormerOf(const std::string& workload) {
  const base::MutexLock lock(mu_);
  const auto found = workloads_.find(workload);
  if (found == workloads_.end() || found->second.former_template.empty()) {
    return std::nullopt;
  }
  return Former{.pod_template = Parsed(found->second.former_template),
                .annotations = Parsed(found->second.former_annotations)};
}

void Oracle::ExpectUndo(const std::string& workload, const JsonTree& pod_template) {
  const base::MutexLock lock(mu_);
  expected_[workload] = pod_template.ToJson();
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

Oracle::Counts Oracle::counts() {
  const base::MutexLock lock(mu_);
  return counts_;
}

apiserver::storage::Revision Oracle::seen() {
  const base::MutexLock lock(mu_);
  return seen_;
}

}  // namespace kubexx::oracle
