#include "kubexx/remotecommand/internal/local_connection.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "kubexx/base/after.h"

namespace kubexx::remotecommand::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using std::chrono::milliseconds;

/// How often it is looked whether the client has taken everything, which wakes nobody.
constexpr milliseconds kFinishStep{20};

/// Waits for `events` of a socket, if it is not negative, or for its `over`. At most for `time`;
/// below zero without a limit. Returns the socket's events; 0 when there are none.
short Await(int socket, short events, const WakeEvent& over, milliseconds time) {
  std::array<pollfd, 2> waits{pollfd{socket, events, 0}, pollfd{over.fd(), POLLIN, 0}};
  const auto limit = static_cast<int>(std::min<milliseconds::rep>(time.count(), INT_MAX));
  return ::poll(waits.data(), waits.size(), limit) > 0 ? waits[0].revents : short{0};
}

/// Whether a call on a socket that does not block has only to be made again.
bool IsTransient(int error) { return error == EINTR || error == EAGAIN; }

}  // namespace

LocalConnection::LocalConnection(base::FileDescriptor socket, milliseconds half_closed_timeout,
                                 std::stop_token stop)
    : socket_(std::move(socket)),
      half_closed_timeout_(half_closed_timeout),
      stop_(std::move(stop)),
      on_stop_(stop_, [this] { over_.Signal(); }),
      last_written_(Clock::now().time_since_epoch().count()) {}

apimachinery::Status LocalConnection::End(const char* what) {
  has_ended_ = true;
  over_.Signal();
  return apimachinery::Status(Reason::kUnavailable, what);
}

bool LocalConnection::IsOver(const std::stop_token& stop) const {
  return has_ended_ || stop.stop_requested() || stop_.stop_requested();
}

Result<std::size_t> LocalConnection::Read(std::span<char> buffer, const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] { over_.Signal(); });
  while (!IsOver(stop)) {
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size > 0) {
      return static_cast<std::size_t>(size);
    }
    if (size == 0) {
      return AwaitEnd(stop);
    }
    if (!IsTransient(errno)) {
      return Fail(End("the local side is gone"));
    }
    (void)Await(socket_.get(), POLLIN, over_, milliseconds(-1));
  }
  return 0;
}

Result<std::size_t> LocalConnection::AwaitEnd(const std::stop_token& stop) {
  const Clock::time_point read_all = Clock::now();
  while (!IsOver(stop)) {
    // In this order: the end of a Write tells its time first.
    const bool writing = writing_;
    const Clock::time_point written{Clock::duration(last_written_.load())};
    auto left = std::chrono::ceil<milliseconds>(
        base::After(std::max(read_all, written), half_closed_timeout_) - Clock::now());
    if (writing) {
      left = std::max(half_closed_timeout_, kFinishStep);
    }
    if (left <= milliseconds(0)) {
      gave_up_ = true;
      return Fail(End("the local side has ended, and the pod sends nothing"));
    }
    if (Await(socket_.get(), 0, over_, left) != 0) {
      return Fail(End("the local side is gone"));
    }
  }
  return 0;
}

Result<void> LocalConnection::Write(std::string_view bytes) {
  writing_ = true;
  auto written = WriteAll(bytes);
  last_written_ = Clock::now().time_since_epoch().count();
  writing_ = false;
  return written;
}

Result<void> LocalConnection::WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    if (IsOver({})) {
      return Fail(Reason::kCancelled, "the connection is over");
    }
    const ssize_t size = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
    } else if (!IsTransient(errno)) {
      return Fail(End("the local side is gone"));
    } else {
      (void)Await(socket_.get(), POLLOUT, over_, milliseconds(-1));
    }
  }
  return {};
}

void LocalConnection::Finish(milliseconds patience) {
  const linger in_order{.l_onoff = 0, .l_linger = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &in_order, sizeof in_order);
  ::shutdown(socket_.get(), SHUT_WR);
  // The end of Read has signalled it.
  over_.Clear();
  const Clock::time_point give_up = base::After(Clock::now(), patience);
  // What has come and nobody has read would make the kernel drop what it has yet to send.
  std::array<char, 4096> ignored{};
  int unsent = 1;
  while (unsent > 0 && !stop_.stop_requested() && Clock::now() < give_up) {
    const ssize_t size = ::recv(socket_.get(), ignored.data(), ignored.size(), 0);
    if (size < 0 && !IsTransient(errno)) {
      break;
    }
    if (size <= 0 && (::ioctl(socket_.get(), SIOCOUTQ, &unsent) != 0 || unsent > 0)) {
      // The end of a client can be read again and again. That both sides have ended is told by
      // poll(2) whatever it is asked for, so it is not asked then.
      (void)Await(size == 0 ? -1 : socket_.get(), POLLIN, over_, kFinishStep);
    }
  }
  socket_ = base::FileDescriptor();
}

}  // namespace kubexx::remotecommand::internal
