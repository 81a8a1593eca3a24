/// @file
/// Http2Trip: one request whose answer shares a connection with others.
#ifndef KUBEXX_REST_INTERNAL_HTTP2_HTTP2_TRIP_H_
#define KUBEXX_REST_INTERNAL_HTTP2_HTTP2_TRIP_H_

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/internal/http2/http2_connection.h"
#include "kubexx/rest/internal/http2/http2_connections.h"
#include "kubexx/rest/internal/message/failure.h"
#include "kubexx/rest/internal/stream/waiting.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// See RoundTrip. Where the server does not speak HTTP/2 it goes on over HTTP/1.1.
class Http2Trip final : public RoundTrip {
 public:
  /// `request` is a GET without a body.
  Http2Trip(std::shared_ptr<Http2Connections> connections, const HttpRequest& request);
  Http2Trip(const Http2Trip&) = delete;
  Http2Trip& operator=(const Http2Trip&) = delete;
  ~Http2Trip() override;

  apimachinery::Result<HttpHead> AwaitHead(const std::stop_token& stop,
                                           const Limits& limits) override;
  apimachinery::Result<bool> Read(Sink sink, const std::stop_token& stop,
                                  base::TimePoint deadline) override;
  apimachinery::Result<StreamRead> TryRead(Sink sink) override;
  void Notify(std::function<void()> tell) override;
  base::TimePoint Arm() override;
  bool lost_connection() const override;
  bool failed() const override;

 private:
  enum class Next : std::uint8_t { kHead, kAgain, kHttp1 };

  /// Sends the request once, and waits for its answer.
  std::expected<Next, Trouble> Ask(const std::shared_ptr<Poller>& poller,
                                   const std::stop_token& stop, const Limits& limits);
  /// What to do where the stream has ended without a head.
  std::expected<Next, Trouble> WithoutHead(Http2Answer::State state);
  apimachinery::Result<HttpHead> AwaitHeadOverHttp1(const std::stop_token& stop,
                                                    const Limits& limits);
  void Fail(std::string message);
  void Leave();

  const std::shared_ptr<Http2Connections> connections_;
  HttpRequest request_;
  std::unique_ptr<Connection> ready_;  ///< for http1_, with its version
  std::uint64_t ready_version_ = 0;
  std::unique_ptr<RoundTrip> http1_;  ///< what all goes to if it is set
  std::shared_ptr<Http2Connection> connection_;
  Http2Stream stream_;
  bool sent_ = false;
  bool was_in_use_ = false;
  int attempts_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_HTTP2_HTTP2_TRIP_H_
