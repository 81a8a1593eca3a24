#include "kubexx/rest/internal/http2/server_streams.h"

#include <functional>
#include <stop_token>
#include <utility>

#include "kubexx/rest/internal/http2/http2_trip.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Result;

/// A stream that is counted as long as it lives.
class CountedTrip final : public RoundTrip {
 public:
  CountedTrip(std::unique_ptr<RoundTrip> trip, std::shared_ptr<std::atomic<int>> count)
      : trip_(std::move(trip)), count_(std::move(count)) {}
  CountedTrip(const CountedTrip&) = delete;
  CountedTrip& operator=(const CountedTrip&) = delete;
  ~CountedTrip() override { --*count_; }

  Result<HttpHead> AwaitHead(const std::stop_token& stop, const Limits& limits) override {
    return trip_->AwaitHead(stop, limits);
  }
  Result<bool> Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) override {
    return trip_->Read(sink, stop, deadline);
  }
  Result<StreamRead> TryRead(Sink sink) override { return trip_->TryRead(sink); }
  void Notify(std::function<void()> tell) override { trip_->Notify(std::move(tell)); }
  base::TimePoint Arm() override { return trip_->Arm(); }
  bool lost_connection() const override { return trip_->lost_connection(); }
  bool failed() const override { return trip_->failed(); }

 private:
  const std::unique_ptr<RoundTrip> trip_;
  const std::shared_ptr<std::atomic<int>> count_;
};

}  // namespace

ServerStreams::ServerStreams(const ServerUrl& server, std::optional<Proxy> proxy,
                             base::Clock& clock, Http2Use use)
    : use_(server.tls ? use : Http2Use::kNever),
      own_(std::make_shared<StreamConnections>(server, std::move(proxy), clock)),
      shared_(std::make_shared<Http2Connections>(own_)),
      open_(std::make_shared<std::atomic<int>>(0)) {}

std::unique_ptr<RoundTrip> ServerStreams::Start(const HttpRequest& request) {
  if (use_ == Http2Use::kNever || request.method != "GET" || request.has_body) {
    return own_->Start(request);
  }
  if (use_ == Http2Use::kManyStreams && ++*open_ <= kOwnConnections) {
    return std::make_unique<CountedTrip>(own_->Start(request), open_);
  }
  if (use_ == Http2Use::kManyStreams) {
    --*open_;
  }
  return std::make_unique<Http2Trip>(shared_, request);
}

}  // namespace kubexx::rest::internal
