/// @file
/// Checks of label selectors in objects.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_SELECTOR_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_SELECTOR_VALIDATION_H_

#include <string>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with a meta/v1 LabelSelector. An invalid selector would silently select
/// nothing. `field` is its path; `selector` may be null. As apimachinery's ValidateLabelSelector.
void CheckLabelSelector(const codec::JsonTree* selector, const std::string& field,
                        FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_SELECTOR_VALIDATION_H_
