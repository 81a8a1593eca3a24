// Objects that were stored before a field of theirs had a default.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFormerPod = "/api/v1/namespaces/default/pods/p";
constexpr const char* kFormerWorkload = "/apis/apps/v1/namespaces/default/deployments/d";

class FormerObjectsTest : public testing::ApiFixture {
 protected:
  void Store(const std::string& key, const std::string& json) {
    ASSERT_TRUE(storage_->Create("/registry/" + key, json, {}));
  }
  /// A Deployment whose labels and probe are the owner's; nothing has its defaults.
  void StoreWorkload() {
    Store("deployments/default/d",
          R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d","namespace":)"
          R"("default","uid":"u","managedFields":[{"manager":"owner","operation":"Apply",)"
          R"("apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1",)"
          R"("fieldsV1":{"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":)"
          R"({"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},)"
          R"("f:image":{},"f:livenessProbe":{"f:exec":{"f:command":{}}}}}}}}}}]},"spec":)" +
              spec_ + "}");
  }
  /// What the manager has.
  std::string FieldsOf(const std::string& manager) {
    const codec::JsonTree object = Json(Do("GET", kFormerWorkload));
    for (const codec::JsonTree& entry : object.At({"metadata", "managedFields"})->elements()) {
      if (entry.TextAt("manager") == manager) {
        return At(entry, {"fieldsV1"});
      }
    }
    return "";
  }
  http::Response Apply(const std::string& failures) {
    std::string spec = spec_;
    const std::string probe = R"("livenessProbe":{)";
    spec.insert(spec.find(probe) + probe.size(), R"("failureThreshold":)" + failures + ",");
    return Do("PATCH", std::string(kFormerWorkload) + "?fieldManager=owner",
              R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":)" +
                  spec + "}",
              "application/apply-patch+yaml");
  }

  const std::string spec_ =
      R"({"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":)"
      R"({"containers":[{"name":"c","image":"i:1","livenessProbe":{"exec":{"command":["x"]}}}]}}})";
};

TEST_F(FormerObjectsTest, APodGetsAnotherEphemeralContainer) {
  Store(
      "pods/default/p",
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"u"},)"
      R"("spec":{"containers":[{"name":"c","image":"i:1"}],)"
      R"("ephemeralContainers":[{"name":"d1","image":"b:1"}]}})");
  const http::Response added =
      Do("PATCH", std::string(kFormerPod) + "/ephemeralcontainers",
         R"({"spec":{"ephemeralContainers":[{"name":"d2","image":"b:2"}]}})",
         "application/strategic-merge-patch+json");
  ASSERT_EQ(added.status, 200) << added.body;
  EXPECT_EQ(Json(added).At({"spec", "ephemeralContainers"})->size(), 2U);
}

TEST_F(FormerObjectsTest, DefaultsAreNotOfWhoPatchesNext) {
  StoreWorkload();
  const http::Response labelled =
      Do("PATCH", std::string(kFormerWorkload) + "?fieldManager=labeler",
         R"({"metadata":{"labels":{"l":"1"}}})", kMergePatch);
  ASSERT_EQ(labelled.status, 200) << labelled.body;
  EXPECT_EQ(FieldsOf("labeler"), R"({"f:metadata":{"f:labels":{".":{},"f:l":{}}}})");
  const http::Response applied = Apply("5");
  EXPECT_EQ(applied.status, 200) << applied.body;
  EXPECT_THAT(applied.body, HasSubstr(R"("failureThreshold":5)"));
}

TEST_F(FormerObjectsTest, DefaultsAreNotOfWhoPutsNext) {
  StoreWorkload();
  codec::JsonTree object = Json(Do("GET", kFormerWorkload));
  object["metadata"]["labels"]["l"] = "1";
  const http::Response put =
      Do("PUT", std::string(kFormerWorkload) + "?fieldManager=labeler", object.ToJson());
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(FieldsOf("labeler"), R"({"f:metadata":{"f:labels":{".":{},"f:l":{}}}})");
}

TEST_F(FormerObjectsTest, AScaleCountsFromTheDefault) {
  StoreWorkload();
  const http::Response scaled =
      Do("PATCH", std::string(kFormerWorkload) + "/scale?fieldManager=scaler",
         R"([{"op":"test","path":"/spec/replicas","value":1},)"
         R"({"op":"replace","path":"/spec/replicas","value":3}])",
         "application/json-patch+json");
  ASSERT_EQ(scaled.status, 200) << scaled.body;
  EXPECT_THAT(FieldsOf("scaler"), Not(HasSubstr("livenessProbe")));
}

// As kube-apiserver, which compares what it would store with what is stored.
TEST_F(FormerObjectsTest, AWriteThatChangesNothingStoresTheDefaults) {
  StoreWorkload();
  ASSERT_EQ(Do("PATCH", kFormerWorkload, "{}", kMergePatch).status, 200);
  EXPECT_THAT(*storage_->Get("/registry/deployments/default/d", 0, {})->value,
              HasSubstr(R"("failureThreshold":3)"));
}

// Nobody looked at these fields once.
TEST_F(FormerObjectsTest, WhatWasWrongBeforeIsNoReasonToRefuseAnUpdate) {
  const std::string path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses/i";
  Store("ingress/default/i",
        R"({"kind":"Ingress","apiVersion":"networking.k8s.io/v1","metadata":{"name":"i",)"
        R"("namespace":"default","uid":"u"},"spec":{"rules":[{"host":"A b"}]}})");
  const auto patch = [&](const std::string& rules) {
    return Do("PATCH", path, R"({"spec":{"rules":[)" + rules + "]}}",
              "application/merge-patch+json");
  };
  EXPECT_EQ(patch(R"({"host":"c.d"},{"host":"A b"})").status, 200);
  const http::Response refused = patch(R"({"host":"C d"},{"host":"A b"})");
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_THAT(Message(refused), HasSubstr("spec.rules[0].host: Invalid value: \"C d\""));
  EXPECT_THAT(Message(refused), Not(HasSubstr("rules[1]")));
}

TEST_F(FormerObjectsTest, AStatusIsWrittenWhateverTheSpecIs) {
  Store("ingress/default/i",
        R"({"kind":"Ingress","apiVersion":"networking.k8s.io/v1","metadata":{"name":"i",)"
        R"("namespace":"default","uid":"u"},"spec":{}})");
  EXPECT_EQ(Do("PATCH", "/apis/networking.k8s.io/v1/namespaces/default/ingresses/i/status",
               R"({"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}})",
               "application/merge-patch+json")
                .status,
            200);
}

}  // namespace
}  // namespace kubexx::apiserver
