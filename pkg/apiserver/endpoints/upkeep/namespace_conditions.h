/// @file
/// What the status of a namespace that is being deleted says about how far that is.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_CONDITIONS_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_CONDITIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// What one pass over a namespace has left in it.
struct NamespaceContent {
  /// Objects that are still there, by "PLURAL.GROUP".
  std::map<std::string, std::int64_t> remaining{};
  /// How many of them each finalizer holds back; see HeldBackBy.
  std::map<std::string, std::int64_t> finalizers{};
  /// What could not be deleted, and why.
  std::vector<std::string> failures{};

  bool empty() const { return remaining.empty() && failures.empty(); }
  /// Notes that a finalizer holds an object back. A hundred of them are told by their names, all
  /// others together: who makes objects may give them as many as they have room for.
  void HeldBackBy(const std::string& finalizer);
};

/// Writes the conditions that kube-controller-manager keeps in status.conditions, with its words.
/// Those that say the same as before keep their times, and conditions of others stay.
void SetDeletionConditions(const NamespaceContent& content, base::Clock& clock,
                           codec::JsonTree& namespace_);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_CONDITIONS_H_
