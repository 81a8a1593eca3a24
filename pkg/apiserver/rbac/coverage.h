/// @file
/// Whether somebody who grants rules has what these allow.
#ifndef KUBEXX_APISERVER_RBAC_COVERAGE_H_
#define KUBEXX_APISERVER_RBAC_COVERAGE_H_

#include <stop_token>
#include <vector>

#include "kubexx/apiserver/rbac/rule.h"

namespace kubexx::apiserver::rbac {

/// What some rules allow and others do not.
struct Missing {
  /// Each resource, name and path by itself, with all verbs of a resource in one rule, as
  /// upstream's Covers and CompactRules. In the order of their messages.
  std::vector<Rule> rules{};
  /// False when the comparison ended before its end: there may be more.
  bool complete = true;

  /// Nothing is missing, for sure.
  bool none() const { return rules.empty() && complete; }
};

/// What `wanted` allows and none of `held`.
///
/// A rule of a kilobyte has millions of combinations of a group, a resource, a name and a verb.
/// Those that one rule held has all of are not looked at one by one, and the others only up to a
/// bound: whoever wants so much that it is reached has not shown that they hold it. As many missing
/// rules are returned as fit into a message. Ends early when `stop` is requested, too.
Missing NotCovered(const std::vector<Rule>& held, const std::vector<Rule>& wanted,
                   const std::stop_token& stop = {});

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_COVERAGE_H_
