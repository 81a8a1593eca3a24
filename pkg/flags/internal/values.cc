#include "kubexx/flags/internal/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace kubexx::flags::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;

/// Reads a field that starts behind its opening quote; leaves `text` behind the closing one.
bool ReadQuoted(std::string_view& text, std::string& field) {
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '"') {
      field += c;
    } else if (text.starts_with('"')) {
      field += '"';
      text.remove_prefix(1);
    } else {
      return true;
    }
  }
  return false;
}

/// Removes what tells the base, and returns the base. A number that only begins with "0" keeps it,
/// since it is a digit, too.
int TakeBase(std::string_view& text) {
  constexpr std::array<std::pair<char, int>, 3> kLetters = {{{'x', 16}, {'o', 8}, {'b', 2}}};
  if (text.size() < 2 || text.front() != '0') {
    return 10;
  }
  for (const auto& [letter, base] : kLetters) {
    if ((text[1] | 0x20) == letter) {
      text.remove_prefix(2);
      return base;
    }
  }
  return 8;
}

/// Nothing when an underscore is not between digits. One may come first where `text` follows what
/// tells the base.
std::optional<std::string> WithoutUnderscores(std::string_view text, bool may_come_first) {
  std::string digits;
  bool may_come = may_come_first;
  for (const char c : text) {
    if (c != '_') {
      digits += c;
    } else if (!may_come) {
      return std::nullopt;
    }
    may_come = c != '_';
  }
  return text.ends_with('_') ? std::nullopt : std::optional(std::move(digits));
}

}  // namespace

apimachinery::Result<bool> ParseBool(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};
  constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "FALSE", "false", "False"};
  if (std::ranges::find(kTrue, text) != kTrue.end()) {
    return true;
  }
  if (std::ranges::find(kFalse, text) != kFalse.end()) {
    return false;
  }
  return Fail(Reason::kInvalidConfig, "it is neither true nor false");
}

apimachinery::Result<std::int64_t> ParseInt(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  const int base = TakeBase(text);
  const std::optional<std::string> digits = WithoutUnderscores(text, base != 10);
  std::uint64_t magnitude = 0;
  std::from_chars_result parsed{.ptr = nullptr, .ec = std::errc::invalid_argument};
  if (digits) {
    parsed = std::from_chars(digits->data(), digits->data() + digits->size(), magnitude, base);
  }
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != digits->data() + digits->size()) {
    return Fail(Reason::kInvalidConfig, "it is not an integer");
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (parsed.ec != std::errc() || magnitude > kMax + (negative ? 1 : 0)) {
    return Fail(Reason::kInvalidConfig, "it is out of range");
  }
  // The smallest number has no positive counterpart, so the sign is changed before.
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

apimachinery::Result<std::vector<std::string>> ParseCsvRecord(std::string_view text) {
  std::vector<std::string> fields;
  if (text.empty()) {
    return fields;
  }
  while (true) {
    std::string field;
    if (text.starts_with('"')) {
      text.remove_prefix(1);
      if (!ReadQuoted(text, field)) {
        return Fail(Reason::kInvalidConfig, "a quote is not closed");
      }
      if (!text.empty() && text.front() != ',') {
        return Fail(Reason::kInvalidConfig, "after a closing quote there must be a comma");
      }
    } else {
      field = text.substr(0, text.find(','));
      if (field.find('"') != std::string::npos) {
        return Fail(Reason::kInvalidConfig, "a quote stands inside an unquoted value");
      }
      if (field.find_first_of("\r\n") != std::string::npos) {
        return Fail(Reason::kInvalidConfig, "a line ends outside of quotes");
      }
      text.remove_prefix(field.size());
    }
    fields.push_back(std::move(field));
    if (text.empty()) {
      return fields;
    }
    text.remove_prefix(1);  // the comma
  }
}

std::string FormatCsvRecord(const std::vector<std::string>& fields) {
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    text += i > 0 ? "," : "";
    if (field.find_first_of("\",\r\n") == std::string::npos &&
        !(field.empty() && fields.size() == 1)) {
      text += field;
      continue;
    }
    text += '"';
    for (const char c : field) {
      text += c == '"' ? "\"\"" : std::string(1, c);
    }
    text += '"';
  }
  return text;
}

}  // namespace kubexx::flags::internal
