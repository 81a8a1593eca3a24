#include "kubexx/base/ascii.h"

#include <gtest/gtest.h>

namespace kubexx::base {
namespace {

TEST(Ascii, LowersCapitalLettersOnly) {
  EXPECT_EQ(ToLower("AZaz@[09-\xc4"), "azaz@[09-\xc4");
  EXPECT_EQ(ToLower(""), "");
}

}  // namespace
}  // namespace kubexx::base
