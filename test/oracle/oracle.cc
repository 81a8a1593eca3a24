#include "oracle.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <span>
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
constexpr std::string_view kConfigMaps = "/registry/configmaps/";
constexpr std::string_view kSecrets = "/registry/secrets/";
constexpr std::string_view kLeases = "/registry/leases/";

/// What operators write into a template.
constexpr std::string_view kVariables = "STAKATER_";
constexpr std::array<std::string_view, 2> kAnnotations = {
    "reloader.stakater.com/last-reloaded-from", "reloader.kubexx.io/restarted-for"};

std::string TextOf(const JsonTree* tree) { return tree == nullptr ? "" : tree->ToJson(); }

std::string DataOf(const JsonTree& source) {
  return TextOf(source.Find("data")) + TextOf(source.Find("binaryData"));
}

/// The template without what operators write there.
std::string OthersPartOf(JsonTree pod_template) {
  if (JsonTree* const containers =
          pod_template.At(std::array<std::string_view, 2>{"spec", "containers"})) {
    for (JsonTree& container : containers->elements()) {
      JsonTree kept = JsonTree::Array();
      if (const JsonTree* const env = container.Find("env")) {
        for (const JsonTree& each : env->elements()) {
          if (!each.TextAt("name").starts_with(kVariables)) {
            kept.Append(each);
          }
        }
      }
      container["env"] = std::move(kept);
    }
  }
  if (JsonTree* const metadata = pod_template.Find("metadata")) {
    JsonTree& annotations = (*metadata)["annotations"];
    for (const std::string_view key : kAnnotations) {
      annotations.Erase(key);
    }
    if (annotations.size() == 0) {
      metadata->Erase("annotations");
    }
  }
  return pod_template.ToJson();
}

std::int64_t NumberAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// "deployments/ns/name" of a key.
std::string ShortOf(std::string_view key) {
  return std::string(key.substr(std::string_view("/registry/").size()));
}

}  // namespace

Oracle::Oracle(apiserver::storage::Storage& storage, Timeline& timeline)
    : storage_(storage),
      timeline_(timeline),
      thread_([this](const std::stop_token& stop) { Follow(stop); }) {}

void Oracle::Follow(const std::stop_token& stop) {
  apiserver::storage::Revision seen = kFirst;
  while (!stop.stop_requested()) {
    const auto ended = storage_.Watch(
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
  const base::MutexLock lock(mu_);
  ++events_;
  if (!is_source && !is_workload && !key.starts_with(kLeases)) {
    return;
  }
  if (event.type == Event::Type::kDelete) {
    if (is_source) {
      paused_.erase(ShortOf(key));
      OnSourceLocked(ShortOf(key), std::nullopt);
    } else if (is_workload) {
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
    if (object->At({"metadata", "annotations", reloader::kSourcePaused}) != nullptr) {
      paused_.insert(ShortOf(key));
    } else if (paused_.erase(ShortOf(key)) != 0) {
      AddReasonLocked(ShortOf(key));  // what was held back is made up for
    }
    OnSourceLocked(ShortOf(key), DataOf(*object));
  } else if (is_workload) {
    OnWorkloadLocked(ShortOf(key), std::move(*object));
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

void Oracle::OnSourceLocked(const std::string& key, std::optional<std::string> data) {
  const auto found = data_.find(key);
  if (data ? found != data_.end() && found->second == *data : found == data_.end()) {
    return;
  }
  timeline_.Add("storage", key + (data ? " is now " + *data : " is gone"));
  ++changes_;
  AddReasonLocked(key);
  if (data) {
    data_[key] = *std::move(data);
  } else {
    data_.erase(found);
  }
}

void Oracle::FindSources(Workload& workload, const std::string& space, const JsonTree& pod) {
  workload.read.clear();
  const JsonTree* const containers = pod.At({"spec", "containers"});
  if (containers == nullptr) {
    return;
  }
  for (const JsonTree& container : containers->elements()) {
    const JsonTree* const from = container.Find("envFrom");
    for (const JsonTree& each : from == nullptr ? std::span<const JsonTree>() : from->elements()) {
      const JsonTree* const config = each.Find("configMapRef");
      const JsonTree* const secret = each.Find("secretRef");
      if (config != nullptr) {
        workload.read["configmaps/" + space + "/" + std::string(config->TextAt("name"))];
      } else if (secret != nullptr) {
        workload.read["secrets/" + space + "/" + std::string(secret->TextAt("name"))];
      }
    }
  }
}

void Oracle::OnWorkloadLocked(const std::string& key, JsonTree object) {
  const std::size_t begin = key.find('/') + 1;
  const JsonTree* const pod = object.At({"spec", "template"});
  const auto [found, is_new] = workloads_.try_emplace(key);
  Workload& workload = found->second;
  // An operator that found a rollout under way at its start knows no template from before: pods of
  // any may be alive, so it makes all of them anew once when others change the template then.
  const bool was_under_way = workload.observed < workload.generation;
  workload.generation = NumberAt(object, {"metadata", "generation"});
  workload.observed = NumberAt(object, {"status", "observedGeneration"});
  workload.replicas = NumberAt(object, {"spec", "replicas"});
  const JsonTree* const baseline =
      object.At({"metadata", "annotations", reloader::kBaselineAnnotation});
  const bool had_baseline = !workload.baseline.empty();
  workload.baseline =
      baseline == nullptr || baseline->AsString() == nullptr ? "" : *baseline->AsString();
  const JsonTree* const uid = object.At({"metadata", "uid"});
  if (uid == nullptr || uid->AsString() == nullptr ||
      !workload.baseline.starts_with("v1 " + *uid->AsString())) {
    workload.baseline.clear();  // that of another object, which somebody has copied
  }
  if (!is_new && !had_baseline && !workload.baseline.empty()) {
    // What changed before an operator saw it for the first time, nobody could know of.
    ReadLocked(workload);
  }
  std::string text = TextOf(pod);
  if (pod == nullptr || workload.template_text == text) {
    return;
  }
  std::string others = OthersPartOf(*pod);
  const bool by_operator = !is_new && others == workload.others_text;
  workload.template_text = std::move(text);
  workload.others_text = std::move(others);
  if (by_operator) {
    ++workload.rolled;
    ++rollouts_;
  } else if (!is_new && was_under_way) {
    ++workload.reasons;
  }
  timeline_.Add("storage", key + (is_new        ? " is there"
                                  : by_operator ? " is rolled"
                                                : " has another template"));
  // Pods that are made of it now read what there is now.
  FindSources(workload, key.substr(begin, key.find('/', begin) - begin), *pod);
  ReadLocked(workload);
}

void Oracle::ReadLocked(Workload& workload) {
  for (auto& [source, data] : workload.read) {
    const auto there = data_.find(source);
    data = there == data_.end() ? std::nullopt : std::optional(there->second);
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
