#include "kubexx/base/process/crash_report.h"

#include "kubexx/base/sanitizers.h"

#if KX_SANITIZED

namespace kubexx::base {

void ReportCrashes(const std::string& /*program*/) {}

}  // namespace kubexx::base

#else

#include <execinfo.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace kubexx::base {
namespace {

constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int kMaxCalls = 64;
constexpr int kUntilReported = 2000;  // milliseconds

// A handler may neither allocate nor take locks.
std::array<char, 128> name_of_program{};
std::atomic_flag has_reported = ATOMIC_FLAG_INIT;

void Say(std::string_view text) {
  // There is nobody to tell that it cannot be written.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string_view NameOf(int signal_number) {
  switch (signal_number) {
    case SIGSEGV:
      return "SIGSEGV, a bad address";
    case SIGBUS:
      return "SIGBUS, a bad address";
    case SIGILL:
      return "SIGILL, a bad instruction";
    case SIGFPE:
      return "SIGFPE, bad arithmetic";
    default:
      return "SIGABRT, an abort";
  }
}

void OnCrash(int signal_number) {
  if (has_reported.test_and_set()) {
    ::poll(nullptr, 0, kUntilReported);  // another thread was faster, and ends the process
  } else {
    Say(name_of_program.data());
    Say(" has crashed: ");
    Say(NameOf(signal_number));
    Say("\nThe calls that led to it, the last one first:\n");
    std::array<void*, kMaxCalls> calls{};
    const int count = ::backtrace(calls.data(), kMaxCalls);
    ::backtrace_symbols_fd(calls.data(), count, STDERR_FILENO);
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);  // it waits until this returns
}

}  // namespace

void ReportCrashes(const std::string& program) {
  const std::size_t size = std::min(program.size(), name_of_program.size() - 1);
  std::copy_n(program.begin(), size, name_of_program.begin());
  // The first time it loads a library.
  std::array<void*, 1> call{};
  ::backtrace(call.data(), 1);
  struct sigaction action = {};
  action.sa_handler = OnCrash;
  sigemptyset(&action.sa_mask);
  for (const int crash : kCrashes) {
    ::sigaction(crash, &action, nullptr);
  }
}

}  // namespace kubexx::base

#endif
