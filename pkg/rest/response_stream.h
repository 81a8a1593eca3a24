/// @file
/// ResponseStream: the body of a response, for those who do not wait for its pieces.
#ifndef KUBEXX_REST_RESPONSE_STREAM_H_
#define KUBEXX_REST_RESPONSE_STREAM_H_

#include <functional>
#include <memory>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/request.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest {

/// A response whose head has come; see Request::OpenStream. Its owner is told when there is
/// something to read, and needs no thread meanwhile:
///
///     stream->Notify([&] { Wake(); });  // has `turn` called soon, on some thread
///     const auto turn = [&] {           // reads one piece
///       const auto found = stream->TryRead(sink);
///       if (found && *found == StreamRead::kPiece) { Wake(); }
///       if (found && *found == StreamRead::kNothing) { WakeAt(stream->Arm()); }
///     };
///
/// Limits and errors are those of Request::Stream. The destructor gives an unfinished response up,
/// and does not wait. Refers to the RESTClient. Not thread-safe; may go from one thread to another.
class ResponseStream {
 public:
  class Impl;
  /// Request::OpenStream makes them.
  explicit ResponseStream(std::unique_ptr<Impl> impl);
  ResponseStream(const ResponseStream&) = delete;
  ResponseStream& operator=(const ResponseStream&) = delete;
  ~ResponseStream();

  const Request::StreamHead& head() const;

  /// Passes the next piece to `sink`, if one has arrived, on this thread; at most 128 KiB as they
  /// were sent. Never waits for the network; while pieces come fast it may wait for half a
  /// millisecond for more of them. Fails as Request::Stream does, and with the error of `sink`.
  apimachinery::Result<StreamRead> TryRead(Request::ChunkSink sink);

  /// `tell` is what Arm has called, on any thread; it must neither block nor throw. Once the stream
  /// is gone, it is called no more. Call this once, before Arm.
  void Notify(std::function<void()> tell);

  /// After kNothing: has the owner told once when something has arrived. Returns until when, by the
  /// client's clock, TryRead has to be called in any case, to keep the limits of time;
  /// TimePoint::max(): never.
  base::TimePoint Arm();

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_RESPONSE_STREAM_H_
