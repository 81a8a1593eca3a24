#include "kubexx/rest/internal/stream/stream_trip.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "kubexx/base/executor/executor.h"
#include "kubexx/rest/internal/stream/dial.h"
#include "kubexx/rest/internal/stream/head_wait.h"
#include "kubexx/rest/internal/stream/io_wait.h"
#include "kubexx/rest/internal/stream/stream_connections.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

// The sizes of the buffer that is read into and handed over at once. The small one holds what a
// quiet watch brings. The larger one is used only where the small one was too small. It is not
// larger than what stays in the processor's cache between the decryption and the reader.
constexpr std::size_t kSmallBuffer = 16 * 1024;
constexpr std::size_t kLargeBuffer = 128 * 1024;

// A stream is fast when most of its recent waits were short; a long wait halves their count. On a
// fast stream, small pieces, which are often one watch event each, gather for this time. A stream
// with pauses is handed over at once.
constexpr int kFastShortWaits = 8;
constexpr int kMaxShortWaits = 32;
constexpr std::chrono::microseconds kGatherTime{500};
constexpr std::size_t kEnoughBytes = 64 * 1024;

// A stream that brings nothing for this time gives a large buffer back.
constexpr std::chrono::seconds kQuietTime{1};

// The interval at which TryRead looks at a socket for which the kernel gives no report.
constexpr std::chrono::milliseconds kLookAgain{10};

}  // namespace

StreamTrip::StreamTrip(std::shared_ptr<StreamConnections> connections, Asked asked,
                       std::unique_ptr<Connection> connection, std::uint64_t version)
    : connections_(std::move(connections)),
      asked_(std::move(asked)),
      ready_(std::move(connection)),
      version_(version),
      parser_(asked_.no_body ? ResponseParser::Body::kNone : ResponseParser::Body::kUsual) {}

StreamTrip::~StreamTrip() { FreeBuffer(); }

void StreamTrip::Reserve() {
  const std::size_t wanted = wants_more_ || is_fast() ? kLargeBuffer : kSmallBuffer;
  if (filled_ == 0 && capacity_ < wanted) {
    FreeBuffer();
    buffer_ = std::make_unique_for_overwrite<char[]>(wanted);
    capacity_ = wanted;
  }
}

void StreamTrip::FreeBuffer() {
  if (asked_.secret && buffer_) {
    explicit_bzero(buffer_.get(), capacity_);  // the bytes after the head were moved to the front
  }
  buffer_.reset();
  capacity_ = 0;
  filled_ = 0;
}

Result<HttpHead> StreamTrip::AwaitHead(const std::stop_token& stop, const Limits& limits) {
  if (failure_) {
    return apimachinery::Fail(failure_->status);
  }
  auto poller = Poller::OfProcess();
  if (!poller) {
    return Explain({.failure = {.status = std::move(poller).error()}}, limits);
  }
  poller_ = std::move(*poller);
  auto done = Ask(stop, limits, true);
  // The server closed the connection between the check and the use.
  if (!done && done.error().kind == Trouble::Kind::kFailed && reused_ && asked_.repeatable &&
      done.error().failure.lost_connection && !parser_.begun()) {
    done = Ask(stop, limits, false);
  }
  if (!done) {
    return Explain(std::move(done).error(), limits);
  }
  return parser_.head();
}

std::expected<void, Trouble> StreamTrip::Ask(const std::stop_token& stop, const Limits& limits,
                                             bool may_use_idle) {
  base::Clock& clock = connections_->clock();
  const Waiting to_connect{.poller = *poller_,
                           .clock = clock,
                           .stop = stop,
                           .deadline = std::min(limits.connect, limits.head)};
  sent_ = false;
  connection_ = std::exchange(ready_, nullptr);
  reused_ = false;
  if (!connection_) {
    const Route route = connections_->RouteNow(version_);
    connection_ = may_use_idle ? connections_->TakeIdle(version_) : nullptr;
    reused_ = connection_ != nullptr;
    if (!connection_) {
      auto dialed = Dial(route, to_connect);
      if (!dialed) {
        return std::unexpected(std::move(dialed).error());
      }
      connection_ = std::move(*dialed);
    }
  }
  if (asked_.secret) {
    connection_->WipePlaintext();
  }
  if (auto written = WriteAll(*connection_, asked_.bytes, to_connect); !written) {
    return written;
  }
  sent_ = true;
  const base::TimePoint respond =
      limits.response.count() > 0 ? clock.Now() + limits.response : base::TimePoint::max();
  return ReadHead({.poller = *poller_,
                   .clock = clock,
                   .stop = stop,
                   .deadline = std::min(respond, limits.head)});
}

std::expected<void, Trouble> StreamTrip::ReadHead(const Waiting& waiting) {
  FreeBuffer();
  Reserve();
  while (!parser_.has_head()) {
    const auto step =
        AwaitIo(*connection_, waiting, [&] { return connection_->Read(buffer_.get(), capacity_); });
    if (!step) {
      return std::unexpected(step.error());
    }
    if (step->io != Connection::Io::kDone) {
      return std::unexpected(WhyNoHead(step->io));
    }
    const std::size_t taken = parser_.TakeHead({buffer_.get(), step->bytes});
    if (parser_.error() == ResponseParser::Error::kHeadTooLong) {
      return std::unexpected(Trouble::Because("the head of the response is larger than " +
                                              std::to_string(ResponseParser::kMaxHead / 1024) +
                                              " KiB, or there are too many of them"));
    }
    if (parser_.error() != ResponseParser::Error::kNone) {
      return std::unexpected(Trouble::Because("the response is not HTTP"));
    }
    filled_ = step->bytes - taken;
    std::memmove(buffer_.get(), buffer_.get() + taken, filled_);
    // Stops even when more bytes of the head are there already, because the server may send them
    // one by one.
    if (waiting.stop.stop_requested()) {
      return std::unexpected(Trouble{.kind = Trouble::Kind::kStopped});
    }
    if (!parser_.has_head() && waiting.clock.Now() >= waiting.deadline) {
      return std::unexpected(Trouble{.kind = Trouble::Kind::kTimeout});
    }
  }
  return {};
}

Trouble StreamTrip::WhyNoHead(Connection::Io io) {
  if (io == Connection::Io::kFailed && connection_->tls_failed()) {
    // With TLS 1.3 the client learns that its certificate was refused only after the handshake, at
    // its first read.
    std::uint64_t version = 0;
    const std::string origin = connections_->RouteNow(version).server.Origin();
    return Trouble::Because("TLS handshake: " + connection_->failure() + " (" + origin + "/)",
                            false, true);
  }
  return Trouble::Because(
      asked_.repeatable
          ? "the connection was closed before a response came"
          : "the connection was closed before a response; the server may have executed the request",
      true);
}

apimachinery::Error StreamTrip::Explain(Trouble trouble, const Limits& limits) {
  connection_.reset();
  FreeBuffer();
  return ErrorOfHead(std::move(trouble), limits, sent_, connections_->clock(), failure_);
}

bool StreamTrip::is_fast() const { return short_waits_ >= kFastShortWaits; }

Connection::Io StreamTrip::Fill() {
  while (filled_ < capacity_) {
    const Connection::Step step = connection_->Read(buffer_.get() + filled_, capacity_ - filled_);
    if (step.io != Connection::Io::kDone) {
      return step.io;
    }
    filled_ += step.bytes;
  }
  return Connection::Io::kDone;
}

void StreamTrip::Fail(std::string message) {
  failure_ = Failure{.status = Status(Reason::kUnavailable, std::move(message))};
}

std::size_t StreamTrip::Unframe(Connection::Io io) {
  wants_more_ = filled_ == capacity_;
  const ResponseParser::Taken taken = parser_.TakeBody(buffer_.get(), filled_);
  if (parser_.error() != ResponseParser::Error::kNone) {
    Fail("the response has a malformed chunk");
  } else if (parser_.ended() && (taken.consumed < filled_ || !Connection::IsWant(io))) {
    connection_.reset();  // more has come than was asked for, or the connection has ended
  } else if (io == Connection::Io::kFailed && connection_->tls_failed()) {
    Fail("TLS: " + connection_->failure());
  } else if (io == Connection::Io::kFailed || (io == Connection::Io::kEnd && !parser_.TakeEnd())) {
    const std::string& why = connection_->failure();
    Fail("the connection was closed in the middle of the response" +
         (why.empty() ? why : ": " + why));
  }
  return taken.payload;
}

void StreamTrip::CountWait(base::Duration time) {
  short_waits_ = time < kGatherTime ? std::min(short_waits_ + 1, kMaxShortWaits) : short_waits_ / 2;
}

void StreamTrip::GiveBufferBack() {
  FreeBuffer();
  wants_more_ = false;
}

base::Wake StreamTrip::Park(const std::stop_token& stop, base::TimePoint deadline) {
  base::Clock& real = base::Clock::Real();
  const base::TimePoint begin = real.Now();
  base::Wake wake = base::Wake::kTimeout;
  if (is_fast()) {
    // The wait is in real time, whatever clock the request has, because it only decides when memory
    // is freed.
    wake = poller_->Wait(connection_->fd(), InterestOf(wants_), real, stop,
                         std::min(deadline, begin + kQuietTime));
  }
  if (wake == base::Wake::kTimeout) {
    GiveBufferBack();
    wake =
        poller_->Wait(connection_->fd(), InterestOf(wants_), connections_->clock(), stop, deadline);
  }
  CountWait(real.Now() - begin);
  return wake;
}

Result<void> StreamTrip::HandOver(std::size_t payload, Sink sink) {
  const Result<void> accepted = sink({buffer_.get(), payload});
  if (asked_.secret) {
    explicit_bzero(buffer_.get(), filled_);
  }
  filled_ = 0;
  return accepted;
}

void StreamTrip::Release() {
  if (connection_ && parser_.keeps_alive() && filled_ == 0) {
    connections_->GiveBack(std::move(connection_), version_);
  }
  connection_.reset();
  FreeBuffer();
}

Connection::Io StreamTrip::Gather(bool has_waited) {
  const Connection::Io io = Fill();
  if (!Connection::IsWant(io) || !is_fast() || has_waited || filled_ >= kEnoughBytes ||
      base::Executor::OthersAreReady()) {
    return io;
  }
  // The wait is in real time, for the same reason. It is short, so a stop is noticed soon
  // afterwards.
  base::Clock::Real().SleepFor(kGatherTime, {});
  const Connection::Io again = Fill();
  short_waits_ = filled_ > 0 ? std::min(short_waits_ + 1, kMaxShortWaits) : short_waits_;
  return again;
}

Result<StreamRead> StreamTrip::ReadAvailable(Sink sink, bool has_waited) {
  for (;;) {
    if (failure_) {
      return apimachinery::Fail(failure_->status);
    }
    if (parser_.ended()) {
      Release();
      return StreamRead::kEnd;
    }
    Reserve();
    const Connection::Io io = Gather(has_waited);
    if (const std::size_t payload = Unframe(io); payload > 0) {
      KX_RETURN_IF_ERROR(HandOver(payload, sink));
      return StreamRead::kPiece;
    }
    filled_ = 0;
    if (Connection::IsWant(io) && !parser_.ended() && !failure_) {
      wants_ = io;
      return StreamRead::kNothing;
    }
  }
}

Result<bool> StreamTrip::Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) {
  for (bool has_waited = false;; has_waited = true) {
    if (stop.stop_requested()) {
      return apimachinery::Fail(Reason::kCancelled, "stopped while reading the response");
    }
    KX_ASSIGN_OR_RETURN(const StreamRead found, ReadAvailable(sink, has_waited));
    if (found != StreamRead::kNothing) {
      return found == StreamRead::kPiece;
    }
    if (Park(stop, deadline) == base::Wake::kTimeout) {
      return apimachinery::Fail(Reason::kUnavailable, "nothing arrived within the idle timeout");
    }
  }
}

Result<StreamRead> StreamTrip::TryRead(Sink sink) {
  const base::Clock& real = base::Clock::Real();
  const bool has_waited = quiet_since_.has_value();
  if (has_waited) {
    CountWait(real.Now() - *quiet_since_);
  }
  auto found = ReadAvailable(sink, has_waited);
  if (!found || *found != StreamRead::kNothing) {
    quiet_since_.reset();
    return found;
  }
  const base::TimePoint now = real.Now();
  quiet_since_ = quiet_since_.value_or(now);
  if (!is_fast() || now - *quiet_since_ >= kQuietTime) {
    GiveBufferBack();
  }
  return found;
}

void StreamTrip::Notify(std::function<void()> tell) {
  signal_.reset();
  if (poller_) {
    signal_.emplace(poller_, std::move(tell));
  }
}

// A fast stream is looked at once more, so that it can give its buffer back if it has become quiet.
base::TimePoint StreamTrip::Arm() {
  const base::TimePoint now = connections_->clock().Now();
  if (!signal_ || !connection_ || !signal_->Arm(connection_->fd(), InterestOf(wants_))) {
    return now + kLookAgain;
  }
  return buffer_ ? now + kQuietTime : base::TimePoint::max();
}

}  // namespace kubexx::rest::internal
