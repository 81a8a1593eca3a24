/// @file
/// Roles and bindings as policies use them.
#ifndef KUBEXX_APISERVER_RBAC_PARTS_H_
#define KUBEXX_APISERVER_RBAC_PARTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apiserver/rbac/rule.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::rbac {

/// A Role or a ClusterRole as policies use it.
struct Role {
  std::string namespace_{};
  std::string name{};
  std::vector<Rule> rules{};
  apimachinery::LabelMap labels{};
  bool aggregates = false;  ///< its rules are those of the roles that it selects
  /// Of its aggregationRule, but for those that select nothing.
  std::vector<std::vector<apimachinery::LabelRequirement>> selectors{};
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

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_PARTS_H_
