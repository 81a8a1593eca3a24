#include "kubexx/base/process/descriptor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace kubexx::base {
namespace {

TEST(DescriptorLimit, IsRaisedToWhatTheProcessIsAllowed) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit fewer = before;
  fewer.rlim_cur = before.rlim_max / 2;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &fewer), 0);

  EXPECT_FALSE(RaiseDescriptorLimit());
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_FALSE(RaiseDescriptorLimit()) << "nothing is left to raise";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace kubexx::base
