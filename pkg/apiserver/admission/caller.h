/// @file
/// Calls webhooks over HTTPS.
#ifndef KUBEXX_APISERVER_ADMISSION_CALLER_H_
#define KUBEXX_APISERVER_ADMISSION_CALLER_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/admission/endpoint.h"
#include "kubexx/base/clock.h"

namespace kubexx::apiserver::admission {

/// The connections to webhooks. Thread-safe.
class Caller {
 public:
  virtual ~Caller() = default;
  /// Posts a JSON body and returns the body of the response. Blocks for the endpoint's timeout at
  /// most. Errors name the URL and what went wrong: no connection, a certificate that does not
  /// verify, the timeout, a status that is not 2xx, or a response of more than 16 MiB.
  virtual apimachinery::Result<std::string> Post(const Endpoint& endpoint, std::string_view body,
                                                 const std::stop_token& stop) = 0;
};

/// Makes a caller that uses the transport of pkg/rest. It reuses connections to the same endpoint;
/// when a reused connection turns out to be broken, it retries once with a new one. `clock` must
/// outlive it.
std::shared_ptr<Caller> NewCaller(base::Clock& clock);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_CALLER_H_
