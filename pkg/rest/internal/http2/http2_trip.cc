#include "kubexx/rest/internal/http2/http2_trip.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "kubexx/rest/internal/stream/head_wait.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using State = Http2Answer::State;

// How often a request is sent that servers refuse without having looked at it, as one does that is
// about to end. After that the client's own retries decide.
constexpr int kMaxAttempts = 3;

}  // namespace

Http2Trip::Http2Trip(std::shared_ptr<Http2Connections> connections, const HttpRequest& request)
    : connections_(std::move(connections)), request_(request) {
  request_.body = {};
  stream_.secret = request.secret;
}

Http2Trip::~Http2Trip() { Leave(); }

void Http2Trip::Leave() {
  if (connection_) {
    connection_->Leave(stream_);
    connections_->Left(connection_);
    connection_.reset();
  }
}

Result<HttpHead> Http2Trip::AwaitHead(const std::stop_token& stop, const Limits& limits) {
  base::Clock& clock = connections_->streams().clock();
  auto poller = Poller::OfProcess();
  if (!poller) {
    failure_ = Failure{.status = std::move(poller).error()};
    return apimachinery::Fail(failure_->status);
  }
  for (;;) {
    auto next = Ask(*poller, stop, limits);
    if (!next) {
      Leave();
      return ErrorOfHead(std::move(next).error(), limits, sent_, clock, failure_);
    }
    if (*next == Next::kHttp1) {
      return AwaitHeadOverHttp1(stop, limits);
    }
    if (*next == Next::kHead) {
      request_ = {};  // a watch may live for an hour
      return stream_.head;
    }
    Leave();
    // All but the owner's settings: it is asked for anew.
    static_cast<Http2Answer&>(stream_) = {.secret = request_.secret};
  }
}

std::expected<Http2Trip::Next, Trouble> Http2Trip::Ask(const std::shared_ptr<Poller>& poller,
                                                       const std::stop_token& stop,
                                                       const Limits& limits) {
  base::Clock& clock = connections_->streams().clock();
  sent_ = false;
  auto place = connections_->Open(request_, stream_, poller,
                                  {.poller = *poller,
                                   .clock = clock,
                                   .stop = stop,
                                   .deadline = std::min(limits.connect, limits.head)});
  if (!place) {
    return std::unexpected(std::move(place).error());
  }
  if (!place->connection) {
    ready_ = std::move(place->http1);
    ready_version_ = place->version;
    return Next::kHttp1;
  }
  connection_ = std::move(place->connection);
  was_in_use_ = place->was_in_use;
  sent_ = true;
  ++attempts_;
  const base::TimePoint respond =
      limits.response.count() > 0 ? clock.Now() + limits.response : base::TimePoint::max();
  const auto state = connection_->AwaitHead(stream_, {.poller = *poller,
                                                      .clock = clock,
                                                      .stop = stop,
                                                      .deadline = std::min(respond, limits.head)});
  if (!state) {
    return std::unexpected(state.error());
  }
  return *state == State::kOpen ? Next::kHead : WithoutHead(*state);
}

std::expected<Http2Trip::Next, Trouble> Http2Trip::WithoutHead(State state) {
  if (state == State::kNeedsHttp1) {
    connections_->AvoidHttp2();
    return Next::kHttp1;
  }
  if (state == State::kFailed) {
    return std::unexpected(Trouble::Because(stream_.failure));
  }
  // A connection that had served others may have been closed in the moment before this request.
  const bool again = state == State::kRefused || was_in_use_;
  if (again && attempts_ < kMaxAttempts) {
    return Next::kAgain;
  }
  if (state == State::kRefused) {
    return std::unexpected(Trouble::Because("the server refused the stream", true));
  }
  const std::string why = connection_->failure();
  return std::unexpected(Trouble::Because(
      "the connection was closed before a response came" + (why.empty() ? "" : ": " + why), true));
}

Result<HttpHead> Http2Trip::AwaitHeadOverHttp1(const std::stop_token& stop, const Limits& limits) {
  Leave();
  http1_ = ready_ ? connections_->streams().StartOn(request_, std::move(ready_), ready_version_)
                  : connections_->streams().Start(request_);
  request_ = {};
  return http1_->AwaitHead(stop, limits);
}

void Http2Trip::Fail(std::string message) {
  failure_ = Failure{.status = Status(Reason::kUnavailable, std::move(message))};
}

Result<StreamRead> Http2Trip::TryRead(Sink sink) {
  if (http1_) {
    return http1_->TryRead(sink);
  }
  if (failure_) {
    return apimachinery::Fail(failure_->status);
  }
  if (!connection_) {
    return StreamRead::kEnd;
  }
  std::string piece;
  const State state = connection_->Take(stream_, piece);
  if (!piece.empty()) {
    const Result<void> accepted = sink(piece);
    if (stream_.secret) {
      explicit_bzero(piece.data(), piece.size());
    }
    connection_->Took(stream_, piece.size());
    KX_RETURN_IF_ERROR(accepted);
    return StreamRead::kPiece;
  }
  if (state == State::kOpen) {
    return StreamRead::kNothing;
  }
  if (state == State::kEnded) {
    Leave();
    return StreamRead::kEnd;
  }
  const std::string why = state == State::kLost ? connection_->failure() : "";
  Fail(state == State::kLost ? "the connection was closed in the middle of the response" +
                                   (why.empty() ? "" : ": " + why)
                             : stream_.failure);
  Leave();
  return apimachinery::Fail(failure_->status);
}

Result<bool> Http2Trip::Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) {
  if (http1_) {
    return http1_->Read(sink, stop, deadline);
  }
  for (;;) {
    if (stop.stop_requested()) {
      return apimachinery::Fail(Reason::kCancelled, "stopped while reading the response");
    }
    KX_ASSIGN_OR_RETURN(const StreamRead found, TryRead(sink));
    if (found != StreamRead::kNothing) {
      return found == StreamRead::kPiece;
    }
    if (connection_->Wait(stream_, stop, deadline) == base::Wake::kTimeout) {
      return apimachinery::Fail(Reason::kUnavailable, "nothing arrived within the idle timeout");
    }
  }
}

void Http2Trip::Notify(std::function<void()> tell) {
  if (http1_) {
    http1_->Notify(std::move(tell));
  } else if (connection_) {
    connection_->Notify(stream_, std::move(tell));
  }
}

base::TimePoint Http2Trip::Arm() {
  if (http1_) {
    return http1_->Arm();
  }
  // One that has ended is read to its end at once.
  return connection_ ? connection_->Arm(stream_) : connections_->streams().clock().Now();
}

bool Http2Trip::lost_connection() const {
  return http1_ ? http1_->lost_connection() : failure_ && failure_->lost_connection;
}

bool Http2Trip::failed() const { return http1_ ? http1_->failed() : failure_.has_value(); }

}  // namespace kubexx::rest::internal
