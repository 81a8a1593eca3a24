/// @file
/// Run: runs a program and collects its output.
#ifndef KUBEXX_REST_INTERNAL_CREDENTIALS_SUBPROCESS_H_
#define KUBEXX_REST_INTERNAL_CREDENTIALS_SUBPROCESS_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest::internal {

struct Subprocess {
  std::vector<std::string> argv{};  ///< the program, looked up in PATH, and its arguments
  std::vector<std::pair<std::string, std::string>> env{};  ///< added to our own, which it overrides
  bool inherit_stdin = false;                              ///< /dev/null otherwise
  std::size_t max_output = 1 << 20;                        ///< bytes; more is an error
  std::optional<std::chrono::milliseconds> timeout{};
};

struct SubprocessExit {
  bool found = true;  ///< false: there is no such program
  int code = 0;       ///< exit code; 128 + signal when one ended it
  std::string output{};
};

/// Runs the program without a shell. The program gets only the standard descriptors, and its
/// standard error is ours. It is killed together with its process group when `stop` is requested
/// (kCancelled), its time is over (kTimeout), or it prints too much (kMalformed). The wait is in
/// real time, because the process does not know any other clock.
apimachinery::Result<SubprocessExit> Run(const Subprocess& program, const std::stop_token& stop);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CREDENTIALS_SUBPROCESS_H_
