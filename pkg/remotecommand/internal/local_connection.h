/// @file
/// LocalConnection: the local side of a forwarded connection.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_LOCAL_CONNECTION_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_LOCAL_CONNECTION_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/file_descriptor.h"
#include "kubexx/remotecommand/internal/wake_event.h"

namespace kubexx::remotecommand::internal {

/// The source and the sink of one Executor::Forward over a socket. Read is called on one thread,
/// and everything else on another.
class LocalConnection {
 public:
  /// `socket` is that of a TcpListener, which is reset at the end of this. `stop` ends every wait.
  /// The connection is given up when its client has ended its side and there has been nothing to
  /// write to it for `half_closed_timeout`. A client that takes its time with what there is has it.
  LocalConnection(base::FileDescriptor socket, std::chrono::milliseconds half_closed_timeout,
                  std::stop_token stop);

  /// False when the process has no descriptors left for it.
  bool valid() const { return over_.valid(); }

  /// A Source. It does not return 0, which the pod could not be told: after the client's end it
  /// waits for the end of the connection, and is then an error.
  apimachinery::Result<std::size_t> Read(std::span<char> buffer, const std::stop_token& stop);

  /// A Sink.
  apimachinery::Result<void> Write(std::string_view bytes);

  /// Whether the local side ended the connection. It need not be told of that end.
  bool has_ended() const { return has_ended_; }
  /// Whether it ended because there was nothing to write. Not while Read runs.
  bool gave_up() const { return gave_up_; }

  /// Closes without a reset, after the pod's own end: the client gets all that was written, and
  /// then the end. Waits for a slow client, but no longer than `patience`: the rest is the system's
  /// to send.
  void Finish(std::chrono::milliseconds patience = std::chrono::seconds(10));

 private:
  using Clock = std::chrono::steady_clock;

  apimachinery::Status End(const char* what);
  /// Whether nothing is to be waited for any more; `stop` is the reader's.
  bool IsOver(const std::stop_token& stop) const;
  apimachinery::Result<std::size_t> AwaitEnd(const std::stop_token& stop);
  apimachinery::Result<void> WriteAll(std::string_view bytes);

  base::FileDescriptor socket_;
  const std::chrono::milliseconds half_closed_timeout_;
  const std::stop_token stop_;
  WakeEvent over_;
  std::stop_callback<std::function<void()>> on_stop_;
  std::atomic<bool> has_ended_ = false;
  bool gave_up_ = false;
  std::atomic<bool> writing_ = false;
  std::atomic<Clock::rep> last_written_;
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_LOCAL_CONNECTION_H_
