// The program itself, as its users run it. What needs a server is run by hack/bench.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "kubexx/base/testing/places/places.h"

namespace kubexx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string text{};  ///< both streams
};

// The arguments contain no characters that are special to the shell.
Outcome Bench(const std::string& arguments) {
  const std::string command =
      base::testing::ProgramBesideThis("kubexx-bench").string() + " " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return {};
  }
  Outcome outcome;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.text.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(KubexxBench, PrintsOneJsonLineForAQueue) {
  const Outcome outcome = Bench("queue --operations 4000 --threads 4 --waiting 10");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, StartsWith("{\"program\":\"kubexx\",\"command\":\"queue\","));
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("\"operations\":4000,"), HasSubstr("\"threads\":4,"),
                                  HasSubstr("\"ops_per_s\":"), HasSubstr("\"cpu_s\":")));
  EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1);
}

TEST(KubexxBench, ExplainsItselfOnHelp) {
  const Outcome outcome = Bench("--help");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("sync"), HasSubstr("--kubeconfig"),
                                  HasSubstr("--threads"), HasSubstr("Exit codes")));
}

TEST(KubexxBench, RefusesWrongUsageWithTwo) {
  EXPECT_EQ(Bench("").code, 2);
  EXPECT_EQ(Bench("sync --handler=fields").code, 2);
  EXPECT_EQ(Bench("measure").code, 2);
  EXPECT_EQ(Bench("queue --threads 0").code, 2);
  EXPECT_EQ(Bench("sync --resource nodes").code, 2);
  EXPECT_EQ(Bench("select --selector app=web").code, 2);
}

TEST(KubexxBench, SaysWhichSelectorCannotBeRead) {
  const Outcome outcome = Bench("select --reads 1 --selector =");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.text, HasSubstr("--selector: "));
}

TEST(KubexxBench, SaysWhichKubeconfigCannotBeRead) {
  const Outcome outcome = Bench("sync --kubeconfig /nonexistent/kubeconfig");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.text, HasSubstr("/nonexistent/kubeconfig"));
}

}  // namespace
}  // namespace kubexx
