#include "kubexx/apiserver/endpoints/upkeep/namespace_conditions.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/base/text/join.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxFinalizers = 100;

/// A condition with its values when there is no fault.
struct Condition {
  std::string_view type{};
  std::string_view reason{};
  std::string message{};
  bool holds = false;
};

std::string Counted(const std::map<std::string, std::int64_t>& counts, std::string_view verb) {
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [name, count] : counts) {
    parts.push_back(name + " " + std::string(verb) + " " + std::to_string(count) +
                    " resource instances");
  }
  return base::Join(parts, ", ");
}

Condition FailureOf(std::vector<std::string> failures) {
  constexpr std::string_view kConditionType = "NamespaceDeletionContentFailure";
  if (failures.empty()) {
    return {.type = kConditionType,
            .reason = "ContentDeleted",
            .message = "All content successfully deleted, may be waiting on finalization"};
  }
  std::ranges::sort(failures);
  return {.type = kConditionType,
          .reason = "ContentDeletionFailed",
          .message = "Failed to delete all resource types, " + std::to_string(failures.size()) +
                     " remaining: " + base::Join(failures, ", "),
          .holds = true};
}

Condition RemainingOf(const std::map<std::string, std::int64_t>& remaining) {
  constexpr std::string_view kConditionType = "NamespaceContentRemaining";
  if (remaining.empty()) {
    return {.type = kConditionType,
            .reason = "ContentRemoved",
            .message = "All content successfully removed"};
  }
  return {.type = kConditionType,
          .reason = "SomeResourcesRemain",
          .message = "Some resources are remaining: " + Counted(remaining, "has"),
          .holds = true};
}

Condition HeldBackOf(const std::map<std::string, std::int64_t>& finalizers) {
  constexpr std::string_view kConditionType = "NamespaceFinalizersRemaining";
  if (finalizers.empty()) {
    return {.type = kConditionType,
            .reason = "ContentHasNoFinalizers",
            .message = "All content-preserving finalizers finished"};
  }
  return {.type = kConditionType,
          .reason = "SomeFinalizersRemain",
          .message = "Some content in the namespace has finalizers remaining: " +
                     Counted(finalizers, "in"),
          .holds = true};
}

}  // namespace

void NamespaceContent::HeldBackBy(const std::string& finalizer) {
  const bool named = finalizers.size() < kMaxFinalizers || finalizers.contains(finalizer);
  ++finalizers[named ? finalizer : "others"];
}

void SetDeletionConditions(const NamespaceContent& content, base::Clock& clock,
                           JsonTree& namespace_) {
  const std::string now = apimachinery::Time::From(clock.Wall()).ToString();
  const auto set = [&](const Condition& wanted) {
    SetCondition(ConditionTree(wanted.type, wanted.holds, wanted.reason, wanted.message, now),
                 namespace_);
  };
  // All types are known here, whichever server serves them.
  set({.type = "NamespaceDeletionDiscoveryFailure",
       .reason = "ResourcesDiscovered",
       .message = "All resources successfully discovered"});
  set({.type = "NamespaceDeletionGroupVersionParsingFailure",
       .reason = "ParsedGroupVersions",
       .message = "All legacy kube types successfully parsed"});
  set(FailureOf(content.failures));
  set(RemainingOf(content.remaining));
  set(HeldBackOf(content.finalizers));
}

}  // namespace kubexx::apiserver
