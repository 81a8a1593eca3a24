/// @file
/// Roles and bindings, ready to be asked.
#ifndef KUBEXX_APISERVER_RBAC_POLICY_H_
#define KUBEXX_APISERVER_RBAC_POLICY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apiserver/rbac/rule.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::rbac {

/// An answer with what it comes from, as SubjectAccessReviews have it.
struct Decision {
  bool allowed = false;
  std::string reason{};  ///< of a refusal: bindings of the user to roles that are not there
};

/// What somebody may do.
struct HeldRules {
  std::vector<Rule> rules{};
  /// Which roles of their bindings are not there, in upstream's words; "" for none.
  std::string error{};
};

/// A Role or a ClusterRole as policies use it.
struct Role {
  std::string namespace_{};
  std::string name{};
  std::vector<Rule> rules{};
  apimachinery::LabelMap labels{};
  codec::JsonTree selectors{};  ///< of an aggregationRule
};

/// A RoleBinding or a ClusterRoleBinding as policies use it.
struct Binding {
  /// Whom it binds: a user, a group or an account.
  struct Subject {
    std::string kind{};
    std::string name{};
    std::string namespace_{};
  };
  std::string namespace_{};
  std::string name{};
  std::string role_kind{};
  std::string role_name{};
  std::vector<Subject> subjects{};
};

/// The resources that policies are made of.
enum class PartKind : std::uint8_t { kRole, kClusterRole, kRoleBinding, kClusterRoleBinding };

/// One object: it is read once and shared by all policies that it counts in. Immutable. One of the
/// two pointers is null.
struct Part {
  PartKind kind = PartKind::kRole;
  std::shared_ptr<const Role> role{};
  std::shared_ptr<const Binding> binding{};
};
/// Reads an object of that kind. What is not as the kind has it is left out.
Part ReadPart(PartKind kind, const codec::JsonTree& object);

/// The namespace, "" for none, and the name of a part.
std::pair<std::string_view, std::string_view> KeyOf(const Part& part);

/// All objects of one kind.
using Parts = std::vector<Part>;

/// The objects of the group rbac.authorization.k8s.io that count at one time, as upstream's RBAC
/// authorizer reads them. ClusterRoles with an aggregationRule have the rules of those that it
/// selects, whatever is written in them. Whoever is in the group system:masters may do
/// everything. A copy shares its parts with the original, so that a policy in which the objects of
/// one kind are others costs little. Thread-safe as long as it takes nothing.
class Policy {
 public:
  Policy();

  /// From now on these are all objects of that kind. In the order of their keys they are shared,
  /// else copied and sorted.
  void Take(PartKind kind, std::shared_ptr<const Parts> parts);

  Decision Decide(const User& user, const Request& request) const;

  /// All that the user may do in the namespace, by bindings there and of the cluster; with "" those
  /// of the cluster only.
  /// `resource` is what errors take a role that is not there for; "" for a role.
  HeldRules RulesOf(const User& user, std::string_view namespace_,
                    std::string_view resource = {}) const;

  /// The rules of the role that a binding names, nothing when there is no such role; `namespace_`
  /// is the binding's.
  std::optional<std::vector<Rule>> RulesOfReference(const codec::JsonTree& binding,
                                                    std::string_view namespace_) const;

 private:
  /// A ClusterRole with the rules that it has here.
  struct ClusterRole {
    std::shared_ptr<const Role> role{};
    std::vector<Rule> aggregated{};

    bool aggregates() const { return role->selectors.size() > 0; }
    const std::vector<Rule>& rules() const { return aggregates() ? aggregated : role->rules; }
  };

  static std::string Matching(const Binding& binding, const User& user,
                              std::string_view namespace_);
  /// Null when it is not there.
  const std::vector<Rule>* RulesGivenBy(const Binding& binding, std::string_view namespace_) const;
  using ClusterRoles = std::map<std::string, ClusterRole, std::less<>>;
  static ClusterRoles Aggregated(const Parts& parts);
  static std::vector<Rule> RulesSelectedBy(const ClusterRole& role, const ClusterRoles& all);
  using Missing = std::vector<std::pair<std::string_view, std::string_view>>;  // kinds and names
  using Visitor = base::FunctionRef<bool(const Rule& rule, const std::string& reason)>;
  /// Calls `visit` for each rule that a binding gives to the user, until it returns true. What
  /// bindings name and is not there is added to `missing`.
  bool Visit(const User& user, std::string_view namespace_, Visitor visit, Missing& missing) const;
  bool VisitBinding(const Binding& binding, const User& user, std::string_view namespace_,
                    Visitor visit, Missing& missing) const;

  // In the order of their keys.
  std::shared_ptr<const Parts> roles_;
  std::shared_ptr<const ClusterRoles> cluster_roles_;
  std::shared_ptr<const Parts> bindings_;
  std::shared_ptr<const Parts> cluster_bindings_;
};

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_POLICY_H_
