/// @file
/// Structured logs: a constant message and key=value pairs, as text or JSON lines, through Boost.Log.
#ifndef KUBEXX_LOGGING_LOG_H_
#define KUBEXX_LOGGING_LOG_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::logging {

enum class Level : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError };
enum class Format : std::uint8_t { kText, kJson };

struct Options {
  Level level = Level::kInfo;
  Format format = Format::kText;
};

/// Sets up the process's log to standard error. Call once at start, before threads log; before it, text at kInfo.
void Init(const Options& options);

/// "trace", "debug", "info", "warning" (or "warn"), "error", any case. kInvalidConfig otherwise.
apimachinery::Result<Level> ParseLevel(std::string_view text);

/// One key and its value. Never pass Secret data.
struct Field {
  std::string_view key;
  std::string value;
  bool quoted = true;  ///< false for numbers and booleans, which JSON shows bare
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const std::string& v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, bool v) : key(k), value(v ? "true" : "false"), quoted(false) {}
  template <class N>
    requires(std::integral<N> || std::floating_point<N>)
  Field(std::string_view k, N v) : key(k), value(std::to_string(v)), quoted(false) {}
  Field(std::string_view k, const apimachinery::Status& v) : key(k), value(v.ToString()) {}
};

/// Whether a line of this level would be written.
bool Enabled(Level level);

/// Writes one line. Thread-safe; does not throw. Control characters are escaped.
void Log(Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void Debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  Log(Level::kDebug, message, fields);
}
inline void Info(std::string_view message, std::initializer_list<Field> fields = {}) {
  Log(Level::kInfo, message, fields);
}
inline void Warning(std::string_view message, std::initializer_list<Field> fields = {}) {
  Log(Level::kWarning, message, fields);
}
inline void Error(std::string_view message, std::initializer_list<Field> fields = {}) {
  Log(Level::kError, message, fields);
}

}  // namespace kubexx::logging

#endif  // KUBEXX_LOGGING_LOG_H_
