#include "kubexx/reloader/in_place/outage.h"

#include <gtest/gtest.h>

#include <chrono>

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using std::chrono::seconds;

const apimachinery::Status kAway(Reason::kUnavailable, "connection refused");
const apimachinery::Status kDeniedYet(Reason::kForbidden, "is forbidden", 403);

class OutageTest : public testing::Test {
 protected:
  static base::TimePoint At(int second) { return base::TimePoint(seconds(1000 + second)); }
  Outage outage_{seconds(120), seconds(20)};
};

TEST_F(OutageTest, AllOutagesTogetherLastSoLongAtMost) {
  EXPECT_TRUE(outage_.Bears(kAway, At(0)));
  EXPECT_TRUE(outage_.Bears(kAway, At(60)));
  EXPECT_EQ(outage_.Lost(At(70)), seconds(70));
  outage_.End(At(70));
  outage_.End(At(80));
  EXPECT_EQ(outage_.Lost(At(100)), seconds(70));
  EXPECT_TRUE(outage_.Bears(kAway, At(100)));
  EXPECT_TRUE(outage_.Bears(kAway, At(149)));
  EXPECT_FALSE(outage_.Bears(kAway, At(150)));
}

TEST_F(OutageTest, ADenialIsBorneForAShorterTime) {
  EXPECT_TRUE(outage_.Bears(kAway, At(0)));
  EXPECT_TRUE(outage_.Bears(kDeniedYet, At(60)));
  EXPECT_TRUE(outage_.Bears(kDeniedYet, At(79)));
  EXPECT_FALSE(outage_.Bears(kDeniedYet, At(80)));
}

TEST_F(OutageTest, DenialsAreCountedInARow) {
  EXPECT_TRUE(outage_.Bears(kDeniedYet, At(0)));
  EXPECT_TRUE(outage_.Bears(kAway, At(15)));
  EXPECT_TRUE(outage_.Bears(kDeniedYet, At(30)));
  EXPECT_TRUE(outage_.Bears(kDeniedYet, At(49)));
  outage_.End(At(49));
  EXPECT_TRUE(outage_.Bears(kDeniedYet, At(60)));
}

}  // namespace
}  // namespace kubexx::reloader
