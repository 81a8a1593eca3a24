#include <array>
#include <cstdint>

#include "kubexx/codec/internal/json_scan.h"

namespace kubexx::codec::internal {
namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr std::string_view kHex = "0123456789abcdef";

// Bytes that stand for themselves inside a literal: printable ASCII but for quotes, backslash and
// HTML characters.
constexpr auto kPlainBytes = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) {
    plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
  }
  return plain;
}();

std::uint8_t ByteAt(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

void AppendEscape(std::uint8_t c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

// The number of bytes of the well-formed UTF-8 sequence at `i`, 0 when there is none.
std::size_t Utf8Length(std::string_view text, std::size_t i) {
  const std::uint8_t lead = ByteAt(text, i);
  const std::size_t length = lead < 0xc2   ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length == 0 || length > text.size() - i) {
    return 0;
  }
  for (std::size_t k = 1; k < length; ++k) {
    if ((ByteAt(text, i + k) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const std::uint8_t second = ByteAt(text, i + 1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second > 0x9f;
  const bool too_large = lead == 0xf4 && second > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

std::size_t AppendNonAscii(std::string_view text, std::size_t i, std::string& out) {
  const std::size_t length = Utf8Length(text, i);
  if (length == 0) {
    out += "\\ufffd";
    return 1;
  }
  const std::string_view sequence = text.substr(i, length);
  if (sequence == "\u2028") {
    out += "\\u2028";
  } else if (sequence == "\u2029") {
    out += "\\u2029";
  } else {
    out += sequence;
  }
  return length;
}

char32_t HexValue(std::string_view digits) {
  char32_t value = 0;
  for (const char c : digits) {
    const auto digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value * 16 + static_cast<char32_t>(digit);
  }
  return value;
}

// Appends the character of the \uXXXX escape at `i` (the backslash), with its second half if there
// is one. Returns the length of what was used.
std::size_t AppendUnicodeEscape(std::string_view text, std::size_t i, std::string& out) {
  const char32_t unit = HexValue(text.substr(i + 2, 4));
  if (unit < 0xd800 || unit > 0xdfff) {
    AppendUtf8(unit, out);
    return 6;
  }
  if (unit < 0xdc00 && text.substr(i + 6).starts_with("\\u")) {
    const char32_t low = HexValue(text.substr(i + 8, 4));
    if (low >= 0xdc00 && low <= 0xdfff) {
      AppendUtf8(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), out);
      return 12;
    }
  }
  AppendUtf8(kReplacement, out);
  return 6;
}

}  // namespace

void AppendUtf8(char32_t code_point, std::string& out) {
  const auto tail = [&out, code_point](int shift) {
    out += static_cast<char>(0x80 | ((code_point >> shift) & 0x3f));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xc0 | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xe0 | (code_point >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  std::size_t run = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::uint8_t c = ByteAt(text, i);
    if (kPlainBytes[c]) {
      ++i;
      continue;
    }
    out += text.substr(run, i - run);
    if (c < 0x80) {
      AppendEscape(c, out);
      ++i;
    } else {
      i += AppendNonAscii(text, i, out);
    }
    run = i;
  }
  out += text.substr(run);
  out += '"';
}

void AppendUnquoted(std::string_view literal, std::string& out) {
  const std::string_view text = literal.substr(1, literal.size() - 2);
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t slash = text.find('\\', i);
    out += text.substr(i, slash == std::string_view::npos ? slash : slash - i);
    if (slash == std::string_view::npos) {
      return;
    }
    i = slash;
    switch (text[i + 1]) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        i += AppendUnicodeEscape(text, i, out);
        continue;
      default:
        out += text[i + 1];
        break;
    }
    i += 2;
  }
}

}  // namespace kubexx::codec::internal
