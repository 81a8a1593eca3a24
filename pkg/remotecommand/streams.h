/// @file
/// Streams: the sources and sinks of the bytes of a remote command.
#ifndef KUBEXX_REMOTECOMMAND_STREAMS_H_
#define KUBEXX_REMOTECOMMAND_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"

namespace kubexx::remotecommand {

/// Reads at least one byte into `buffer` and returns the number of bytes; 0 at the end. Called on a
/// thread of its own. May block, but must return soon after `stop` is requested, with any result.
using Source = std::function<apimachinery::Result<std::size_t>(std::span<char> buffer,
                                                               const std::stop_token&)>;

/// Gets bytes, on the thread of the caller. While it blocks, nothing more is read from the network,
/// so that a slow sink slows down the other side, and the call does not end before it returns. An
/// error ends the call and is returned.
using Sink = std::function<apimachinery::Result<void>(std::string_view bytes)>;

/// A source with the bytes of `text`.
Source StringSource(std::string text);

/// A source that reads from a descriptor, which stays open and must outlive the call. kUnavailable
/// when it cannot be read, or the process has no descriptor left with which a stop could be
/// noticed.
Source DescriptorSource(int fd);

/// A sink that writes to a descriptor, which stays open and must outlive the call. kCancelled when
/// nobody reads the bytes and `stop` is requested: pass the call's token. Otherwise as
/// DescriptorSource.
Sink DescriptorSink(int fd, std::stop_token stop = {});

/// A sink that appends to `out`, which must outlive the call.
Sink StringSink(std::string& out);

/// The size of a terminal in characters.
struct TerminalSize {
  std::uint16_t width = 0;
  std::uint16_t height = 0;
  bool operator==(const TerminalSize&) const = default;
};

/// Passes the size of the terminal to a running command; the last one counts. Thread-safe.
class TerminalSizes {
 public:
  void Set(TerminalSize size);

  /// Waits for a size that no earlier call has returned; std::nullopt when `stop` is requested.
  std::optional<TerminalSize> Next(const std::stop_token& stop);

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::optional<TerminalSize> next_ KX_GUARDED_BY(mu_);
};

/// The streams of a command. The server is asked only for those that are set.
struct Streams {
  Source in{};
  Sink out{};
  Sink err{};  ///< unused with a terminal: everything comes through `out`
  bool tty = false;
  std::shared_ptr<TerminalSizes> sizes{};  ///< only with a terminal
};

}  // namespace kubexx::remotecommand

#endif  // KUBEXX_REMOTECOMMAND_STREAMS_H_
