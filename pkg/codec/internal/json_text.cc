#include <array>
#include <cstdint>

#include "kubexx/base/hex.h"
#include "kubexx/base/utf8.h"
#include "kubexx/codec/internal/json_scan.h"

namespace kubexx::codec::internal {
namespace {

constexpr char32_t kReplacement = 0xfffd;

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
      base::AppendHex(c, out);
  }
}

std::size_t AppendNonAscii(std::string_view text, std::size_t i, std::string& out) {
  const base::CodePoint point = base::DecodeFirst(text.substr(i));
  if (!point.valid) {
    out += "\\ufffd";
    return 1;
  }
  const std::string_view sequence = text.substr(i, point.size);
  if (sequence == "\u2028") {
    out += "\\u2028";
  } else if (sequence == "\u2029") {
    out += "\\u2029";
  } else {
    out += sequence;
  }
  return point.size;
}

// A part of a literal without escapes.
void AppendRun(std::string_view run, std::string& out) {
  unsigned char bits = 0;
  for (const char c : run) {
    bits |= static_cast<unsigned char>(c);
  }
  if (bits < 0x80) {
    out += run;
  } else {
    out += base::ToValidUtf8(run);
  }
}

char32_t HexValue(std::string_view digits) {
  char32_t value = 0;
  for (const char c : digits) {
    value = value * 16 + static_cast<char32_t>(base::HexValue(c));
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
    AppendRun(text.substr(i, slash == std::string_view::npos ? slash : slash - i), out);
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
