// OpenAPI v2 and v3 of built-in types and custom resources.
#include "kubexx/apiserver/endpoints/discovery/openapi.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kCustomDefinitions =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kOpenApiMessage =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr const char* kWidgetSchema = "com.example.v1.Widget";

/// Adds the paths of the members of a schema, at any depth, that are there and empty.
void CollectEmpty(const JsonTree& schema, const std::string& path,
                  std::vector<std::string>& found) {
  for (const JsonTree::Member& member : schema.members()) {
    const std::string below = path + "/" + member.key;
    const JsonTree& value = member.value;
    if (member.key == "items" || member.key == "additionalProperties") {
      CollectEmpty(value, below, found);  // That anything goes is said by an empty schema.
      continue;
    }
    if ((value.IsObject() || value.IsArray()) && value.size() == 0) {
      found.push_back(below);
    }
    if (member.key == "properties") {
      for (const JsonTree::Member& property : value.members()) {
        CollectEmpty(property.value, below + "/" + property.key, found);
      }
    }
    for (const JsonTree& one : value.elements()) {
      CollectEmpty(one, below, found);
    }
  }
}

class OpenApiTest : public testing::ApiFixture {
 protected:
  void Define(const std::string& schema, const std::string& name = "widget",
              const std::string& kind = "Widget") {
    const http::Response made =
        Do("POST", kCustomDefinitions,
           R"({"metadata":{"name":")" + name + R"(s.example.com"},"spec":{"group":"example.com",
              "scope":"Namespaced","names":{"plural":")" +
               name + R"(s","kind":")" + kind + R"("},"versions":[{"name":"v1","served":true,
              "storage":true,"schema":{"openAPIV3Schema":)" +
               schema + "}}]}}");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  /// The definition in the document of version 2; null when there is none.
  JsonTree V2(std::string_view name) {
    const JsonTree document = Json(Do("GET", "/openapi/v2"));
    const JsonTree* const found = document.At({"definitions", name});
    return found == nullptr ? JsonTree() : *found;
  }
  static std::string Etag(const http::Response& response) {
    for (const auto& [name, value] : response.headers) {
      if (name == "Etag") {
        return value;
      }
    }
    return {};
  }
};

TEST_F(OpenApiTest, V2HasBuiltinTypesAndTheirLists) {
  const JsonTree document = Json(Do("GET", "/openapi/v2"));
  EXPECT_EQ(At(document, {"swagger"}), "2.0");
  const JsonTree* const pod = document.At({"definitions", "io.k8s.api.core.v1.Pod"});
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(At(*pod, {"properties", "spec", "$ref"}), "#/definitions/io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(At(*pod, {"x-kubernetes-group-version-kind", "0", "kind"}), "Pod");
  EXPECT_NE(document.At({"definitions", "io.k8s.api.core.v1.PodList"}), nullptr);
  EXPECT_EQ(At(document, {"paths", "/api/v1/namespaces/{namespace}/pods/{name}", "patch",
                          "parameters", "0", "name"}),
            "dryRun");
}

// kubectl and others make their patches by it.
TEST_F(OpenApiTest, SaysHowStrategicMergePatchesChangeFields) {
  constexpr const char* kStrategy = "x-kubernetes-patch-strategy";
  constexpr const char* kKey = "x-kubernetes-patch-merge-key";
  const JsonTree spec = V2("io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(At(spec, {"properties", "volumes", kStrategy}), "merge,retainKeys");
  EXPECT_EQ(At(spec, {"properties", "volumes", kKey}), "name");
  EXPECT_EQ(spec.At({"properties", "tolerations", kStrategy}), nullptr);
  const JsonTree deployment = V2("io.k8s.api.apps.v1.DeploymentSpec");
  EXPECT_EQ(At(deployment, {"properties", "strategy", kStrategy}), "retainKeys");
  EXPECT_EQ(deployment.At({"properties", "strategy", kKey}), nullptr);
  const JsonTree ephemeral = V2("io.k8s.api.core.v1.EphemeralContainer");
  EXPECT_EQ(At(ephemeral, {"properties", "env", kKey}), "name");
}

TEST_F(OpenApiTest, V2RefersToNothingThatItLacks) {
  const http::Response response = Do("GET", "/openapi/v2");
  const JsonTree document = Json(response);
  const JsonTree* const definitions = document.Find("definitions");
  ASSERT_NE(definitions, nullptr);
  constexpr std::string_view kReference = "\"#/definitions/";
  std::size_t references = 0;
  for (std::size_t at = response.body.find(kReference); at != std::string::npos;
       at = response.body.find(kReference, at)) {
    at += kReference.size();
    const std::string name = response.body.substr(at, response.body.find('"', at) - at);
    ASSERT_NE(definitions->Find(name), nullptr) << name;
    ++references;
  }
  EXPECT_GT(references, 500U);
}

TEST_F(OpenApiTest, V2FollowsDefinitions) {
  EXPECT_TRUE(V2(kWidgetSchema).IsNull());
  Define(R"({"type":"object","description":"What turns.","properties":{"spec":{"type":"object",
             "required":["size"],"properties":{"size":{"type":"integer"}}}}})");
  const JsonTree widget = V2(kWidgetSchema);
  EXPECT_EQ(At(widget, {"description"}), "What turns.");
  EXPECT_EQ(At(widget, {"properties", "spec"}),
            R"({"type":"object","required":["size"],"properties":{"size":{"type":"integer"}}})");
  EXPECT_EQ(At(widget, {"properties", "metadata", "$ref"}),
            "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  EXPECT_EQ(At(V2("com.example.v1.WidgetList"), {"properties", "items", "items", "$ref"}),
            "#/definitions/com.example.v1.Widget");
  Define(R"({"type":"object"})", "bolt", "Bolt");
  EXPECT_EQ(V2(kWidgetSchema), widget);
  EXPECT_FALSE(V2("com.example.v1.Bolt").IsNull());
  ASSERT_EQ(Do("DELETE", std::string(kCustomDefinitions) + "/widgets.example.com").status, 200);
  EXPECT_TRUE(V2(kWidgetSchema).IsNull());
  EXPECT_FALSE(V2("com.example.v1.Bolt").IsNull());
  EXPECT_FALSE(V2("io.k8s.api.core.v1.Pod").IsNull());
}

TEST_F(OpenApiTest, V2LeavesOutWhatItsClientsWouldTakeForAProhibition) {
  Define(R"({"type":"object","properties":{
      "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
              "properties":{"a":{"type":"string"}}},
      "list":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
      "may":{"type":"object","required":["null","other"],"properties":{
          "null":{"type":"string","nullable":true},"other":{"type":"string","default":"x"}}},
      "either":{"x-kubernetes-int-or-string":true,
                "anyOf":[{"type":"integer"},{"type":"string"}]}}})");
  const JsonTree widget = V2(kWidgetSchema);
  EXPECT_EQ(At(widget, {"properties", "open"}), R"({"x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(At(widget, {"properties", "list", "items"}),
            R"({"x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(At(widget, {"properties", "may", "required"}), R"(["other"])");
  EXPECT_EQ(At(widget, {"properties", "may", "properties", "null"}), "{}");
  EXPECT_EQ(At(widget, {"properties", "may", "properties", "other"}), R"({"type":"string"})");
  EXPECT_EQ(At(widget, {"properties", "either"}), R"({"x-kubernetes-int-or-string":true})");
}

TEST_F(OpenApiTest, V2SaysNothingOfAnOpenObject) {
  Define(R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,
             "properties":{"spec":{"type":"object"}}})");
  JsonTree widget = V2(kWidgetSchema);
  EXPECT_TRUE(widget.Erase("x-kubernetes-group-version-kind"));
  EXPECT_EQ(widget.ToJson(), R"({"type":"object"})");
}

TEST_F(OpenApiTest, EmbeddedObjectsHaveAKind) {
  Define(R"({"type":"object","properties":{"inner":{"type":"object",
             "x-kubernetes-embedded-resource":true,"properties":{"a":{"type":"string"}}}}})");
  const JsonTree inner = *V2(kWidgetSchema).At({"properties", "inner"});
  EXPECT_EQ(At(inner, {"required"}), R"(["kind","apiVersion"])");
  EXPECT_EQ(At(inner, {"properties", "metadata", "$ref"}),
            "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
}

TEST_F(OpenApiTest, WhoHasTheDocumentIsNotSentIt) {
  const http::Response first = Do("GET", "/openapi/v2");
  const std::string etag = Etag(first);
  EXPECT_EQ(etag.size(), 130U);
  headers_ = {{"If-None-Match", "\"other\", W/" + etag}};
  const http::Response again = Do("GET", "/openapi/v2");
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  Define(R"({"type":"object"})");
  const http::Response changed = Do("GET", "/openapi/v2");
  EXPECT_EQ(changed.status, 200);
  EXPECT_NE(Etag(changed), etag);
}

TEST_F(OpenApiTest, V2ComesInProtobuf) {
  Define(R"({"type":"object","properties":{"spec":{"type":"object","minProperties":2}}})");
  headers_ = {{"Accept", kOpenApiMessage}};
  const http::Response response = Do("GET", "/openapi/v2");
  EXPECT_EQ(response.content_type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_EQ(response.body.substr(0, 5),
            "\x0a\x03"
            "2.0");
  EXPECT_THAT(response.body, HasSubstr(std::string("\x0a\x15") + kWidgetSchema));
  // The x-kubernetes-group-version-kind, as YAML.
  EXPECT_THAT(response.body,
              HasSubstr(R"([{"group":"example.com","version":"v1","kind":"Widget"}])"));
  // properties {spec: {minProperties: 2, type: object}}
  EXPECT_THAT(response.body, HasSubstr(std::string("\x0a\x04spec\x12\x0e\x90\x01\x02\xb2\x01\x08"
                                                   "\x0a\x06object")));
  headers_ = {{"Accept", "text/html"}};
  EXPECT_EQ(Do("GET", "/openapi/v2").status, 406);
}

TEST_F(OpenApiTest, V3HasNothingThatItsReadersLeaveOut) {
  // Go's clients keep no lists and maps that are empty: the document would not survive them.
  Define(R"({"type":"object","properties":{"spec":{"type":"object","properties":{}}},
             "required":[]})");
  const JsonTree index = Json(Do("GET", "/openapi/v3"));
  ASSERT_NE(index.Find("paths"), nullptr);
  std::vector<std::string> empty;
  std::size_t schemas = 0;
  for (const JsonTree::Member& path : index.Find("paths")->members()) {
    const JsonTree document = Json(Do("GET", "/openapi/v3/" + path.key));
    const JsonTree* const all = document.At({"components", "schemas"});
    ASSERT_NE(all, nullptr) << path.key;
    for (const JsonTree::Member& schema : all->members()) {
      CollectEmpty(schema.value, path.key + ": " + schema.key, empty);
      ++schemas;
    }
  }
  EXPECT_THAT(empty, IsEmpty());
  EXPECT_GT(schemas, 500U);
  const JsonTree document = Json(Do("GET", "/openapi/v3/apis/apiextensions.k8s.io/v1"));
  EXPECT_EQ(At(document, {"components", "schemas",
                          "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
                          "CustomResourceSubresourceStatus"}),
            R"({"type":"object"})");
}

TEST_F(OpenApiTest, V3SaysWhatEveryObjectHas) {
  Define(R"({"type":"object"})");
  const JsonTree document = Json(Do("GET", "/openapi/v3/apis/example.com/v1"));
  const JsonTree* const schemas = document.At({"components", "schemas"});
  ASSERT_NE(schemas, nullptr);
  EXPECT_THAT(At(*schemas, {kWidgetSchema, "properties", "apiVersion", "description"}),
              HasSubstr("APIVersion defines"));
  EXPECT_EQ(At(*schemas, {kWidgetSchema, "properties", "metadata", "description"}),
            "Standard object's metadata.");
  EXPECT_THAT(At(*schemas, {"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "properties",
                            "creationTimestamp", "description"}),
              HasSubstr("CreationTimestamp is a timestamp"));
}

}  // namespace
}  // namespace kubexx::apiserver
