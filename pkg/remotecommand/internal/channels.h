/// @file
/// The protocols inside the WebSocket: the meaning of its messages.
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

/// The first byte of each message of a command.
enum class Channel : std::uint8_t {
  kIn = 0,
  kOut = 1,
  kErr = 2,
  kStatus = 3,
  kResize = 4,
  kClose = 255,  ///< the second byte is the channel that ends
};

/// Returns a message on `channel`.
std::string Message(Channel channel, std::string_view bytes);

/// Returns the message with a terminal's size on Channel::kResize.
std::string ResizeMessage(TerminalSize size);

/// Parses the server's message about the end of a command, a meta/v1 Status in JSON. An exit code
/// other than 0 is not an error.
apimachinery::Result<Exit> ParseExit(std::string_view json);

/// Parses the messages of a command. Not thread-safe.
class CommandReader {
 public:
  explicit CommandReader(const Streams& streams) : streams_(streams) {}

  /// Passes a message to the sinks. Errors are those of the sinks, or kMalformed. Ignores unknown
  /// channels.
  apimachinery::Result<void> Take(std::string_view message);

  /// Whether a part of the message about the command's end has arrived.
  bool has_status() const { return !status_.empty(); }

  /// After the end of the connection, returns the exit code, or the error.
  apimachinery::Result<Exit> Finish() const;

 private:
  const Streams& streams_;
  std::string status_;
};

/// Parses the messages of a forwarded port. It has one channel for data and one for errors, each of
/// which begins with the number of the port. Not thread-safe.
class ForwardReader {
 public:
  ForwardReader(std::uint16_t port, const Sink& out) : port_(port), out_(out) {}

  /// Passes data to the sink, whose errors it returns. What the server says on the channel for
  /// errors is returned as kUnavailable, cut to 4 KiB of UTF-8; kMalformed for another port.
  apimachinery::Result<void> Take(std::string_view message);

 private:
  apimachinery::Result<std::string_view> WithoutPort(std::size_t channel, std::string_view bytes);

  const std::uint16_t port_;
  const Sink& out_;
  std::string port_bytes_[2];
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_CHANNELS_H_
