// What people do to workloads beside releases, as with kubectl and its plugin, and to a part of
// data.
#include <algorithm>
#include <chrono>
#include <string>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/annotations.h"
#include "people.h"

namespace kubexx::simulation {
namespace {

/// Of `kubectl rollout restart`, and of `kubectl reloader`.
constexpr const char* kRestarter = "kubectl-rollout";
constexpr const char* kPlugin = "kubectl-reloader";
constexpr const char* kAutoscaler = "horizontal-pod-autoscaler";
constexpr std::int64_t kMostReplicas = 4;
/// In milliseconds, so that both releases are made in one second, mostly.
constexpr std::int64_t kBetweenReleases = 500;

std::string Annotation(std::string_view name, const std::string& value) {
  return R"({"metadata":{"annotations":{")" + std::string(name) + R"(":)" + value + "}}}";
}

}  // namespace

void People::ChooseOthers() {
  for (Workload& workload : workloads_) {
    // What the template of a Deployment names rolls the Deployment, too, and not only the Rollout;
    // and a mark of a reload in place is about the whole baseline.
    if (!workload.base.empty() || workload.in_place) {
      continue;
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (!sources_[i].is_object && sources_[i].space != workload.space && random_.Chance(300)) {
        workload.others.push_back(i);
      }
    }
  }
}

void People::Allow(Source& source, const std::stop_token& stop) {
  source.allowed = !source.allowed;
  const std::string list = source.allowed ? R"("space-0, space-1, space-2")" : "null";
  std::string body = Annotation(reloader::kAllowedNamespaces, list);
  if (random_.Chance(300)) {
    SetValue(source, next_value_++);
    body.back() = ',';
    body += R"("data":{"key":")" + ValueOf(source.is_secret, source.value) + R"("}})";
  }
  Patch(PathOf(source) + "/" + source.name, body, stop);
}

void People::Restart(Workload& workload, const std::stop_token& stop) {
  if (random_.Chance(500)) {  // who does not wait for operators
    Edit(sources_[workload.sources[random_.Below(workload.sources.size())]], next_value_++, stop);
  }
  const std::string mark = NextMark("restart");
  const std::string by = R"({"metadata":{"annotations":{")" + std::string(oracle::kMarkAnnotation) +
                         R"(":")" + mark + R"("}},)";
  Insist({.method = "PATCH",
          .path = TemplatePathOf(workload),
          .body = by + R"("spec":{"template":)" +
                  Annotation("kubectl.kubernetes.io/restartedAt", '"' + mark + '"') + "}}",
          .patch = rest::PatchType::kMerge,
          .manager = kRestarter},
         stop);
}

void People::ReleaseTwice(Workload& workload, const std::stop_token& stop) {
  const auto pause = [&] {
    base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(0, kBetweenReleases)),
                                 stop);
  };
  Source& source = sources_[workload.sources[random_.Below(workload.sources.size())]];
  const std::uint64_t edits = random_.Below(4);  // between them, after them, or not at all
  Release(workload, stop);
  pause();
  if (edits == 0) {
    Edit(source, next_value_++, stop);
    pause();
  }
  Release(workload, stop);
  if (edits == 1) {
    pause();
    Edit(source, next_value_++, stop);
  }
}

void People::PutOnHold(Workload& workload, const std::stop_token& stop) {
  if (workload.on_hold) {
    return Resume(workload, stop);
  }
  if (random_.Chance(500)) {  // just when a rollout is to be made
    Edit(sources_[workload.sources[random_.Below(workload.sources.size())]], next_value_++, stop);
    base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(0, 1000)), stop);
  }
  workload.on_hold = true;
  workload.was_on_hold = true;
  Insist({.method = "PATCH",
          .path = PathOf(workload) + "/" + workload.name,
          .body = Annotation("reloader.kubexx.io/paused", R"("true")"),
          .patch = rest::PatchType::kMerge,
          .manager = kPlugin},
         stop);
  Edit(sources_[workload.sources[random_.Below(workload.sources.size())]], next_value_++, stop);
}

void People::Resume(Workload& workload, const std::stop_token& stop) {
  workload.on_hold = false;
  Insist({.method = "PATCH",
          .path = PathOf(workload) + "/" + workload.name,
          .body = Annotation("reloader.kubexx.io/paused", "null"),
          .patch = rest::PatchType::kMerge,
          .manager = kPlugin},
         stop);
}

void People::EditOther(Source& source, const std::stop_token& stop) {
  source.other = next_value_++;
  Patch(PathOf(source) + "/" + source.name,
        R"({"data":{"other":")" + ValueOf(source.is_secret, source.other) + R"("}})", stop);
}

void People::Scale(Workload& workload, const std::stop_token& stop) {
  ScaleAs(random_.Chance(500) ? kAutoscaler : "", workload, stop);
}

void People::ScaleAs(const char* manager, Workload& workload, const std::stop_token& stop) {
  Insist(
      {.method = "PATCH",
       .path = PathOf(workload) + "/" + workload.name,
       .body = R"({"spec":{"replicas":)" + std::to_string(random_.Between(1, kMostReplicas)) + "}}",
       .patch = rest::PatchType::kMerge,
       .manager = manager},
      stop);
}

std::optional<std::pair<std::string, std::size_t>> People::ChooseUnrecorded(
    const std::stop_token& stop) {
  const std::size_t first = random_.Below(workloads_.size());
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    const std::size_t index = (first + i) % workloads_.size();
    Workload& workload = workloads_[index];
    if (!workload.there || !HasTemplate(workload) || workload.kind == kDaemonSet ||
        !workload.base.empty() || workload.opted_out || workload.on_hold || workload.pauses ||
        workload.in_place) {
      continue;
    }
    if (!workload.unrecorded) {
      Strip(workload, stop);
    }
    return std::pair(PathOf(workload) + "/" + workload.name, index);
  }
  return std::nullopt;
}

void People::EditAndScale(std::size_t workload, const std::stop_token& stop) {
  Workload& chosen = workloads_[workload];
  Edit(sources_[chosen.sources[random_.Below(chosen.sources.size())]], next_value_++, stop);
  base::Clock::Real().SleepFor(std::chrono::milliseconds(random_.Between(1500, 4000)), stop);
  Scale(chosen, stop);
}

}  // namespace kubexx::simulation
