#include "kubexx/reloader/model/workload.h"

#include <algorithm>
#include <utility>

namespace kubexx::reloader {
namespace {

bool Mentions(const std::vector<Reference>& references, SourceType type, std::string_view name) {
  return std::ranges::any_of(references, [&](const Reference& reference) {
    return reference.type == type && reference.name == name;
  });
}

bool Mounts(const Container& container, std::string_view volume) {
  return std::ranges::find(container.mounts, volume) != container.mounts.end();
}

}  // namespace

bool IsOfDeployment(const Workload& workload) {
  return workload.template_ref &&
         workload.template_ref->kind == KindName(WorkloadKind::kDeployment);
}

void TakeTemplateOf(Workload deployment, Workload& workload) {
  workload.template_annotations = std::move(deployment.template_annotations);
  workload.volumes = std::move(deployment.volumes);
  workload.containers = std::move(deployment.containers);
  workload.init_containers = std::move(deployment.init_containers);
  workload.used_keys = std::move(deployment.used_keys);
  workload.stampers = std::move(deployment.stampers);
  workload.template_written = deployment.template_written;
  workload.own_written = deployment.own_written;
  workload.undone = deployment.undone;
  workload.template_resource_version = std::move(deployment.resource_version);
}

bool AllPodsAreReplaced(const Workload& workload) {
  return IsThrough(workload.phase) || workload.reloads_alone ||
         workload.phase == reloadpolicy::Phase::kUnavailable ||
         (workload.phase == reloadpolicy::Phase::kFailed && workload.failed_alone);
}

bool BeginsPods(const Workload& workload) {
  return !workload.paused && !workload.reloads_alone &&
         (workload.phase == reloadpolicy::Phase::kUpdating ||
          (workload.phase == reloadpolicy::Phase::kUnseen && !workload.presumed));
}

bool HasMoreReplicas(const Workload& before, const Workload& now) {
  return now.replicas && before.replicas.value_or(1) < *now.replicas;
}

bool HasOtherTemplate(const Workload& before, const Workload& now) {
  return !before.template_version.digest.empty() && !now.template_version.digest.empty() &&
         before.template_version.digest != now.template_version.digest &&
         before.template_version.generation < now.template_version.generation;
}

std::vector<SourceId> ReferencedSources(const Workload& workload) {
  std::vector<SourceId> sources;
  const auto add = [&](const std::vector<Reference>& references) {
    for (const Reference& reference : references) {
      sources.push_back({reference.type, {workload.id.key.namespace_, reference.name}});
    }
  };
  for (const Volume& volume : workload.volumes) {
    add(volume.references);
  }
  for (const auto* containers : {&workload.containers, &workload.init_containers}) {
    for (const Container& container : *containers) {
      add(container.references);
    }
  }
  std::ranges::sort(sources);
  const auto rest = std::ranges::unique(sources);
  sources.erase(rest.begin(), rest.end());
  return sources;
}

std::optional<std::size_t> ChooseContainer(const Workload& workload, SourceType type,
                                           std::string_view source_name, bool explicit_match) {
  const auto& containers = workload.containers;
  const auto& inits = workload.init_containers;
  const auto first = containers.empty() ? std::nullopt : std::optional<std::size_t>(0);

  const auto volume = std::ranges::find_if(
      workload.volumes, [&](const Volume& v) { return Mentions(v.references, type, source_name); });
  if (volume != workload.volumes.end()) {
    const auto mounts = [&](const Container& c) { return Mounts(c, volume->name); };
    if (const auto found = std::ranges::find_if(containers, mounts); found != containers.end()) {
      return static_cast<std::size_t>(found - containers.begin());
    }
    if (std::ranges::any_of(inits, mounts)) {
      return first;
    }
    // The volume is mounted nowhere. As in the original, a later volume of the same source is not
    // looked at.
  }
  const auto names = [&](const Container& c) { return Mentions(c.references, type, source_name); };
  if (const auto found = std::ranges::find_if(containers, names); found != containers.end()) {
    return static_cast<std::size_t>(found - containers.begin());
  }
  if (std::ranges::any_of(inits, names) || explicit_match) {
    return first;
  }
  return std::nullopt;
}

const std::string* FindVariable(const Container& container, std::string_view name) {
  const auto found = std::ranges::find(container.variables, name, &EnvVar::name);
  return found == container.variables.end() ? nullptr : &found->value;
}

}  // namespace kubexx::reloader
