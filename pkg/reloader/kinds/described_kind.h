/// @file
/// What several operators say of one kind.
#ifndef KUBEXX_RELOADER_KINDS_DESCRIBED_KIND_H_
#define KUBEXX_RELOADER_KINDS_DESCRIBED_KIND_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/kinds/custom_kind.h"

namespace kubexx::reloader {

/// A kind, and whose description it is.
struct DescribedKind {
  CustomKind kind{};
  std::string by{};  ///< "the operator kubexx/kubexx-reloader"
};

/// The description of a kind on which all of these, at least one, agree. Anybody who may write a
/// ConfigMap can pass for an operator, so no description counts for more than another: where two
/// differ, this fails with kConflict, and says who says what.
apimachinery::Result<DescribedKind> AgreedKind(const std::vector<DescribedKind>& all);

/// "clonesets.v1alpha1.apps.kruise.io with the pod template at spec.template".
std::string Described(const CustomKind& kind);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_KINDS_DESCRIBED_KIND_H_
