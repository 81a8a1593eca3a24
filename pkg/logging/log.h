/// @file
/// Structured logs: each line has a constant message and key=value pairs, and is text or JSON.
/// Boost.Log writes it.
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

/// The severity of a message; kError means that a person has to act.
enum class Level : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError };
/// The form of a log line: text, or a JSON object.
enum class Format : std::uint8_t { kText, kJson };

/// Settings of the process's log.
struct Options {
  Level level = Level::kInfo;
  Format format = Format::kText;
};

/// Sets up the process's log, which goes to standard error with one write for each line, so that
/// lines of several threads or processes do not mix. Before the first call the log is text at
/// kInfo. May be called again, also while other threads log. The lines go through Boost.Log's core
/// on channel "kubexx", with the attributes Severity (Level), TimeStamp, Message and Fields, so
/// that a program may add sinks of its own.
void Init(const Options& options);

/// Returns "trace", "debug", "info", "warning" or "error".
std::string_view ToString(Level level);

/// Parses "trace", "debug", "info", "warning" (or "warn") or "error" in any case. "fatal" and
/// "panic", which other loggers have, mean kError. Returns kInvalidConfig for any other text.
apimachinery::Result<Level> ParseLevel(std::string_view text);

/// Returns the shortest decimal text that is read back as `value`, or "NaN", "+Inf" or "-Inf".
std::string FormatFloat(double value);

/// A key and its value. Never pass Secret data. The text of `key` must live until the call that
/// logs it returns. A key that every line has (time, level, msg) is written as "fields.<key>".
struct Field {
  std::string_view key;
  std::string value;
  bool quoted = true;  ///< false for numbers and booleans, which JSON shows without quotes
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
/// characters and invalid UTF-8 are escaped. Must not be called in a signal handler.
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
