#include "kubexx/reloadpolicy/rolled_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "kubexx/reloadpolicy/failed_data.h"

namespace kubexx::reloadpolicy {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::optional<RolledData> DataFrom(const std::string& text, const std::string& uid = "u1") {
  return RolledDataOf({{std::string(kRolledDataAnnotation), text}}, uid);
}

TEST(DataVersion, IsTakenApartAgain) {
  const std::string version = DataVersion({"Secret", {"shop", "db"}}, "1f=2");
  const auto parts = PartsOf(version);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->kind, "Secret");
  EXPECT_EQ(parts->name, "db");
  EXPECT_EQ(parts->digest, "1f=2");
  for (const char* other : {"", "Secret", "Secret/db", "Secret=a/b", "=/"}) {
    EXPECT_FALSE(PartsOf(other)) << other;
  }
}

TEST(RolledData, IsReadAsItWasWritten) {
  for (const DataState state : {DataState::kRolled, DataState::kFailed, DataState::kReleased}) {
    const RolledData data{state, {"ConfigMap/a=12", "Secret/b=34"}};
    EXPECT_EQ(DataFrom(TextOf(data, "u1")), data) << TextOf(data, "u1");
  }
  EXPECT_EQ(TextOf({DataState::kFailed, {"ConfigMap/a=12"}}, "u1"), "failed u1 ConfigMap/a=12");
}

TEST(RolledData, WhatIsOfAnotherObjectOrMalformedIsNotRead) {
  EXPECT_EQ(RolledDataOf({}, "u1"), std::nullopt);
  for (const char* text : {"", "failed", "failed u1", "failed u2 ConfigMap/a=1", "bad u1 a=1",
                           "failed u1 nonsense", "failed  u1 a=1"}) {
    EXPECT_EQ(DataFrom(text), std::nullopt) << text;
  }
}

TEST(RolledData, TellsForWhichVersionsAWaveHasRolledTheWorkload) {
  const auto was_rolled = [](const std::string& text, const std::string& version) {
    return WasRolledFor(version, {{std::string(kRolledDataAnnotation), text}}, "u");
  };
  EXPECT_TRUE(was_rolled("rolled u ConfigMap/a=1 Secret/b=2", "Secret/b=2"));
  EXPECT_TRUE(was_rolled("released u Secret/b=2", "Secret/b=2"));
  EXPECT_FALSE(was_rolled("rolled u ConfigMap/a=1", "ConfigMap/a=2"));
  EXPECT_FALSE(was_rolled("rolled other ConfigMap/a=1", "ConfigMap/a=1"));
  EXPECT_FALSE(WasRolledFor("ConfigMap/a=1", {}, "u"));
}

TEST(RolledData, HasAtMostSoManyVersions) {
  RolledData data;
  for (std::size_t i = 0; i <= kMaxDataVersions; ++i) {
    data.versions.push_back("ConfigMap/c" + std::to_string(i) + "=1");
  }
  EXPECT_THAT(DataFrom(TextOf(data, "u1"))->versions, SizeIs(kMaxDataVersions));
  EXPECT_TRUE(MayBeCut(DataFrom(TextOf(data, "u1"))->versions));
  EXPECT_FALSE(MayBeCut({"ConfigMap/c=1"}));
  std::string text = "rolled u1";
  for (const std::string& version : data.versions) {
    text += ' ' + version;
  }
  EXPECT_THAT(DataFrom(text)->versions, SizeIs(kMaxDataVersions)) << "whoever wrote it";
}

TEST(FailedData, WhatFailedStaysUnlessItsSourceHasNewData) {
  EXPECT_THAT(WithOlder({"ConfigMap/a=2"}, {"ConfigMap/a=1", "ConfigMap/b=1"}),
              ElementsAre("ConfigMap/a=2", "ConfigMap/b=1"));
  EXPECT_EQ(SourcesOf({"ConfigMap/a=2", "ConfigMap/a=3", "Secret/b=1"}), "ConfigMap/a, Secret/b");
  DataVersions many;
  for (char c = 'a'; c <= 'l'; ++c) {
    many.push_back(std::string("Secret/") + c + "=1");
  }
  EXPECT_THAT(SourcesOf(many), ::testing::EndsWith("Secret/i, Secret/j and 2 more"));
}

TEST(FailedData, HoldsOthersOfTheNamespaceWithTheSameData) {
  const ObjectRef failed{"Deployment", {"shop", "a"}};
  const FailedDataMap all{{failed, {.versions = {"ConfigMap/a=1"}}}};
  const ObjectRef other{"Deployment", {"shop", "b"}};
  ASSERT_NE(FindFailed(all, other, {"ConfigMap/b=1", "ConfigMap/a=1"}), nullptr);
  EXPECT_EQ(FindFailed(all, other, {"ConfigMap/b=1", "ConfigMap/a=1"})->first, failed);
  EXPECT_EQ(FindFailed(all, other, {"ConfigMap/a=2"}), nullptr);
  EXPECT_EQ(FindFailed(all, failed, {"ConfigMap/a=1"}), nullptr) << "it may be what mends it";
  EXPECT_EQ(FindFailed(all, {"Deployment", {"other", "b"}}, {"ConfigMap/a=1"}), nullptr);
}

}  // namespace
}  // namespace kubexx::reloadpolicy
