#include "kubexx/reloader/model/managed_fields.h"

#include <algorithm>
#include <iterator>

namespace kubexx::reloader {

using api::meta::v1::ManagedFieldsEntry;
using apimachinery::Time;

namespace {

// The names under which the API server records fields that were there before it recorded managers,
// and fields that it has merged.
constexpr std::string_view kUnknownManagers[] = {"before-first-apply", "ancient-changes"};

/// The names under which commands that undo rollouts write. `kubectl rollout undo` names no field
/// manager, unlike kubectl's other commands, so only its program's name tells: see k8s.io/kubectl,
/// pkg/polymorphichelpers/rollback.go. The other commands of `kubectl rollout` (restart, pause)
/// write as kubectl-rollout, and a restart does not bring earlier pods back either.
constexpr std::string_view kUndoers[] = {"kubectl", "kubectl.exe", "kubectl-rollout",
                                         "kubectl-argo-rollouts"};

/// The beginnings of the names under which tools write that keep objects as they are described
/// somewhere.
constexpr std::string_view kTools[] = {"argocd",
                                       "Terraform",
                                       "HashiCorp",
                                       "kustomize-controller",
                                       "helm",
                                       "Helm",
                                       "pulumi",
                                       "kubectl-client-side-apply",
                                       "kubectl-replace",
                                       "kubectl-create",
                                       "fleet"};

/// Whether `fields` has nothing of that part of an object, or only this field of it.
bool HasNothingBut(const codec::JsonTree& fields, std::string_view part, std::string_view field) {
  const codec::JsonTree* found = fields.Find(part);
  return found == nullptr ||
         (found->IsObject() && found->members().size() == 1 && found->Find(field) != nullptr);
}

/// Whether the manager owns the annotation in which `kubectl apply` keeps the manifest. kubectl's
/// undo does not change that annotation, so its owner has applied a manifest, which kubectl before
/// 1.20 does under the same name.
bool OwnsAppliedManifest(const codec::JsonTree& fields) {
  const codec::JsonTree* metadata = fields.Find("f:metadata");
  const codec::JsonTree* annotations =
      metadata == nullptr ? nullptr : metadata->Find("f:annotations");
  return annotations != nullptr &&
         annotations->Find("f:kubectl.kubernetes.io/last-applied-configuration") != nullptr;
}

}  // namespace

bool IsOfOperator(const ManagedFieldsEntry& entry) {
  return entry.manager == kFieldManager || entry.manager == kRecordsManager;
}

bool IsUnknownManager(const ManagedFieldsEntry& entry) {
  return std::ranges::find(kUnknownManagers, entry.manager) != std::end(kUnknownManagers);
}

bool IsOfUndo(const ManagedFieldsEntry& entry) {
  // kubectl applies under this name, too.
  return entry.operation == "Update" &&
         std::ranges::find(kUndoers, entry.manager) != std::end(kUndoers);
}

bool IsOfTool(const ManagedFieldsEntry& entry) {
  return entry.operation == "Apply" || std::ranges::any_of(kTools, [&](std::string_view name) {
           return entry.manager.starts_with(name);
         });
}

Time TimeOfTemplate(const ManagedFieldsEntry& entry, const codec::JsonTree& fields) {
  const bool is_as_by_undo = !OwnsAppliedManifest(fields) &&
                             HasNothingBut(fields, "f:spec", "f:template") &&
                             // An undo of a Deployment also restores the Deployment's annotations.
                             HasNothingBut(fields, "f:metadata", "f:annotations");
  return is_as_by_undo ? entry.time.value_or(Time{}) : Time{};
}

}  // namespace kubexx::reloader
