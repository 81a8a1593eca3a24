#include "kubexx/logging/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/logging/testing/capture.h"

namespace kubexx::logging {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ParseLevelTest, AcceptsNamesInAnyCase) {
  EXPECT_EQ(ParseLevel("trace"), Level::kTrace);
  EXPECT_EQ(ParseLevel("DEBUG"), Level::kDebug);
  EXPECT_EQ(ParseLevel("Info"), Level::kInfo);
  EXPECT_EQ(ParseLevel("warn"), Level::kWarning);
  EXPECT_EQ(ParseLevel("warning"), Level::kWarning);
  EXPECT_EQ(ParseLevel("error"), Level::kError);
  EXPECT_EQ(ParseLevel("Fatal"), Level::kError);
}

TEST(ParseLevelTest, RefusesOthersByName) {
  for (const std::string text : {"", "verbose", "info ", "inf\xc3\xb6"}) {
    const auto level = ParseLevel(text);
    ASSERT_FALSE(level) << text;
    EXPECT_EQ(level.error().reason, apimachinery::Reason::kInvalidConfig);
    EXPECT_THAT(level.error().message, HasSubstr('"' + text + '"'));
  }
}

TEST(ParseLevelTest, InvertsToString) {
  for (const Level level :
       {Level::kTrace, Level::kDebug, Level::kInfo, Level::kWarning, Level::kError}) {
    EXPECT_EQ(ParseLevel(ToString(level)), level);
  }
}

TEST(FormatFloatTest, IsShortestAndReadable) {
  EXPECT_EQ(FormatFloat(0.1), "0.1");
  EXPECT_EQ(FormatFloat(1e-9), "1e-09");
  EXPECT_EQ(FormatFloat(3), "3");
  EXPECT_EQ(FormatFloat(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(FormatFloat(-std::numeric_limits<double>::infinity()), "-Inf");
}

TEST(LogTest, WritesFieldsInOrder) {
  testing::Capture capture;
  Info("rolled a workload",
       {{"kind", "Deployment"}, {"replicas", 3}, {"paused", false}, {"seconds", 0.25}});
  ASSERT_EQ(capture.lines().size(), 1U);
  EXPECT_THAT(capture.lines()[0], StartsWith("time=\"20"));
  EXPECT_THAT(capture.lines()[0],
              EndsWith(" level=info msg=\"rolled a workload\" kind=Deployment replicas=3 "
                       "paused=false seconds=0.25"));
}

TEST(LogTest, JsonShowsNumbersBare) {
  testing::Capture capture({.format = Format::kJson});
  Error("x", {{"n", 7}, {"ok", true}, {"s", "7"}});
  ASSERT_EQ(capture.lines().size(), 1U);
  EXPECT_THAT(capture.lines()[0], StartsWith("{\"level\":\"error\",\"msg\":\"x\",\"time\":\"20"));
  EXPECT_THAT(capture.lines()[0], EndsWith(",\"n\":7,\"ok\":true,\"s\":\"7\"}"));
}

TEST(LogTest, StatusIsAField) {
  testing::Capture capture;
  Warning("failed",
          {{"error", apimachinery::Status(apimachinery::Reason::kNotFound, "no such pod", 404)}});
  EXPECT_THAT(capture.lines(), ElementsAre(EndsWith("error=\"NotFound: no such pod\"")));
}

TEST(LogTest, LevelsBelowTheLimitAreNotWritten) {
  testing::Capture capture({.level = Level::kWarning});
  EXPECT_FALSE(Enabled(Level::kInfo));
  EXPECT_TRUE(Enabled(Level::kWarning));
  Trace("no");
  Debug("no");
  Info("no");
  Warning("yes");
  Error("yes");
  EXPECT_EQ(capture.lines().size(), 2U);
}

TEST(LogTest, InitTakesEffectAgain) {
  testing::Capture capture;
  Info("one");
  Init({.level = Level::kError, .format = Format::kJson});
  Info("two");
  Error("three");
  EXPECT_THAT(capture.lines(), ElementsAre(HasSubstr("msg=one"), HasSubstr("\"msg\":\"three\"")));
}

TEST(LogTest, CaptureRestoresWhatWasBefore) {
  testing::Capture outer({.level = Level::kDebug});
  {
    testing::Capture inner({.level = Level::kError, .format = Format::kJson});
    Error("inside");
    EXPECT_EQ(inner.Count("inside"), 1U);
  }
  Debug("outside");
  EXPECT_THAT(outer.lines(), ElementsAre(HasSubstr("level=debug msg=outside")));
}

TEST(LogTest, ThreadsDoNotMixTheirLines) {
  constexpr int kThreads = 8;
  constexpr int kLines = 200;
  testing::Capture capture;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < kLines; ++i) {
          Info("line", {{"thread", t}, {"i", i}});
        }
      });
    }
  }
  std::vector<int> next(kThreads, 0);
  for (const std::string& line : capture.lines()) {
    const auto at = line.find(" level=info msg=line thread=");
    ASSERT_NE(at, std::string::npos) << line;
    int thread = 0;
    int i = 0;
    ASSERT_EQ(std::sscanf(line.c_str() + at, " level=info msg=line thread=%d i=%d", &thread, &i),
              2);
    ASSERT_EQ(next.at(static_cast<std::size_t>(thread))++, i) << "order within a thread";
  }
  EXPECT_EQ(next, std::vector<int>(kThreads, kLines));
}

TEST(LogTest, WithoutCaptureALineGoesToStandardError) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  Error("to stderr", {{"k", "v"}});
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  ::close(ends[1]);
  std::array<char, 512> buffer{};
  const auto size = ::read(ends[0], buffer.data(), buffer.size());
  ::close(ends[0]);
  ASSERT_GT(size, 0);
  EXPECT_THAT(std::string(buffer.data(), static_cast<std::size_t>(size)),
              EndsWith(" level=error msg=\"to stderr\" k=v\n"));
}

}  // namespace
}  // namespace kubexx::logging
