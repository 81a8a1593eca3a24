#include "kubexx/apiserver/endpoints/admission/claim_resize_admission.h"

#include <string>

#include "kubexx/apimachinery/quantity.h"
#include "kubexx/apiserver/endpoints/admission/refusal.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Quantity;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

Quantity WantedStorage(const JsonTree& claim) {
  const std::string text = StringAt(claim, {"spec", "resources", "requests", "storage"});
  return text.empty() ? Quantity() : Quantity::FromCanonical(text);
}

/// The annotation comes first, as in kube-apiserver.
std::string ClassNameOf(const JsonTree& claim) {
  constexpr const char* kAnnotation = "volume.beta.kubernetes.io/storage-class";
  const JsonTree* const annotation = claim.At({"metadata", "annotations", kAnnotation});
  return annotation == nullptr ? StringAt(claim, {"spec", "storageClassName"})
                               : StringAt(claim, {"metadata", "annotations", kAnnotation});
}

/// Whether the StorageClass of both states is the same and allows expansion.
Result<bool> MayGrow(const Call& call, const JsonTree& claim, const JsonTree& old) {
  const std::string name = ClassNameOf(claim);
  if (name.empty() || name != ClassNameOf(old)) {
    return false;
  }
  const auto found = call.objects.Get(*call.types.Find("storage.k8s.io", "v1", "storageclasses"),
                                      {.name = name}, call.request.stop);
  if (!found) {
    return found.error().reason == Reason::kNotFound ? Result<bool>(false)
                                                     : apimachinery::Fail(found.error());
  }
  const JsonTree* const allows = found->Find("allowVolumeExpansion");
  return allows != nullptr && allows->AsBool().value_or(false);
}

}  // namespace

bool IsClaimWrite(const Call& call) {
  return call.type->Is("", "persistentvolumeclaims") && call.info.subresource.empty();
}

Result<void> CheckClaimGrowth(const Call& call, const JsonTree& claim, const JsonTree& old) {
  if (!IsClaimWrite(call) || Quantity::Compare(WantedStorage(claim), WantedStorage(old)) <= 0) {
    return {};
  }
  if (StringAt(old, {"status", "phase"}) != "Bound") {
    return NotAdmitted(call, claim, "Only bound persistent volume claims can be expanded");
  }
  KX_ASSIGN_OR_RETURN(const bool may_grow, MayGrow(call, claim, old));
  if (!may_grow) {
    return NotAdmitted(call, claim,
                       "only dynamically provisioned pvc can be resized and the storageclass that "
                       "provisions the pvc must support resize");
  }
  return {};
}

}  // namespace kubexx::apiserver
