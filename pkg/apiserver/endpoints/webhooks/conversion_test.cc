// Custom resources whose versions a webhook converts.
#include "kubexx/apiserver/endpoints/webhooks/conversion.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using ::testing::Each;
using testing::FakeWebhooks;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kConverter = "https://convert/";
constexpr const char* kV1 = "/apis/x.io/v1/namespaces/default/ks";
constexpr const char* kV2 = "/apis/x.io/v2/namespaces/default/ks";
constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// v1 has "host" and "port", v2 "address".
class ConversionTest : public testing::WebhookFixture {
 protected:
  static std::string Definition(const std::string& stored, const std::string& conversion) {
    const auto version = [&](const std::string& name, const std::string& fields) {
      return R"({"name":")" + name + R"(","served":true,"storage":)" +
             (name == stored ? "true" : "false") +
             R"(,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object",)"
             R"("properties":{"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true},)" +
             fields + "}}}}";
    };
    return R"({"metadata":{"name":"ks.x.io"},"spec":{"group":"x.io","scope":"Namespaced",)"
           R"("names":{"plural":"ks","kind":"K"},"conversion":)" +
           conversion + R"(,"versions":[)" +
           version("v1", R"("host":{"type":"string"},"port":{"type":"string"})") + "," +
           version("v2", R"("address":{"type":"string"})") + "]}}";
  }
  static std::string Webhook() {
    return R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],)"
           R"("clientConfig":{"url":"https://convert/"}}})";
  }

  void SetUp() override {
    const http::Response made = Do("POST", kCrds, Definition("v1", Webhook()));
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_THAT(WarningsOf(made), IsEmpty());
    hooks_->Handle(kConverter, Convert);
  }

  static Result<JsonTree> Convert(const JsonTree& request) {
    return testing::FakeWebhooks::Converted(request, [](JsonTree& object) {
      if (object.TextAt("apiVersion") == "x.io/v2") {
        object["address"] =
            std::string(object.TextAt("host")) + ":" + std::string(object.TextAt("port"));
        object.Erase("host");
        object.Erase("port");
      } else {
        const std::string address(object.TextAt("address"));
        object["host"] = address.substr(0, address.find(':'));
        object["port"] = address.substr(address.find(':') + 1);
        object.Erase("address");
      }
    });
  }
};

TEST_F(ConversionTest, ObjectsAreWrittenAndReadInEveryVersion) {
  const http::Response made =
      Do("POST", kV2,
         R"({"apiVersion":"x.io/v2","kind":"K","metadata":{"name":"a"},"address":"h:1"})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"address"}), "h:1");
  const JsonTree first = Json(Do("GET", std::string(kV1) + "/a"));
  EXPECT_EQ(At(first, {"apiVersion"}), "x.io/v1");
  EXPECT_EQ(At(first, {"host"}), "h");
  EXPECT_EQ(At(first, {"port"}), "1");
  EXPECT_EQ(At(first, {"address"}), "");
  const http::Response patched =
      Do("PATCH", std::string(kV1) + "/a", R"({"port":"2"})", kMergePatch);
  EXPECT_EQ(patched.status, 200) << patched.body;
  const JsonTree second = Json(Do("GET", std::string(kV2) + "/a"));
  EXPECT_EQ(At(second, {"address"}), "h:2");
  EXPECT_EQ(At(second, {"metadata", "resourceVersion"}),
            At(Json(patched), {"metadata", "resourceVersion"}));
  EXPECT_EQ(At(second, {"metadata", "generation"}), "2");
  EXPECT_EQ(
      Do("PATCH", std::string(kV2) + "/a/status", R"({"status":{"ok":true}})", kMergePatch).status,
      200);
  EXPECT_EQ(At(Json(Do("GET", std::string(kV1) + "/a")), {"status", "ok"}), "true");
  EXPECT_EQ(Do("DELETE", std::string(kV2) + "/a").status, 200);
  EXPECT_EQ(Do("GET", std::string(kV1) + "/a").status, 404);
}

TEST_F(ConversionTest, ListsAreConvertedManyAtOnce) {
  for (int i = 0; i < 120; ++i) {
    ASSERT_EQ(Do("POST", kV1,
                 R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"k)" +
                     std::to_string(100 + i) + R"("},"host":"h","port":"1"})")
                  .status,
              201);
  }
  EXPECT_THAT(hooks_->Urls(), IsEmpty());  // They are stored as they came.
  const JsonTree list = Json(Do("GET", kV2));
  ASSERT_EQ(list.Find("items")->size(), 120U);
  for (const JsonTree& item : list.Find("items")->elements()) {
    EXPECT_EQ(item.TextAt("address"), "h:1");
    EXPECT_EQ(item.TextAt("apiVersion"), "x.io/v2");
  }
  EXPECT_THAT(hooks_->Urls(), SizeIs(2));
  const JsonTree page = Json(Do("GET", std::string(kV2) + "?limit=50"));
  EXPECT_EQ(page.Find("items")->size(), 50U);
  EXPECT_NE(At(page, {"metadata", "continue"}), "");
  const JsonTree cached = Json(Do("GET", std::string(kV2) + "?resourceVersion=0"));
  ASSERT_EQ(cached.Find("items")->size(), 120U);
  EXPECT_EQ(At(cached, {"items", "7", "address"}), "h:1");
  // The cache is told of what is written in another version, too.
  const JsonTree late = Json(
      Do("POST", kV1,
         R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"z"},"host":"g","port":"2"})"));
  const JsonTree fresh = Json(Do(
      "GET", std::string(kV2) + "?resourceVersion=" + At(late, {"metadata", "resourceVersion"})));
  EXPECT_EQ(At(fresh, {"items", "120", "address"}), "g:2");
}

TEST_F(ConversionTest, FewLargeObjectsAreConvertedAtOnce) {
  const std::string large(1 << 20, 'h');
  for (int i = 0; i < 9; ++i) {
    ASSERT_EQ(Do("POST", kV1,
                 R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"k)" + std::to_string(i) +
                     R"("},"host":")" + large + R"(","port":"1"})")
                  .status,
              201);
  }
  const JsonTree list = Json(Do("GET", kV2));
  ASSERT_EQ(list.Find("items")->size(), 9U);
  EXPECT_EQ(At(list, {"items", "8", "address"}), large + ":1");
  EXPECT_THAT(hooks_->Urls(), SizeIs(3)) << "an answer with all of them would be too long";
}

TEST_F(ConversionTest, WhatIsWrongWithAnAnswerIsSaid) {
  ASSERT_EQ(
      Do("POST", kV1,
         R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"a"},"host":"h","port":"1"})")
          .status,
      201);
  const auto error_with = [&](void (*spoil)(JsonTree& response)) {
    hooks_->Handle(kConverter, [spoil](const JsonTree& request) -> Result<JsonTree> {
      KX_ASSIGN_OR_RETURN(JsonTree response, Convert(request));
      spoil(response);
      return response;
    });
    const http::Response got = Do("GET", std::string(kV2) + "/a");
    EXPECT_EQ(got.status, 500);
    EXPECT_EQ(Do("GET", kV2).status, 500);
    return Message(got);
  };
  EXPECT_EQ(error_with([](JsonTree& r) { r["result"]["status"] = "Failure"; }),
            "conversion webhook for x.io/v1, Kind=K failed: response.result.status was 'Failure', "
            "not 'Success'");
  EXPECT_THAT(error_with([](JsonTree& r) {
                r["result"]["status"] = "Failure";
                r["result"]["message"] = "no way";
              }),
              HasSubstr("Kind=K failed: no way"));
  EXPECT_THAT(error_with([](JsonTree& r) { r["convertedObjects"] = JsonTree::Array(); }),
              HasSubstr("returned 0 objects, expected 1"));
  EXPECT_THAT(
      error_with([](JsonTree& r) { r["convertedObjects"] = *JsonTree::Parse(R"({"a":{}})"); }),
      HasSubstr("returned 0 objects, expected 1"));
  EXPECT_THAT(error_with([](JsonTree& r) {
                r["convertedObjects"].elements()[0]["apiVersion"] = "x.io/v1";
              }),
              HasSubstr("index 0: invalid groupVersion (expected x.io/v2, received x.io/v1)"));
  EXPECT_THAT(error_with([](JsonTree& r) {
                r["convertedObjects"].elements()[0]["metadata"]["name"] = "b";
              }),
              HasSubstr("must have the same name: a != b"));
  EXPECT_THAT(error_with([](JsonTree& r) {
                r["convertedObjects"].elements()[0]["metadata"]["labels"]["a b"] = "c d";
              }),
              ::testing::AllOf(HasSubstr("index 0: [metadata.labels: Invalid value: \"a b\": "),
                               HasSubstr(", metadata.labels: Invalid value: \"c d\": ")));
  EXPECT_THAT(error_with([](JsonTree& r) {
                r["convertedObjects"].elements()[0]["metadata"]["annotations"]["a"] =
                    std::string(262145, 'x');
              }),
              HasSubstr("index 0: metadata.annotation: Too long: may not be more than 262144"));
  EXPECT_THAT(error_with([](JsonTree& r) { r["uid"] = "1"; }), HasSubstr("expected response.uid"));
  hooks_->Handle(kConverter, nullptr);
  EXPECT_THAT(Message(Do("GET", std::string(kV2) + "/a")), HasSubstr("connection refused"));
  EXPECT_EQ(Do("GET", std::string(kV1) + "/a").status, 200);  // Nothing to convert.
  EXPECT_EQ(
      Do("POST", kV2, R"({"apiVersion":"x.io/v2","kind":"K","metadata":{"name":"b"}})").status,
      500);
}

TEST_F(ConversionTest, AConverterMayKeepInAnnotationsWhatAVersionHasNoFieldFor) {
  hooks_->Handle(kConverter, [](const JsonTree& request) -> Result<JsonTree> {
    return testing::FakeWebhooks::Converted(request, [](JsonTree& object) {
      object["metadata"]["annotations"]["X.io/port"] = std::string(object.TextAt("port"));
      object["metadata"]["labels"]["converted"] = "true";
    });
  });
  ASSERT_EQ(
      Do("POST", kV1,
         R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"a"},"host":"h","port":"1"})")
          .status,
      201);
  const JsonTree got = Json(Do("GET", std::string(kV2) + "/a"));
  EXPECT_EQ(At(got, {"metadata", "annotations", "X.io/port"}), "1");
  EXPECT_EQ(At(got, {"metadata", "labels", "converted"}), "true");
}

TEST_F(ConversionTest, AConverterThatDoesNotAnswerInTimeIsAFailedConversion) {
  ASSERT_EQ(
      Do("POST", kV1,
         R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"a"},"host":"h","port":"1"})")
          .status,
      201);
  hooks_->Handle(kConverter, [](const JsonTree&) -> Result<JsonTree> {
    return Fail(Reason::kTimeout, "context deadline exceeded");
  });
  const std::string failed =
      "conversion webhook for x.io/v1, Kind=K failed: context deadline exceeded";
  for (const std::string& path : {std::string(kV2) + "/a", std::string(kV2)}) {
    const http::Response got = Do("GET", path);
    EXPECT_EQ(got.status, 500) << path;
    EXPECT_EQ(Message(got), failed);
  }
  const http::Response changed =
      Do("PATCH", std::string(kV2) + "/a", R"({"address":"g:2"})", kMergePatch);
  EXPECT_EQ(changed.status, 500);
  EXPECT_EQ(Message(changed), failed);
  for (const admission::Endpoint& endpoint : hooks_->Endpoints()) {
    EXPECT_EQ(endpoint.timeout, std::chrono::seconds(30));
    EXPECT_EQ(endpoint.url, "https://convert/?timeout=30s");
  }
  hooks_->Handle(kConverter, Convert);
  EXPECT_EQ(At(Json(Do("GET", std::string(kV2) + "/a")), {"address"}), "h:1");
}

TEST_F(ConversionTest, AConverterThatTakesNoReviewsOfV1IsNotAsked) {
  JsonTree definition = Json(Do("GET", std::string(kCrds) + "/ks.x.io"));
  JsonTree& versions = definition["spec"]["conversion"]["webhook"]["conversionReviewVersions"];
  versions = *JsonTree::Parse(R"(["v1beta1"])");
  const http::Response put = Do("PUT", std::string(kCrds) + "/ks.x.io", definition.ToJson());
  ASSERT_EQ(put.status, 200) << put.body;
  ASSERT_EQ(
      Do("POST", kV1,
         R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"a"},"host":"h","port":"1"})")
          .status,
      201);
  const http::Response got = Do("GET", std::string(kV2) + "/a");
  EXPECT_EQ(got.status, 500);
  EXPECT_EQ(Message(got),
            "conversion webhook for x.io/v1, Kind=K failed: it does not accept known "
            "ConversionReview versions (v1)");
  EXPECT_EQ(
      Do("POST", kV2, R"({"apiVersion":"x.io/v2","kind":"K","metadata":{"name":"b"}})").status,
      500);
  EXPECT_EQ(Do("GET", std::string(kV1) + "/a").status, 200);  // Nothing to convert.
  EXPECT_THAT(hooks_->Urls(), IsEmpty());
}

TEST_F(ConversionTest, OfTheMetadataOnlyLabelsAndAnnotationsChange) {
  ASSERT_EQ(
      Do("POST", kV1,
         R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"a","labels":{"old":"1"}},"host":"h"})")
          .status,
      201);
  hooks_->Handle(kConverter, [](const JsonTree& request) -> Result<JsonTree> {
    KX_ASSIGN_OR_RETURN(JsonTree response, Convert(request));
    JsonTree& metadata = response["convertedObjects"].elements()[0]["metadata"];
    metadata["labels"] = *JsonTree::Parse(R"({"new":"2"})");
    metadata["annotations"] = *JsonTree::Parse(R"({"by":"hook"})");
    metadata["finalizers"].Append("x.io/mine");
    metadata["creationTimestamp"] = "2001-01-01T00:00:00Z";
    metadata["resourceVersion"] = "1";
    return response;
  });
  const JsonTree got = Json(Do("GET", std::string(kV2) + "/a"));
  const JsonTree plain = Json(Do("GET", std::string(kV1) + "/a"));
  EXPECT_EQ(At(got, {"metadata", "labels"}), R"({"new":"2"})");
  EXPECT_EQ(At(got, {"metadata", "annotations", "by"}), "hook");
  EXPECT_EQ(At(got, {"metadata", "finalizers"}), "");
  for (const char* const field : {"creationTimestamp", "resourceVersion", "uid", "generation"}) {
    EXPECT_EQ(At(got, {"metadata", field}), At(plain, {"metadata", field})) << field;
  }
}

TEST_F(ConversionTest, AnUpdateWritesTheStorageVersionThatThereIsNow) {
  ASSERT_EQ(
      Do("POST", kV1,
         R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"a"},"host":"h","port":"1"})")
          .status,
      201);
  JsonTree definition = Json(Do("GET", std::string(kCrds) + "/ks.x.io"));
  definition["spec"]["versions"].elements()[0]["storage"] = false;
  definition["spec"]["versions"].elements()[1]["storage"] = true;
  ASSERT_EQ(Do("PUT", std::string(kCrds) + "/ks.x.io", definition.ToJson()).status, 200);
  const JsonTree before = Json(Do("GET", std::string(kV2) + "/a"));
  EXPECT_EQ(At(before, {"address"}), "h:1");
  const http::Response written = Do("PUT", std::string(kV2) + "/a", before.ToJson());
  EXPECT_EQ(written.status, 200) << written.body;
  EXPECT_NE(At(Json(written), {"metadata", "resourceVersion"}),
            At(before, {"metadata", "resourceVersion"}));
  hooks_->Forget();
  EXPECT_EQ(At(Json(Do("GET", std::string(kV2) + "/a")), {"address"}), "h:1");
  EXPECT_THAT(hooks_->Urls(), IsEmpty());
}

TEST_F(ConversionTest, AdmissionWebhooksAreShownTheVersionThatTheyWant) {
  Configure(kMutating, "m",
            {Hook("a.b.c", R"({"rules":[{"operations":["*"],"apiGroups":["x.io"],)"
                           R"("apiVersions":["v2"],"resources":["ks"]}]})")});
  hooks_->Handle(Url("a.b.c"), [](const JsonTree& request) {
    EXPECT_EQ(At(request, {"object", "address"}), "h:1");
    return FakeWebhooks::Patch(R"([{"op":"replace","path":"/address","value":"g:9"}])");
  });
  const http::Response made =
      Do("POST", kV1,
         R"({"apiVersion":"x.io/v1","kind":"K","metadata":{"name":"a"},"host":"h","port":"1"})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"host"}), "g");
  EXPECT_EQ(At(Json(made), {"port"}), "9");
}

TEST_F(ConversionTest, BadConversionsAreRefused) {
  for (
      const char* const bad :
      {R"({"strategy":"Webhook"})",
       R"({"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://a/"}}})",
       R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{}}})",
       R"({"strategy":"None","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://a/"}}})"}) {
    JsonTree definition = *JsonTree::Parse(Definition("v1", bad));
    definition["metadata"]["name"] = "qs.x.io";
    definition["spec"]["names"] = *JsonTree::Parse(R"({"plural":"qs","kind":"Q"})");
    const http::Response made = Do("POST", kCrds, definition.ToJson());
    EXPECT_EQ(made.status, 422) << bad << made.body;
    EXPECT_THAT(Message(made), HasSubstr("spec.conversion.webhook")) << bad;
  }
}

TEST_F(ConversionTest, ADefinitionGoesWithObjectsOfAllVersions) {
  for (const auto& [path, version] : {std::pair(kV1, "x.io/v1"), {kV2, "x.io/v2"}}) {
    ASSERT_EQ(Do("POST", path,
                 R"({"apiVersion":")" + std::string(version) +
                     R"(","kind":"K","metadata":{"generateName":"a","finalizers":[]},"host":"h"})")
                  .status,
              201);
  }
  hooks_->Handle(kConverter, nullptr);  // The stored version needs no webhook.
  EXPECT_EQ(Do("DELETE", std::string(kCrds) + "/ks.x.io").status, 200);
  EXPECT_EQ(Do("GET", std::string(kCrds) + "/ks.x.io").status, 404);
}

}  // namespace
}  // namespace kubexx::apiserver
