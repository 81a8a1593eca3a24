#include "kubexx/remotecommand/streams.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <functional>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/remotecommand/internal/wake_event.h"

namespace kubexx::remotecommand {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

std::string ErrnoText() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe)

/// Signals an event when a stop is requested.
class StopEvent {
 public:
  explicit StopEvent(const std::stop_token& stop)
      : is_needed_(stop.stop_possible()), callback_(stop, [this] { event_.Signal(); }) {}

  /// An error when there is a stop that it could not tell of.
  Result<void> Check() const {
    return is_needed_ && !event_.valid()
               ? Fail(Reason::kUnavailable, "no descriptor is left to wait for a stop with")
               : Result<void>();
  }
  int fd() const { return event_.fd(); }

 private:
  const bool is_needed_;
  const internal::WakeEvent event_;
  const std::stop_callback<std::function<void()>> callback_;
};

}  // namespace

Source StringSource(std::string text) {
  return [text = std::move(text), at = std::size_t{0}](
             std::span<char> buffer, const std::stop_token&) mutable -> Result<std::size_t> {
    const std::size_t size = std::min(buffer.size(), text.size() - at);
    std::copy_n(text.data() + at, size, buffer.data());
    at += size;
    return size;
  };
}

Source DescriptorSource(int fd) {
  return [fd](std::span<char> buffer, const std::stop_token& stop) -> Result<std::size_t> {
    const StopEvent stopped(stop);
    KX_RETURN_IF_ERROR(stopped.Check());
    std::array<pollfd, 2> waits{pollfd{fd, POLLIN, 0}, pollfd{stopped.fd(), POLLIN, 0}};
    while (true) {
      if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) {
        return Fail(Reason::kUnavailable, "wait for input: " + ErrnoText());
      }
      if (stop.stop_requested()) {
        return 0;
      }
      if (waits[0].revents == 0) {
        continue;
      }
      const ssize_t size = ::read(fd, buffer.data(), buffer.size());
      if (size >= 0) {
        return static_cast<std::size_t>(size);
      }
      if (errno != EINTR && errno != EAGAIN) {
        return Fail(Reason::kUnavailable, "read input: " + ErrnoText());
      }
    }
  };
}

Sink DescriptorSink(int fd, std::stop_token stop) {
  return [fd, stop = std::move(stop)](std::string_view bytes) -> Result<void> {
    const StopEvent stopped(stop);
    KX_RETURN_IF_ERROR(stopped.Check());
    std::array<pollfd, 2> waits{pollfd{fd, POLLOUT, 0}, pollfd{stopped.fd(), POLLIN, 0}};
    while (!bytes.empty()) {
      if (fd >= 0 && ::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) {
        return Fail(Reason::kUnavailable, "wait for output: " + ErrnoText());
      }
      if (stop.stop_requested()) {
        return Fail(Reason::kCancelled, "stopped while writing output");
      }
      if (fd >= 0 && waits[0].revents == 0) {
        continue;
      }
      // A pipe that can be written takes so much without blocking.
      const ssize_t size = ::write(fd, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
      if (size >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(size));
      } else if (errno != EINTR && errno != EAGAIN) {
        return Fail(Reason::kUnavailable, "write output: " + ErrnoText());
      }
    }
    return {};
  };
}

Sink StringSink(std::string& out) {
  return [&out](std::string_view bytes) -> Result<void> {
    out += bytes;
    return {};
  };
}

void TerminalSizes::Set(TerminalSize size) {
  base::MutexLock lock(mu_);
  next_ = size;
  changed_.notify_all();
}

std::optional<TerminalSize> TerminalSizes::Next(const std::stop_token& stop) {
  base::MutexLock lock(mu_);
  while (!next_) {
    if (base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max()) ==
        base::Wake::kStopped) {
      return std::nullopt;
    }
  }
  return std::exchange(next_, std::nullopt);
}

}  // namespace kubexx::remotecommand
