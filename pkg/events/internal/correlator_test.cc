#include "kubexx/events/internal/correlator.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <chrono>
#include <string>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::events {
namespace {

using namespace std::chrono_literals;
using ::testing::StartsWith;

class CorrelatorTest : public ::testing::Test {
 protected:
  Correlator::Event About(const std::string& object, const std::string& message) {
    Correlator::Event event;
    event.metadata.name = object + "." + std::to_string(++names_);
    event.metadata.namespace_ = "ns";
    event.involved_object.kind = "Pod";
    event.involved_object.namespace_ = "ns";
    event.involved_object.name = object;
    event.type = "Normal";
    event.reason = "Because";
    event.message = message;
    event.count = 1;
    event.first_timestamp = apimachinery::Time::From(clock_.Wall());
    event.last_timestamp = event.first_timestamp;
    event.source.component = "tester";
    return event;
  }

  base::testing::FakeClock clock_;
  Correlator correlator_{clock_};
  int names_ = 0;
};

TEST_F(CorrelatorTest, PassesTheFirstOfItsKind) {
  const auto event = About("a", "m");
  const auto write = correlator_.Correlate(event);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->event, event);
  EXPECT_EQ(write->patch, "");
}

TEST_F(CorrelatorTest, CountsTheSameEventOnTheFirstOne) {
  auto first = correlator_.Correlate(About("a", "m"));
  first->event.metadata.resource_version = "7";
  correlator_.Stored(first->event);
  clock_.Advance(5s);
  const auto second = correlator_.Correlate(About("a", "m"));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->event.metadata.name, "a.1");
  EXPECT_EQ(second->event.metadata.resource_version, "7");
  EXPECT_EQ(second->event.count, 2);
  EXPECT_EQ(second->event.first_timestamp, first->event.first_timestamp);
  EXPECT_EQ(second->patch, "{\"count\":2,\"lastTimestamp\":\"" +
                               second->event.last_timestamp.ToString() + "\",\"message\":\"m\"}");
  EXPECT_EQ(correlator_.Correlate(About("a", "m"))->event.count, 3);
}

TEST_F(CorrelatorTest, DoesNotCountDifferentEventsTogether) {
  (void)correlator_.Correlate(About("a", "m"));
  EXPECT_EQ(correlator_.Correlate(About("b", "m"))->patch, "");
  EXPECT_EQ(correlator_.Correlate(About("a", "n"))->patch, "");
  auto warning = About("a", "m");
  warning.type = "Warning";
  EXPECT_EQ(correlator_.Correlate(warning)->patch, "");
}

TEST_F(CorrelatorTest, CombinesFromTheTenthDistinctMessageOn) {
  for (int i = 1; i <= 9; ++i) {
    const std::string message = "m" + std::to_string(i);
    EXPECT_EQ(correlator_.Correlate(About("a", message))->event.message, message);
  }
  const auto tenth = correlator_.Correlate(About("a", "m10"));
  EXPECT_EQ(tenth->event.message, "(combined from similar events): m10");
  EXPECT_EQ(tenth->patch, "");
  EXPECT_EQ(tenth->event.count, 1);
  EXPECT_THAT(tenth->event.metadata.name, StartsWith("a."));
  const auto next = correlator_.Correlate(About("a", "m11"));
  EXPECT_EQ(next->event.metadata.name, tenth->event.metadata.name);
  EXPECT_EQ(next->event.count, 2);
  EXPECT_EQ(next->event.message, "(combined from similar events): m11");
  EXPECT_NE(next->patch, "");
}

TEST_F(CorrelatorTest, StartsAnewAfterTenQuietMinutes) {
  for (int i = 1; i <= 9; ++i) {
    (void)correlator_.Correlate(About("a", "m" + std::to_string(i)));
  }
  clock_.Advance(600s);
  EXPECT_THAT(correlator_.Correlate(About("a", "m10"))->event.message, StartsWith("(combined"));
  clock_.Advance(601s);
  EXPECT_EQ(correlator_.Correlate(About("a", "m11"))->event.message, "m11");
}

TEST_F(CorrelatorTest, KeepsACombinedMessageWithinTheLimit) {
  for (int i = 1; i <= 9; ++i) {
    (void)correlator_.Correlate(About("a", "m" + std::to_string(i)));
  }
  EXPECT_EQ(correlator_.Correlate(About("a", std::string(1024, 'x')))->event.message.size(), 1024U);
}

TEST_F(CorrelatorTest, HoldsBackSpamButCountsIt) {
  for (int i = 1; i <= 25; ++i) {
    EXPECT_EQ(correlator_.Correlate(About("a", "m"))->event.count, i);
  }
  EXPECT_FALSE(correlator_.Correlate(About("a", "m")));
  EXPECT_TRUE(correlator_.Correlate(About("b", "m"))) << "another object has a budget of its own";
  clock_.Advance(299s);
  EXPECT_FALSE(correlator_.Correlate(About("a", "m")));
  clock_.Advance(1s);
  EXPECT_EQ(correlator_.Correlate(About("a", "m"))->event.count, 28);
  EXPECT_FALSE(correlator_.Correlate(About("a", "m")));
}

// With AddressSanitizer's allocator there are no figures, and nothing to see.
TEST_F(CorrelatorTest, RemembersAnEventInHalfAKilobyte) {
  constexpr std::size_t kEvents = Correlator::kCacheSize / 2;
  const std::string message(150, 'm');
  const auto about = [&](std::size_t i) {
    auto event = About("a-workload-" + std::to_string(i), message);
    event.involved_object.uid = "00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + i);
    return event;
  };
  (void)correlator_.Correlate(about(0));
  const std::size_t before = mallinfo2().uordblks;
  for (std::size_t i = 1; i <= kEvents; ++i) {
    auto write = correlator_.Correlate(about(i));
    correlator_.Stored(write->event);
  }
  EXPECT_LT((mallinfo2().uordblks - before) / kEvents, 600U);
}

TEST_F(CorrelatorTest, HasABudgetForEachType) {
  for (int i = 1; i <= 25; ++i) {
    (void)correlator_.Correlate(About("a", "m"));
  }
  auto warning = About("a", "m");
  warning.type = "Warning";
  EXPECT_TRUE(correlator_.Correlate(warning));
}

}  // namespace
}  // namespace kubexx::events
