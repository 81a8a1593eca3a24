#include "kubexx/apiserver/rbac/parts.h"

#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver::rbac {
namespace {

using codec::JsonTree;

std::shared_ptr<const Role> ReadRole(const JsonTree& object) {
  auto role = std::make_shared<Role>();
  role->namespace_ = StringAt(object, {"metadata", "namespace"});
  role->name = StringAt(object, {"metadata", "name"});
  role->rules = ReadRules(object);
  role->labels = MetaMap(object, "labels");
  if (const JsonTree* const selectors = object.At({"aggregationRule", "clusterRoleSelectors"})) {
    role->aggregates = selectors->size() > 0;
    for (const JsonTree& selector : selectors->elements()) {
      if (auto requirements = RequirementsOf(selector)) {
        role->selectors.push_back(*std::move(requirements));
      }
    }
  }
  return role;
}

std::shared_ptr<const Binding> ReadBinding(const JsonTree& object) {
  auto binding = std::make_shared<Binding>();
  binding->namespace_ = StringAt(object, {"metadata", "namespace"});
  binding->name = StringAt(object, {"metadata", "name"});
  binding->role_kind = StringAt(object, {"roleRef", "kind"});
  binding->role_name = StringAt(object, {"roleRef", "name"});
  if (const JsonTree* const subjects = object.Find("subjects")) {
    for (const JsonTree& subject : subjects->elements()) {
      binding->subjects.push_back({.kind = std::string(subject.TextAt("kind")),
                                   .name = std::string(subject.TextAt("name")),
                                   .namespace_ = std::string(subject.TextAt("namespace"))});
    }
  }
  return binding;
}

}  // namespace

Part ReadPart(PartKind kind, const JsonTree& object) {
  const bool is_role = kind == PartKind::kRole || kind == PartKind::kClusterRole;
  return {.kind = kind,
          .role = is_role ? ReadRole(object) : nullptr,
          .binding = is_role ? nullptr : ReadBinding(object)};
}

std::pair<std::string_view, std::string_view> KeyOf(const Part& part) {
  return part.role != nullptr
             ? std::pair<std::string_view, std::string_view>(part.role->namespace_, part.role->name)
             : std::pair<std::string_view, std::string_view>(part.binding->namespace_,
                                                             part.binding->name);
}

}  // namespace kubexx::apiserver::rbac
