/// @file
/// Checks of single fields: what is chosen from a few words, and numbers with limits.
#ifndef KUBEXX_APISERVER_ENDPOINTS_SIMPLE_FIELDS_H_
#define KUBEXX_APISERVER_ENDPOINTS_SIMPLE_FIELDS_H_

#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what single fields of a built-in type may not be. `resource` is plural and group, such as
/// "jobs.batch"; what is missing is not looked at. As far as the tables in the source go, which
/// have the fields that people set by hand.
void CheckSimpleFields(std::string_view resource, const codec::JsonTree& object,
                       FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SIMPLE_FIELDS_H_
