#include "kubexx/reloader/observe/bad_item_news.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace kubexx::reloader {
namespace {

std::size_t Count(BadItemNews& news, const std::string& name, const std::vector<BadItem>& items) {
  return news.News({WorkloadKind::kDeployment, {"ns", name}}, items).size();
}

TEST(BadItemNews, EachIsNewOnce) {
  BadItemNews news;
  const BadItem a{"a(", "missing )"};
  const BadItem b{"b(", "missing )"};
  EXPECT_EQ(Count(news, "web", {a, a}), 1U);
  EXPECT_EQ(Count(news, "web", {a, b}), 1U) << "b";
  EXPECT_EQ(Count(news, "web", {a, b}), 0U);
  EXPECT_EQ(Count(news, "api", {a}), 1U) << "of another workload";
  EXPECT_EQ(Count(news, "web", {b}), 0U);
  EXPECT_EQ(Count(news, "web", {a, b}), 1U) << "it was mended and broken again";
  news.Forget({WorkloadKind::kDeployment, {"ns", "web"}});
  EXPECT_EQ(Count(news, "web", {a, b}), 2U);
}

TEST(BadItemNews, ManyWorkloadsDoNotDriveEachOtherOut) {
  BadItemNews news;
  for (int look = 0; look < 2; ++look) {
    for (int i = 0; i < 3000; ++i) {
      EXPECT_EQ(Count(news, "web-" + std::to_string(i), {{"a(", "missing )"}}),
                look == 0 ? 1U : 0U);
    }
  }
}

}  // namespace
}  // namespace kubexx::reloader
