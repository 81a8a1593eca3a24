#include "kubexx/reloader/in_place/in_place_verdict.h"

#include <algorithm>
#include <utility>

#include "kubexx/reloader/in_place/mount_check.h"

namespace kubexx::reloader {
namespace {

bool HasReference(const std::vector<Reference>& references, const SourceId& source) {
  return std::ranges::find(references, Reference{source.type, source.key.name}) != references.end();
}

bool IsMounted(const Workload& workload, const SourceId& source) {
  return std::ranges::any_of(workload.volumes, [&](const Volume& volume) {
    return HasReference(volume.references, source) &&
           std::ranges::any_of(workload.containers, [&](const Container& container) {
             return std::ranges::find(container.mounts, volume.name) != container.mounts.end();
           });
  });
}

/// A clause; empty when the kind has pods of its own that can be reloaded.
std::string WhyNotOfKind(const Workload& workload) {
  switch (workload.id.kind) {
    case WorkloadKind::kDeployment:
    case WorkloadKind::kDaemonSet:
    case WorkloadKind::kStatefulSet:
      return {};
    case WorkloadKind::kRollout:
      return workload.template_ref ? "its pods are made from the template of another workload" : "";
    case WorkloadKind::kCronJob:
    case WorkloadKind::kJob:
    case WorkloadKind::kDeploymentConfig:
      break;
  }
  return "pods of a " + std::string(KindName(workload.id.kind)) + " cannot be reloaded in place";
}

std::string WhyNotFor(const Workload& workload, const SourceId& source) {
  if (source.type == SourceType::kSecretProviderClass) {
    return "the kubelet does not write the files of " + ShownSource(source);
  }
  for (const auto* containers : {&workload.containers, &workload.init_containers}) {
    for (const Container& container : *containers) {
      if (HasReference(container.references, source)) {
        return "container " + container.name + " has " + ShownSource(source) +
               " in its environment, which only a new pod changes";
      }
    }
  }
  if (IsDescribed(source.type)) {
    return ShownSource(source) + " has no files in a pod";
  }
  return IsMounted(workload, source) ? "" : "no container mounts " + ShownSource(source);
}

}  // namespace

InPlaceVerdict JudgeInPlace(const Workload& workload, const std::vector<SourceId>& causes,
                            bool records) {
  auto action = ReloadActionOf(workload.annotations);
  if (!action) {
    return {.why_not = action.error().message};
  }
  if (!*action) {
    return {};
  }
  std::string why = WhyNotOfKind(workload);
  if (why.empty() && !records) {
    why = "no baseline is recorded on it";
  }
  for (const SourceId& cause : causes) {
    if (why.empty()) {
      why = WhyNotFor(workload, cause);
    }
  }
  if (!why.empty()) {
    return {.why_not = std::move(why)};
  }
  return {.action = **std::move(action)};
}

InPlaceVerdict JudgeInPlace(const Workload& workload, const std::vector<Change>& changes,
                            bool records) {
  std::vector<SourceId> causes;
  for (const Change& change : changes) {
    causes.insert(causes.end(), change.causes.begin(), change.causes.end());
  }
  InPlaceVerdict verdict = JudgeInPlace(workload, causes, records);
  const bool deletes = std::ranges::any_of(changes, [](const Change& change) {
    return std::ranges::any_of(change.sources,
                               [&](const auto& source) { return source.second == kNoSource; });
  });
  if (verdict.action && deletes) {
    return {.why_not = "a source of it was deleted, and its files stay in the pods"};
  }
  return verdict;
}

std::optional<BadItem> BadActionOf(const Workload& workload) {
  const auto action = ReloadActionOf(workload.annotations);
  if (action) {
    return std::nullopt;
  }
  return BadItem{.item = std::string(kReloadInPlace),
                 .error = action.error().message + "; the workload is rolled instead",
                 .what = BadItem::What::kValue};
}

}  // namespace kubexx::reloader
