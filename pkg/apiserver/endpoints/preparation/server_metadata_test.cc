#include "kubexx/apiserver/endpoints/preparation/server_metadata.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kStampedMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kStampedDeployments = "/apis/apps/v1/namespaces/default/deployments";

/// What one patch changes, and how.
struct MetadataPatch {
  const char* type;
  std::string body;
};

std::string OfMetadata(const std::string& members) { return R"({"metadata":{)" + members + "}}"; }

/// The same change in every form that a patch has.
std::vector<MetadataPatch> PatchesOf(const std::string& field, const std::string& value) {
  return {{"application/merge-patch+json", OfMetadata("\"" + field + "\":" + value)},
          {"application/strategic-merge-patch+json", OfMetadata("\"" + field + "\":" + value)},
          {"application/json-patch+json",
           R"([{"op":"add","path":"/metadata/)" + field + R"(","value":)" + value + "}]"},
          {"application/apply-patch+yaml",
           R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m",")" + field +
               "\":" + value + "}}"}};
}

class ServerMetadataTest : public testing::ApiFixture {
 protected:
  void SetUp() override {
    const http::Response made = Do("POST", kStampedMaps, OfMetadata(R"("name":"m")"));
    ASSERT_EQ(made.status, 201) << made.body;
    uid_ = At(Json(made), {"metadata", "uid"});
  }
  /// Asks for the same change in every form.
  std::vector<http::Response> Patched(const std::string& field, const std::string& value) {
    std::vector<http::Response> answers;
    for (const MetadataPatch& one : PatchesOf(field, value)) {
      const bool applies = std::string_view(one.type).starts_with("application/apply");
      answers.push_back(Do("PATCH", map_ + "?fieldManager=f" + (applies ? "&force=true" : ""),
                           one.body, one.type));
    }
    return answers;
  }
  http::Response Put(const std::string& members) {
    return Do("PUT", map_, OfMetadata(R"("name":"m",)" + members));
  }

  const std::string map_ = std::string(kStampedMaps) + "/m";
  std::string uid_;
};

TEST_F(ServerMetadataTest, NoClientSaysThatAnObjectIsBeingDeleted) {
  const std::string time = R"("2020-01-01T00:00:00Z")";
  for (const auto& [field, value] :
       {std::pair<std::string, std::string>("deletionTimestamp", time),
        std::pair<std::string, std::string>("deletionGracePeriodSeconds", "3")}) {
    std::vector<http::Response> answers = Patched(field, value);
    answers.push_back(Put("\"" + field + "\":" + value));
    for (const http::Response& refused : answers) {
      EXPECT_EQ(refused.status, 422) << refused.body;
      EXPECT_THAT(Message(refused), HasSubstr("metadata." + field + ": Invalid value: " + value));
    }
    for (const http::Response& kept : Patched(field, "null")) {
      EXPECT_EQ(kept.status, 200) << kept.body;
    }
  }
}

TEST_F(ServerMetadataTest, TheTimeOfADeletionStays) {
  const http::Response held =
      Do("PATCH", map_, OfMetadata(R"("finalizers":["a.b/c"])"), kMergePatch);
  ASSERT_EQ(held.status, 200) << held.body;
  const std::string since = At(Json(Do("DELETE", map_)), {"metadata", "deletionTimestamp"});
  ASSERT_NE(since, "");
  for (const http::Response& kept : Patched("deletionTimestamp", R"("2020-01-01T00:00:00Z")")) {
    EXPECT_EQ(kept.status, 200) << kept.body;
    EXPECT_EQ(At(Json(kept), {"metadata", "deletionTimestamp"}), since);
  }
}

TEST_F(ServerMetadataTest, AUidIsAConditionOfAReplacementAndNoChangeOfAPatch) {
  const http::Response other = Put(R"("uid":"other")");
  EXPECT_EQ(other.status, 409) << other.body;
  EXPECT_THAT(Message(other), HasSubstr("UID in precondition: other, UID in object meta: " + uid_));
  EXPECT_EQ(Put(R"("uid":")" + uid_ + "\"").status, 200);
  for (const http::Response& refused : Patched("uid", R"("other")")) {
    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_THAT(Message(refused), HasSubstr("metadata.uid: Invalid value: \"other\""));
  }
}

TEST_F(ServerMetadataTest, AScaleIsOfOneObject) {
  const http::Response made =
      Do("POST", kStampedDeployments,
         R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{)"
         R"("metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string scale = std::string(kStampedDeployments) + "/d/scale";
  const auto patched = [&](const std::string& members) {
    return Do("PATCH", scale, OfMetadata(members), kMergePatch).status;
  };
  EXPECT_EQ(patched(R"("uid":"other")"), 409);
  EXPECT_EQ(patched(R"("namespace":"other")"), 400);
  EXPECT_EQ(patched(R"("uid":")" + At(Json(made), {"metadata", "uid"}) + "\""), 200);
  const http::Response status = Do("PATCH", std::string(kStampedDeployments) + "/d/status",
                                   OfMetadata(R"("uid":"other")"), kMergePatch);
  EXPECT_EQ(status.status, 422) << status.body;
  const http::Response prefixed = Do("PATCH", std::string(kStampedDeployments) + "/d/status",
                                     OfMetadata(R"("generateName":"g-")"), kMergePatch);
  EXPECT_EQ(At(Json(prefixed), {"metadata", "generateName"}), "g-") << prefixed.body;
}

TEST_F(ServerMetadataTest, AGeneratedNamesPrefixIsTheClients) {
  for (const http::Response& changed : Patched("generateName", R"("g-")")) {
    EXPECT_EQ(At(Json(changed), {"metadata", "generateName"}), "g-") << changed.body;
  }
}

TEST_F(ServerMetadataTest, NoObjectHasALinkToItself) {
  for (const http::Response& changed : Patched("selfLink", R"("/a")")) {
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(At(Json(changed), {"metadata", "selfLink"}), "");
  }
}

TEST_F(ServerMetadataTest, WhatIsInNoNamespaceNamesNone) {
  const std::string place = "/api/v1/namespaces";
  const http::Response made = Do("POST", place, OfMetadata(R"("name":"n","namespace":"other")"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"metadata", "namespace"}), "");
  const http::Response changed =
      Do("PATCH", place + "/n", OfMetadata(R"("namespace":"other")"), kMergePatch);
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(At(Json(changed), {"metadata", "namespace"}), "");
}

}  // namespace
}  // namespace kubexx::apiserver
