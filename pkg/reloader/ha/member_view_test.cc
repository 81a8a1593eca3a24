#include "kubexx/reloader/ha/member_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace kubexx::reloader {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(MemberView, BelievesInWhatChanges) {
  MemberView view(seconds(15));
  const base::TimePoint start{};
  view.Saw({{.name = "a", .version = "1"}, {.name = "b", .version = "1"}}, start);
  EXPECT_THAT(view.Live(start), ElementsAre("a", "b"));
  view.Saw({{.name = "a", .version = "1"}, {.name = "b", .version = "1"}}, start + seconds(7));
  view.Saw({{.name = "a", .version = "2"}, {.name = "b", .version = "1"}}, start + seconds(14));
  EXPECT_THAT(view.Live(start + seconds(15)), ElementsAre("a"));
  EXPECT_THAT(view.Abandoned(start + seconds(149)), IsEmpty());
  EXPECT_THAT(view.Abandoned(start + seconds(150)), ElementsAre("b"));
  view.Saw({{.name = "a", .version = "2"}}, start + seconds(20));
  EXPECT_THAT(view.Live(start + seconds(20)), ElementsAre("a"));
  EXPECT_THAT(view.Abandoned(start + seconds(150)), IsEmpty());
}

TEST(MemberView, TellsWhoHasAnotherNumberOfShards) {
  MemberView view(seconds(15));
  const base::TimePoint start{};
  const Member eight{.name = "eight", .version = "1", .shards = 8, .created = 100};
  const Member four{.name = "four", .version = "1", .shards = 4, .created = 200};
  const Member untold{.name = "untold", .version = "1", .created = 50};
  view.Saw({eight, four}, start);
  EXPECT_EQ(view.Elder(start, 8), std::nullopt);
  EXPECT_EQ(view.Elder(start, 4), eight);
  EXPECT_EQ(view.Elder(start, 2), eight);
  EXPECT_THAT(view.Live(start, 8), ElementsAre("eight"));
  EXPECT_THAT(view.Live(start, 4), ElementsAre("four"));
  EXPECT_THAT(view.Live(start), ElementsAre("eight", "four"));
  view.Saw({eight, four, untold}, start);
  EXPECT_EQ(view.Elder(start, 4), std::nullopt) << "whoever does not tell has the same number";
  EXPECT_EQ(view.Elder(start, 1), untold) << "but not one, as there are no members then";
  EXPECT_THAT(view.Live(start, 4), ElementsAre("four", "untold"));
  Member at_once = four;
  at_once.created = eight.created;
  view.Saw({eight, at_once}, start);
  EXPECT_EQ(view.Elder(start, 8), at_once) << "one of two waits, not both";
  EXPECT_EQ(view.Elder(start, 4), std::nullopt);
  EXPECT_EQ(view.Elder(start + seconds(15), 8), std::nullopt) << "it is dead";
  Member left = eight;
  left.is_abandoned = true;
  view.Saw({left}, start);
  EXPECT_EQ(view.Elder(start, 4), std::nullopt) << "it was dead before it was seen";
  EXPECT_THAT(view.Live(start), IsEmpty());
  left.version = "2";
  view.Saw({left}, start);
  EXPECT_EQ(view.Elder(start, 4), left) << "clocks differ: it lives";
}

TEST(TakerOf, GivesEveryMemberItsPart) {
  EXPECT_EQ(TakerOf(0, {}), "");
  std::map<std::string, int> shares;
  for (int shard = 0; shard < 8; ++shard) {
    ++shares[TakerOf(shard, {"a", "b", "c"})];
  }
  EXPECT_EQ(shares, (std::map<std::string, int>{{"a", 3}, {"b", 3}, {"c", 2}}));
}

}  // namespace
}  // namespace kubexx::reloader
