#include "kubexx/apiserver/endpoints/registry/custom_types.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;
using testing::kDefinitions;

constexpr const char* kWidgets = "/apis/example.com/v1/namespaces/default/widgets";

constexpr const char* kDefinition = R"({
  "metadata":{"name":"widgets.example.com"},
  "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget","shortNames":["wd"]},
   "versions":[
    {"name":"v1","served":true,"storage":true,
     "subresources":{"status":{},"scale":{"specReplicasPath":".spec.count","statusReplicasPath":".status.count","labelSelectorPath":".status.selector"}},
     "additionalPrinterColumns":[{"name":"Count","type":"integer","jsonPath":".spec.count"},
                                 {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}],
     "schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{
       "spec":{"type":"object","required":["count"],"properties":{
         "count":{"type":"integer","minimum":1},
         "mode":{"type":"string","enum":["fast","slow"],"default":"slow"}}},
       "status":{"type":"object","properties":{"count":{"type":"integer"},"selector":{"type":"string"}}}}}}},
    {"name":"v2","served":true,"storage":false,
     "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

class CustomTypesTest : public testing::ApiFixture {
 protected:
  void Define() {
    const http::Response made = Do("POST", kDefinitions, kDefinition);
    ASSERT_EQ(made.status, 201) << made.body;
    definition_ = Json(made);
  }
  http::Response Make(const std::string& spec) {
    return Do("POST", kWidgets,
              R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":)" +
                  spec + "}");
  }
  JsonTree definition_;
};

TEST_F(CustomTypesTest, DefinitionsAreEstablished) {
  Define();
  EXPECT_EQ(At(definition_, {"status", "conditions", "0", "type"}), "NamesAccepted");
  EXPECT_EQ(At(definition_, {"status", "conditions", "1", "type"}), "Established");
  EXPECT_EQ(At(definition_, {"status", "conditions", "1", "status"}), "True");
  EXPECT_EQ(At(definition_, {"status", "acceptedNames", "singular"}), "widget");
  EXPECT_EQ(At(definition_, {"status", "storedVersions"}), R"(["v1"])");
}

TEST_F(CustomTypesTest, BadDefinitionsAreRefused) {
  JsonTree bad = *JsonTree::Parse(kDefinition);
  bad["metadata"]["name"] = "widget.example.com";
  bad["spec"]["versions"].elements()[0]["schema"]["openAPIV3Schema"]["properties"]["spec"].Erase(
      "type");
  const http::Response refused = Do("POST", kDefinitions, bad.ToJson());
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused),
              HasSubstr("CustomResourceDefinition.apiextensions.k8s.io \"widget.example.com\" is "
                        "invalid: [metadata.name: Invalid value"));
  EXPECT_THAT(Message(refused),
              HasSubstr("spec.versions[0].schema.openAPIV3Schema.properties[spec].type: Required"));
}

TEST_F(CustomTypesTest, ObjectsAreCheckedPrunedAndDefaulted) {
  Define();
  const http::Response bad = Make(R"({"count":0,"mode":"idle"})");
  EXPECT_EQ(bad.status, 422);
  EXPECT_EQ(
      Message(bad),
      "Widget.example.com \"w\" is invalid: [spec.count: Invalid value: 0: spec.count in body "
      "should be greater than or equal to 1, spec.mode: Unsupported value: \"idle\": supported "
      "values: \"fast\", \"slow\"]");
  const JsonTree status = Json(bad);
  EXPECT_EQ(At(status, {"reason"}), "Invalid");
  EXPECT_EQ(At(status, {"details", "causes", "0", "field"}), "spec.count");
  EXPECT_EQ(At(status, {"details", "causes", "1", "reason"}), "FieldValueNotSupported");

  const http::Response made = Make(R"({"count":2,"other":true})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"spec"}), R"({"count":2,"mode":"slow"})");
  EXPECT_EQ(At(Json(made), {"metadata", "generation"}), "1");
  EXPECT_EQ(At(Json(made), {"status"}), "");
  EXPECT_EQ(Do("PATCH", std::string(kWidgets) + "/w", R"({"spec":{"count":"x"}})",
               "application/merge-patch+json")
                .status,
            422);
  EXPECT_EQ(Do("POST", kWidgets, R"({"metadata":{"name":"x","labels":{"a":1}},"spec":{"count":1}})")
                .status,
            400);
}

// As kube-apiserver: what has no type of Go's has to say what it is.
TEST_F(CustomTypesTest, ObjectsSayTheirKind) {
  Define();
  const auto with = [](const std::string& kind) {
    return "{" + kind + R"("metadata":{"name":"w"},"spec":{"count":1}})";
  };
  const std::string version = R"("apiVersion":"example.com/v1",)";
  const std::string kind = R"("kind":"Widget",)";
  EXPECT_EQ(Do("POST", kWidgets, with("")).status, 400);
  EXPECT_EQ(Do("POST", kWidgets, with(version)).status, 400);
  EXPECT_EQ(Do("POST", kWidgets, with(kind)).status, 400);
  EXPECT_EQ(Do("POST", kWidgets, with(kind + R"("apiVersion":"example.com/v2",)")).status, 400);
  const http::Response made = Do("POST", kWidgets, with(version + kind));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string one = std::string(kWidgets) + "/w";
  JsonTree object = Json(made);
  object.Erase("kind");
  const http::Response put = Do("PUT", one, object.ToJson());
  EXPECT_EQ(put.status, 400);
  EXPECT_THAT(Message(put), HasSubstr("Object 'Kind' is missing"));
  EXPECT_EQ(Do("PATCH", one, R"({"kind":null})", kMergePatch).status, 422);
  EXPECT_EQ(Do("PATCH", one, R"({"spec":{"count":2}})", kMergePatch).status, 200);
}

TEST_F(CustomTypesTest, TheStatusSaysWhichVersionsAreStored) {
  Define();
  const std::string path = std::string(kDefinitions) + "/widgets.example.com";
  JsonTree& versions = definition_["spec"]["versions"];
  versions.elements()[0]["storage"] = false;
  versions.elements()[1]["storage"] = true;
  definition_["metadata"].Erase("resourceVersion");
  const auto put = [&] {
    JsonTree sent = definition_;
    sent["metadata"]["resourceVersion"] =
        At(Json(Do("GET", path)), {"metadata", "resourceVersion"});
    return Do("PUT", path, sent.ToJson());
  };
  const auto store = [&](const std::string& stored) {
    return Do("PATCH", path + "/status", R"({"status":{"storedVersions":)" + stored + "}}",
              kMergePatch);
  };
  http::Response updated = put();
  ASSERT_EQ(updated.status, 200) << updated.body;
  EXPECT_EQ(At(Json(updated), {"status", "storedVersions"}), R"(["v1","v2"])");
  versions = JsonTree::Array({versions.elements()[1]});
  EXPECT_EQ(put().status, 422);
  // Whoever migrates says when nothing is stored in the old version any more, and may err.
  EXPECT_EQ(store(R"(["v2","gone"])").status, 200);
  EXPECT_EQ(put().status, 422);
  const http::Response mended = store(R"(["v2"])");
  EXPECT_EQ(mended.status, 200) << mended.body;
  updated = put();
  ASSERT_EQ(updated.status, 200) << updated.body;
  EXPECT_EQ(At(Json(updated), {"status", "storedVersions"}), R"(["v2"])");
  EXPECT_EQ(At(Json(store("[]")), {"status", "storedVersions"}), R"(["v2"])") << "there is one";
}

TEST_F(CustomTypesTest, WhatIsNotEstablishedMayBecomeAnother) {
  Define();
  JsonTree other = *JsonTree::Parse(kDefinition);
  other["metadata"]["name"] = "gadgets.example.com";
  other["spec"]["names"]["plural"] = "gadgets";
  JsonTree made = Json(Do("POST", kDefinitions, other.ToJson()));
  ASSERT_EQ(At(made, {"status", "conditions", "1", "status"}), "False");
  made["spec"]["names"] = *JsonTree::Parse(R"({"plural":"gadgets","kind":"Gadget"})");
  made["spec"]["scope"] = "Cluster";
  const http::Response updated =
      Do("PUT", std::string(kDefinitions) + "/gadgets.example.com", made.ToJson());
  ASSERT_EQ(updated.status, 200) << updated.body;
  EXPECT_EQ(Do("GET", "/apis/example.com/v1/gadgets").status, 200);
  JsonTree served = Json(updated);
  served["spec"]["scope"] = "Namespaced";
  EXPECT_EQ(Do("PUT", std::string(kDefinitions) + "/gadgets.example.com", served.ToJson()).status,
            422);
}

TEST_F(CustomTypesTest, NewDefaultsCountForStoredObjects) {
  Define();
  ASSERT_EQ(Make(R"({"count":2})").status, 201);
  JsonTree changed = definition_;
  changed["spec"]["versions"]
      .elements()[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["size"] =
      *JsonTree::Parse(R"({"type":"integer","default":7})");
  const http::Response updated =
      Do("PUT", std::string(kDefinitions) + "/widgets.example.com", changed.ToJson());
  ASSERT_EQ(updated.status, 200) << updated.body;
  EXPECT_EQ(At(Json(Do("GET", std::string(kWidgets) + "/w")), {"spec", "size"}), "7");
  const JsonTree list = Json(Do("GET", std::string(kWidgets) + "?resourceVersion=0"));
  EXPECT_EQ(At(list, {"items", "0", "spec", "size"}), "7");
}

TEST_F(CustomTypesTest, StatusAndScaleAreApart) {
  Define();
  ASSERT_EQ(Make(R"({"count":2})").status, 201);
  const std::string path = std::string(kWidgets) + "/w";
  const http::Response status =
      Do("PATCH", path + "/status", R"({"spec":{"count":9},"status":{"count":2,"selector":"a=b"}})",
         "application/merge-patch+json");
  ASSERT_EQ(status.status, 200) << status.body;
  EXPECT_EQ(At(Json(status), {"spec", "count"}), "2");
  EXPECT_EQ(
      Do("PATCH", path + "/status", R"({"status":{"count":"x"}})", "application/merge-patch+json")
          .status,
      422);
  const JsonTree scale = Json(Do("GET", path + "/scale"));
  EXPECT_EQ(At(scale, {"spec", "replicas"}), "2");
  EXPECT_EQ(At(scale, {"status", "selector"}), "a=b");
  EXPECT_EQ(
      Do("PATCH", path + "/scale", R"({"spec":{"replicas":5}})", "application/merge-patch+json")
          .status,
      200);
  const JsonTree got = Json(Do("GET", path));
  EXPECT_EQ(At(got, {"spec", "count"}), "5");
  EXPECT_EQ(At(got, {"metadata", "generation"}), "2");
}

TEST_F(CustomTypesTest, ScalesNeedNoVersion) {
  Define();
  ASSERT_EQ(Make(R"({"count":2})").status, 201);
  const std::string path = std::string(kWidgets) + "/w/scale";
  const auto scale_to = [&](const char* count, const std::string& meta) {
    return Do("PUT", path,
              R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"w")" + meta +
                  R"(},"spec":{"replicas":)" + count + "}}");
  };
  const http::Response scaled = scale_to("5", "");
  EXPECT_EQ(scaled.status, 200) << scaled.body;
  EXPECT_EQ(At(Json(Do("GET", path)), {"spec", "replicas"}), "5");
  EXPECT_EQ(scale_to("6", R"(,"resourceVersion":"1")").status, 409);
  const http::Response patched =
      Do("PATCH", path, R"({"metadata":{"resourceVersion":null},"spec":{"replicas":7}})",
         "application/merge-patch+json");
  EXPECT_EQ(patched.status, 200) << patched.body;
}

TEST_F(CustomTypesTest, ListsHaveTheKindOfTheDefinition) {
  Define();
  EXPECT_EQ(At(Json(Do("GET", kWidgets)), {"kind"}), "WidgetList");
  JsonTree named = definition_;
  named["metadata"] = JsonTree::Object();
  named["metadata"]["name"] = "sheep.example.com";
  named["spec"]["names"] = *JsonTree::Parse(
      R"({"plural":"sheep","singular":"sheep1","kind":"Sheep","listKind":"Flock"})");
  const http::Response made = Do("POST", kDefinitions, named.ToJson());
  ASSERT_EQ(made.status, 201) << made.body;
  const JsonTree list = Json(Do("GET", "/apis/example.com/v1/namespaces/default/sheep"));
  EXPECT_EQ(At(list, {"kind"}), "Flock");
  EXPECT_EQ(At(list, {"apiVersion"}), "example.com/v1");
}

TEST_F(CustomTypesTest, TablesHaveTheColumns) {
  Define();
  ASSERT_EQ(Make(R"({"count":2})").status, 201);
  headers_ = {{"Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"}};
  const JsonTree table = Json(Do("GET", kWidgets));
  EXPECT_EQ(At(table, {"columnDefinitions", "1", "name"}), "Count");
  EXPECT_EQ(At(table, {"rows", "0", "cells", "0"}), "w");
  EXPECT_EQ(At(table, {"rows", "0", "cells", "1"}), "2");
}

TEST_F(CustomTypesTest, VersionsShareTheirObjects) {
  Define();
  ASSERT_EQ(Make(R"({"count":2})").status, 201);
  const JsonTree second = Json(Do("GET", "/apis/example.com/v2/namespaces/default/widgets/w"));
  EXPECT_EQ(At(second, {"apiVersion"}), "example.com/v2");
  EXPECT_EQ(At(second, {"spec", "count"}), "2");
}

TEST_F(CustomTypesTest, NamesInUseAreNotAccepted) {
  Define();
  JsonTree other = *JsonTree::Parse(kDefinition);
  other["metadata"]["name"] = "gadgets.example.com";
  other["spec"]["names"]["plural"] = "gadgets";
  const JsonTree made = Json(Do("POST", kDefinitions, other.ToJson()));
  EXPECT_EQ(At(made, {"status", "conditions", "0", "reason"}), "ListKindConflict");
  EXPECT_EQ(At(made, {"status", "conditions", "0", "message"}), "\"WidgetList\" is already in use");
  EXPECT_EQ(At(made, {"status", "conditions", "1", "status"}), "False");
  EXPECT_EQ(At(made, {"status", "acceptedNames"}), R"({"plural":"gadgets"})");
  EXPECT_EQ(Do("GET", "/apis/example.com/v1/namespaces/default/gadgets").status, 404);
  EXPECT_EQ(Do("DELETE", std::string(kDefinitions) + "/widgets.example.com").status, 200);
  EXPECT_EQ(Do("GET", "/apis/example.com/v1/namespaces/default/gadgets").status, 200);
}

TEST_F(CustomTypesTest, ADefinitionIsServedUnderTheNamesThatItHasAndNotThoseThatItWants) {
  Define();
  JsonTree other = *JsonTree::Parse(kDefinition);
  other["metadata"]["name"] = "gadgets.example.com";
  other["spec"]["names"] = *JsonTree::Parse(
      R"({"plural":"gadgets","singular":"gadget","kind":"Gadget","shortNames":["gd"]})");
  ASSERT_EQ(Do("POST", kDefinitions, other.ToJson()).status, 201);
  const std::string gadgets = std::string(kDefinitions) + "/gadgets.example.com";
  const auto names = [this](const char* member) {
    const JsonTree served = Json(Do("GET", "/apis/example.com/v1"));
    for (const JsonTree& one : served.Find("resources")->elements()) {
      if (one.TextAt("name") == "gadgets") {
        return At(one, {member});
      }
    }
    return std::string("is not served");
  };
  const http::Response wants =
      Do("PATCH", gadgets,
         R"({"spec":{"names":{"singular":"widget","listKind":"Gadgets","shortNames":["wd"]}}})",
         kMergePatch);
  ASSERT_EQ(wants.status, 200) << wants.body;
  EXPECT_EQ(At(Json(wants), {"status", "conditions", "0", "reason"}), "ShortNamesConflict");
  EXPECT_EQ(names("shortNames"), R"(["gd"])");
  EXPECT_EQ(names("singularName"), "gadget");
  EXPECT_EQ(At(Json(Do("GET", "/apis/example.com/v1/namespaces/default/gadgets")), {"kind"}),
            "Gadgets")
      << "what is free is accepted";
  ASSERT_EQ(Do("DELETE", std::string(kDefinitions) + "/widgets.example.com").status, 200);
  EXPECT_EQ(names("shortNames"), R"(["wd"])");
  EXPECT_EQ(names("singularName"), "widget");
  EXPECT_EQ(At(Json(Do("GET", gadgets)), {"status", "conditions", "0", "status"}), "True");
}

TEST_F(CustomTypesTest, OpenApiHasTheSchema) {
  Define();
  const JsonTree document = Json(Do("GET", "/openapi/v3/apis/example.com/v1"));
  const JsonTree* const schema = document.At({"components", "schemas", "com.example.v1.Widget"});
  ASSERT_NE(schema, nullptr);
  EXPECT_EQ(At(*schema, {"properties", "spec", "properties", "count", "minimum"}), "1");
  EXPECT_EQ(At(*schema, {"x-kubernetes-group-version-kind", "0", "kind"}), "Widget");
  EXPECT_NE(At(*schema, {"properties", "metadata"}), "");
}

}  // namespace
}  // namespace kubexx::apiserver
