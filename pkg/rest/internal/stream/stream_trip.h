/// @file
/// StreamTrip: one request whose caller reads the response from the socket.
#ifndef KUBEXX_REST_INTERNAL_STREAM_STREAM_TRIP_H_
#define KUBEXX_REST_INTERNAL_STREAM_STREAM_TRIP_H_

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/internal/message/failure.h"
#include "kubexx/rest/internal/stream/connection.h"
#include "kubexx/rest/internal/stream/poller.h"
#include "kubexx/rest/internal/stream/response_parser.h"
#include "kubexx/rest/internal/stream/waiting.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

class StreamConnections;

/// See RoundTrip. All work is done in the calls, on the caller's thread. Between the calls the
/// kernel's buffers fill, and then the server has to wait.
class StreamTrip final : public RoundTrip {
 public:
  /// The bytes of the request, and what has to be known about it.
  struct Asked {
    std::string bytes{};
    bool repeatable = false;  ///< the server may get it twice
    bool no_body = false;     ///< the answer has none
    bool secret = false;      ///< the answer is overwritten after it was read
  };

  /// `connection`, of that version, is used for the request unless it is null.
  StreamTrip(std::shared_ptr<StreamConnections> connections, Asked asked,
             std::unique_ptr<Connection> connection = nullptr, std::uint64_t version = 0);
  StreamTrip(const StreamTrip&) = delete;
  StreamTrip& operator=(const StreamTrip&) = delete;
  ~StreamTrip() override;

  apimachinery::Result<HttpHead> AwaitHead(const std::stop_token& stop,
                                           const Limits& limits) override;
  apimachinery::Result<bool> Read(Sink sink, const std::stop_token& stop,
                                  base::TimePoint deadline) override;
  apimachinery::Result<StreamRead> TryRead(Sink sink) override;
  void Notify(std::function<void()> tell) override;
  base::TimePoint Arm() override;
  bool lost_connection() const override { return failure_ && failure_->lost_connection; }
  bool failed() const override { return failure_.has_value(); }

 private:
  std::expected<void, Trouble> Ask(const std::stop_token& stop, const Limits& limits,
                                   bool may_use_idle);
  std::expected<void, Trouble> ReadHead(const Waiting& waiting);
  Trouble WhyNoHead(Connection::Io io);
  apimachinery::Error Explain(Trouble trouble, const Limits& limits);

  /// Makes room for the bytes that are read next.
  void Reserve();
  void FreeBuffer();
  /// Reads until the socket is empty or the buffer is full.
  Connection::Io Fill();
  /// Does as Fill, but first lets the small pieces of a fast stream gather, unless the stream has
  /// waited for them already.
  Connection::Io Gather(bool has_waited);
  /// Reads the bytes that are there. When it returns kNothing, the caller has to wait for `wants_`.
  apimachinery::Result<StreamRead> ReadAvailable(Sink sink, bool has_waited);
  /// Removes the framing from the bytes that have been read. Returns how many bytes are left.
  std::size_t Unframe(Connection::Io io);
  void Fail(std::string message);
  /// Whether the stream's recent pauses have been short.
  bool is_fast() const;
  /// Waits until there are bytes to read. Frees a large buffer while the stream is quiet.
  base::Wake Park(const std::stop_token& stop, base::TimePoint deadline);
  void CountWait(base::Duration time);
  void GiveBufferBack();
  apimachinery::Result<void> HandOver(std::size_t payload, Sink sink);
  void Release();

  const std::shared_ptr<StreamConnections> connections_;
  const Asked asked_;
  std::shared_ptr<Poller> poller_;
  std::unique_ptr<Connection> ready_;  ///< one that nothing has been sent on
  std::unique_ptr<Connection> connection_;
  std::uint64_t version_ = 0;  ///< of the connection's TLS
  bool reused_ = false;
  bool sent_ = false;
  ResponseParser parser_;
  std::optional<Failure> failure_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t filled_ = 0;
  bool wants_more_ = false;  ///< the last read filled the buffer
  /// Counts the short waits, up to a limit; a long one halves it.
  int short_waits_ = 0;
  Connection::Io wants_ = Connection::Io::kWantRead;
  std::optional<base::TimePoint> quiet_since_;  ///< of TryRead, in real time
  std::optional<Poller::Signal> signal_;        ///< of Notify
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_STREAM_TRIP_H_
