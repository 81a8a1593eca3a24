#include "kubexx/apiserver/endpoints/validation/cluster/rbac_validation.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

class RbacValidationTest : public testing::ApiFixture {
 protected:
  /// The fields of the first two causes for which an object is refused.
  std::string Refused(const std::string& plural, const std::string& body) {
    const http::Response refused =
        Do("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/" + plural, body);
    EXPECT_EQ(refused.status, 422) << refused.body;
    return At(Json(refused), {"details", "causes", "0", "field"}) + " " +
           At(Json(refused), {"details", "causes", "1", "field"});
  }
};

// As in kube-apiserver, whose validation of Roles and bindings begins with ValidateObjectMeta.
TEST_F(RbacValidationTest, WhatIsWrongWithTheMetadataIsToldFirst) {
  EXPECT_EQ(Refused("roles", R"({"metadata":{"name":"r","annotations":{"a b":"x"}},"rules":[)"
                             R"({"apiGroups":[""],"resources":["pods"]}]})"),
            "metadata.annotations rules[0].verbs");
  EXPECT_EQ(Refused("rolebindings", R"({"metadata":{"name":"b","annotations":{"a b":"x"}},)"
                                    R"("roleRef":{"kind":"Role","name":""}})"),
            "metadata.annotations roleRef.name");
}

}  // namespace
}  // namespace kubexx::apiserver
