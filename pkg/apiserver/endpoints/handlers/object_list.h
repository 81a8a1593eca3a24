/// @file
/// The objects that a list, or the deletion of a collection, is about.
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

/// Takes one object of a list in the version of the request; an error ends the list. It must not
/// write.
using TakeListed = base::FunctionRef<apimachinery::Result<void>(const apimachinery::ObjectKey& key,
                                                                std::string_view json)>;

/// The rules of resourceVersion and resourceVersionMatch; see the API concepts' tables. kInvalid.
apimachinery::Result<void> CheckListVersions(const apimachinery::ListOptions& options, bool watch);

/// Waits until the cache has a state of at least `revision`, and leaves the request's thread to
/// others meanwhile. Errors of Cacher::WaitFor.
apimachinery::Result<void> AwaitCache(const http::Request& request, Cacher& cacher,
                                      std::int64_t revision);

/// Hands what the request's parameters select to `take`, by key, at most a page of it. kInvalid and
/// kBadRequest for bad parameters, kExpired for a state that is forgotten, errors of the storage.
apimachinery::Result<ListHead> ReadList(const Call& call, const apimachinery::ListOptions& options,
                                        TakeListed take);

/// The answer to who gets that error of ReadList: who has come by pages is told how to go on.
Answer ListError(const apimachinery::ListOptions& options, const apimachinery::Status& error);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_HANDLERS_OBJECT_LIST_H_
