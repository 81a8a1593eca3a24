#include "kubexx/logging/internal/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <system_error>

#include "kubexx/base/ascii.h"
#include "kubexx/base/utf8.h"

namespace kubexx::logging::internal {
namespace {

void AppendHex(std::string& out, std::uint32_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
    out += kDigits[(value >> static_cast<unsigned>(shift)) & 0xFU];
  }
}

/// The escapes that both formats share; false when `code` has none.
bool AppendShortEscape(std::string& out, std::uint32_t code) {
  switch (code) {
    case '"':
      out += "\\\"";
      return true;
    case '\\':
      out += "\\\\";
      return true;
    case '\n':
      out += "\\n";
      return true;
    case '\r':
      out += "\\r";
      return true;
    case '\t':
      out += "\\t";
      return true;
    default:
      return false;
  }
}

void AppendTextQuoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const base::CodePoint point = base::DecodeFirst(text);
    if (!point.valid) {
      out += "\\x";
      AppendHex(out, point.code, 2);
    } else if (!AppendShortEscape(out, point.code)) {
      if (!base::NeedsEscape(point.code)) {
        out += text.substr(0, point.size);
      } else if (point.code < 0x80) {
        out += "\\x";
        AppendHex(out, point.code, 2);
      } else if (point.code < 0x10000) {
        out += "\\u";
        AppendHex(out, point.code, 4);
      } else {
        out += "\\U";
        AppendHex(out, point.code, 8);
      }
    }
    text.remove_prefix(point.size);
  }
  out += '"';
}

/// Not codec::QuotedJson, because codec stands above logging, and because it leaves characters as
/// they are that could change how a terminal shows the rest of a line.
void AppendJsonQuoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const base::CodePoint point = base::DecodeFirst(text);
    if (!point.valid) {
      out += "\\ufffd";
    } else if (!AppendShortEscape(out, point.code)) {
      if (!base::NeedsEscape(point.code)) {
        out += text.substr(0, point.size);
      } else if (point.code < 0x10000) {
        out += "\\u";
        AppendHex(out, point.code, 4);
      } else {
        const std::uint32_t rest = point.code - 0x10000;
        out += "\\u";
        AppendHex(out, 0xD800 + (rest >> 10U), 4);
        out += "\\u";
        AppendHex(out, 0xDC00 + (rest & 0x3FFU), 4);
      }
    }
    text.remove_prefix(point.size);
  }
  out += '"';
}

bool IsPlain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return base::IsAlphanumeric(c) || std::string_view("-._/@^+").find(c) != std::string_view::npos;
  });
}

void AppendTextValue(std::string& out, std::string_view value) {
  if (IsPlain(value)) {
    out += value;
  } else {
    AppendTextQuoted(out, value);
  }
}

/// Not so for NaN and infinities, which JSON has no number for.
bool IsJsonLiteral(std::string_view value) {
  if (value == "true" || value == "false") {
    return true;
  }
  const std::string_view digits = value.starts_with('-') ? value.substr(1) : value;
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') {
    return false;
  }
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

std::string KeyOf(const OwnedField& field) {
  const bool taken = field.key == "time" || field.key == "level" || field.key == "msg";
  return taken ? "fields." + field.key : field.key;
}

}  // namespace

std::string FormatTime(base::WallTime time) {
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const std::time_t unix_seconds = seconds.count();
  std::tm parts{};
  gmtime_r(&unix_seconds, &parts);
  std::array<char, 80> buffer{};
  const int size =
      std::snprintf(buffer.data(), buffer.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                    parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                    parts.tm_min, parts.tm_sec, static_cast<int>((since_epoch - seconds).count()));
  return std::string(buffer.data(), static_cast<std::size_t>(std::max(size, 0)));
}

std::string FormatText(const Line& line) {
  std::string out = "time=\"" + FormatTime(line.time) + "\" level=";
  out += ToString(line.level);
  out += " msg=";
  AppendTextValue(out, line.message);
  for (const OwnedField& field : line.fields) {
    out += ' ';
    AppendTextValue(out, KeyOf(field));
    out += '=';
    AppendTextValue(out, field.value);
  }
  out += '\n';
  return out;
}

std::string FormatJson(const Line& line) {
  std::string out = "{\"level\":\"";
  out += ToString(line.level);
  out += "\",\"msg\":";
  AppendJsonQuoted(out, line.message);
  out += ",\"time\":\"" + FormatTime(line.time) + '"';
  for (const OwnedField& field : line.fields) {
    out += ',';
    AppendJsonQuoted(out, KeyOf(field));
    out += ':';
    if (!field.quoted && IsJsonLiteral(field.value)) {
      out += field.value;
    } else {
      AppendJsonQuoted(out, field.value);
    }
  }
  out += "}\n";
  return out;
}

}  // namespace kubexx::logging::internal
