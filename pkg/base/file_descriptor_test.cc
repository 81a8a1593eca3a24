#include "kubexx/base/file_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <utility>

namespace kubexx::base {
namespace {

int OpenNull() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(FileDescriptorTest, IsClosedAtItsEnd) {
  int fd = -1;
  {
    const FileDescriptor descriptor(OpenNull());
    fd = descriptor.get();
    EXPECT_TRUE(IsOpen(fd));
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST(FileDescriptorTest, MovesWithItsOwner) {
  FileDescriptor first(OpenNull());
  const int fd = first.get();
  FileDescriptor second(std::move(first));
  EXPECT_EQ(second.get(), fd);
  const int other = OpenNull();
  {
    FileDescriptor third(other);
    third = std::move(second);
    EXPECT_EQ(third.get(), fd);
  }
  EXPECT_FALSE(IsOpen(fd));
  EXPECT_TRUE(IsOpen(other)) << "the assignment leaves it to the object that was moved from";
}

TEST(FileDescriptorTest, CanBeClosedEarlyAndOnce) {
  FileDescriptor descriptor(OpenNull());
  const int fd = descriptor.get();
  descriptor.Close();
  EXPECT_LT(descriptor.get(), 0);
  EXPECT_FALSE(IsOpen(fd));
  const FileDescriptor reused(OpenNull());
  descriptor.Close();
  EXPECT_TRUE(IsOpen(reused.get()));
}

TEST(FileDescriptorTest, LeavesTheReasonOfAFailureAlone) {
  FileDescriptor descriptor(OpenNull());
  errno = EACCES;
  descriptor.Close();
  EXPECT_EQ(errno, EACCES);
}

}  // namespace
}  // namespace kubexx::base
