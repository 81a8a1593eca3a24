/// @file
/// The part of RFC 6455 that a server needs that sends messages and receives only control frames.
#ifndef KUBEXX_HTTP_INTERNAL_WEBSOCKET_FRAMES_H_
#define KUBEXX_HTTP_INTERNAL_WEBSOCKET_FRAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/base/function_ref.h"

namespace kubexx::http::internal {

/// The type of a frame.
enum class Opcode : std::uint8_t { kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

/// Returns the value of Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string AcceptKey(std::string_view key);

/// Returns the header of a message of `size` bytes that is a single frame.
std::string FrameHeader(Opcode opcode, std::size_t size);

/// Parses a client's frames as they arrive, and skips those that are not control frames. Holds a
/// few dozen bytes. Not thread-safe.
class ClientFrames {
 public:
  /// Calls `sink` with each control frame. Returns false when the bytes are not a WebSocket
  /// client's stream.
  bool Feed(std::string_view bytes,
            base::FunctionRef<void(Opcode opcode, std::string_view payload)> sink);

 private:
  /// Whether the head of the frame is complete.
  bool ReadHead();

  std::string head_{};
  std::string payload_{};   // of a control frame
  std::uint64_t left_ = 0;  // of the payload
  std::uint64_t size_ = 0;
  std::array<char, 4> mask_{};
  bool in_payload_ = false;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_WEBSOCKET_FRAMES_H_
