#include "kubexx/codec/base64.h"

#include <array>
#include <cstdint>

namespace kubexx::codec {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNotInAlphabet = 0xff;

constexpr auto kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNotInAlphabet);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

std::uint32_t InputByteAt(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : 0;
}

}  // namespace

void AppendBase64(std::string_view bytes, std::string& out) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group =
        InputByteAt(bytes, i) << 16 | InputByteAt(bytes, i + 1) << 8 | InputByteAt(bytes, i + 2);
    out += kAlphabet[group >> 18];
    out += kAlphabet[group >> 12 & 63];
    out += i + 1 < bytes.size() ? kAlphabet[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kAlphabet[group & 63] : '=';
  }
}

bool DecodeBase64(std::string_view text, std::string& out) {
  out.reserve(out.size() + text.size() / 4 * 3);
  std::uint32_t group = 0;
  int count = 0;  // symbols in the group
  int padding = 0;
  bool finished = false;  // a padded group is the last
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      continue;
    }
    if (finished) {
      return false;
    }
    if (c == '=' && count >= 2) {
      ++padding;
      group <<= 6;
    } else {
      const std::uint8_t value = kValues[static_cast<std::uint8_t>(c)];
      if (value == kNotInAlphabet || padding > 0) {
        return false;
      }
      group = group << 6 | value;
    }
    if (++count == 4) {
      for (int i = 0; i < 3 - padding; ++i) {
        out += static_cast<char>(group >> (16 - 8 * i) & 0xff);
      }
      finished = padding > 0;
      count = 0;
      group = 0;
    }
  }
  return count == 0;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  AppendBase64(bytes, text);
  return text;
}

}  // namespace kubexx::codec
