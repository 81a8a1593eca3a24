/// @file
/// The conversion webhooks of CustomResourceDefinitions.
#ifndef KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_CONVERSION_H_
#define KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_CONVERSION_H_

#include <memory>

#include "kubexx/apiserver/endpoints/webhooks/webhooks.h"
#include "kubexx/apiserver/schema/converter.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The converter of a definition's objects, which calls the conversion webhook; null when versions
/// differ only in their apiVersion. When the calling thread handles a request (see CurrentRequest),
/// the server works on another request in its place while it waits for the webhook. `webhooks` must
/// outlive it.
std::shared_ptr<schema::Converter> ConverterOf(const codec::JsonTree& definition,
                                               Webhooks& webhooks);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_CONVERSION_H_
