/// @file
/// The names of finalizers.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_FINALIZER_NAMES_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_FINALIZER_NAMES_H_

#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"

namespace kubexx::apiserver {

/// Whether a finalizer is one of Kubernetes' own or has a domain, as in "example.com/name". Other
/// finalizers are refused where kube-apiserver's core validation refuses them; for custom resources
/// there is only a warning.
bool IsDomainQualified(std::string_view finalizer);

/// Adds a cause when a finalizer is not IsDomainQualified; `field` is its path.
void CheckDomainQualified(std::string_view finalizer, const std::string& field,
                          FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_FINALIZER_NAMES_H_
