#include "kubexx/reloader/observe/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Diagnostics, ShowHeapAndThreads) {
  EXPECT_THAT(HeapReport(), StartsWith("<malloc"));
  EXPECT_THAT(ThreadReport(), HasSubstr(std::to_string(getpid()) + " "));
  EXPECT_THAT(ThreadReport(), HasSubstr(" user="));
}

}  // namespace
}  // namespace kubexx::reloader
