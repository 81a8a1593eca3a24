#include "kubexx/reloader/receivers/storm_digest.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;

Notification Rolled(const std::string& name, const std::string& namespace_ = "shop") {
  return {.time = base::WallTime(std::chrono::hours(1)),
          .reason = kReloadedReason,
          .namespace_ = namespace_,
          .workload = reloadpolicy::ObjectRef{"Deployment", {namespace_, name}},
          .sources = {{"ConfigMap", {namespace_, "config"}}}};
}

TEST(StormDigest, CountsByNamespaceAndSourceTheWorstFirst) {
  StormDigest digest("id", base::WallTime(std::chrono::minutes(59)));
  for (int i = 0; i < 7; ++i) {
    digest.Add(Rolled("web-" + std::to_string(i)));
  }
  digest.Add(Rolled("web-0"));
  digest.Add(Rolled("api", "bank"));
  Notification failed = Rolled("bad");
  failed.severity = Severity::kError;
  failed.reason = kReloadFailReason;
  digest.Add(failed);
  digest.Add({.severity = Severity::kError,
              .reason = "RolloutsStopped",
              .policies = {{"", "careful"}},
              .is_of_policy = true});
  EXPECT_EQ(digest.total(), 11U);
  EXPECT_EQ(digest.Count(Severity::kInfo), 9U);
  EXPECT_EQ(digest.severity(), Severity::kError);
  EXPECT_EQ(digest.end(), base::WallTime(std::chrono::hours(1)));
  const auto groups = digest.Groups();
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].first.reason, kReloadFailReason);
  EXPECT_EQ(groups[1].first.source, "ClusterReloadPolicy/careful");
  EXPECT_EQ(groups[2].first.source, "ConfigMap/shop/config");
  EXPECT_EQ(groups[2].second.count, 8U);
  EXPECT_THAT(groups[2].second.names,
              ElementsAre("Deployment/shop/web-0", "Deployment/shop/web-1", "Deployment/shop/web-2",
                          "Deployment/shop/web-3", "Deployment/shop/web-4"));
  EXPECT_EQ(groups[3].second.count, 1U);
}

TEST(StormDigest, KeepsABoundedNumberOfGroups) {
  StormDigest digest("id", base::WallTime());
  for (int i = 0; i < 1000; ++i) {
    digest.Add(Rolled("web", "ns-" + std::to_string(i)));
  }
  EXPECT_EQ(digest.Groups().size(), StormDigest::kMaxGroups);
  EXPECT_EQ(digest.others(), 1000 - StormDigest::kMaxGroups);
  EXPECT_EQ(digest.total(), 1000U);
}

// A tenant whose workloads reload in many namespaces hid that those of another had failed.
TEST(StormDigest, AnErrorTakesThePlaceOfALesserGroup) {
  StormDigest digest("id", base::WallTime());
  digest.Add(Rolled("web", "large"));
  digest.Add(Rolled("web", "large"));
  for (std::size_t i = 1; i < StormDigest::kMaxGroups; ++i) {
    digest.Add(Rolled("web", "ns-" + std::to_string(i)));
  }
  Notification failed = Rolled("bad", "bank");
  failed.severity = Severity::kError;
  failed.reason = kReloadFailReason;
  digest.Add(failed);
  const auto groups = digest.Groups();
  ASSERT_EQ(groups.size(), StormDigest::kMaxGroups);
  EXPECT_EQ(groups[0].first.namespace_, "bank");
  EXPECT_EQ(groups[1].first.namespace_, "large") << "the smallest one goes";
  EXPECT_EQ(digest.others(), 1U);
  EXPECT_EQ(digest.total(), StormDigest::kMaxGroups + 2);
  for (int i = 0; i < 1000; ++i) {
    failed.namespace_ = "bank-" + std::to_string(i);
    failed.sources = {{"ConfigMap", {failed.namespace_, "config"}}};
    digest.Add(failed);
  }
  EXPECT_EQ(digest.Groups().size(), StormDigest::kMaxGroups);
  EXPECT_EQ(digest.Groups().back().first.severity, Severity::kError);
}

}  // namespace
}  // namespace kubexx::reloader
