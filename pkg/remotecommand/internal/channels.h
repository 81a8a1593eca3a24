/// @file
/// The protocols inside of the WebSocket: what the messages mean.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_CHANNELS_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_CHANNELS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/remotecommand/executor.h"
#include "kubexx/remotecommand/streams.h"

namespace kubexx::remotecommand::internal {

inline constexpr const char* kCommandProtocol = "v5.channel.k8s.io";
inline constexpr const char* kForwardProtocol = "v4.channel.k8s.io";

/// First byte of each message of a command.
enum class Channel : std::uint8_t {
  kIn = 0,
  kOut = 1,
  kErr = 2,
  kStatus = 3,
  kResize = 4,
  kClose = 255,  ///< the second byte is the channel that ends
};

/// A message on `channel`.
std::string Message(Channel channel, std::string_view bytes);

/// A terminal's size for Channel::kResize.
std::string ResizeMessage(TerminalSize size);

/// What the server says of the end of a command: meta/v1 Status in JSON. An exit code that is not 0
/// is no error.
apimachinery::Result<Exit> ParseExit(std::string_view json);

/// Takes the messages of a command apart. Not thread-safe.
class CommandReader {
 public:
  explicit CommandReader(const Streams& streams) : streams_(streams) {}

  /// Errors are those of the sinks, or kMalformed. Unknown channels are ignored.
  apimachinery::Result<void> Take(std::string_view message);

  /// Whether the server has begun to tell how the command ended.
  bool has_status() const { return !status_.empty(); }

  /// After the connection's end: the exit code, or what went wrong.
  apimachinery::Result<Exit> Finish() const;

 private:
  const Streams& streams_;
  std::string status_;
};

/// Takes the messages of a forwarded port apart: one channel for data, one for errors, each
/// beginning with the port's number. Not thread-safe.
class ForwardReader {
 public:
  ForwardReader(std::uint16_t port, const Sink& out) : port_(port), out_(out) {}

  apimachinery::Result<void> Take(std::string_view message);

 private:
  apimachinery::Result<std::string_view> WithoutPort(std::size_t channel, std::string_view bytes);

  const std::uint16_t port_;
  const Sink& out_;
  std::string port_bytes_[2];
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_CHANNELS_H_
