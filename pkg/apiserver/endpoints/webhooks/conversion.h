/// @file
/// The conversion webhooks of CustomResourceDefinitions.
#ifndef KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_CONVERSION_H_
#define KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_CONVERSION_H_

#include <memory>

#include "kubexx/apiserver/endpoints/webhooks/webhooks.h"
#include "kubexx/apiserver/schema/converter.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// The converter of a definition's objects, which calls the conversion webhook; null when versions
/// differ only in their apiVersion. When the calling thread handles a request (see CurrentRequest),
/// the server works on another request in its place while it waits for the webhook. `webhooks` must
/// outlive it.
std::shared_ptr<schema::Converter> ConverterOf(const codec::JsonTree& definition,
                                               Webhooks& webhooks);

/// Makes the request that this thread handles known to converters, which are not passed it. A
/// converter needs it to let the server work on another request in its place while it waits.
class CurrentRequest {
 public:
  explicit CurrentRequest(const http::Request& request);
  ~CurrentRequest();
  CurrentRequest(const CurrentRequest&) = delete;
  CurrentRequest& operator=(const CurrentRequest&) = delete;
  /// The request that this thread handles; null on the server's own threads.
  static const http::Request* Get();

 private:
  const http::Request* const outer_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_CONVERSION_H_
