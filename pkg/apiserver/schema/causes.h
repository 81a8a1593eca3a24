/// @file
/// Causes of Status errors in the API's wording (apimachinery's field.Error).
#ifndef KUBEXX_APISERVER_SCHEMA_CAUSES_H_
#define KUBEXX_APISERVER_SCHEMA_CAUSES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// "Invalid value: VALUE: WHAT".
apimachinery::StatusCause InvalidCause(std::string field, const codec::JsonTree& value,
                                       std::string_view what);
/// The same, where the value is JSON text already.
apimachinery::StatusCause InvalidJsonCause(std::string field, std::string_view json,
                                           std::string_view what);
/// The same for a value of the wrong type.
apimachinery::StatusCause TypeCause(std::string field, const codec::JsonTree& value,
                                    std::string_view what);
/// "Required value: WHAT".
apimachinery::StatusCause RequiredCause(std::string field, std::string_view what = {});
/// "Forbidden: WHAT".
apimachinery::StatusCause ForbiddenCause(std::string field, std::string_view what);
/// "Duplicate value: VALUE".
apimachinery::StatusCause DuplicateCause(std::string field, const codec::JsonTree& value);
/// The same, where the value is JSON text already.
apimachinery::StatusCause DuplicateJsonCause(std::string field, std::string_view json);
/// "Not found: VALUE: WHAT". `json` is the value as JSON text.
apimachinery::StatusCause NotFoundJsonCause(std::string field, std::string_view json,
                                            std::string_view what);
/// "Unsupported value: VALUE: supported values: ...". `json` is the value as JSON text; `supported`
/// are the supported values as JSON texts, separated by commas.
apimachinery::StatusCause NotSupportedJsonCause(std::string field, std::string_view json,
                                                std::string_view supported);
/// "Unsupported value: VALUE: supported values: ...".
apimachinery::StatusCause NotSupportedCause(std::string field, const codec::JsonTree& value,
                                            const std::vector<codec::JsonTree>& supported);
/// "Too long: may not be more than N bytes".
apimachinery::StatusCause TooLongCause(std::string field, std::int64_t max);
/// "Too many: N: must have at most M items".
apimachinery::StatusCause TooManyCause(std::string field, std::size_t count, std::int64_t max);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_CAUSES_H_
