/// @file
/// RefusedTrip: a request that is not sent.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_REFUSED_TRIP_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_REFUSED_TRIP_H_

#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// Fails with the reason why the request is not sent. No connection was lost, so nothing is tried
/// again.
class RefusedTrip final : public RoundTrip {
 public:
  explicit RefusedTrip(apimachinery::Status why) : why_(std::move(why)) {}

  apimachinery::Result<HttpHead> AwaitHead(const std::stop_token& /*stop*/,
                                           const Limits& /*limits*/) override {
    return apimachinery::Fail(why_);
  }
  apimachinery::Result<bool> Read(Sink /*sink*/, const std::stop_token& /*stop*/,
                                  base::TimePoint /*deadline*/) override {
    return apimachinery::Fail(why_);
  }
  apimachinery::Result<StreamRead> TryRead(Sink /*sink*/) override {
    return apimachinery::Fail(why_);
  }
  bool lost_connection() const override { return false; }
  bool failed() const override { return false; }

 private:
  const apimachinery::Status why_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_REFUSED_TRIP_H_
