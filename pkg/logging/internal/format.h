/// @file
/// How a log line looks. Pure functions.
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

/// `time="2006-01-02T15:04:05.000Z" level=info msg="..." key=value`, as logrus' text formatter
/// without colours: a value is quoted unless it consists of letters, digits and -._/@^+. Ends with
/// a newline and holds no other control character.
std::string FormatText(const Line& line);

/// One JSON object with level, msg, time and the fields, in valid UTF-8: invalid bytes become
/// U+FFFD. Ends with a newline.
std::string FormatJson(const Line& line);

/// RFC 3339 in UTC with milliseconds.
std::string FormatTime(base::WallTime time);

}  // namespace kubexx::logging::internal

#endif  // KUBEXX_LOGGING_INTERNAL_FORMAT_H_
