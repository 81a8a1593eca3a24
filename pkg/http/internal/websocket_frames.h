/// @file
/// RFC 6455 as far as a server needs it that sends messages and gets none but control frames.
#ifndef KUBEXX_HTTP_INTERNAL_WEBSOCKET_FRAMES_H_
#define KUBEXX_HTTP_INTERNAL_WEBSOCKET_FRAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/base/function_ref.h"

namespace kubexx::http::internal {

/// What a frame is.
enum class Opcode : std::uint8_t { kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

/// The value of Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string AcceptKey(std::string_view key);

/// What goes before the `size` bytes of a message that is one frame.
std::string FrameHeader(Opcode opcode, std::size_t size);

/// Reads a client's frames as they arrive. What is no control frame is passed over. Holds a few
/// dozen bytes. Not thread-safe.
class ClientFrames {
 public:
  /// Calls `sink` with each control frame. False: this is no WebSocket client's stream.
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
