#include "kubexx/reloader/admission/stamped_object.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/cache/object.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/env_var.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/write/template_edit.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using codec::JsonTree;

/// Returns the workload that the object is.
Result<Workload> DecodeStamped(const StampInput& input) {
  cache::Object object{.encoding = codec::Encoding::kJson, .bytes = input.object.ToJson()};
  KX_RETURN_IF_ERROR(ProjectWorkload(input.kind, input.rules.keys, object));
  return WorkloadFrom(input.kind, object);
}

/// Returns the workload without the annotations and variables of rollouts: a copy has those of
/// another workload, and new pods have nothing to do with earlier data.
Workload WithoutStamps(Workload workload) {
  workload.annotations.erase(std::string(kBaselineAnnotation));
  workload.baseline_restored.reset();
  workload.baseline_is_foreign = false;
  workload.stampers.clear();
  workload.template_annotations.erase(std::string(kLastReloadedFrom));
  workload.template_annotations.erase(std::string(kRestartedFor));
  for (Container& container : workload.containers) {
    container.variables.clear();
  }
  return workload;
}

/// Rules by which every existing source rolls a workload that is seen for the first time.
DecisionRules RulesOfBirth(const StampInput& input) {
  DecisionRules rules = input.rules;
  rules.reload_on_create = true;
  rules.sync_after_restart = true;
  rules.by_variables = input.strategy == ReloadStrategy::kEnvVars;
  return rules;
}

/// Removes from the write what the template already says, because its time would differ each time.
void KeepWhatIsRight(const Workload& workload, WorkloadWrite& write) {
  const auto wanted = write.template_annotations.find(std::string(kLastReloadedFrom));
  const auto present = ParseReloadedFrom(workload);
  if (wanted != write.template_annotations.end() && wanted->second && present &&
      ParseReloadedFrom(*wanted->second) == present) {
    write.template_annotations.erase(wanted);
  }
}

bool IsRecordWanted(const Workload& workload) {
  const std::string* wanted = Find(workload.annotations, kRecordBaseline);
  return wanted == nullptr || *wanted != "false";
}

JsonTree TemplateOfOthers(const JsonTree& object) {
  const JsonTree* found = object.At({"spec", "template"});
  JsonTree pods = found == nullptr ? JsonTree::Object() : *found;
  for (const std::string_view key : {kLastReloadedFrom, kRestartedFor}) {
    if (JsonTree* metadata = pods.Find("metadata"); metadata != nullptr) {
      if (JsonTree* annotations = metadata->Find("annotations"); annotations != nullptr) {
        annotations->Erase(key);
        if (annotations->size() == 0) {
          metadata->Erase("annotations");
        }
      }
    }
  }
  JsonTree* spec = pods.Find("spec");
  JsonTree* containers = spec == nullptr ? nullptr : spec->Find("containers");
  for (JsonTree& container :
       containers == nullptr ? std::span<JsonTree>() : containers->elements()) {
    JsonTree* env = container.Find("env");
    std::vector<JsonTree> kept;
    for (JsonTree& each : env == nullptr ? std::span<JsonTree>() : env->elements()) {
      if (!each.TextAt("name").starts_with(kEnvVarPrefix)) {
        kept.push_back(std::move(each));
      }
    }
    if (kept.empty()) {
      container.Erase("env");
    } else {
      *env = JsonTree::Array(std::move(kept));
    }
  }
  return pods;
}

}  // namespace

Result<JsonTree> StampedObject(const StampInput& input) {
  KX_ASSIGN_OR_RETURN(const Workload workload, DecodeStamped(input));
  const Workload bare = WithoutStamps(workload);
  Plan plan;
  KX_RETURN_IF_ERROR(input.with_sources(bare, [&](const SourceLookup& sources) {
    plan = MakePlan(bare, sources, {.is_unplanned = true}, RulesOfBirth(input), input.patterns);
  }));
  if (plan.changes.empty()) {
    return input.object;
  }
  if (!input.rules.reload_on_create) {
    std::vector<SourceId> missing;  // the operator would not record these
    for (const auto& [source, digest] : plan.baseline.digests) {
      if (digest == kNoSource) {
        missing.push_back(source);
      }
    }
    std::ranges::for_each(missing, [&](const SourceId& each) { plan.baseline.Erase(each); });
  }
  WorkloadWrite write = MakeWrite(bare, plan.changes, input.strategy, input.now);
  KeepWhatIsRight(workload, write);
  if (const std::string baseline = BaselineAfter(plan, plan.changes);
      input.records && IsRecordWanted(workload) && !baseline.empty()) {
    write.annotations[std::string(kBaselineAnnotation)] = baseline;
  }
  JsonTree stamped = input.object;
  EditAnnotations(write.annotations, stamped);
  KX_RETURN_IF_ERROR(EditTemplate(write, stamped["spec"]["template"]));
  return stamped;
}

bool HasSameTemplateOfOthers(const JsonTree& before, const JsonTree& now) {
  return TemplateOfOthers(before) == TemplateOfOthers(now);
}

}  // namespace kubexx::reloader
