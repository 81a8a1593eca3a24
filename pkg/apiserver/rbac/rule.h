/// @file
/// The rules of Roles, and the requests that they allow.
#ifndef KUBEXX_APISERVER_RBAC_RULE_H_
#define KUBEXX_APISERVER_RBAC_RULE_H_

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::rbac {

/// The request of a user that has to be authorized, as apiserver's authorizer.Attributes.
struct Request {
  std::string verb{};
  std::string group{};
  std::string resource{};
  std::string subresource{};
  /// "" for cluster-scoped resources and for requests across all namespaces.
  std::string namespace_{};
  std::string name{};  ///< "" for collections
  std::string path{};  ///< the path of a non-resource request; the fields above are "" then
  /// A non-resource request even when `path` is "", which an access review may ask about.
  bool is_path = false;

  bool is_resource() const { return path.empty() && !is_path; }
  /// "pods/log".
  std::string FullResource() const {
    return subresource.empty() ? resource : resource + "/" + subresource;
  }
};

/// A PolicyRule of rbac.authorization.k8s.io.
struct Rule {
  std::vector<std::string> verbs{};
  std::vector<std::string> groups{};
  std::vector<std::string> resources{};
  std::vector<std::string> names{};  ///< empty: all
  std::vector<std::string> paths{};

  bool Allows(const Request& request) const;
  /// The compact form that kube-apiserver uses in messages: `{APIGroups:[""], Resources:["pods"],
  /// Verbs:["get" "list"]}`.
  std::string ToString() const;
  codec::JsonTree ToJson() const;
  bool operator==(const Rule&) const = default;
  auto operator<=>(const Rule&) const = default;
};

/// Reads the member "rules" of a Role.
std::vector<Rule> ReadRules(const codec::JsonTree& role);

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_RULE_H_
