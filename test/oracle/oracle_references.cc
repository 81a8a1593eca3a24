// What an Oracle makes of Rollouts whose template is a Deployment's.
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"
#include "oracle/oracle.h"

namespace kubexx::oracle {
namespace {

using codec::JsonTree;

constexpr std::string_view kDeployments = "deployments";

/// As number, whatever Argo's status has.
std::int64_t CountAt(const JsonTree& object, std::initializer_list<std::string_view> path) {
  const JsonTree* const found = object.At(path);
  if (found != nullptr && found->AsString() != nullptr) {
    return std::atoll(found->AsString()->c_str());
  }
  return found == nullptr ? 0 : found->AsInt().value_or(0);
}

/// The key of the Deployment that a Rollout names.
std::string BaseOf(const std::string& key, const JsonTree& rollout) {
  const std::size_t begin = key.find('/');
  const JsonTree* const name = rollout.At({"spec", "workloadRef", "name"});
  return std::string(kDeployments) + key.substr(begin, key.rfind('/') + 1 - begin) +
         (name == nullptr || name->AsString() == nullptr ? "" : *name->AsString());
}

/// The Rollout as it would be if the template was its own: of both generations it has the sum.
JsonTree Together(const JsonTree& rollout, const JsonTree& base) {
  JsonTree all = rollout;
  if (const JsonTree* const pod = base.At({"spec", "template"})) {
    all["spec"]["template"] = *pod;
  }
  if (const JsonTree* const mark = base.At({"metadata", "annotations", kMarkAnnotation})) {
    all["metadata"]["annotations"][kMarkAnnotation] = *mark;
  }
  if (const JsonTree* const managers = base.At({"metadata", "managedFields"})) {
    all["metadata"]["managedFields"] = *managers;  // who wrote the template
  }
  all["metadata"]["generation"] =
      CountAt(rollout, {"metadata", "generation"}) + CountAt(base, {"metadata", "generation"});
  all["status"]["observedGeneration"] = CountAt(rollout, {"status", "observedGeneration"}) +
                                        CountAt(rollout, {"status", "workloadObservedGeneration"});
  return all;
}

}  // namespace

void Oracle::OnBaseLocked(const std::string& key, const JsonTree& object) {
  bases_[key] = object;
  for (const auto& [name, rollout] : std::map(referring_)) {
    if (BaseOf(name, rollout) == key) {
      OnReferringLocked(name, rollout);
    }
  }
}

void Oracle::OnReferringLocked(const std::string& key, const JsonTree& object) {
  referring_[key] = object;
  const auto base = bases_.find(BaseOf(key, object));
  if (base == bases_.end()) {
    return;
  }
  OnWorkloadLocked(key, Together(object, base->second));
  const auto found = workloads_.find(key);
  if (found == workloads_.end()) {
    return;
  }
  ObservedWorkload& workload = found->second;
  workload.base = base->first;
  workload.base_generation = CountAt(base->second, {"metadata", "generation"});
  // What it was rolled for is written after its template.
  if (options_.exact && workload.rolled > 0 && IsUpToDateLocked(workload)) {
    JudgeLocked(key, workload);
  }
}

}  // namespace kubexx::oracle
