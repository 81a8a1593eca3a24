/// @file
/// Frames of HTTP/2 as they are on the wire, for tests of what a real server does not send.
#ifndef KUBEXX_REST_TESTING_HTTP2_FRAMES_H_
#define KUBEXX_REST_TESTING_HTTP2_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kubexx::rest::testing {

/// Types and flags, with their numbers in RFC 9113.
enum Http2Frame : std::uint8_t {
  kDataFrame = 0,
  kHeadersFrame = 1,
  kResetFrame = 3,
  kSettingsFrame = 4,
  kPingFrame = 6,
  kGoAwayFrame = 7,
  kWindowUpdateFrame = 8,
  kContinuationFrame = 9,
};
inline constexpr std::uint8_t kEndStream = 1;
inline constexpr std::uint8_t kAck = 1;
inline constexpr std::uint8_t kEndHeaders = 4;
/// ":status: 200" as HPACK has it.
inline constexpr std::string_view kStatus200 = "\x88";

inline std::string Http2Number(std::uint32_t number, int bytes = 4) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) {
    out += static_cast<char>(number >> (8 * i));
  }
  return out;
}

inline std::string MakeFrame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                             std::string_view payload = {}) {
  std::string out = Http2Number(static_cast<std::uint32_t>(payload.size()), 3);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  out += Http2Number(stream);
  out += payload;
  return out;
}

/// SETTINGS with SETTINGS_MAX_CONCURRENT_STREAMS.
inline std::string SettingsWithStreams(std::uint32_t streams) {
  return MakeFrame(kSettingsFrame, 0, 0, Http2Number(3, 2) + Http2Number(streams));
}

/// A header that is in no table: name and value have fewer than 127 bytes.
inline std::string LiteralHeader(std::string_view name, std::string_view value) {
  std::string out(1, '\0');
  out += static_cast<char>(name.size());
  out += name;
  out += static_cast<char>(value.size());
  out += value;
  return out;
}

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_HTTP2_FRAMES_H_
