#include "kubexx/apiserver/endpoints/services/number_pool.h"

#include <gtest/gtest.h>

namespace kubexx::apiserver {
namespace {

TEST(NumberPoolTest, GivesEachNumberToOne) {
  NumberPool pool(5, 6, 0);
  EXPECT_TRUE(pool.Take(5));
  EXPECT_FALSE(pool.Take(5));
  EXPECT_FALSE(pool.Take(4));
  EXPECT_FALSE(pool.Take(7));
  EXPECT_EQ(pool.TakeAny(0), 6U);
  EXPECT_EQ(pool.TakeAny(0), std::nullopt);
  pool.GiveBack(5);
  pool.GiveBack(5);
  EXPECT_EQ(pool.TakeAny(1), 5U);
  pool.Clear();
  EXPECT_TRUE(pool.Take(6));
}

TEST(NumberPoolTest, TheLowNumbersAreTheLastToGo) {
  NumberPool pool(1, 10, 4);
  EXPECT_EQ(pool.TakeAny(2), 7U);
  EXPECT_EQ(pool.TakeAny(2), 8U);
  EXPECT_EQ(pool.TakeAny(5), 10U);
  EXPECT_EQ(pool.TakeAny(5), 5U);  // From the beginning on.
  EXPECT_TRUE(pool.Take(2));
  EXPECT_EQ(pool.TakeAny(0), 6U);
  EXPECT_EQ(pool.TakeAny(0), 9U);
  EXPECT_EQ(pool.TakeAny(1), 3U);
  EXPECT_EQ(pool.TakeAny(3), 4U);
  EXPECT_EQ(pool.TakeAny(3), 1U);
  EXPECT_EQ(pool.TakeAny(3), std::nullopt);
}

}  // namespace
}  // namespace kubexx::apiserver
