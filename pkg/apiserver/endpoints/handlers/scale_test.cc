#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/codec/envelope.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;

constexpr const char* kScaledDeployments = "/apis/apps/v1/namespaces/default/deployments";

class ScaleTest : public testing::ApiFixture {
 protected:
  static std::string Deployment(const std::string& name, const std::string& selector) {
    return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name +
           R"("},"spec":{"replicas":7,"selector":)" + selector +
           R"(,"template":{"metadata":{"labels":{"a":"b","tier":"web"}},)"
           R"("spec":{"containers":[{"name":"c","image":"c"}]}}}})";
  }
  void MakeDeployment(const std::string& name, const std::string& selector) {
    const http::Response made = Do("POST", kScaledDeployments, Deployment(name, selector));
    ASSERT_EQ(made.status, 201) << made.body;
  }
  static std::string ScaleAt(const std::string& name) {
    return std::string(kScaledDeployments) + "/" + name + "/scale";
  }
  std::string SelectorOfScale(const std::string& name) {
    return At(Json(Do("GET", ScaleAt(name))), {"status", "selector"});
  }
  std::string Replicas() { return At(Json(Do("GET", ScaleAt("d"))), {"spec", "replicas"}); }
};

/// Autoscalers find the pods by it.
TEST_F(ScaleTest, TheSelectorHasAllRequirements) {
  MakeDeployment("labels", R"({"matchLabels":{"a":"b"}})");
  EXPECT_EQ(SelectorOfScale("labels"), "a=b");
  MakeDeployment("both", R"({"matchLabels":{"a":"b"},"matchExpressions":[)"
                         R"({"key":"tier","operator":"In","values":["web","db"]},)"
                         R"({"key":"Z","operator":"DoesNotExist"}]})");
  EXPECT_EQ(SelectorOfScale("both"), "!Z,a=b,tier in (db,web)");
  MakeDeployment("expressions", R"({"matchExpressions":[{"key":"a","operator":"Exists"},)"
                                R"({"key":"tier","operator":"NotIn","values":["db"]}]})");
  EXPECT_EQ(SelectorOfScale("expressions"), "a,tier notin (db)");
}

TEST_F(ScaleTest, APlainSelectorIsOfLabels) {
  const std::string controllers = "/api/v1/namespaces/default/replicationcontrollers";
  ASSERT_EQ(Do("POST", controllers,
               R"({"metadata":{"name":"c"},"spec":{"selector":{"a":"b","matchLabels":"x"},)"
               R"("template":{"metadata":{"labels":{"a":"b","matchLabels":"x"}},)"
               R"("spec":{"containers":[{"name":"c","image":"c"}]}}}})")
                .status,
            201);
  EXPECT_EQ(At(Json(Do("GET", controllers + "/c/scale")), {"status", "selector"}),
            "a=b,matchLabels=x");
}

TEST_F(ScaleTest, OnlyAScaleScales) {
  const std::string selector = R"({"matchLabels":{"a":"b"}})";
  MakeDeployment("d", selector);
  std::string sent = Deployment("d", selector);
  sent.replace(sent.find(":7"), 2, ":3");
  const http::Response whole = Do("PUT", ScaleAt("d"), sent);
  EXPECT_EQ(whole.status, 400) << whole.body;
  EXPECT_THAT(Message(whole), HasSubstr("does not match the expected autoscaling/v1, Kind=Scale"));
  EXPECT_EQ(Do("PUT", ScaleAt("d"),
               R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"d"},"spec":{"replicas":3}})")
                .status,
            400);
  EXPECT_EQ(Replicas(), "7");
}

TEST_F(ScaleTest, AScaleIsYamlToo) {
  MakeDeployment("d", R"({"matchLabels":{"a":"b"}})");
  const http::Response scaled = Do("PUT", ScaleAt("d"),
                                   "apiVersion: autoscaling/v1\nkind: Scale\n"
                                   "metadata:\n  name: d\nspec:\n  replicas: 4\n",
                                   "application/yaml");
  EXPECT_EQ(scaled.status, 200) << scaled.body;
  EXPECT_EQ(Replicas(), "4");
}

TEST_F(ScaleTest, FieldsThatAScaleDoesNotHaveAreTold) {
  MakeDeployment("d", R"({"matchLabels":{"a":"b"}})");
  const std::string odd =
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},)"
      R"("spec":{"replicas":5,"other":1}})";
  const http::Response strict = Do("PUT", ScaleAt("d") + "?fieldValidation=Strict", odd);
  EXPECT_EQ(strict.status, 400) << strict.body;
  EXPECT_THAT(Message(strict), HasSubstr(R"(Scale in version "v1" cannot be handled as a Scale: )"
                                         R"(strict decoding error: unknown field "spec.other")"));
  EXPECT_EQ(Replicas(), "7");
  const http::Response warned = Do("PUT", ScaleAt("d"), odd);
  EXPECT_EQ(warned.status, 200) << warned.body;
  EXPECT_THAT(warned.headers, ::testing::Contains(::testing::Pair(
                                  "Warning", R"(299 - "unknown field \"spec.other\"")")));
  EXPECT_EQ(Do("PUT", ScaleAt("d") + "?fieldValidation=Ignore", odd).headers.size(), 0U);
  EXPECT_EQ(Replicas(), "5");
}

TEST_F(ScaleTest, FieldsInAPatchThatAScaleDoesNotHaveAreTold) {
  MakeDeployment("d", R"({"matchLabels":{"a":"b"}})");
  const std::string merge = R"({"spec":{"replicas":5,"other":1}})";
  const http::Response strict =
      Do("PATCH", ScaleAt("d") + "?fieldValidation=Strict", merge, kMergePatch);
  EXPECT_EQ(strict.status, 422) << strict.body;
  EXPECT_THAT(Message(strict), HasSubstr(R"(strict decoding error: unknown field "spec.other")"));
  EXPECT_EQ(Replicas(), "7");
  const std::string json = R"([{"op":"add","path":"/spec/other","value":1}])";
  EXPECT_EQ(
      Do("PATCH", ScaleAt("d") + "?fieldValidation=Strict", json, "application/json-patch+json")
          .status,
      422);
  const http::Response twice = Do("PATCH", ScaleAt("d") + "?fieldValidation=Strict",
                                  R"({"spec":{"replicas":5,"replicas":6}})", kMergePatch);
  EXPECT_EQ(twice.status, 422) << twice.body;
  const http::Response applied =
      Do("PATCH", ScaleAt("d") + "?fieldManager=a",
         R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":5,"other":1}})",
         "application/apply-patch+yaml");
  EXPECT_EQ(applied.status, 500) << applied.body;
  EXPECT_THAT(Message(applied), HasSubstr(R"(Kind=Scale): unknown field "spec.other")"));
  EXPECT_EQ(Do("PATCH", ScaleAt("d") + "?fieldValidation=No", merge, kMergePatch).status, 422);
  EXPECT_EQ(Replicas(), "7");
  const http::Response warned = Do("PATCH", ScaleAt("d"), merge, kMergePatch);
  EXPECT_EQ(warned.status, 200) << warned.body;
  EXPECT_THAT(warned.headers, ::testing::Contains(::testing::Pair(
                                  "Warning", R"(299 - "unknown field \"spec.other\"")")));
  EXPECT_EQ(
      Do("PATCH", ScaleAt("d") + "?fieldValidation=Ignore", merge, kMergePatch).headers.size(), 0U);
  EXPECT_EQ(Replicas(), "5");
}

TEST_F(ScaleTest, AMessageInAnEnvelopeOfAnotherKindIsNoScale) {
  MakeDeployment("d", R"({"matchLabels":{"a":"b"}})");
  std::string body;
  codec::WriteEnvelope("v1", "Pod", "", body);
  const http::Response answer =
      Do("PUT", ScaleAt("d"), body, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(Message(answer), HasSubstr("the object provided is a v1 Pod"));
}

/// Gadgets, whose number of replicas is at spec.count.
class CustomScaleTest : public ScaleTest {
 protected:
  CustomScaleTest() {
    EXPECT_EQ(
        Do("POST", testing::kDefinitions,
           R"({"metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
           R"("names":{"plural":"gadgets","kind":"Gadget"},"versions":[{"name":"v1","served":true,"storage":true,)"
           R"("subresources":{"scale":{"specReplicasPath":".spec.count","statusReplicasPath":".status.count"}},)"
           R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":)"
           R"({"count":{"type":"integer"},"mode":{"type":"string"}}}}}}}]}})")
            .status,
        201);
  }
  void MakeGadget(const std::string& spec) {
    const http::Response made =
        Do("POST", "/apis/example.com/v1/namespaces/default/gadgets?fieldManager=maker",
           R"({"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"g"},"spec":)" +
               spec + "}");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  http::Response ApplyScale(const std::string& path, const std::string& metadata,
                            const std::string& options = {}) {
    return Do("PATCH", path + "?fieldManager=scaler" + options,
              R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{)" + metadata +
                  R"(},"spec":{"replicas":3}})",
              "application/apply-patch+yaml");
  }
  std::string SpecOfGadget() { return At(Json(Do("GET", kGadget)), {"spec"}); }
  static constexpr const char* kGadget = "/apis/example.com/v1/namespaces/default/gadgets/g";
  const std::string scale_ = std::string(kGadget) + "/scale";
};

TEST_F(CustomScaleTest, AScaleIsAppliedToTheFieldOfTheDefinition) {
  MakeGadget(R"({"count":2,"mode":"m"})");
  const http::Response conflict = ApplyScale(scale_, R"("name":"g")");
  EXPECT_EQ(conflict.status, 409) << conflict.body;
  const http::Response applied = ApplyScale(scale_, R"("name":"g")", "&force=true");
  EXPECT_EQ(applied.status, 200) << applied.body;
  EXPECT_EQ(At(Json(applied), {"spec", "replicas"}), "3");
  EXPECT_EQ(SpecOfGadget(), R"({"count":3,"mode":"m"})");
}

TEST_F(CustomScaleTest, WhoScalesOwnsTheFieldOfTheDefinition) {
  MakeGadget(R"({"count":2})");
  EXPECT_EQ(Do("PATCH", scale_ + "?fieldManager=scaler", R"({"spec":{"replicas":4}})", kMergePatch)
                .status,
            200);
  EXPECT_THAT(Do("GET", kGadget).body,
              HasSubstr(R"("fieldsV1":{"f:spec":{"f:count":{}}},"subresource":"scale")"));
}

TEST_F(CustomScaleTest, APatchWithoutReplicasDoesNotScaleToZero) {
  MakeGadget(R"({"mode":"m"})");
  const http::Response empty = Do("PATCH", scale_, "{}", kMergePatch);
  EXPECT_EQ(empty.status, 400) << empty.body;
  EXPECT_EQ(Message(empty), R"(the spec replicas field ".spec.count" cannot be empty)");
  EXPECT_EQ(SpecOfGadget(), R"({"mode":"m"})");
  EXPECT_EQ(Do("PATCH", scale_, R"({"spec":{"replicas":0}})", kMergePatch).status, 200);
  EXPECT_EQ(SpecOfGadget(), R"({"mode":"m","count":0})");
  EXPECT_EQ(Do("PATCH", scale_, "{}", kMergePatch).status, 200);
}

TEST_F(CustomScaleTest, AnAppliedScaleIsForTheObjectThatItNames) {
  MakeGadget(R"({"mode":"m"})");
  MakeDeployment("g", R"({"matchLabels":{"a":"b"}})");
  for (const std::string& path : {scale_, ScaleAt("g")}) {
    const auto apply = [&](const std::string& more) {
      return ApplyScale(path, R"("name":"g")" + more, "&force=true").status;
    };
    const JsonTree scale = Json(Do("GET", path.substr(0, path.rfind('/'))));
    const std::string version = At(scale, {"metadata", "resourceVersion"});
    EXPECT_EQ(apply(R"(,"resourceVersion":"1")"), 409);
    EXPECT_EQ(apply(R"(,"uid":"another")"), 409);
    EXPECT_EQ(apply(R"(,"namespace":"another")"), 400);
    EXPECT_EQ(ApplyScale(path, R"("name":"h")", "&force=true").status, 400);
    EXPECT_EQ(apply(R"(,"resourceVersion":")" + version + R"(","uid":")" +
                    At(scale, {"metadata", "uid"}) + R"(")"),
              200);
  }
}

}  // namespace
}  // namespace kubexx::apiserver
