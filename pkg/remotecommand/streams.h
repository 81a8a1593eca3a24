/// @file
/// Where the bytes of a remote command come from and go to.
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

/// Reads at least one byte into `buffer` and returns how many; 0 at the end. Called on a thread of
/// its own. May block, but returns soon after `stop` is requested, with anything.
using Source = std::function<apimachinery::Result<std::size_t>(std::span<char> buffer,
                                                               const std::stop_token&)>;

/// Takes bytes. Called on the thread of the caller; while it blocks nothing more is read from the
/// network, so that a slow sink slows the other side down, and the call does not end before it
/// returns. An error ends the call and is returned.
using Sink = std::function<apimachinery::Result<void>(std::string_view bytes)>;

/// The bytes of `text`.
Source StringSource(std::string text);

/// What can be read from a descriptor, which stays open and must outlive the call.
Source DescriptorSource(int fd);

/// Writes to a descriptor, which stays open and must outlive the call. kCancelled when nobody takes
/// what is written and `stop` is requested: give it the call's.
Sink DescriptorSink(int fd, std::stop_token stop = {});

/// Appends to `out`, which must outlive the call.
Sink StringSink(std::string& out);

/// Size of a terminal in characters.
struct TerminalSize {
  std::uint16_t width = 0;
  std::uint16_t height = 0;
  bool operator==(const TerminalSize&) const = default;
};

/// Tells a running command of its terminal's size; the last one wins. Thread-safe.
class TerminalSizes {
 public:
  void Set(TerminalSize size);

  /// Waits for a size that no earlier call has given; nothing when `stop` is requested.
  std::optional<TerminalSize> Next(const std::stop_token& stop);

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::optional<TerminalSize> next_ KX_GUARDED_BY(mu_);
};

/// The streams of a command. What is not set is not asked for.
struct Streams {
  Source in{};
  Sink out{};
  Sink err{};  ///< with a terminal everything comes through `out`
  bool tty = false;
  std::shared_ptr<TerminalSizes> sizes{};  ///< with a terminal only
};

}  // namespace kubexx::remotecommand

#endif  // KUBEXX_REMOTECOMMAND_STREAMS_H_
