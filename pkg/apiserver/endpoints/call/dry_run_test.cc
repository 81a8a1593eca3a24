#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kDryMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kDryMap = "/api/v1/namespaces/default/configmaps/m";

class DryRunTest : public testing::ApiFixture {};

std::string DryRunMessage(const std::string& options, const std::string& value = "bogus") {
  return options + ".meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"" + value +
         "\"]: supported values: \"All\"";
}

TEST_F(DryRunTest, AnotherValueThanAllIsRefusedAndWritesNothing) {
  const std::string object = R"({"metadata":{"name":"m"}})";
  const http::Response created = Do("POST", std::string(kDryMaps) + "?dryRun=bogus", object);
  EXPECT_EQ(created.status, 422) << created.body;
  EXPECT_EQ(Message(created), DryRunMessage("CreateOptions"));
  EXPECT_EQ(Do("GET", kDryMap).status, 404);
  ASSERT_EQ(Do("POST", kDryMaps, object).status, 201);
  const std::string path = std::string(kDryMap) + "?dryRun=bogus";
  EXPECT_EQ(Message(Do("PUT", path, R"({"metadata":{"name":"m"},"data":{"a":"b"}})")),
            DryRunMessage("UpdateOptions"));
  EXPECT_EQ(Message(Do("PATCH", path, R"({"data":{"a":"b"}})", kMergePatch)),
            DryRunMessage("PatchOptions"));
  EXPECT_EQ(Message(Do("PATCH", path + "&fieldManager=f", R"({"data":{"a":"b"}})",
                       "application/apply-patch+yaml")),
            DryRunMessage("PatchOptions"));
  EXPECT_EQ(Message(Do("DELETE", path)), DryRunMessage("DeleteOptions"));
  EXPECT_EQ(Message(Do("DELETE", kDryMap, R"({"dryRun":["bogus"]})")),
            DryRunMessage("DeleteOptions"));
  EXPECT_EQ(Message(Do("DELETE", std::string(kDryMaps) + "?dryRun=bogus")),
            DryRunMessage("DeleteOptions"));
  EXPECT_EQ(At(Json(Do("GET", kDryMap)), {"data"}), "");
}

TEST_F(DryRunTest, EachValueCounts) {
  const std::string object = R"({"metadata":{"name":"m"}})";
  EXPECT_EQ(Do("POST", std::string(kDryMaps) + "?dryRun=All&dryRun=bogus", object).status, 422);
  EXPECT_EQ(Do("POST", std::string(kDryMaps) + "?dryRun=bogus&dryRun=All", object).status, 422);
  EXPECT_EQ(Do("POST", std::string(kDryMaps) + "?dryRun=All&dryRun=All", object).status, 201);
  EXPECT_EQ(Do("GET", kDryMap).status, 404);
}

TEST_F(DryRunTest, AllWritesNothing) {
  const std::string object = R"({"metadata":{"name":"m"}})";
  EXPECT_EQ(Do("POST", std::string(kDryMaps) + "?dryRun=All", object).status, 201);
  EXPECT_EQ(Do("GET", kDryMap).status, 404);
  ASSERT_EQ(Do("POST", kDryMaps, object).status, 201);
  EXPECT_EQ(Do("DELETE", kDryMap, R"({"dryRun":["All"]})").status, 200);
  EXPECT_EQ(Do("DELETE", std::string(kDryMap) + "?dryRun=All").status, 200);
  EXPECT_EQ(Do("GET", kDryMap).status, 200);
}

// As kube-apiserver: only its store looks at the version of a new object.
TEST_F(DryRunTest, ANewObjectMayHaveAVersion) {
  const std::string object = R"({"metadata":{"name":"m","resourceVersion":"7"}})";
  EXPECT_EQ(Do("POST", kDryMaps, object).status, 400);
  const http::Response made = Do("POST", std::string(kDryMaps) + "?dryRun=All", object);
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"metadata", "resourceVersion"}), "7");
  EXPECT_EQ(Do("GET", kDryMap).status, 404);
}

}  // namespace
}  // namespace kubexx::apiserver
