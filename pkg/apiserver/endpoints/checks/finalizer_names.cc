#include "kubexx/apiserver/endpoints/checks/finalizer_names.h"

#include <algorithm>
#include <iterator>

#include "kubexx/codec/json_text.h"

namespace kubexx::apiserver {

bool IsDomainQualified(std::string_view finalizer) {
  constexpr std::string_view kStandard[] = {"orphan", "foregroundDeletion", "kubernetes"};
  return finalizer.find('/') != std::string_view::npos ||
         std::ranges::find(kStandard, finalizer) != std::end(kStandard);
}

void CheckDomainQualified(std::string_view finalizer, const std::string& field,
                          FieldCauses& causes) {
  if (!IsDomainQualified(finalizer)) {
    causes.Invalid(field, codec::QuotedJson(finalizer),
                   "name is neither a standard finalizer name nor is it fully qualified");
  }
}

}  // namespace kubexx::apiserver
