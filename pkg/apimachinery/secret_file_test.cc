#include "kubexx/apimachinery/secret_file.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::apimachinery {
namespace {

class SecretFileTest : public ::testing::Test {
 protected:
  std::string File(const std::string& text) { return folder_.Write("file", text); }

  const base::testing::TemporaryFolder folder_;
};

TEST_F(SecretFileTest, FilesOfAnySizeAreReadWhole) {
  for (const std::size_t size : {0UZ, 1UZ, 16383UZ, 16384UZ, 16385UZ, 1'000'000UZ}) {
    std::string text(size, 'x');
    text += "end";
    const auto read = ReadSecretFile(File(text));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->view(), text);
  }
  EXPECT_TRUE(ReadSecretFile(File(""))->empty());
}

TEST_F(SecretFileTest, WhatHasNoSizeIsReadToItsEnd) {
  EXPECT_FALSE(ReadSecretFile("/proc/self/cmdline")->empty());
}

TEST_F(SecretFileTest, WhatCannotBeReadIsAnError) {
  EXPECT_EQ(ReadSecretFile(folder_.path()).error().message,
            "cannot read " + folder_.path() + ": Is a directory");
  EXPECT_EQ(ReadSecretFile(folder_ / "none").error().message,
            "cannot read " + (folder_ / "none").string() + ": No such file or directory");
  EXPECT_EQ(ReadSecretFile("/dev/zero").error().message,
            "cannot read /dev/zero: it is larger than 16 MiB");
}

}  // namespace
}  // namespace kubexx::apimachinery
