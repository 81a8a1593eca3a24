/// @file
/// Capture: keeps log output for tests to look at.
#ifndef KUBEXX_LOGGING_TESTING_CAPTURE_H_
#define KUBEXX_LOGGING_TESTING_CAPTURE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/logging/log.h"

namespace kubexx::logging::testing {

/// While it exists, log lines are kept here and not written to standard error; afterwards the
/// options and the output are as before. Captures may nest if they are destroyed in reverse order.
/// Thread-safe.
class Capture {
 public:
  explicit Capture(const Options& options = {.level = Level::kTrace});
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// The lines so far, without newlines.
  std::vector<std::string> lines() const;
  /// How many lines contain `text`.
  std::size_t Count(std::string_view text) const;
  void Clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::logging::testing

#endif  // KUBEXX_LOGGING_TESTING_CAPTURE_H_
