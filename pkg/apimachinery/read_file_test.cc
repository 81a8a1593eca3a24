#include "kubexx/apimachinery/read_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "kubexx/base/file_descriptor.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::apimachinery {
namespace {

TEST(ReadFileTest, FilesUpToTheLimitAreReadWhole) {
  const base::testing::TemporaryFolder folder;
  for (const std::size_t size : {0UZ, 1UZ, 16383UZ, 16384UZ, 16385UZ, 100'000UZ}) {
    const std::string text(size, 'x');
    const auto read = ReadFile(folder.Write("file", text), {.max_bytes = 100'000});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, text);
  }
}

TEST(ReadFileTest, ALargerFileIsAnErrorThatNamesTheLimit) {
  const base::testing::TemporaryFolder folder;
  const std::string path = folder.Write("file", std::string(11, 'x'));
  EXPECT_EQ(ReadFile(path, {.max_bytes = 10}).error().message,
            "cannot read " + path + ": it is larger than 10 bytes");
  EXPECT_EQ(ReadFile("/dev/zero", {.max_bytes = 1 << 20}).error().message,
            "cannot read /dev/zero: it is larger than 1 MiB");
}

TEST(ReadFileTest, WhatCannotBeReadIsAnErrorThatNamesTheFile) {
  const base::testing::TemporaryFolder folder;
  const auto none = ReadFile(folder / "none");
  EXPECT_EQ(none.error().reason, Reason::kInvalidConfig);
  EXPECT_EQ(none.error().message,
            "cannot read " + (folder / "none").string() + ": No such file or directory");
  EXPECT_EQ(ReadFile(folder.path()).error().message,
            "cannot read " + folder.path() + ": Is a directory");
}

TEST(ReadFileTest, ANamedPipeWithoutAWriterDoesNotBlockWhoDoesNotWaitForOne) {
  const base::testing::TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto read = ReadFile(pipe, {.waits_for_writers = false});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, "");
}

TEST(ReadFileTest, WhoWritesIntoAPipeMayTakeItsTime) {
  const base::testing::TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  base::FileDescriptor writer(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  const auto is_empty = [&] {
    int bytes = 0;
    return ::ioctl(writer.get(), FIONREAD, &bytes) == 0 && bytes == 0;
  };
  std::jthread reader([&] {
    const auto read = ReadFile(pipe, {.waits_for_writers = false});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, "first, later");
  });
  ASSERT_EQ(::write(writer.get(), "first, ", 7), 7);
  KX_AWAIT(is_empty());
  ASSERT_EQ(::write(writer.get(), "later", 5), 5);
  KX_AWAIT(is_empty());
  writer.Close();
}

}  // namespace
}  // namespace kubexx::apimachinery
