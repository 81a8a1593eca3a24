/// @file
/// AllOthersSleep: whether a process has come to rest.
#ifndef KUBEXX_REMOTECOMMAND_TESTING_AT_REST_H_
#define KUBEXX_REMOTECOMMAND_TESTING_AT_REST_H_

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace kubexx::remotecommand::testing {

/// Whether every other thread of the process waits for something: what was sent over loopback has
/// then been dealt with, as a thread that it wakes does not sleep any more. For KX_AWAIT, before a
/// test looks for what has not happened. proc(5) is asked.
inline bool AllOthersSleep() {
  std::error_code error;
  const std::string self = std::to_string(::gettid());
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (thread.path().filename() == self) {
      continue;
    }
    std::string stat;
    std::getline(std::ifstream(thread.path() / "stat"), stat);
    // The state is behind the name, which is in brackets and may hold any of them.
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos || stat.substr(name_end, 3) != ") S") {
      return false;
    }
  }
  return !error;
}

}  // namespace kubexx::remotecommand::testing

#endif  // KUBEXX_REMOTECOMMAND_TESTING_AT_REST_H_
