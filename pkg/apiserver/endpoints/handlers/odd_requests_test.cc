// Tests requests that are odd but valid HTTP. The answers are those of kube-apiserver.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

class OddRequestsTest : public testing::ApiFixture {
 protected:
  int CodeOf(const std::string& method, const std::string& target, const std::string& body = {},
             const std::string& type = "application/json") {
    return Do(method, target, body, type).status;
  }
  const std::string maps_ = "/api/v1/namespaces/default/configmaps";
};

TEST_F(OddRequestsTest, HeadIsOfPagesAlone) {
  ASSERT_EQ(CodeOf("POST", maps_, R"({"metadata":{"name":"a"}})"), 201);
  EXPECT_EQ(CodeOf("HEAD", maps_), 405);
  EXPECT_EQ(CodeOf("HEAD", maps_ + "/a"), 405);
  EXPECT_EQ(CodeOf("HEAD", "/version"), 200);
  EXPECT_EQ(CodeOf("POST", "/version"), 405);
}

TEST_F(OddRequestsTest, APathWithEmptySegmentsIsNone) {
  EXPECT_EQ(CodeOf("GET", "//api/v1/configmaps"), 404);
  EXPECT_EQ(CodeOf("GET", "/api/v1//configmaps"), 404);
  EXPECT_EQ(CodeOf("GET", "/api/v1/configmaps/"), 200);
  EXPECT_EQ(CodeOf("GET", "/api/v1/namespaces//configmaps"), 200) << "of all namespaces";
  EXPECT_EQ(CodeOf("GET", "/api/v1/namespaces//configmaps/a"), 400);
}

TEST_F(OddRequestsTest, AListHasNoInitialEvents) {
  EXPECT_EQ(CodeOf("GET", maps_ + "?sendInitialEvents=true"), 422);
  EXPECT_EQ(CodeOf("GET", maps_ + "?sendInitialEvents=false"), 422);
}

TEST_F(OddRequestsTest, NullIsAnObjectThatSaysNothing) {
  EXPECT_EQ(CodeOf("POST", maps_, "null"), 422) << "the name is missing";
  ASSERT_EQ(CodeOf("POST", maps_, R"({"metadata":{"name":"a"}})"), 201);
  EXPECT_EQ(CodeOf("PUT", maps_ + "/a", "null"), 400);
  EXPECT_EQ(CodeOf("PATCH", maps_ + "/a", "null", "application/merge-patch+json"), 400);
  EXPECT_EQ(CodeOf("PATCH", maps_ + "/a", "null", "application/json-patch+json"), 200);
  EXPECT_EQ(CodeOf("PATCH", maps_ + "/a", "null", "application/strategic-merge-patch+json"), 200);
}

// A token may become valid between the header and the handler.
TEST_F(OddRequestsTest, WhoseBodyWasNotReadIsRefused) {
  http::Request request;
  request.method = "DELETE";
  request.path = maps_ + "/a";
  request.is_body_dropped = true;  // perhaps DeleteOptions that would have stopped the deletion
  ASSERT_EQ(CodeOf("POST", maps_, R"({"metadata":{"name":"a"}})"), 201);
  EXPECT_EQ(api_.Handle(request).status, 401);
  EXPECT_EQ(CodeOf("GET", maps_ + "/a"), 200);
}

TEST_F(OddRequestsTest, TheRootTellsWhatIsBelowIt) {
  const std::string body = Do("GET", "/").body;
  for (const char* const path : {R"("/api")", R"("/api/v1")", R"("/apis/apps")",
                                 R"("/apis/apps/v1")", R"("/healthz")", R"("/openapi/v3")"}) {
    EXPECT_THAT(body, HasSubstr(path));
  }
}

}  // namespace
}  // namespace kubexx::apiserver
