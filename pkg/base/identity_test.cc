#include "kubexx/base/identity.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <set>
#include <string>

namespace kubexx::base {
namespace {

TEST(RandomUuid, HasTheShapeOfVersion4) {
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = RandomUuid();
    ASSERT_EQ(uuid.size(), 36U);
    for (std::size_t at = 0; at < uuid.size(); ++at) {
      if (at == 8 || at == 13 || at == 18 || at == 23) {
        EXPECT_EQ(uuid[at], '-') << uuid;
      } else {
        EXPECT_TRUE(std::isxdigit(static_cast<unsigned char>(uuid[at]))) << uuid;
      }
    }
    EXPECT_EQ(uuid[14], '4') << uuid;
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
  }
}

TEST(RandomUuid, DoesNotRepeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(seen.insert(RandomUuid()).second);
  }
}

TEST(HostName, IsNotEmptyAndStable) {
  EXPECT_FALSE(HostName().empty());
  EXPECT_EQ(HostName(), HostName());
}

}  // namespace
}  // namespace kubexx::base
