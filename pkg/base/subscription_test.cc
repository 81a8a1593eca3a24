#include "kubexx/base/subscription.h"

#include <gtest/gtest.h>

#include <optional>
#include <type_traits>
#include <utility>

namespace kubexx::base {
namespace {

static_assert(!std::is_copy_constructible_v<Subscription>);
static_assert(std::is_nothrow_move_constructible_v<Subscription>);

TEST(SubscriptionTest, UnregistersOnceWhenItEnds) {
  int ended = 0;
  {
    const Subscription subscription([&] { ++ended; });
  }
  EXPECT_EQ(ended, 1);
}

TEST(SubscriptionTest, ResetEndsItEarly) {
  int ended = 0;
  {
    Subscription subscription([&] { ++ended; });
    subscription.Reset();
    EXPECT_EQ(ended, 1);
    subscription.Reset();
  }
  EXPECT_EQ(ended, 1);
}

TEST(SubscriptionTest, MoveTakesTheRegistrationAlong) {
  int ended = 0;
  std::optional<Subscription> outer;
  {
    Subscription inner([&] { ++ended; });
    outer.emplace(std::move(inner));
  }
  EXPECT_EQ(ended, 0);
  outer.reset();
  EXPECT_EQ(ended, 1);
}

TEST(SubscriptionTest, AssignmentEndsTheOldOne) {
  int first = 0;
  int second = 0;
  Subscription subscription([&] { ++first; });
  subscription = Subscription([&] { ++second; });
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  Subscription& same = subscription;
  subscription = std::move(same);
  EXPECT_EQ(second, 0) << "assigned to itself";
}

TEST(SubscriptionTest, EmptyOneDoesNothing) {
  Subscription subscription;
  subscription.Reset();
}

}  // namespace
}  // namespace kubexx::base
