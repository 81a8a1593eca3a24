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

/// What converts the objects of a definition; null when its versions differ in their apiVersion
/// only. It asks the webhook, as the handler's request where there is one (see CurrentRequest).
/// `webhooks` must outlive it.
std::shared_ptr<schema::Converter> ConverterOf(const codec::JsonTree& definition,
                                               Webhooks& webhooks);

/// The request that this thread handles: who converts knows nothing of it, and leaves the thread to
/// others meanwhile.
class CurrentRequest {
 public:
  explicit CurrentRequest(const http::Request& request);
  ~CurrentRequest();
  CurrentRequest(const CurrentRequest&) = delete;
  CurrentRequest& operator=(const CurrentRequest&) = delete;
  /// Null on threads of the server's own.
  static const http::Request* Get();

 private:
  const http::Request* const outer_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_WEBHOOKS_CONVERSION_H_
