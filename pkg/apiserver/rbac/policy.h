/// @file
/// Roles and bindings, ready to be asked.
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

  /// How often labels have been compared with selectors so far, by this policy and those that it
  /// was copied from.
  std::size_t ComparedForTest() const;

 private:
  /// The rules of a role: those written in it, or those that it aggregates.
  struct GivenRules {
    const std::vector<Rule>* written = nullptr;
    std::shared_ptr<const std::vector<const Rule*>> aggregated{};

    bool none() const { return written == nullptr && aggregated == nullptr; }
  };
  /// A binding that gives something to a user.
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
  /// The rules of the role that a binding names, if that is there.
  GivenRules RulesGivenBy(const Binding& binding, std::string_view namespace_) const;
  /// Calls `visit` for each binding whose subject the user is, until it returns true.
  bool VisitGifts(const User& user, std::string_view namespace_, GiftVisitor visit) const;
  /// The same for each rule of one binding's role. A role that is not there is added to `missing`.
  bool VisitRules(const Gift& gift, Visitor visit, Missing& missing) const;

  // In the order of their keys.
  std::shared_ptr<const Parts> roles_;
  std::shared_ptr<const internal::ClusterRoles> cluster_roles_;
  std::shared_ptr<const Parts> bindings_;
  std::shared_ptr<const Parts> cluster_bindings_;
};

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_POLICY_H_
