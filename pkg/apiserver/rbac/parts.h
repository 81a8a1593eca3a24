/// @file
/// Roles and bindings in the form in which policies use them.
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

/// A Role or a ClusterRole.
struct Role {
  std::string namespace_{};
  std::string name{};
  std::vector<Rule> rules{};
  apimachinery::LabelMap labels{};
  /// It has an aggregationRule: its rules are those of the ClusterRoles that it selects.
  bool aggregates = false;
  /// The selectors of its aggregationRule, without those that select nothing.
  std::vector<std::vector<apimachinery::LabelRequirement>> selectors{};
};

/// A RoleBinding or a ClusterRoleBinding.
struct Binding {
  /// A subject of the binding: a user, a group or a service account.
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

/// The kinds of objects that policies consist of.
enum class PartKind : std::uint8_t { kRole, kClusterRole, kRoleBinding, kClusterRoleBinding };

/// One object of a policy. It is parsed once, and all policies that contain it share it. Immutable.
/// One of the two pointers is null.
struct Part {
  PartKind kind = PartKind::kRole;
  std::shared_ptr<const Role> role{};
  std::shared_ptr<const Binding> binding{};
};
/// Reads an object of that kind. Leaves out fields whose values do not fit the kind.
Part ReadPart(PartKind kind, const codec::JsonTree& object);

/// The namespace ("" for a cluster-scoped object) and the name of a part.
std::pair<std::string_view, std::string_view> KeyOf(const Part& part);

/// All objects of one kind.
using Parts = std::vector<Part>;

}  // namespace kubexx::apiserver::rbac

#endif  // KUBEXX_APISERVER_RBAC_PARTS_H_
