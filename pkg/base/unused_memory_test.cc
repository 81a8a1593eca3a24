#include "kubexx/base/unused_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace kubexx::base {
namespace {

long ResidentFiles() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) {
      return std::stol(line.substr(8));
    }
  }
  return -1;
}

TEST(ReleaseUnusedMemory, GivesCodeBackAndTheProgramGoesOn) {
  const long before = ResidentFiles();
  ReleaseUnusedMemory();
  const long after = ResidentFiles();
  EXPECT_GT(before, 0);
  EXPECT_LT(after, before);
}

}  // namespace
}  // namespace kubexx::base
