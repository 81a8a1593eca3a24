/// @file
/// Rules of Roles and what they allow.
#ifndef KUBEXX_APISERVER_RBAC_RULE_H_
#define KUBEXX_APISERVER_RBAC_RULE_H_

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::rbac {

/// What somebody wants to do, as apiserver's authorizer.Attributes.
struct Request {
  std::string verb{};
  std::string group{};
  std::string resource{};
  std::string subresource{};
  std::string namespace_{};  ///< "" for what is not in one, and across all
  std::string name{};        ///< "" for collections
  std::string path{};        ///< of a request for no resource; the fields above are "" then
  bool is_path = false;      ///< it is for none, though `path` is "": a review may ask that

  bool is_resource() const { return path.empty() && !is_path; }
  /// "pods/log".
  std::string FullResource() const {
    return subresource.empty() ? resource : resource + "/" + subresource;
  }
};

/// rbac.authorization.k8s.io PolicyRule.
struct Rule {
  std::vector<std::string> verbs{};
  std::vector<std::string> groups{};
  std::vector<std::string> resources{};
  std::vector<std::string> names{};  ///< empty: all
  std::vector<std::string> paths{};

  bool Allows(const Request& request) const;
  /// As upstream's compact form, for messages: `{APIGroups:[""], Resources:["pods"],
  /// Verbs:["get" "list"]}`.
  std::string ToString() const;
  codec::JsonTree ToJson() const;
  bool operator==(const Rule&) const = default;
  auto operator<=>(const Rule&) const = default;
};

/// The member "rules" of a Role.
std::vector<Rule> ReadRules(const codec::JsonTree& role);

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_RULE_H_
