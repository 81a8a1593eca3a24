#include "campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kubexx::simulation {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class CampaignTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string FileAt(const std::string& name) const {
    std::filesystem::create_directories(folder_);
    return folder_ / name;
  }
  void Append(const std::string& file, const std::string& text) const {
    std::ofstream(file, std::ios::app) << text;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("campaign-" + std::to_string(::getpid()));
};

TEST_F(CampaignTest, NoFileHasNoResults) {
  const auto records = OpenResults(FileAt("none"));
  ASSERT_TRUE(records);
  EXPECT_THAT(*records, SizeIs(0));
}

TEST_F(CampaignTest, ALineWithoutItsEndIsTakenAway) {
  const std::string file = FileAt("results");
  Append(file, ToLine({.revision = "r", .seed = 4, .hours = 1}) + "\n" + R"({"revision":"r","se)");
  ASSERT_THAT(OpenResults(file).value(), SizeIs(1));
  Append(file, ToLine({.revision = "r", .seed = 5, .hours = 1}) + "\n");
  const auto records = OpenResults(file);
  ASSERT_TRUE(records) << records.error().ToString();
  ASSERT_THAT(*records, SizeIs(2));
  EXPECT_EQ(records->back().seed, 5U);
}

TEST_F(CampaignTest, AnErrorNamesTheLine) {
  const std::string file = FileAt("results");
  Append(file, ToLine({.revision = "r", .seed = 4, .hours = 1}) + "\nwhat is this?\n");
  const auto records = OpenResults(file);
  ASSERT_FALSE(records);
  EXPECT_THAT(records.error().message, HasSubstr("line 2"));
}

TEST_F(CampaignTest, WhatHasBeenRunIsNotRunAgainUnlessTheRevisionIsAnother) {
  Settings settings{.seed = 13,
                    .seeds = 1,
                    .minutes = 1,
                    .jobs = 1,
                    .results = FileAt("results"),
                    .report = FileAt("page.md"),
                    .revision = "one"};
  ASSERT_EQ(RunCampaign(settings), EXIT_SUCCESS);
  EXPECT_THAT(OpenResults(settings.results).value(), SizeIs(1));
  settings.seeds = 2;
  ASSERT_EQ(RunCampaign(settings), EXIT_SUCCESS);
  EXPECT_THAT(OpenResults(settings.results).value(), SizeIs(2));
  ASSERT_EQ(RunCampaign(settings), EXIT_SUCCESS) << "there is nothing left to do";
  EXPECT_THAT(OpenResults(settings.results).value(), SizeIs(2));
  settings.revision = "two";
  settings.seeds = 1;
  ASSERT_EQ(RunCampaign(settings), EXIT_SUCCESS);
  EXPECT_THAT(OpenResults(settings.results).value(), SizeIs(3));
  std::ifstream page(settings.report);
  const std::string text((std::istreambuf_iterator<char>(page)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr("| one | 0.02 | 13 to 14 | 2 |"));
  EXPECT_THAT(text, HasSubstr("| two | 0.02 | 13 to 13 | 1 |"));
}

}  // namespace
}  // namespace kubexx::simulation
