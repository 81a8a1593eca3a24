/// @file
/// Checks whether a user who grants rules has everything that these rules allow.
#ifndef KUBEXX_APISERVER_RBAC_COVERAGE_H_
#define KUBEXX_APISERVER_RBAC_COVERAGE_H_

#include <stop_token>
#include <vector>

#include "kubexx/apiserver/rbac/rule.h"

namespace kubexx::apiserver::rbac {

/// The part of some rules that other rules do not allow.
struct Missing {
  /// One rule for each resource, name and path, with all verbs of a resource in one rule, as
  /// kube-apiserver's Covers and CompactRules make them. In the order of their texts.
  std::vector<Rule> rules{};
  /// False when the comparison was stopped early, so that more rules may be missing.
  bool complete = true;

  /// Whether it is certain that no rule is missing.
  bool none() const { return rules.empty() && complete; }
};

/// Returns what `wanted` allows and none of `held` allows.
///
/// A rule of a kilobyte can have millions of combinations of a group, a resource, a name and a
/// verb. Combinations that one held rule covers completely are not examined one by one, and the
/// others only up to a limit: when `wanted` reaches it, the user has not shown that they hold all
/// of it. The result has at most as many rules as fit into a message. Ends early also when `stop`
/// is requested.
Missing NotCovered(const std::vector<Rule>& held, const std::vector<Rule>& wanted,
                   const std::stop_token& stop = {});

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_COVERAGE_H_
