#include "faults/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::faults {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ChildProcessTest : public ::testing::Test {
 protected:
  Command Shell(const std::string& script) const {
    return {.words = {"/bin/sh", "-c", script}, .environment = {{"WHO", "me"}}, .log = log()};
  }
  std::string log() const { return (folder_ / "log").string(); }
  std::string Logged() const {
    std::ifstream file(log());
    std::string line;
    std::getline(file, line);
    return line;
  }

 private:
  const base::testing::TemporaryFolder folder_;
};

TEST_F(ChildProcessTest, HasItsEnvironmentAndLog) {
  EXPECT_TRUE(RunCommand(Shell("echo \"$WHO\""), seconds(30)));
  EXPECT_EQ(Logged(), "me");
  EXPECT_FALSE(RunCommand(Shell("exit 3"), seconds(30)));
}

TEST_F(ChildProcessTest, TellsHowItHasEnded) {
  ChildProcess process;
  ASSERT_TRUE(process.Start(Shell("echo begun; exec tail -f /dev/null")));
  KX_AWAIT(Logged() == "begun");
  EXPECT_TRUE(process.IsRunning());
  EXPECT_EQ(process.AwaitEnd(milliseconds(1)), std::nullopt);
  process.Send(SIGTERM);
  const std::optional<int> status = process.AwaitEnd(seconds(30));
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM);
  EXPECT_FALSE(process.IsRunning());
}

TEST_F(ChildProcessTest, ACommandThatTakesTooLongIsKilled) {
  EXPECT_FALSE(RunCommand(Shell("exec tail -f /dev/null"), milliseconds(10)));
}

}  // namespace
}  // namespace kubexx::faults
