#include "kubexx/logging/logger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kubexx/logging/testing/capture.h"

namespace kubexx::logging {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(LoggerTest, ALineHasTheFieldsOfItsLoggerFirst) {
  const testing::Capture capture;
  Logger log;
  {
    const std::string key = "object";  // is gone when the line is written
    log = Logger({{key, std::string("shop/web")}, {"attempt", 2}});
  }
  log.Info("Scaled", {{"replicas", 3}});
  EXPECT_THAT(capture.lines(),
              ElementsAre(HasSubstr("Scaled object=shop/web attempt=2 replicas=3")));
}

TEST(LoggerTest, OneWithMoreFieldsLeavesTheFirstAlone) {
  const testing::Capture capture;
  const Logger first({{"object", "a"}});
  const Logger second = first.With({{"step", "two"}});
  first.Warning("First");
  second.Error("Second");
  EXPECT_THAT(capture.lines(),
              ElementsAre(EndsWith("First object=a"), EndsWith("Second object=a step=two")));
}

TEST(LoggerTest, WithoutFieldsItIsTheProcesssLog) {
  const testing::Capture capture;
  Logger().Info("Bare", {{"n", 1}});
  EXPECT_THAT(capture.lines(), ElementsAre(EndsWith("Bare n=1")));
}

TEST(LoggerTest, LinesBelowTheLevelAreNotWritten) {
  const testing::Capture capture({.level = Level::kInfo});
  const Logger log({{"object", "a"}});
  log.Debug("Quiet");
  log.Info("Loud");
  EXPECT_THAT(capture.lines(), ElementsAre(EndsWith("Loud object=a")));
}

}  // namespace
}  // namespace kubexx::logging
