/// @file
/// Fails a test program that leaves threads or file descriptors behind.
#ifndef KUBEXX_BASE_TESTING_LEAK_CHECK_H_
#define KUBEXX_BASE_TESTING_LEAK_CHECK_H_

#include <set>
#include <string>

namespace kubexx::base::testing {

/// The resources of a process: its thread ids, and its open descriptors with the files that they
/// refer to.
struct HeldResources {
  std::set<std::string> threads{};
  std::set<std::string> descriptors{};
};

/// Reads the resources from /proc/self, without the descriptor that this needs.
HeldResources ReadHeldResources();

/// Returns the resources that are in `after` but not in `before`, each on a line; empty if there
/// are none.
std::string DescribeLeaks(const HeldResources& before, const HeldResources& after);

/// Declares that the present resources are not leaked. Every test program compares its resources at
/// the end with those at the start. Call this where a library starts threads or opens files that it
/// keeps until the process ends.
void ResetLeakBaseline();

/// The environment that kubexx_package links into each test program calls these before the first
/// test and after the last one. FinishLeakCheck waits up to 60 s for threads that are about to end,
/// and fails the program if something is left.
void StartLeakCheck();
void FinishLeakCheck();

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_LEAK_CHECK_H_
