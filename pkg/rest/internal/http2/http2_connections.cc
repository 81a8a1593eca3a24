#include "kubexx/rest/internal/http2/http2_connections.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "kubexx/rest/internal/stream/dial.h"

namespace kubexx::rest::internal {
namespace {

// A server that does not speak HTTP/2 is asked again after so long; it may have been replaced.
constexpr std::chrono::minutes kHttp1Time(10);

// A server, or what is in front of it, that chooses HTTP/2 and then does not speak it.
constexpr int kMaxFailures = 3;

// New connections on which not even the first request has room.
constexpr int kMaxUselessDials = 3;

}  // namespace

std::vector<Http2Connections::Known> Http2Connections::KnownLocked(std::uint64_t version) {
  std::vector<Known> all = known_;  // so that none is closed here, with the lock
  std::erase_if(known_, [version](const Known& known) {
    return known.version != version || known.connection->is_closing();
  });
  return all;
}

std::expected<Http2Connections::Place, Trouble> Http2Connections::Open(
    const HttpRequest& request, Http2Stream& stream, const std::shared_ptr<Poller>& poller,
    const Waiting& waiting) {
  for (int useless = 0; useless < kMaxUselessDials;) {
    std::uint64_t version = 0;
    const Route route = streams_->RouteNow(version);
    std::vector<Known> known;
    {
      const base::MutexLock lock(mu_);
      if (http1_until_ && waiting.clock.Now() < *http1_until_) {
        return Place{};
      }
      known = KnownLocked(version);
    }
    const std::string authority = HostHeader(route.server);
    for (const Known& one : known) {
      if (one.version == version && one.connection->Open(request, authority, stream)) {
        return Place{.connection = one.connection, .was_in_use = true};
      }
    }
    known.clear();
    {
      const base::MutexLock lock(mu_);
      if (is_dialing_) {
        const std::uint64_t dial = dials_;
        while (is_dialing_ && dials_ == dial) {
          const base::Wake wake =
              waiting.clock.WaitUntil(mu_, dialed_, waiting.stop, waiting.deadline);
          if (Trouble trouble; is_dialing_ && dials_ == dial && Trouble::Is(wake, trouble)) {
            return std::unexpected(trouble);
          }
        }
        if (failed_dial_ == dial && dial_failure_) {
          return std::unexpected(*dial_failure_);
        }
        continue;
      }
      is_dialing_ = true;
      ++dials_;
    }
    auto place = DialAndOpen(route, version, request, stream, poller, waiting);
    const base::MutexLock lock(mu_);
    is_dialing_ = false;
    dialed_.notify_all();
    // Why it ended is no concern of the others if it is this caller's own time, or stop.
    if (!place && place.error().kind == Trouble::Kind::kFailed) {
      failed_dial_ = dials_;
      dial_failure_ = place.error();
    }
    if (!place || place->connection || place->http1) {
      return place;
    }
    ++useless;
  }
  const base::MutexLock lock(mu_);
  AvoidHttp2Locked(waiting.clock.Now());
  return Place{};
}

std::expected<Http2Connections::Place, Trouble> Http2Connections::DialAndOpen(
    const Route& route, std::uint64_t version, const HttpRequest& request, Http2Stream& stream,
    const std::shared_ptr<Poller>& poller, const Waiting& waiting) {
  auto dialed = Dial(route, waiting, Offer::kHttp2);
  if (!dialed) {
    return std::unexpected(std::move(dialed).error());
  }
  if (!(*dialed)->HasChosenHttp2()) {
    const base::MutexLock lock(mu_);
    AvoidHttp2Locked(waiting.clock.Now());
    return Place{.http1 = std::move(*dialed), .version = version};
  }
  auto begun = Http2Connection::Begin(std::move(*dialed), poller, waiting);
  const bool opened = begun && (*begun)->Open(request, HostHeader(route.server), stream);
  const base::MutexLock lock(mu_);
  if (!begun) {
    if (begun.error().kind == Trouble::Kind::kFailed && ++failures_ >= kMaxFailures) {
      AvoidHttp2Locked(waiting.clock.Now());
    }
    return std::unexpected(std::move(begun).error());
  }
  if (!opened) {
    return Place{};
  }
  failures_ = 0;
  known_.push_back({.connection = *begun, .version = version});
  return Place{.connection = std::move(*begun)};
}

void Http2Connections::Left(const std::shared_ptr<Http2Connection>& connection) {
  std::shared_ptr<Http2Connection> unused;  // closed without the lock
  const base::MutexLock lock(mu_);
  const auto found = std::ranges::find(known_, connection, &Known::connection);
  if (found != known_.end() && connection->CloseIfUnused()) {
    unused = std::move(found->connection);
    known_.erase(found);
  }
}

void Http2Connections::AvoidHttp2() {
  const base::MutexLock lock(mu_);
  AvoidHttp2Locked(streams_->clock().Now());
}

void Http2Connections::AvoidHttp2Locked(base::TimePoint now) {
  http1_until_ = now + kHttp1Time;
  failures_ = 0;
}

}  // namespace kubexx::rest::internal
