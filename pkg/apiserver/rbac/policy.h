/// @file
/// Decides from Roles and bindings whether a request is allowed.
#ifndef KUBEXX_APISERVER_RBAC_POLICY_H_
#define KUBEXX_APISERVER_RBAC_POLICY_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/rbac/parts.h"
#include "kubexx/apiserver/rbac/rule.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::rbac {

namespace internal {
class ClusterRoles;
}

/// A decision with its reason, as in a SubjectAccessReview.
struct Decision {
  bool allowed = false;
  /// Why it is allowed; for a refusal, which roles of the user's bindings do not exist.
  std::string reason{};
};

/// The rules that a user has.
struct HeldRules {
  std::vector<Rule> rules{};
  /// Says in kube-apiserver's words which roles of the user's bindings do not exist; "" when all
  /// exist.
  std::string error{};
};

/// The state of all objects of the group rbac.authorization.k8s.io at one time, with the semantics
/// of kube-apiserver's RBAC authorizer. A ClusterRole with an aggregationRule has the rules of the
/// ClusterRoles that it selects; its own rules are ignored. Members of the group system:masters may
/// do everything. A copy shares its parts with the original, so it is cheap to make a policy that
/// differs in the objects of one kind. Const functions are thread-safe while nobody calls Take.
class Policy {
 public:
  Policy();

  /// Replaces all objects of that kind. When `parts` are in the order of their keys, the policy
  /// shares them; otherwise it copies and sorts them.
  void Take(PartKind kind, std::shared_ptr<const Parts> parts);

  Decision Decide(const User& user, const Request& request) const;

  /// All rules that the user has in the namespace, from its RoleBindings and from
  /// ClusterRoleBindings; with "" only from the latter. Error texts use `resource` as the name of
  /// the resource that was not found; when it is "", that of the missing role.
  HeldRules RulesOf(const User& user, std::string_view namespace_,
                    std::string_view resource = {}) const;

  /// The rules of the role that a binding names, or std::nullopt when that role does not exist.
  /// `namespace_` is that of the binding.
  std::optional<std::vector<Rule>> RulesOfReference(const codec::JsonTree& binding,
                                                    std::string_view namespace_) const;

  /// How often labels have been compared with selectors so far, by this policy and the policies
  /// that it was copied from.
  std::size_t ComparedForTest() const;

 private:
  /// The rules of a role: its own, or those that it aggregates.
  struct GivenRules {
    const std::vector<Rule>* written = nullptr;
    std::shared_ptr<const std::vector<const Rule*>> aggregated{};

    bool none() const { return written == nullptr && aggregated == nullptr; }
  };
  /// A binding that gives rules to a user.
  struct Gift {
    const Binding& binding;
    const Binding::Subject& subject;
    std::string_view namespace_{};
  };
  using Missing = std::vector<std::pair<std::string_view, std::string_view>>;  // kinds and names
  using Visitor = base::FunctionRef<bool(const Rule& rule, const Gift& gift)>;
  using GiftVisitor = base::FunctionRef<bool(const Gift& gift)>;

  /// "RBAC: allowed by ...".
  static std::string ReasonOf(const Gift& gift, const User& user);
  /// The rules of the role that a binding names, if that role exists.
  GivenRules RulesGivenBy(const Binding& binding, std::string_view namespace_) const;
  /// Calls `visit` for each binding that has the user as a subject, until `visit` returns true.
  bool VisitGifts(const User& user, std::string_view namespace_, GiftVisitor visit) const;
  /// The same for each rule of one binding's role. Adds a role that does not exist to `missing`.
  bool VisitRules(const Gift& gift, Visitor visit, Missing& missing) const;

  // In the order of their keys.
  std::shared_ptr<const Parts> roles_;
  std::shared_ptr<const internal::ClusterRoles> cluster_roles_;
  std::shared_ptr<const Parts> bindings_;
  std::shared_ptr<const Parts> cluster_bindings_;
};

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_POLICY_H_
