#include "kubexx/base/testing/leak_check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::base::testing {
namespace {

constexpr std::chrono::seconds kGrace(60);

struct Baseline {
  Mutex mu;
  HeldResources held KX_GUARDED_BY(mu);
};

Baseline& TheBaseline() {
  static Baseline baseline;
  return baseline;
}

std::string Difference(const std::set<std::string>& before, const std::set<std::string>& after,
                       const std::string& what) {
  std::string text;
  for (const std::string& entry : after) {
    if (!before.contains(entry)) {
      text += what + " " + entry + "\n";
    }
  }
  return text;
}

}  // namespace

HeldResources ReadHeldResources() {
  namespace fs = std::filesystem;
  HeldResources held;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/self/task", error)) {
    held.threads.insert(entry.path().filename().string());
  }
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", error)) {
    std::error_code gone;
    const fs::path target = fs::read_symlink(entry.path(), gone);
    const std::string text = target.string();
    const bool is_this_loop = text.starts_with("/proc/") && text.ends_with("/fd");
    if (!gone && !is_this_loop) {
      held.descriptors.insert(entry.path().filename().string() + " -> " + text);
    }
  }
  return held;
}

std::string DescribeLeaks(const HeldResources& before, const HeldResources& after) {
  return Difference(before.threads, after.threads, "thread") +
         Difference(before.descriptors, after.descriptors, "descriptor");
}

void ResetLeakBaseline() {
  HeldResources held = ReadHeldResources();
  MutexLock lock(TheBaseline().mu);
  TheBaseline().held = std::move(held);
}

void StartLeakCheck() {
  // A sanitizer may start a thread of its own with the first one of the program.
  std::thread([] {}).join();
  ResetLeakBaseline();
}

void FinishLeakCheck() {
  HeldResources before;
  {
    MutexLock lock(TheBaseline().mu);
    before = TheBaseline().held;
  }
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  std::string leaks = DescribeLeaks(before, ReadHeldResources());
  while (!leaks.empty() && std::chrono::steady_clock::now() < deadline) {
    LetOthersRun();  // A thread stays listed for a moment after it was joined.
    leaks = DescribeLeaks(before, ReadHeldResources());
  }
  EXPECT_EQ(leaks, "") << "left behind by the tests of this program";
}

}  // namespace kubexx::base::testing
