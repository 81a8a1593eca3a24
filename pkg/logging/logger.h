/// @file
/// A logger whose lines all have the same fields.
#ifndef KUBEXX_LOGGING_LOGGER_H_
#define KUBEXX_LOGGING_LOGGER_H_

#include <initializer_list>
#include <memory>
#include <string_view>

#include "kubexx/logging/log.h"

namespace kubexx::logging {

/// Writes to the process's log (see Init) lines that begin with fields of its own, so that whoever
/// has it need not know what work it is about. A value: a copy costs one reference, and a logger is
/// never changed, so that it may be used by several threads at a time. As the logger that
/// controller-runtime puts into a reconcile's context.
///
///     const logging::Logger log = context.log.With({{"deployment", name}});
///     log.Info("Scaled", {{"replicas", 3}});
class Logger {
 public:
  /// Without fields: as the functions of log.h.
  Logger() = default;
  /// Keys and values are copied. Never pass Secret data.
  explicit Logger(std::initializer_list<Field> fields);

  /// One that has this one's fields and then `fields`. A key that is there already is written
  /// twice.
  Logger With(std::initializer_list<Field> fields) const;

  /// Writes one line: this logger's fields, then `fields`. Otherwise as logging::Log.
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
