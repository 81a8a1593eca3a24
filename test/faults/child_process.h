/// @file
/// Programs that this one starts.
#ifndef KUBEXX_TEST_FAULTS_CHILD_PROCESS_H_
#define KUBEXX_TEST_FAULTS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::faults {

/// What to run and how.
struct Command {
  /// The program's path first.
  std::vector<std::string> words{};
  /// Beside this process's environment.
  std::vector<std::pair<std::string, std::string>> environment{};
  /// Its output is added to this file.
  std::string log{};
};

/// A process, in a group of its own, so that Ctrl-C is not for it. It ends with this object at the
/// latest, and with the thread that started it. Not thread-safe.
class ChildProcess {
 public:
  ChildProcess() = default;
  ~ChildProcess() { Kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// One that ran before has to have ended. False when there can be no more processes.
  bool Start(const Command& command);
  bool IsRunning() { return started() && !AwaitEnd(std::chrono::milliseconds(0)); }
  /// Whether it has been started, and its end not been waited for.
  bool started() const { return pid_ > 0; }
  /// No effect once it has ended.
  void Send(int signal) const;
  /// Its wait status once it has ended; nothing when it has not within `limit`, or was not started.
  std::optional<int> AwaitEnd(std::chrono::milliseconds limit);
  /// SIGKILL to it and what it has started in its group, and waits for its end.
  void Kill();

 private:
  pid_t pid_ = 0;
};

/// Runs it to its end. Whether that was with status 0 within `limit`; it is killed after that.
bool RunCommand(const Command& command, std::chrono::milliseconds limit);

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_CHILD_PROCESS_H_
