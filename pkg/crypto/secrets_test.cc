#include "kubexx/crypto/secrets.h"

#include <gtest/gtest.h>

namespace kubexx::crypto {
namespace {

TEST(Secrets, NoTwoAreTheSame) {
  const auto one = Random256();
  const auto other = Random256();
  ASSERT_TRUE(one);
  ASSERT_TRUE(other);
  EXPECT_NE(*one, *other);
}

TEST(Secrets, AreComparedAsWholes) {
  EXPECT_TRUE(IsSameSecret("", ""));
  EXPECT_TRUE(IsSameSecret("abc", "abc"));
  EXPECT_FALSE(IsSameSecret("abc", "abd"));
  EXPECT_FALSE(IsSameSecret("abc", "ab"));
}

}  // namespace
}  // namespace kubexx::crypto
