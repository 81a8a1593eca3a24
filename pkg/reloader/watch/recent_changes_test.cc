#include "kubexx/reloader/watch/recent_changes.h"

#include <gtest/gtest.h>

#include <chrono>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using std::chrono_literals::operator""s;

SourceId IdOf(const std::string& namespace_, const std::string& name) {
  return {SourceType::kConfigMap, {namespace_, name}};
}

TEST(RecentChangesTest, TellsOfThoseSinceAVersionInOneNamespace) {
  base::testing::FakeClock clock;
  RecentChanges changes(clock);
  changes.Add(IdOf("a", "one"), DigestOf("1"), {DigestOf("2"), 20});
  changes.Add(IdOf("b", "one"), DigestOf("1"), {DigestOf("2"), 21});
  changes.Add(IdOf("a", "two"), DigestOf("3"), {DigestOf("4"), 22});
  changes.Add(IdOf("a", "three"), DigestOf("3"), {DigestOf("4"), 0});
  EXPECT_EQ(changes.Since("a", 10).size(), 2U);
  const auto since = changes.Since("a", 20);
  ASSERT_EQ(since.size(), 1U);
  EXPECT_EQ(since[0].source, IdOf("a", "two"));
  EXPECT_EQ(since[0].before, DigestOf("3"));
  EXPECT_EQ(since[0].now, (Move{DigestOf("4"), 22}));
  EXPECT_TRUE(changes.Since("c", 0).empty());
}

TEST(RecentChangesTest, ForgetsThemAfterAWhileAndWhenThereAreTooMany) {
  base::testing::FakeClock clock;
  RecentChanges changes(clock);
  changes.Add(IdOf("a", "one"), DigestOf("1"), {DigestOf("2"), 20});
  clock.Advance(9s);
  changes.Add(IdOf("a", "two"), DigestOf("1"), {DigestOf("2"), 30});
  EXPECT_EQ(changes.Since("a", 0).size(), 2U);
  clock.Advance(2s);
  EXPECT_EQ(changes.Since("a", 0).size(), 1U);
  for (std::uint64_t version = 100; version < 20'100; ++version) {
    changes.Add(IdOf("b", "many"), DigestOf("1"), {DigestOf("2"), version});
  }
  EXPECT_TRUE(changes.Since("a", 0).empty());
  const auto kept = changes.Since("b", 0);
  EXPECT_EQ(kept.size(), 10'000U);
  EXPECT_EQ(kept.back().now.version, 20'099U);
}

}  // namespace
}  // namespace kubexx::reloader
