/// @file
/// The parameter fieldValidation: what becomes of fields that a type does not have, or that are
/// given twice.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_VALIDATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/managedfields/type.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// `unknown field "spec.foo"` for each member that the type does not have. At most 100.
std::vector<std::string> UnknownFields(const managedfields::Type& type,
                                       const codec::JsonTree& object);

/// In the order of the text: the same, and `duplicate field "spec.foo"` for each member of an
/// object that comes again. `json` is valid. At most 100.
std::vector<std::string> FieldFaults(const managedfields::Type& type, std::string_view json);

/// The faults of an object that the client wants to be warned of. kBadRequest when it wants none
/// (Strict), kInvalid for a bad parameter. `duplicates`: of the YAML that `json` has been; see
/// codec::YamlToJson.
apimachinery::Result<std::vector<std::string>> CheckFields(
    const Call& call, std::string_view json, const std::vector<std::string>& duplicates);

/// The same of a patch: fields given twice in it, unknown ones in `patched`, an object that it has
/// been applied to, not canonical. kInvalid for faults.
apimachinery::Result<std::vector<std::string>> CheckPatched(const Call& call,
                                                            const codec::JsonTree& patched);

/// The same of a config that is applied, of which `duplicates` were found: unknown fields are
/// refused elsewhere.
apimachinery::Result<std::vector<std::string>> CheckApplied(
    const Call& call, const std::vector<std::string>& duplicates);

/// Tells the client.
void AddWarnings(const std::vector<std::string>& warnings, http::Response& response);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_VALIDATION_H_
