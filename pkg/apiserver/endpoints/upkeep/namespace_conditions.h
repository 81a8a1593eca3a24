/// @file
/// The conditions that show the progress of a namespace's deletion.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_CONDITIONS_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_CONDITIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The objects that one pass over a namespace could not remove.
struct NamespaceContent {
  /// The number of remaining objects by "PLURAL.GROUP".
  std::map<std::string, std::int64_t> remaining{};
  /// How many of them wait for each finalizer; see HeldBackBy.
  std::map<std::string, std::int64_t> finalizers{};
  /// The objects that could not be deleted, with the reasons.
  std::vector<std::string> failures{};

  bool empty() const { return remaining.empty() && failures.empty(); }
  /// Notes that an object waits for a finalizer. Counts a hundred finalizers by name and all others
  /// together, because objects may have any number of different finalizers.
  void HeldBackBy(const std::string& finalizer);
};

/// Writes the conditions that kube-controller-manager keeps in status.conditions, with the same
/// texts. Unchanged conditions keep their times, and conditions of other types stay.
void SetDeletionConditions(const NamespaceContent& content, base::Clock& clock,
                           codec::JsonTree& namespace_);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_CONDITIONS_H_
