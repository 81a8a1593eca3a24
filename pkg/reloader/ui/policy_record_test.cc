#include "kubexx/reloader/ui/policy_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "kubexx/codec/codec.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

/// 2026-03-02, 12:30, in UTC.
const base::WallTime kHalfPastNoon = std::chrono::sys_days(std::chrono::year(2026) / 3 / 2) +
                                     std::chrono::hours(12) + std::chrono::minutes(30);

template <class Policy = reloadpolicy::v1alpha1::ReloadPolicy>
JsonTree RecordFrom(const std::string& json, const JsonTree& waves = JsonTree::Array()) {
  const auto policy = codec::DecodeJson<Policy>(json);
  EXPECT_TRUE(policy) << json;
  const auto tree = JsonTree::Parse(PolicyRecord(policy.value_or(Policy()), waves, kHalfPastNoon));
  EXPECT_TRUE(tree);
  return tree.value_or(JsonTree());
}

TEST(PolicyRecordTest, HasItsStandingItsSpecAndTheOpenTimesOfAWeek) {
  const JsonTree tree = RecordFrom(
      R"({"metadata":{"namespace":"shop","name":"nights","generation":1},"spec":{
          "maxConcurrentRollouts":2,"maintenanceWindows":[{"schedule":"0 22 * * *","duration":"2h"}]},
          "status":{"observedGeneration":1,"pending":3}})");
  EXPECT_EQ(tree.TextAt("kind"), "ReloadPolicy");
  EXPECT_EQ(tree.At({"standing", "pending"})->AsInt(), 3);
  EXPECT_EQ(tree.At({"spec", "maxConcurrentRollouts"})->AsInt(), 2);
  ASSERT_EQ(tree.Find("windows")->size(), 7);
  EXPECT_EQ(tree.Find("windows")->elements()[0].ToJson(),
            R"({"from":"2026-03-02T22:00:00Z","until":"2026-03-03T00:00:00Z"})");
}

TEST(PolicyRecordTest, AnOpenWindowBeginsWithTheHourSoThatTheRecordStaysTheSame) {
  const JsonTree tree = RecordFrom(
      R"({"metadata":{"namespace":"shop","name":"p"},"spec":{
          "maintenanceWindows":[{"schedule":"0 11 * * *","duration":"4h"}]}})");
  EXPECT_EQ(tree.Find("windows")->elements()[0].TextAt("from"), "2026-03-02T12:00:00Z");
}

TEST(PolicyRecordTest, WithoutWindowsItHasNone) {
  EXPECT_EQ(RecordFrom(R"({"metadata":{"namespace":"shop","name":"p"},"spec":{}})").Find("windows"),
            nullptr);
  const JsonTree tree = RecordFrom<reloadpolicy::v1alpha1::ClusterReloadPolicy>(
      R"({"metadata":{"name":"p"},"spec":{}})", JsonTree::Array({JsonTree("wave")}));
  EXPECT_EQ(tree.TextAt("kind"), "ClusterReloadPolicy");
  EXPECT_EQ(tree.TextAt("namespace"), "");
  EXPECT_EQ(tree.Find("waves")->ToJson(), R"(["wave"])");
}

TEST(PolicyRecordTest, KeysOfNamespacesAndOfTheClusterDiffer) {
  EXPECT_EQ(PolicyKeyOf({"shop", "p"}), "p/shop/p");
  EXPECT_EQ(PolicyKeyOf({"", "p"}), "p//p");
}

}  // namespace
}  // namespace kubexx::reloader
