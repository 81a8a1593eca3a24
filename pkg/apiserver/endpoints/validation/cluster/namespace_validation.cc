#include "kubexx/apiserver/endpoints/validation/cluster/namespace_validation.h"

#include <cstddef>
#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/finalizer_names.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {

using codec::JsonTree;

void CheckNamespaceFinalizers(const JsonTree* old, const JsonTree& object, FieldCauses& causes) {
  const FieldPath at("spec.finalizers");
  const std::vector<std::string> names = StringsAt(PartAt(object, "spec"), "finalizers");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const FieldPath element = at.Element(i);
    const std::string path = old == nullptr ? at.Text() : element.Text();
    CheckLabelKey(names[i], path, causes);
    CheckDomainQualified(names[i], path, causes);
  }
}

void CheckPartOfNamespace(WritePart part, const JsonTree& /*current*/, JsonTree& object,
                          FieldCauses& causes) {
  if (part != WritePart::kStatus) {
    return;
  }
  const bool going = IsDeleting(object);
  const std::string phase = StringAt(object, {"status", "phase"});
  const std::string wanted = going ? "Terminating" : "Active";
  if (phase != wanted) {
    causes.Invalid("status.Phase", JsonTree(phase).ToJson(),
                   "may only be '" + wanted + "' if `deletionTimestamp` is " +
                       (going ? "not " : "") + "empty");
  }
}

std::vector<std::string> PodSecurityWarnings(const JsonTree& object) {
  for (const auto& [key, value] : MetaMap(object, "labels")) {
    if (key.starts_with("pod-security.kubernetes.io/") && value != "privileged") {
      return {
          "kubexx-apiserver enforces no Pod Security: the labels pod-security.kubernetes.io/* have "
          "no effect"};
    }
  }
  return {};
}

}  // namespace kubexx::apiserver
