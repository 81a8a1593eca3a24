#include "kubexx/reloadpolicy/key_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexx::reloadpolicy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(KeyList, IsTheSameWhateverTheOrder) {
  std::vector<std::string> problems;
  EXPECT_EQ(KeyList({"b", "a.yaml", "b"}, problems), "a.yaml,b");
  EXPECT_EQ(KeyList({}, problems), "");
  EXPECT_THAT(problems, IsEmpty());
}

TEST(KeyList, LeavesOutWhatIsNoKey) {
  std::vector<std::string> problems;
  EXPECT_EQ(KeyList({"a b", "ok", "", "x:y"}, problems), "ok");
  EXPECT_THAT(problems, ElementsAre(HasSubstr("a b"), HasSubstr("\"\""), HasSubstr("x:y")));
}

TEST(KeyList, OfTooMuchIsNone) {
  std::vector<std::string> problems;
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) {
    keys.push_back("key-" + std::to_string(i));
  }
  EXPECT_EQ(KeyList(keys, problems), "");
  EXPECT_THAT(problems, ElementsAre(HasSubstr("1024")));
}

}  // namespace
}  // namespace kubexx::reloadpolicy
