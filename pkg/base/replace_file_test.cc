#include "kubexx/base/replace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::base {
namespace {

namespace fs = std::filesystem;

class ReplaceFileTest : public ::testing::Test {
 protected:
  static std::string Content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(ReplaceFileTest, MakesAndReplaces) {
  const fs::path path = folder_ / "file";
  EXPECT_FALSE(ReplaceFile(path, "one", 0600));
  EXPECT_EQ(Content(path), "one");
  struct stat found = {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  std::ifstream reader(path, std::ios::binary);
  EXPECT_FALSE(ReplaceFile(path, "2", 0644));
  EXPECT_EQ(Content(path), "2");
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(reader), {}}), "one");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(ReplaceFileTest, FollowsALink) {
  const fs::path link = folder_ / "link";
  fs::create_symlink("file", link);
  EXPECT_FALSE(ReplaceFile(link, "one", 0600)) << "to nothing";
  EXPECT_FALSE(ReplaceFile(link, "two", 0600));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(Content(folder_ / "file"), "two");
}

TEST_F(ReplaceFileTest, DoesNotFollowLinksInACircle) {
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_EQ(ReplaceFile(folder_ / "a", "text", 0600), std::errc::too_many_symbolic_link_levels);
  EXPECT_EQ(Files(), 2U);
}

TEST_F(ReplaceFileTest, WritesToWhatIsNoFile) {
  EXPECT_FALSE(ReplaceFile("/dev/null", "text", 0600));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(ReplaceFile(folder_.path(), "text", 0600), std::errc::is_a_directory);
}

TEST_F(ReplaceFileTest, LeavesNothingBehindWhenItFails) {
  EXPECT_EQ(ReplaceFile(folder_ / "none" / "file", "text", 0600),
            std::errc::no_such_file_or_directory);
  EXPECT_EQ(Files(), 0U);
}

}  // namespace
}  // namespace kubexx::base
