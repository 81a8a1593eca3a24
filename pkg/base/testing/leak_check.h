/// @file
/// Fails a test program that leaves threads or file descriptors behind.
#ifndef KUBEXX_BASE_TESTING_LEAK_CHECK_H_
#define KUBEXX_BASE_TESTING_LEAK_CHECK_H_

#include <set>
#include <string>

namespace kubexx::base::testing {

/// What a process holds: thread ids, and open descriptors with what they refer to.
struct HeldResources {
  std::set<std::string> threads{};
  std::set<std::string> descriptors{};
};

/// Reads /proc/self. Without the descriptor that reading takes.
HeldResources ReadHeldResources();

/// What `after` has and `before` has not, one a line; empty when nothing.
std::string DescribeLeaks(const HeldResources& before, const HeldResources& after);

/// Takes what is held now as not leaked. Every test program compares at its end with its start;
/// call this where a library is made to start threads or open files that it keeps until the process
/// ends.
void ResetLeakBaseline();

/// Called before the first test and after the last by the environment that kubexx_package links
/// into each test program. The second waits up to 60 s for threads that are about to end, and fails
/// the program when something is left.
void StartLeakCheck();
void FinishLeakCheck();

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_LEAK_CHECK_H_
