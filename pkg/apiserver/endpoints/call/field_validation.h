/// @file
/// The parameter fieldValidation: how the server treats unknown and duplicate fields.
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

/// Returns kInvalid for an invalid parameter.
apimachinery::Result<void> CheckFieldValidation(const Call& call);

/// Returns `unknown field "spec.foo"` for each member that the type does not have. At most 100.
std::vector<std::string> UnknownFields(const managedfields::Type& type,
                                       const codec::JsonTree& object);

/// The same, with `duplicate field "spec.foo"` for each repeated member of an object, in the order
/// of the text. `json` must be valid JSON. At most 100.
std::vector<std::string> FieldFaults(const managedfields::Type& type, std::string_view json);

/// The warnings about an object's fields that the client has asked for. Returns kBadRequest for
/// such a field with the value Strict, and kInvalid for an invalid parameter. The object is one of
/// `type`, which is another one than the call's for a subresource such as a Scale. `duplicates` are
/// the duplicate fields of the YAML from which `json` was made; see codec::YamlToJson.
apimachinery::Result<std::vector<std::string>> CheckFields(
    const Call& call, const ResourceType& type, std::string_view json,
    const std::vector<std::string>& duplicates);

/// The same for a patch: duplicate fields in the patch, and unknown fields in `patched`, the
/// patched object of `type` before Canonical(). With Strict, it returns kInvalid for such a field.
apimachinery::Result<std::vector<std::string>> CheckPatched(const Call& call,
                                                            const ResourceType& type,
                                                            const codec::JsonTree& patched);

/// The same for an applied config with these `duplicates`. ApplyTo refuses unknown fields.
apimachinery::Result<std::vector<std::string>> CheckApplied(
    const Call& call, const std::vector<std::string>& duplicates);

/// Adds the warnings to the response as headers.
void AddWarnings(const std::vector<std::string>& warnings, http::Response& response);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_VALIDATION_H_
