#include "kubexx/kubernetes/pager.h"

#include <gmock/gmock.h>

#include <ranges>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::kubernetes {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

static_assert(std::ranges::input_range<Pages<ConfigMap>>);

constexpr const char* kExpiredBody =
    R"({"kind":"Status","apiVersion":"v1","reason":"Expired","message":"too old","code":410})";

// A page with these objects and the token of the next one.
std::string MapPage(const std::vector<std::string>& names, const std::string& token) {
  std::string items;
  for (const std::string& name : names) {
    items += (items.empty() ? "" : ",") + std::string(R"({"metadata":{"name":")") + name + R"("}})";
  }
  return R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":")" +
         token + R"("},"items":[)" + items + "]}";
}

void AnswerPage(FakeConnection& connection, const std::string& page) {
  connection.Respond(200, "application/json", page);
}

// The names of each page, with "anew" in front where the list begins anew, and the error.
std::vector<std::string> Seen(Pages<ConfigMap>& pages) {
  std::vector<std::string> seen;
  for (auto& page : pages) {
    if (!page) {
      seen.push_back(page.error().message);
      continue;
    }
    std::string& names = seen.emplace_back(page->begins_anew ? "anew" : "");
    for (const ConfigMap& map : page->items) {
      names += " " + map.metadata.name;
    }
  }
  return seen;
}

TEST(PagesTest, AskForEachPageWhenTheLoopComesToIt) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    AnswerPage(connection, request.target.find("continue=") == std::string::npos
                               ? MapPage({"a", "b"}, "t1")
                           : request.target.find("t1") != std::string::npos ? MapPage({"c"}, "t2")
                                                                            : MapPage({}, ""));
  });
  Pages pages(ResourceClient<ConfigMap>(server.client(), "ns"),
              {.label_selector = "x", .resource_version = "5", .resource_version_match = "Exact"},
              {.page_size = 2});
  auto at = pages.begin();
  ASSERT_TRUE(*at) << at->error().ToString();
  EXPECT_EQ((*at)->items.size(), 2U);
  EXPECT_EQ((*at)->metadata.resource_version, "9");
  EXPECT_EQ(server.targets().size(), 1U) << "the next page is not asked for yet";
  ++at;
  EXPECT_EQ((*at)->items.front().metadata.name, "c");
  ++at;
  EXPECT_TRUE((*at)->items.empty());
  ++at;
  EXPECT_TRUE(at == pages.end());
  EXPECT_THAT(server.targets(),
              ElementsAre("/api/v1/namespaces/ns/configmaps?labelSelector=x&resourceVersion=5"
                          "&resourceVersionMatch=Exact&limit=2",
                          "/api/v1/namespaces/ns/configmaps?labelSelector=x&continue=t1&limit=2",
                          "/api/v1/namespaces/ns/configmaps?labelSelector=x&continue=t2&limit=2"));
}

TEST(PagesTest, WithoutAPageSizeTheListIsOnePage) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    AnswerPage(connection, MapPage({"a", "b"}, ""));
  });
  for (const int size : {0, -1}) {
    Pages pages(ResourceClient<ConfigMap>(server.client(), "ns"), {}, {.page_size = size});
    EXPECT_THAT(Seen(pages), ElementsAre(" a b"));
  }
  // Those of List.
  EXPECT_THAT(server.targets(), ElementsAre("/api/v1/namespaces/ns/configmaps?limit=500",
                                            "/api/v1/namespaces/ns/configmaps?limit=500"));
}

TEST(PagesTest, AListThatExpiresBetweenPagesComesAgainAsAWhole) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    if (request.target.find("continue=") != std::string::npos) {
      connection.Respond(410, "application/json", kExpiredBody);
    } else if (request.target.find("limit=1") != std::string::npos) {
      AnswerPage(connection, MapPage({"gone"}, "t1"));
    } else {
      AnswerPage(connection, MapPage({"a", "b"}, ""));
    }
  });
  const ResourceClient<ConfigMap> maps(server.client(), "ns");
  Pages pages(maps, {.resource_version = "5", .limit = 1});
  EXPECT_THAT(Seen(pages), ElementsAre(" gone", "anew a b"));
  EXPECT_THAT(server.last().target, HasSubstr("resourceVersion=5"));

  Pages strict(maps, {.limit = 1}, {.full_list_if_expired = false});
  EXPECT_THAT(Seen(strict), ElementsAre(" gone", HasSubstr("too old")));
}

TEST(PagesTest, AnErrorIsTheLastElement) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    if (request.target.find("continue=") != std::string::npos) {
      connection.Respond(403, "application/json",
                         R"({"kind":"Status","reason":"Forbidden","message":"no","code":403})");
    } else {
      AnswerPage(connection, MapPage({"a"}, "t1"));
    }
  });
  Pages pages{ResourceClient<ConfigMap>(server.client(), "ns")};
  EXPECT_THAT(Seen(pages), ElementsAre(" a", HasSubstr("no")));
  EXPECT_EQ(server.targets().size(), 2U);
}

TEST(PagesTest, AnExpiredFirstPageIsAnError) {
  int asked = 0;
  Pages<ConfigMap> pages([&asked](const ListOptions&) -> Result<ObjectList<ConfigMap>> {
    ++asked;
    return apimachinery::Fail(Reason::kExpired, "too old", 410);
  });
  EXPECT_THAT(Seen(pages), ElementsAre("too old"));
  EXPECT_EQ(asked, 1);
}

TEST(PagesTest, AServerThatRepeatsItsTokenDoesNotMakeAnEndlessRange) {
  int asked = 0;
  Pages<ConfigMap> pages([&asked](const ListOptions& options) -> Result<ObjectList<ConfigMap>> {
    ++asked;
    EXPECT_EQ(options.limit, 500);
    ObjectList<ConfigMap> page;
    page.metadata.continue_ = "same";
    return page;
  });
  EXPECT_THAT(Seen(pages), ElementsAre("", HasSubstr("same token again")));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace kubexx::kubernetes
