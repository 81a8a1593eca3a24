/// @file
/// Redirect: passes log output to a function of a test.
#ifndef KUBEXX_LOGGING_TESTING_REDIRECT_H_
#define KUBEXX_LOGGING_TESTING_REDIRECT_H_

#include <functional>
#include <string_view>
#include <utility>

#include "kubexx/logging/internal/sink.h"

namespace kubexx::logging::testing {

/// While it exists, each log line, with its newline, is passed to a function instead of standard
/// error, on the thread that logs and one line at a time. The function must not log.
class Redirect {
 public:
  explicit Redirect(std::function<void(std::string_view line)> to)
      : before_(internal::ReplaceOutputForTest(std::move(to))) {}
  Redirect(const Redirect&) = delete;
  Redirect& operator=(const Redirect&) = delete;
  ~Redirect() { internal::ReplaceOutputForTest(std::move(before_)); }

 private:
  internal::Output before_;
};

}  // namespace kubexx::logging::testing

#endif  // KUBEXX_LOGGING_TESTING_REDIRECT_H_
