#include "kubexx/apimachinery/secret_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kubexx::apimachinery {
namespace {

class SecretFileTest : public ::testing::Test {
 protected:
  SecretFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "secret-file-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      ADD_FAILURE() << "no folder";
    }
    folder_ = name;
  }
  ~SecretFileTest() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& text) {
    std::ofstream(folder_ / "file") << text;
    return folder_ / "file";
  }

  std::filesystem::path folder_;
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
  EXPECT_EQ(ReadSecretFile(folder_).error().message,
            "cannot read " + folder_.string() + ": Is a directory");
  EXPECT_EQ(ReadSecretFile(folder_ / "none").error().message,
            "cannot read " + (folder_ / "none").string() + ": No such file or directory");
  EXPECT_EQ(ReadSecretFile("/dev/zero").error().message, "cannot read /dev/zero: File too large");
}

}  // namespace
}  // namespace kubexx::apimachinery
