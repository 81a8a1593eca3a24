#include "kubexx/apimachinery/names.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::apimachinery {
namespace {

TEST(Names, Labels) {
  for (const char* good : {"a", "0", "a-b", "web-1"}) {
    EXPECT_TRUE(IsDnsLabel(good)) << good;
  }
  for (const char* bad : {"", "-a", "a-", "A", "a.b", "a_b", "\xc3\xa4"}) {
    EXPECT_FALSE(IsDnsLabel(bad)) << bad;
  }
  EXPECT_TRUE(IsDnsLabel(std::string(63, 'a')));
  EXPECT_FALSE(IsDnsLabel(std::string(64, 'a')));
}

TEST(Names, Subdomains) {
  for (const char* good : {"a", "a.b", "0-1.example.com"}) {
    EXPECT_TRUE(IsDnsSubdomain(good)) << good;
  }
  for (const char* bad : {"", ".", "a.", ".a", "a..b", "a-.b", "a.-b", "A.b", "a_b"}) {
    EXPECT_FALSE(IsDnsSubdomain(bad)) << bad;
  }
  EXPECT_TRUE(IsDnsSubdomain(std::string(253, 'a'))) << "a part may be longer than a label";
  EXPECT_FALSE(IsDnsSubdomain(std::string(254, 'a')));
}

}  // namespace
}  // namespace kubexx::apimachinery
