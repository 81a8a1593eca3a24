/// @file
/// Structured logs: a constant message and key=value pairs, as text or JSON lines, through
/// Boost.Log.
#ifndef KUBEXX_LOGGING_LOG_H_
#define KUBEXX_LOGGING_LOG_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::logging {

/// How much a message matters; kError asks for a person.
enum class Level : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError };
/// One line of text, or one JSON object, a message.
enum class Format : std::uint8_t { kText, kJson };

/// Settings of the process's log.
struct Options {
  Level level = Level::kInfo;
  Format format = Format::kText;
};

/// Sets up the process's log to standard error: one write per line, so lines of several threads or
/// processes do not mix. Until the first call it is text at kInfo. May be called again, also while
/// other threads log. The lines go through Boost.Log's core on channel "kubexx", with attributes
/// Severity (Level), TimeStamp, Message and Fields, so that a program may add sinks of its own.
void Init(const Options& options);

/// "trace", "debug", "info", "warning", "error".
std::string_view ToString(Level level);

/// "trace", "debug", "info", "warning" (or "warn"), "error", any case; "fatal" and "panic", which
/// other loggers have, mean kError. kInvalidConfig otherwise.
apimachinery::Result<Level> ParseLevel(std::string_view text);

/// The shortest decimal text that reads back as `value`; "NaN", "+Inf" and "-Inf" otherwise.
std::string FormatFloat(double value);

/// One key and its value. Never pass Secret data. `key` must live until the call that logs it
/// returns. A key that a line has by itself (time, level, msg) is written as "fields.<key>".
struct Field {
  std::string_view key;
  std::string value;
  bool quoted = true;  ///< false for numbers and booleans, which JSON shows bare
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const std::string& v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, bool v) : key(k), value(v ? "true" : "false"), quoted(false) {}
  template <std::integral N>
  Field(std::string_view k, N v) : key(k), value(std::to_string(v)), quoted(false) {}
  Field(std::string_view k, double v) : key(k), value(FormatFloat(v)), quoted(false) {}
  Field(std::string_view k, const apimachinery::Status& v) : key(k), value(v.ToString()) {}
};

/// Whether a line of this level would be written.
bool Enabled(Level level);

/// Writes one line. Thread-safe; does not throw; blocks as long as standard error does. Control
/// characters and invalid UTF-8 are escaped. Not for signal handlers.
void Log(Level level, std::string_view message, std::initializer_list<Field> fields = {});

/// The same for fields that are known at run time only.
void Log(Level level, std::string_view message, std::span<const Field> fields);

/// Log at kTrace.
inline void Trace(std::string_view message, std::initializer_list<Field> fields = {}) {
  Log(Level::kTrace, message, fields);
}
/// Log at kDebug.
inline void Debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  Log(Level::kDebug, message, fields);
}
/// Log at kInfo.
inline void Info(std::string_view message, std::initializer_list<Field> fields = {}) {
  Log(Level::kInfo, message, fields);
}
/// Log at kWarning.
inline void Warning(std::string_view message, std::initializer_list<Field> fields = {}) {
  Log(Level::kWarning, message, fields);
}
/// Log at kError.
inline void Error(std::string_view message, std::initializer_list<Field> fields = {}) {
  Log(Level::kError, message, fields);
}

}  // namespace kubexx::logging

#endif  // KUBEXX_LOGGING_LOG_H_
