#include "kubexx/reloader/write/traces.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/kinds/custom_phase.h"
#include "kubexx/reloader/kinds/custom_template.h"
#include "kubexx/reloader/model/env_var.h"
#include "kubexx/reloader/model/rollout_phase.h"
#include "kubexx/reloader/write/pause.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/rolled_data.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

/// The operator's annotations on the workload's own metadata, without the mark of a pause.
constexpr std::string_view kOwnTraces[] = {kBaselineAnnotation,
                                           kHistoryAnnotation,
                                           reloadpolicy::kLastRolloutAnnotation,
                                           reloadpolicy::kRolloutStateAnnotation,
                                           reloadpolicy::kRolledDataAnnotation,
                                           kTemplateGenerationAnnotation,
                                           kStatusBeforeAnnotation,
                                           kReloadingInPlace,
                                           kRolledFor};

constexpr std::string_view kTemplateTraces[] = {kLastReloadedFrom, kRestartedFor};

constexpr std::size_t kDigestLength = 40;

bool IsTrace(std::string_view name, std::string_view value) {
  return name.starts_with(kEnvVarPrefix) &&
         (name.ends_with("_CONFIGMAP") || name.ends_with("_SECRET") ||
          name.ends_with("_SECRETPROVIDERCLASS")) &&
         value.size() == kDigestLength && std::ranges::all_of(value, [](char c) {
           return base::IsDigit(c) || (c >= 'a' && c <= 'f');
         });
}

void FindInTemplate(const JsonTree& object, Traces& traces) {
  const JsonTree* annotations = object.At({"spec", "template", "metadata", "annotations"});
  for (const std::string_view key : kTemplateTraces) {
    if (annotations != nullptr && annotations->Find(key) != nullptr) {
      traces.template_annotations.emplace_back(key);
    }
  }
  const JsonTree* containers = object.At({"spec", "template", "spec", "containers"});
  if (containers == nullptr) {
    return;
  }
  for (const JsonTree& container : containers->elements()) {
    const JsonTree* variables = container.Find("env");
    if (variables == nullptr) {
      continue;
    }
    for (const JsonTree& variable : variables->elements()) {
      if (IsTrace(variable.TextAt("name"), variable.TextAt("value"))) {
        traces.variables.push_back(
            {std::string(container.TextAt("name")), std::string(variable.TextAt("name"))});
      }
    }
  }
}

/// Whether the mark is about a pause that still lasts and that nobody else has made.
bool IsOwnPause(const dynamic::Unstructured& object) {
  if (!object.GetBool({"spec", "paused"}).value_or(false)) {
    return false;
  }
  const auto metadata = object.Metadata();
  return metadata && !IsPausedByOthers(*metadata);
}

void Append(std::string& text, const std::string& item) {
  text += (text.empty() ? "" : ", ") + item;
}

}  // namespace

Traces TracesOn(WorkloadKind kind, const dynamic::Unstructured& object,
                const AnnotationKeys& keys) {
  Traces traces{.workload = {kind, {object.Namespace(), object.Name()}}, .uid = object.Uid()};
  const auto annotations = object.Annotations();
  if (const std::string* keeps = Find(annotations, kKeeperOf);
      keeps != nullptr && kind == WorkloadKind::kJob) {
    traces.keeps = *keeps;
    return traces;
  }
  for (const std::string_view key : kOwnTraces) {
    if (Find(annotations, key) != nullptr) {
      traces.annotations.emplace_back(key);
    }
  }
  if (Find(annotations, keys.paused_at) != nullptr) {
    traces.paused = IsOwnPause(object);
    if (!traces.paused) {
      traces.annotations.push_back(keys.paused_at);
    }
  }
  if (kind != WorkloadKind::kJob && kind != WorkloadKind::kCronJob) {
    JsonTree content = object.tree();
    if (const CustomKind* custom = CustomKindOf(kind)) {
      TakeTemplateHome(*custom, content);
    }
    FindInTemplate(content, traces);
  }
  return traces;
}

WorkloadWrite RemovalOf(const Traces& traces, const Removal& removal, const AnnotationKeys& keys) {
  WorkloadWrite write{.uid = traces.uid};
  for (const std::string& key : traces.annotations) {
    write.annotations[key] = std::nullopt;
  }
  if (removal.templates) {
    for (const VariableTrace& variable : traces.variables) {
      write.variables.push_back({variable.container, variable.name, std::nullopt});
    }
    for (const std::string& key : traces.template_annotations) {
      write.template_annotations[key] = std::nullopt;
    }
  }
  if (removal.pauses && traces.paused) {
    write.annotations[keys.paused_at] = std::nullopt;
    write.paused = false;
  }
  return write;
}

Traces LeftBy(Traces traces, const Removal& removal) {
  traces.annotations.clear();
  if (removal.templates) {
    traces.variables.clear();
    traces.template_annotations.clear();
  }
  traces.paused = traces.paused && !removal.pauses;
  return traces;
}

std::string TextOf(const Traces& traces) {
  std::string text;
  for (const std::string& key : traces.annotations) {
    Append(text, "annotation " + key);
  }
  for (const std::string& key : traces.template_annotations) {
    Append(text, "annotation " + key + " of the pod template");
  }
  for (const VariableTrace& variable : traces.variables) {
    Append(text, "variable " + variable.name + " of container " + variable.container);
  }
  if (traces.paused) {
    Append(text, "a pause that no operator ends any more");
  }
  if (!traces.keeps.empty()) {
    Append(text, "the only copy of Job " + traces.keeps + ", which was being made anew");
  }
  return text;
}

}  // namespace kubexx::reloader
