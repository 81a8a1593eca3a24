/// @file
/// Asks webhooks over HTTPS.
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
  /// Posts a JSON body and returns that of the answer, which has status 2xx. Blocks, no longer than
  /// the endpoint's timeout. Errors say what was asked and what went wrong: no connection, a
  /// certificate that does not verify, the timeout, another status, an answer of more than 16 MiB.
  virtual apimachinery::Result<std::string> Post(const Endpoint& endpoint, std::string_view body,
                                                 const std::stop_token& stop) = 0;
};

/// Over pkg/rest's transport. Connections are kept and reused as long as the endpoint is the same;
/// a kept one that has broken meanwhile is replaced once. `clock` must outlive it.
std::shared_ptr<Caller> NewCaller(base::Clock& clock);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_CALLER_H_
