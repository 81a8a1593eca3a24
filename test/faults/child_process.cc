#include "faults/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace kubexx::faults {
namespace {

std::vector<char*> PointersTo(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentWith(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string entry(*each);
    const std::string name = entry.substr(0, entry.find('='));
    if (std::ranges::none_of(added, [&name](const auto& one) { return one.first == name; })) {
      all.push_back(entry);
    }
  }
  for (const auto& [name, value] : added) {
    all.push_back(name + "=" + value);
  }
  return all;
}

}  // namespace

bool ChildProcess::Start(const Command& command) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = EnvironmentWith(command.environment);
  const std::vector<char*> argv = PointersTo(words);
  const std::vector<char*> envp = PointersTo(environment);
  pid_ = ::fork();
  if (pid_ != 0) {
    ::setpgid(pid_, pid_);  // here and there: whoever comes first
    return pid_ > 0;
  }
  // Only what is safe in a child of a process with threads.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const int in = ::open("/dev/null", O_RDONLY);
  const int out = ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  ::execve(argv.front(), argv.data(), envp.data());
  ::_exit(127);
}

void ChildProcess::Send(int signal) const {
  if (started()) {
    ::kill(pid_, signal);
  }
}

std::optional<int> ChildProcess::AwaitEnd(std::chrono::milliseconds limit) {
  int status = 0;
  if (!started()) {
    return std::nullopt;
  }
  if (::waitpid(pid_, &status, WNOHANG) == 0) {
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    pollfd end{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&end, 1, static_cast<int>(limit.count()));
    ::close(fd);
    if (ready <= 0 || ::waitpid(pid_, &status, WNOHANG) == 0) {
      return std::nullopt;
    }
  }
  pid_ = 0;
  return status;
}

void ChildProcess::Kill() {
  if (started()) {
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
  }
}

bool RunCommand(const Command& command, std::chrono::milliseconds limit) {
  ChildProcess process;
  if (!process.Start(command)) {
    return false;
  }
  const std::optional<int> status = process.AwaitEnd(limit);
  return status && WIFEXITED(*status) && WEXITSTATUS(*status) == EXIT_SUCCESS;
}

}  // namespace kubexx::faults
