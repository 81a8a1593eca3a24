#include "kubexx/base/text/trim.h"

#include <gtest/gtest.h>

namespace kubexx::base {
namespace {

TEST(TrimTest, TakesAwayWhatSurroundsAText) {
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim(" \t "), "");
  EXPECT_EQ(Trim("a"), "a");
  EXPECT_EQ(Trim("\t a \tb\t"), "a \tb");
  EXPECT_EQ(Trim("\na\n"), "\na\n");
  EXPECT_EQ(Trim("\na\n", "\n"), "a");
}

}  // namespace
}  // namespace kubexx::base
