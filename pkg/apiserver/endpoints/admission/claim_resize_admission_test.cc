#include "kubexx/apiserver/endpoints/admission/claim_resize_admission.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGrowingClaims = "/api/v1/namespaces/default/persistentvolumeclaims";

class ClaimResizeTest : public testing::ApiFixture {
 protected:
  ClaimResizeTest() {
    for (const char* const allows : {"true", "false"}) {
      EXPECT_EQ(Do("POST", "/apis/storage.k8s.io/v1/storageclasses",
                   R"({"metadata":{"name":"grows-)" + std::string(allows) +
                       R"("},"provisioner":"example.com/p","allowVolumeExpansion":)" + allows + "}")
                    .status,
                201);
    }
  }
  static std::string Path(const std::string& name) {
    return std::string(kGrowingClaims) + "/" + name;
  }
  void MakeClaim(const std::string& name, const std::string& class_) {
    const http::Response made =
        Do("POST", kGrowingClaims,
           R"({"metadata":{"name":")" + name +
               R"("},"spec":{"accessModes":["ReadWriteOnce"],)"
               R"("volumeName":"v","storageClassName":")" +
               class_ + R"(","resources":{"requests":{"storage":"1Gi"}}}})");
    EXPECT_EQ(made.status, 201) << made.body;
  }
  void Bind(const std::string& name) {
    const http::Response bound =
        Do("PATCH", Path(name) + "/status",
           R"({"status":{"phase":"Bound","capacity":{"storage":"1Gi"}}})", kMergePatch);
    EXPECT_EQ(bound.status, 200) << bound.body;
  }
  http::Response Resize(const std::string& name, const std::string& size) {
    return Do("PATCH", Path(name),
              R"({"spec":{"resources":{"requests":{"storage":")" + size + "\"}}}}", kMergePatch);
  }
};

TEST_F(ClaimResizeTest, AClaimGrowsWhereItsClassAllowsIt) {
  MakeClaim("a", "grows-true");
  Bind("a");
  EXPECT_EQ(Resize("a", "2Gi").status, 200);
  EXPECT_EQ(Resize("a", "2048Mi").status, 200) << "as large";
}

TEST_F(ClaimResizeTest, OthersDoNotGrow) {
  for (const char* const class_ : {"grows-false", "unknown", ""}) {
    const std::string name = "b" + std::string(class_);
    MakeClaim(name, class_);
    Bind(name);
    const http::Response grown = Resize(name, "2Gi");
    EXPECT_EQ(grown.status, 403) << class_;
    EXPECT_THAT(Message(grown), HasSubstr("is forbidden: only dynamically provisioned pvc can be "
                                          "resized and the storageclass that provisions the pvc "
                                          "must support resize"));
    EXPECT_EQ(Do("PATCH", Path(name), R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch).status,
              200);
  }
}

TEST_F(ClaimResizeTest, WhatIsNotBoundIsInvalidFirst) {
  MakeClaim("c", "grows-true");
  EXPECT_EQ(Resize("c", "2Gi").status, 422);
}

}  // namespace
}  // namespace kubexx::apiserver
