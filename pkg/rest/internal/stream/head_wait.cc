#include "kubexx/rest/internal/stream/head_wait.h"

#include <string>
#include <utility>

#include "kubexx/rest/internal/message/in_seconds.h"

namespace kubexx::rest::internal {

using apimachinery::Reason;

apimachinery::Error ErrorOfHead(Trouble trouble, const RoundTrip::Limits& limits, bool sent,
                                const base::Clock& clock, std::optional<Failure>& failure) {
  if (trouble.kind == Trouble::Kind::kStopped) {
    return apimachinery::Fail(Reason::kCancelled, "stopped while waiting for the response");
  }
  if (trouble.kind == Trouble::Kind::kTimeout) {
    const std::string missed = trouble.missed.empty() ? "" : ": " + trouble.missed;
    if (clock.Now() >= limits.head) {
      return apimachinery::Fail(Reason::kTimeout,
                                "no response within the request's timeout" + missed);
    }
    if (!sent) {
      return apimachinery::Fail(Reason::kUnavailable,
                                "no connection within the connect timeout" + missed);
    }
    return apimachinery::Fail(Reason::kTimeout, "no response within " + InSeconds(limits.response) +
                                                    " after the request was sent");
  }
  failure = std::move(trouble.failure);
  return apimachinery::Fail(failure->status);
}

}  // namespace kubexx::rest::internal
