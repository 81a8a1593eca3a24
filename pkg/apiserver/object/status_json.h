/// @file
/// Errors as the API's clients get them.
#ifndef KUBEXX_APISERVER_OBJECT_STATUS_JSON_H_
#define KUBEXX_APISERVER_OBJECT_STATUS_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {

/// The HTTP code for a reason, as apimachinery's errors have it; 500 for those of a client.
int HttpCode(apimachinery::Reason reason);

/// A meta/v1 Status of a failure. Reasons that only exist in this program become InternalError.
std::string StatusJson(const apimachinery::Status& status);

/// The errors that name a resource, in Kubernetes' wording; details are filled in.
apimachinery::Status NotFound(const ResourceType& type, std::string_view name);
/// The same of a create.
apimachinery::Status AlreadyExists(const ResourceType& type, std::string_view name);
/// "Operation cannot be fulfilled on ...: `why`".
apimachinery::Status Conflict(const ResourceType& type, std::string_view name,
                              std::string_view why);
/// "NAME is forbidden: `why`".
apimachinery::Status Forbidden(const ResourceType& type, std::string_view name,
                               std::string_view why);
/// `causes` are put together to the message.
apimachinery::Status Invalid(const ResourceType& type, std::string_view name,
                             std::vector<apimachinery::StatusCause> causes);

/// The cache will not have `wanted` soon: 504 with Retry-After 1.
apimachinery::Status TooLargeResourceVersion(std::int64_t wanted, std::int64_t current);
/// 410.
apimachinery::Status TooOldResourceVersion(std::int64_t wanted, std::int64_t oldest);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_STATUS_JSON_H_
