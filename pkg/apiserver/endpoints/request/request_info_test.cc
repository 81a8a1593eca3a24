#include "kubexx/apiserver/endpoints/request/request_info.h"

#include <gtest/gtest.h>

namespace kubexx::apiserver {
namespace {

struct PathCase {
  const char* method;
  const char* path;
  const char* query;
  RequestInfo info;
};

class PathTest : public ::testing::TestWithParam<PathCase> {};

TEST_P(PathTest, SaysWhatTheRequestIsAbout) {
  const PathCase& c = GetParam();
  const auto info = ParseResourcePath(c.method, c.path, ParseQuery(c.query));
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->group, c.info.group);
  EXPECT_EQ(info->version, c.info.version);
  EXPECT_EQ(info->resource, c.info.resource);
  EXPECT_EQ(info->namespace_, c.info.namespace_);
  EXPECT_EQ(info->name, c.info.name);
  EXPECT_EQ(info->subresource, c.info.subresource);
  EXPECT_EQ(info->verb, c.info.verb);
  EXPECT_EQ(info->is_namespace, c.info.is_namespace);
}

INSTANTIATE_TEST_SUITE_P(
    Paths, PathTest,
    ::testing::Values(
        PathCase{"GET", "/api/v1/pods", "", {.version = "v1", .resource = "pods", .verb = "list"}},
        PathCase{"GET",
                 "/api/v1/pods",
                 "watch=true",
                 {.version = "v1", .resource = "pods", .verb = "watch"}},
        PathCase{"GET",
                 "/api/v1/watch/namespaces/a/pods",
                 "",
                 {.version = "v1", .resource = "pods", .namespace_ = "a", .verb = "watch"}},
        PathCase{"GET",
                 "/api/v1/namespaces//pods/",
                 "",
                 {.version = "v1", .resource = "pods", .verb = "list"}},
        PathCase{
            "GET",
            "/api/v1/namespaces/a/pods/b",
            "",
            {.version = "v1", .resource = "pods", .namespace_ = "a", .name = "b", .verb = "get"}},
        PathCase{
            "GET",
            "/api/v1/namespaces/a/pods/b",
            "watch=true",
            {.version = "v1", .resource = "pods", .namespace_ = "a", .name = "b", .verb = "get"}},
        PathCase{"PUT",
                 "/apis/apps/v1/namespaces/a/deployments/b/status",
                 "",
                 {.group = "apps",
                  .version = "v1",
                  .resource = "deployments",
                  .namespace_ = "a",
                  .name = "b",
                  .subresource = "status",
                  .verb = "update"}},
        PathCase{"DELETE",
                 "/api/v1/namespaces/a",
                 "",
                 {.version = "v1",
                  .resource = "namespaces",
                  .namespace_ = "a",
                  .name = "a",
                  .verb = "delete",
                  .is_namespace = true}},
        PathCase{"PUT",
                 "/api/v1/namespaces/a/status",
                 "",
                 {.version = "v1",
                  .resource = "namespaces",
                  .namespace_ = "a",
                  .name = "a",
                  .subresource = "status",
                  .verb = "update",
                  .is_namespace = true}},
        PathCase{"DELETE",
                 "/api/v1/namespaces/a/namespaces/b",
                 "",
                 {.version = "v1",
                  .resource = "namespaces",
                  .namespace_ = "a",
                  .name = "b",
                  .verb = "delete"}},
        PathCase{"POST",
                 "/api/v1/namespaces",
                 "",
                 {.version = "v1", .resource = "namespaces", .verb = "create"}},
        PathCase{
            "DELETE",
            "/api/v1/namespaces/a/pods",
            "",
            {.version = "v1", .resource = "pods", .namespace_ = "a", .verb = "deletecollection"}},
        PathCase{"GET",
                 "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
                 "",
                 {.group = "rbac.authorization.k8s.io",
                  .version = "v1",
                  .resource = "clusterroles",
                  .name = "system:node",
                  .verb = "get"}}));

TEST(RequestInfoTest, OtherPathsAreNoResources) {
  for (const char* const path :
       {"/", "", "/healthz", "/api", "/apis/apps", "/x/y/z", "/api/v1/%zz", "//api/v1/pods",
        "/api//v1/pods", "/api/v1//pods", "/api/v1/pods//", "/api/v1/namespaces/a//pods",
        "/api/v1/namespaces/a/pods//b", "/api/v1/pods/namespaces//b", "/apis/apps/namespaces//b",
        "/api/v1/namespaces//namespaces//b", "//"}) {
    EXPECT_FALSE(ParseResourcePath("GET", path, {}).has_value()) << path;
  }
}

TEST(RequestInfoTest, QueriesAreDecoded) {
  const Query query = ParseQuery("a=1%202&b=x+y&&c&labelSelector=a%3Db&bad=%z&a=2");
  EXPECT_EQ(Param(query, "a"), "1 2");
  EXPECT_EQ(Param(query, "b"), "x y");
  EXPECT_EQ(Param(query, "labelSelector"), "a=b");
  EXPECT_EQ(Param(query, "bad"), "%z");
  EXPECT_TRUE(BoolParam(query, "c"));
  EXPECT_FALSE(BoolParam(query, "d"));
}

TEST(RequestInfoTest, OptionsOfListsAreRead) {
  const auto options = ListOptionsOf(
      ParseQuery("limit=5&continue=x&resourceVersion=7&timeoutSeconds=9&sendInitialEvents=false&"
                 "allowWatchBookmarks=true"));
  ASSERT_TRUE(options);
  EXPECT_EQ(options->limit, 5);
  EXPECT_EQ(options->continue_, "x");
  EXPECT_EQ(options->resource_version, "7");
  EXPECT_EQ(options->timeout, std::chrono::seconds(9));
  EXPECT_EQ(options->send_initial_events, false);
  EXPECT_TRUE(options->allow_watch_bookmarks);
  EXPECT_FALSE(ListOptionsOf(ParseQuery("limit=many")));
  const auto unlimited = ListOptionsOf(ParseQuery("limit=-1"));
  ASSERT_TRUE(unlimited);
  EXPECT_EQ(unlimited->limit, 0);
}

TEST(RequestInfoTest, NumbersOfListsAreThoseOfGo) {
  for (const char* const name : {"limit", "timeoutSeconds"}) {
    for (const auto& [value, error] :
         {std::pair("", R"(strconv.ParseInt: parsing "": invalid syntax)"),
          std::pair("x", R"(strconv.ParseInt: parsing "x": invalid syntax)"),
          std::pair("1.5", R"(strconv.ParseInt: parsing "1.5": invalid syntax)"),
          std::pair("%2B%2B1", R"(strconv.ParseInt: parsing "++1": invalid syntax)"),
          std::pair("%2B-1", R"(strconv.ParseInt: parsing "+-1": invalid syntax)"),
          std::pair("9223372036854775808",
                    R"(strconv.ParseInt: parsing "9223372036854775808": value out of range)")}) {
      const auto options = ListOptionsOf(ParseQuery(std::string(name) + "=" + value));
      ASSERT_FALSE(options) << name << value;
      EXPECT_EQ(options.error().reason, apimachinery::Reason::kBadRequest);
      EXPECT_EQ(options.error().message, error) << name;
    }
  }
  const auto plus = ListOptionsOf(ParseQuery("timeoutSeconds=%2B7"));
  ASSERT_TRUE(plus);
  EXPECT_EQ(plus->timeout, std::chrono::seconds(7));
}

TEST(RequestInfoTest, ATimeoutFitsIntoAPointOfTime) {
  const auto huge = ListOptionsOf(ParseQuery("timeoutSeconds=9223372036854775807"));
  ASSERT_TRUE(huge);
  EXPECT_LE(huge->timeout, std::chrono::hours(24 * 366));
  EXPECT_GT(huge->timeout, std::chrono::hours(24));
  const auto negative = ListOptionsOf(ParseQuery("timeoutSeconds=-9223372036854775808"));
  ASSERT_TRUE(negative);
  EXPECT_LT(negative->timeout, std::chrono::seconds(0));
}

}  // namespace
}  // namespace kubexx::apiserver
