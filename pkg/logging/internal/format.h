/// @file
/// Formats log lines. The functions are pure.
#ifndef KUBEXX_LOGGING_INTERNAL_FORMAT_H_
#define KUBEXX_LOGGING_INTERNAL_FORMAT_H_

#include <span>
#include <string>
#include <string_view>

#include "kubexx/base/clock.h"
#include "kubexx/logging/log.h"

namespace kubexx::logging::internal {

/// A Field that owns its key.
struct OwnedField {
  std::string key;
  std::string value;
  bool quoted = true;
};

/// One line before it is rendered.
struct Line {
  Level level = Level::kInfo;
  base::WallTime time{};
  std::string_view message;
  std::span<const OwnedField> fields;
};

/// Returns `time="2006-01-02T15:04:05.000Z" level=info msg="..." key=value`, as logrus' text
/// formatter does without colours: a value is quoted unless it consists of letters, digits and
/// -._/@^+. The line ends with a newline and contains no other control character.
std::string FormatText(const Line& line);

/// Returns one JSON object with level, msg, time and the fields, followed by a newline. The text is
/// valid UTF-8, as invalid bytes become U+FFFD.
std::string FormatJson(const Line& line);

/// Formats `time` as in RFC 3339, in UTC with milliseconds.
std::string FormatTime(base::WallTime time);

}  // namespace kubexx::logging::internal

#endif  // KUBEXX_LOGGING_INTERNAL_FORMAT_H_
