/// @file
/// Logger: a logger whose lines share some fields.
#ifndef KUBEXX_LOGGING_LOGGER_H_
#define KUBEXX_LOGGING_LOGGER_H_

#include <initializer_list>
#include <memory>
#include <string_view>

#include "kubexx/logging/log.h"

namespace kubexx::logging {

/// Writes lines that begin with the fields of this logger to the process's log (see Init), so that
/// code that uses it need not know which work it logs about. A value type that never changes: a
/// copy costs one reference, and several threads may use a logger at a time. It is like the logger
/// that controller-runtime puts into a reconcile's context.
///
///     const logging::Logger log = context.log.With({{"deployment", name}});
///     log.Info("Scaled", {{"replicas", 3}});
class Logger {
 public:
  /// Makes a logger without fields, whose lines are those of the functions in log.h.
  Logger() = default;
  /// Makes a logger with copies of `fields`. Never pass Secret data.
  explicit Logger(std::initializer_list<Field> fields);

  /// Returns a logger with this logger's fields followed by `fields`. A key that is in both is
  /// written twice.
  Logger With(std::initializer_list<Field> fields) const;

  /// Writes one line with this logger's fields followed by `fields`. Otherwise it is like
  /// logging::Log.
  void Log(Level level, std::string_view message, std::initializer_list<Field> fields = {}) const;
  /// Log at kTrace.
  void Trace(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(Level::kTrace, message, fields);
  }
  /// Log at kDebug.
  void Debug(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(Level::kDebug, message, fields);
  }
  /// Log at kInfo.
  void Info(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(Level::kInfo, message, fields);
  }
  /// Log at kWarning.
  void Warning(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(Level::kWarning, message, fields);
  }
  /// Log at kError.
  void Error(std::string_view message, std::initializer_list<Field> fields = {}) const {
    Log(Level::kError, message, fields);
  }

 private:
  struct Fields;

  std::shared_ptr<const Fields> fields_{};
};

}  // namespace kubexx::logging

#endif  // KUBEXX_LOGGING_LOGGER_H_
