#include "kubexx/apimachinery/or_empty.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace kubexx::apimachinery {
namespace {

TEST(OrEmptyTest, ReturnsWhatIsThereOrNothing) {
  std::optional<std::vector<int>> list;
  EXPECT_TRUE(OrEmpty(list).empty());
  list = {1, 2};
  EXPECT_EQ(&OrEmpty(list), &*list);
  std::optional<std::optional<std::map<std::string, int>>> map;
  EXPECT_TRUE(OrEmpty(map).empty());
  map.emplace();
  EXPECT_TRUE(OrEmpty(map).empty());
  map->emplace()["a"] = 1;
  EXPECT_EQ(&OrEmpty(map), &**map);
}

template <class C>
concept CanBeRead = requires { OrEmpty(C()); };
static_assert(!CanBeRead<std::optional<std::vector<int>>>, "a temporary would be gone");

}  // namespace
}  // namespace kubexx::apimachinery
