#include "kubexx/reloader/ui/state_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {
namespace {

using ::testing::HasSubstr;

/// The data of an event.
codec::JsonTree DataOf(const StateFeed::News& news) {
  const std::string& event = *news.event;
  const std::size_t begin = event.find("\ndata: ") + 7;
  EXPECT_TRUE(event.ends_with("\n\n")) << event;
  auto tree = codec::JsonTree::Parse(event.substr(begin, event.size() - begin - 2));
  EXPECT_TRUE(tree) << event;
  return tree.value_or(codec::JsonTree());
}

TEST(StateFeedTest, AReaderWithoutAVersionGetsEverything) {
  StateFeed feed({.name = "s"});
  feed.Apply({{"a", "1"}, {"b", R"({"x":2})"}});
  const auto news = feed.Since(std::nullopt);
  EXPECT_THAT(*news.event, HasSubstr("id: s-1\n"));
  EXPECT_EQ(DataOf(news).ToJson(), R"({"reset":true,"set":{"a":1,"b":{"x":2}},"gone":[]})");
}

TEST(StateFeedTest, AReaderGetsThePresentStateOfWhatHasChangedSince) {
  StateFeed feed({.name = "s"});
  feed.Apply({{"a", "1"}, {"b", "1"}, {"c", "1"}});
  const auto first = feed.Since(std::nullopt);
  feed.Apply({{"a", "2"}});
  feed.Apply({{"a", "3"}, {"b", std::nullopt}});
  const auto news = feed.Since(first.version);
  EXPECT_EQ(DataOf(news).ToJson(), R"({"reset":false,"set":{"a":3},"gone":["b"]})");
  EXPECT_EQ(feed.Since(news.version).event, nullptr);
}

TEST(StateFeedTest, ARecordThatStaysAsItIsIsNoNews) {
  int calls = 0;
  StateFeed feed({.name = "s", .on_change = [&calls] { ++calls; }});
  feed.Apply({{"a", "1"}});
  const auto first = feed.Since(std::nullopt);
  feed.Apply({{"a", "1"}, {"never", std::nullopt}});
  EXPECT_EQ(feed.Since(first.version).event, nullptr);
  EXPECT_EQ(calls, 1);
}

TEST(StateFeedTest, ARecordThatComesBackIsNotGone) {
  StateFeed feed({.name = "s"});
  feed.Apply({{"a", "1"}});
  const auto first = feed.Since(std::nullopt);
  feed.Apply({{"a", std::nullopt}});
  feed.Apply({{"a", "2"}});
  EXPECT_EQ(DataOf(feed.Since(first.version)).ToJson(),
            R"({"reset":false,"set":{"a":2},"gone":[]})");
  EXPECT_EQ(DataOf(feed.Since(std::nullopt)).ToJson(), R"({"reset":true,"set":{"a":2},"gone":[]})");
}

TEST(StateFeedTest, WhoMayHaveMissedThatARecordIsGoneGetsEverything) {
  StateFeed feed({.name = "s", .max_gone = 2});
  feed.Apply({{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}});
  const auto first = feed.Since(std::nullopt);
  feed.Apply({{"a", std::nullopt}});
  const auto second = feed.Since(first.version);
  feed.Apply({{"b", std::nullopt}});
  feed.Apply({{"c", std::nullopt}});
  EXPECT_EQ(DataOf(feed.Since(first.version)).ToJson(),
            R"({"reset":true,"set":{"d":1},"gone":[]})");
  EXPECT_EQ(DataOf(feed.Since(second.version)).ToJson(),
            R"({"reset":false,"set":{},"gone":["b","c"]})");
}

TEST(StateFeedTest, AfterClearEveryReaderBeginsAnew) {
  StateFeed feed({.name = "s"});
  feed.Apply({{"a", "1"}});
  const auto first = feed.Since(std::nullopt);
  feed.Clear();
  feed.Apply({{"b", "1"}});
  EXPECT_EQ(DataOf(feed.Since(first.version)).ToJson(),
            R"({"reset":true,"set":{"b":1},"gone":[]})");
}

TEST(StateFeedTest, AVersionThatNeverWasGetsEverything) {
  StateFeed feed({.name = "s"});
  feed.Apply({{"a", "1"}});
  EXPECT_EQ(DataOf(feed.Since(99)).TextAt("reset"), "");
  EXPECT_EQ(DataOf(feed.Since(99)).Find("reset")->AsBool(), true);
}

TEST(StateFeedTest, TheIdOfAnEventNamesItsVersionAndState) {
  const StateFeed feed({.name = "s"});
  EXPECT_EQ(feed.VersionOf("s-12"), 12);
  for (const char* id : {"", "s", "s-", "s-x", "s-1x", "other-1", "s-99999999999999999999999"}) {
    EXPECT_EQ(feed.VersionOf(id), std::nullopt) << id;
  }
}

}  // namespace
}  // namespace kubexx::reloader
