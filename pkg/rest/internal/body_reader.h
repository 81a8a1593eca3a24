/// @file
/// BodyReader: reads the body of a response within its time.
#ifndef KUBEXX_REST_INTERNAL_BODY_READER_H_
#define KUBEXX_REST_INTERNAL_BODY_READER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/internal/sender.h"
#include "kubexx/rest/request.h"
#include "kubexx/rest/response_stream.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// The time that the body of a response may take. A duration of zero means no limit.
struct BodyLimits {
  base::Duration idle{0};    ///< without a byte
  base::Duration whole{0};   ///< of waiting, in all
  base::Duration waited{0};  ///< of `whole`, before the body
  base::TimePoint deadline = base::TimePoint::max();
};

/// Reads a body piece by piece. Next waits for a piece, and TryNext does not. A watch on a
/// connection whose client certificate may be replaced looks for a new certificate from time to
/// time. When there is one the watch ends, so that the next watch uses it. Not thread-safe.
class BodyReader {
 public:
  /// `look` is the interval between looks for a new certificate; zero means never. All arguments
  /// except the limits must outlive the reader.
  BodyReader(Sender& sender, Opened& opened, BodyLimits limits, base::Duration look)
      : sender_(sender), opened_(opened), limits_(limits), look_(look), waited_(limits.waited) {}

  /// Does as Opened::Read. Returns kTimeout when the body's time is over.
  apimachinery::Result<bool> Next(HttpCall::Sink sink, const std::stop_token& stop);

  /// Does as Opened::TryRead, with the same limits as Next. The time between the notification that
  /// Arm has asked for and this call is its owner's, who may have no room for more, and does not
  /// count.
  apimachinery::Result<StreamRead> TryNext(HttpCall::Sink sink);
  /// See RoundTrip::Notify.
  void Notify(std::function<void()> tell);
  /// Call this after a TryNext that found nothing; see RoundTrip::Arm.
  base::TimePoint Arm();

 private:
  apimachinery::Result<void> InTime(base::TimePoint now, base::TimePoint whole) const;
  apimachinery::Result<void> HasPresentCertificate() const;
  apimachinery::Error NothingArrived() const;
  base::TimePoint WholeFrom(base::TimePoint begin) const;
  base::TimePoint IdleFrom(base::TimePoint begin) const;
  base::TimePoint NextLook(base::TimePoint now) const;

  Sender& sender_;
  Opened& opened_;
  const BodyLimits limits_;
  const base::Duration look_;
  base::Duration waited_;
  // These members are used by TryNext.
  std::optional<base::TimePoint> wait_began_{};
  /// When the owner was told since the last Arm; kNotTold: not yet. Set on any thread.
  static constexpr base::Duration kNotTold = base::Duration::max();
  std::atomic<base::Duration> told_at_ = kNotTold;
  base::TimePoint look_at_ = base::TimePoint::max();
};

/// A stream whose head has been received.
struct OpenedStream {
  Opened opened;
  Request::StreamHead head{};
  BodyLimits limits{};
  base::Duration look{0};
};

/// `sender` must outlive the result. `request` is named in errors.
std::unique_ptr<ResponseStream> NewResponseStream(Sender& sender, OpenedStream opened,
                                                  std::string request);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_BODY_READER_H_
