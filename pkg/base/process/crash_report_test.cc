#include "kubexx/base/process/crash_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "kubexx/base/sanitizers.h"

namespace kubexx::base {
namespace {

void Crash(int signal_number) {
  ReportCrashes("program/1.0");
  std::raise(signal_number);
}

class CrashReportDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (KX_SANITIZED != 0) {
      GTEST_SKIP() << "the sanitizer reports crashes itself";
    }
  }
};

TEST_F(CrashReportDeathTest, NamesTheSignalAndTheCalls) {
  for (const int crash : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    EXPECT_EXIT(Crash(crash), ::testing::KilledBySignal(crash),
                "program/1.0 has crashed: SIG[A-Z]+, a?.*\n.*base_test\\(.*\\+0x[0-9a-f]+\\)");
  }
}

TEST_F(CrashReportDeathTest, ComesFromAnyThreadAndOnce) {
  EXPECT_EXIT(
      {
        ReportCrashes("program/1.0");
        std::thread([] { std::abort(); }).join();
      },
      ::testing::KilledBySignal(SIGABRT), "program/1.0 has crashed: SIGABRT, an abort\n");
}

TEST_F(CrashReportDeathTest, CutsALongName) {
  EXPECT_EXIT(
      {
        ReportCrashes(std::string(1000, 'x'));
        std::abort();
      },
      ::testing::KilledBySignal(SIGABRT), "x{127} has crashed");
}

}  // namespace
}  // namespace kubexx::base
