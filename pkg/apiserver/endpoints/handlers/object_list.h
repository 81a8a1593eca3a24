/// @file
/// Reads the objects of a list, or of the deletion of a collection.
#ifndef KUBEXX_APISERVER_ENDPOINTS_HANDLERS_OBJECT_LIST_H_
#define KUBEXX_APISERVER_ENDPOINTS_HANDLERS_OBJECT_LIST_H_

#include <cstdint>
#include <string_view>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/response/formats.h"
#include "kubexx/base/function_ref.h"

namespace kubexx::apiserver {

/// A function that gets one object of a list, in the version of the request. An error ends the
/// list. It must not write to the storage.
using TakeListed = base::FunctionRef<apimachinery::Result<void>(const apimachinery::ObjectKey& key,
                                                                std::string_view json)>;

/// Checks the parameters resourceVersion and resourceVersionMatch by the rules of the Kubernetes
/// API concepts. Returns kInvalid.
apimachinery::Result<void> CheckListVersions(const apimachinery::ListOptions& options, bool watch);

/// Waits until the cache has a state of at least `revision`. Meanwhile the server works on another
/// request in place of this one. Returns the errors of Cacher::WaitFor.
apimachinery::Result<void> AwaitCache(const http::Request& request, Cacher& cacher,
                                      std::int64_t revision);

/// Hands the objects that the request selects to `take`, in the order of their keys, at most one
/// page. Returns kInvalid and kBadRequest for invalid parameters, kExpired when the requested state
/// has been compacted, and errors of the storage.
apimachinery::Result<ListHead> ReadList(const Call& call, const apimachinery::ListOptions& options,
                                        TakeListed take);

/// The answer for an error of ReadList. When the state of a paged list has been compacted, the
/// answer has a token with which the client can continue in the present state.
Answer ListError(const apimachinery::ListOptions& options, const apimachinery::Status& error);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_HANDLERS_OBJECT_LIST_H_
