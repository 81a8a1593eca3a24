/// @file
/// Kinds of workloads that are not built into the operator, as people describe them.
#ifndef KUBEXX_RELOADER_KINDS_CUSTOM_KIND_H_
#define KUBEXX_RELOADER_KINDS_CUSTOM_KIND_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::reloader {

/// The members on the way to a value in an object: {"spec", "template"}.
using FieldPath = std::vector<std::string>;

/// Something that is so in the status of an object or not: a condition, or a field. A value type.
struct StatusRule {
  std::string condition{};      ///< the type of the condition; empty: the rule is about a field
  std::string status = "True";  ///< the condition's status
  std::string reason{};         ///< the condition's reason; empty: any
  FieldPath field{};            ///< the field, where the rule is about one
  std::string value{};          ///< the text, number or boolean that the field has
  FieldPath same_as{};          ///< the field whose value it has; then `value` does not count
  bool operator==(const StatusRule&) const = default;
};

/// A kind of custom resources that have a pod template. A value type.
struct CustomKind {
  std::string group{};
  std::string version{};
  std::string kind{};      ///< "CloneSet"
  std::string resource{};  ///< "clonesets"
  /// Where the PodTemplateSpec is.
  FieldPath pod_template{"spec", "template"};
  /// A rollout is through when all of these hold. Empty: as soon as the kind's controller has seen
  /// it.
  std::vector<StatusRule> done{};
  /// A rollout has failed when any of these holds.
  std::vector<StatusRule> failed{};
  /// A status that stays as it was before a rollout counts as one of after it, once the rollout is
  /// that old. std::nullopt: never.
  std::optional<base::Duration> settled_for{};
  bool operator==(const CustomKind&) const = default;

  /// The API resource. Valid as long as this object, and while it does not change.
  apimachinery::ResourceInfo Resource() const;
};

/// The most kinds that there can be.
inline constexpr std::size_t kMaxCustomKinds = 50;

/// Parses a list of kinds in YAML or JSON; empty text is an empty list. kInvalidConfig says where
/// what is wrong. `own`: what the operator has itself. No kind may be called as another one, in the
/// singular or in the plural, as people name both, and the operator tells kinds apart by that.
apimachinery::Result<std::vector<CustomKind>> ParseCustomKinds(
    std::string_view yaml, const std::vector<apimachinery::ResourceInfo>& own);

/// Which description of a kind counts, of two with the same name.
enum class Precedence : std::uint8_t { kNew, kKnown };

/// Tells this process of kinds. A kind is a number in whatever names a workload, so the process
/// never forgets one, and each keeps its place. Kinds beyond the first 200 are left out.
/// Thread-safe.
void AddCustomKinds(const std::vector<CustomKind>& kinds, Precedence precedence = Precedence::kNew);

/// The kinds that have been added. What this returns stays as it is, and valid for ever; the next
/// call may return more. Thread-safe.
const std::vector<CustomKind>& CustomKinds();

/// Their resources, in the same order. Stays valid for ever. Thread-safe.
const std::vector<apimachinery::ResourceInfo>& CustomResources();

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_KINDS_CUSTOM_KIND_H_
