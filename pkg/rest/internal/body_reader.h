/// @file
/// BodyReader: reads the body of a response within its time.
#ifndef KUBEXX_REST_INTERNAL_BODY_READER_H_
#define KUBEXX_REST_INTERNAL_BODY_READER_H_

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

/// How long the body of a response may take; zero durations: no limit.
struct BodyLimits {
  base::Duration idle{0};    ///< without a byte
  base::Duration whole{0};   ///< of waiting, in all
  base::Duration waited{0};  ///< of `whole`, before the body
  base::TimePoint deadline = base::TimePoint::max();
};

/// Reads a body piece by piece, in one of two ways: Next waits, TryNext does not. A watch on a
/// connection whose client certificate may be replaced looks for a new one from time to time, and
/// ends when there is one: it begins again with it. Not thread-safe.
class BodyReader {
 public:
  /// `look` is how often to look for a new certificate; zero: never. All arguments but the limits
  /// must outlive it.
  BodyReader(Sender& sender, Opened& opened, BodyLimits limits, base::Duration look)
      : sender_(sender), opened_(opened), limits_(limits), look_(look), waited_(limits.waited) {}

  /// As Opened::Read; kTimeout when the body's time is over.
  apimachinery::Result<bool> Next(HttpCall::Sink sink, const std::stop_token& stop);

  /// As Opened::TryRead, with the same limits as Next.
  apimachinery::Result<StreamRead> TryNext(HttpCall::Sink sink);
  /// After a TryNext that found nothing, see RoundTrip::Arm.
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
  // Of TryNext.
  std::optional<base::TimePoint> wait_began_{};
  base::TimePoint look_at_ = base::TimePoint::max();
};

/// A stream whose head has come.
struct OpenedStream {
  Opened opened;
  Request::StreamHead head{};
  BodyLimits limits{};
  base::Duration look{0};
};

/// `sender` must outlive the result; `request` is for errors.
std::unique_ptr<ResponseStream> NewResponseStream(Sender& sender, OpenedStream opened,
                                                  std::string request);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_BODY_READER_H_
