#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The answers are those of kube-apiserver 1.36.
class DuplicateFieldsTest : public testing::ApiFixture {
 protected:
  static constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
  static constexpr const char* kApply = "application/apply-patch+yaml";
  /// It has `a` twice in its data, and a field that does not exist.
  static constexpr const char* kYaml =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: one\n  a: two\nfoo: 1\n";
  static constexpr const char* kConfig =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: one\n  a: two\n";

  http::Response Apply(const std::string& body, const std::string& validation) {
    return Do("PATCH", std::string(kMaps) + "/m?fieldManager=f&fieldValidation=" + validation, body,
              kApply);
  }
  static std::vector<std::string> WarningsOf(const http::Response& response) {
    std::vector<std::string> all;
    for (const auto& [name, value] : response.headers) {
      if (name == "Warning") {
        all.push_back(value);
      }
    }
    return all;
  }
};

TEST_F(DuplicateFieldsTest, AYamlBodyThatIsStrict) {
  const http::Response refused =
      Do("POST", std::string(kMaps) + "?fieldValidation=Strict", kYaml, "application/yaml");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(Message(refused),
              HasSubstr("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict "
                        "decoding error: yaml: unmarshal errors:\n  line 7: key \"a\" already set "
                        "in map, unknown field \"foo\""));
}

TEST_F(DuplicateFieldsTest, AYamlBodyThatIsWarnedOf) {
  const http::Response made = Do("POST", kMaps, kYaml, "application/yaml");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(At(Json(made), {"data", "a"}), "two");
  EXPECT_THAT(WarningsOf(made), ElementsAre(R"(299 - "line 7: key \"a\" already set in map")",
                                            R"(299 - "unknown field \"foo\"")"));
}

TEST_F(DuplicateFieldsTest, AYamlBodyThatIsTakenAsItIs) {
  const http::Response made =
      Do("POST", std::string(kMaps) + "?fieldValidation=Ignore", kYaml, "application/yaml");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(At(Json(made), {"data", "a"}), "two");
  EXPECT_THAT(WarningsOf(made), IsEmpty());
}

TEST_F(DuplicateFieldsTest, AConfigThatIsApplied) {
  const http::Response refused = Apply(kConfig, "Strict");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(Message(refused),
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
            "  line 7: key \"a\" already set in map");
  const http::Response warned = Apply(kConfig, "Warn");
  EXPECT_EQ(warned.status, 201) << warned.body;
  EXPECT_THAT(WarningsOf(warned), ElementsAre(R"(299 - "line 7: key \"a\" already set in map")"));
  EXPECT_EQ(At(Json(warned), {"data", "a"}), "two");
  EXPECT_THAT(WarningsOf(Apply(kConfig, "Ignore")), IsEmpty());
}

TEST_F(DuplicateFieldsTest, AConfigInJsonIsYaml) {
  const std::string json =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"1","a":"2"}})";
  EXPECT_THAT(Message(Apply(json, "Strict")),
              HasSubstr("yaml: unmarshal errors:\n  line 1: key \"a\" already set in map"));
  EXPECT_THAT(WarningsOf(Apply(json, "Warn")),
              ElementsAre(R"(299 - "line 1: key \"a\" already set in map")"));
}

TEST_F(DuplicateFieldsTest, AConfigOfACustomResourceThatTakesAnyField) {
  const http::Response defined =
      Do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         R"({"metadata":{"name":"bolts.example.com"},"spec":{"group":"example.com",
            "scope":"Cluster","names":{"plural":"bolts","kind":"Bolt"},"versions":[{"name":"v1",
            "served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":
            {"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":
            {"foo":{"type":"string"}}}}}}}]}})");
  ASSERT_EQ(defined.status, 201) << defined.body;
  const std::string yaml =
      "\napiVersion: example.com/v1\nkind: Bolt\nmetadata:\n  name: b\nspec:\n  unknown: x\n"
      "  foo: one\n  foo: two\n  any:\n    a: 1\n    a: 2\n";
  const auto apply = [&](const std::string& validation) {
    return Do("PATCH", "/apis/example.com/v1/bolts/b?fieldManager=f&fieldValidation=" + validation,
              yaml, kApply);
  };
  const http::Response refused = apply("Strict");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(Message(refused), HasSubstr("yaml: unmarshal errors:\n"
                                          "  line 9: key \"foo\" already set in map\n"
                                          "  line 12: key \"a\" already set in map"));
  const http::Response warned = apply("Warn");
  EXPECT_EQ(warned.status, 201) << warned.body;
  EXPECT_THAT(WarningsOf(warned), ElementsAre(R"(299 - "line 9: key \"foo\" already set in map")",
                                              R"(299 - "line 12: key \"a\" already set in map")"));
  EXPECT_EQ(At(Json(warned), {"spec", "foo"}), "two");
  EXPECT_EQ(At(Json(warned), {"spec", "unknown"}), "x");
}

// When a schema has no properties, only the fields of every object are known.
TEST_F(DuplicateFieldsTest, ACustomResourceWhoseSchemaIsAnObjectAndNoMore) {
  const http::Response defined =
      Do("POST", testing::kDefinitions,
         R"({"metadata":{"name":"bolts.example.com"},"spec":{"group":"example.com",
            "scope":"Cluster","names":{"plural":"bolts","kind":"Bolt"},"versions":[{"name":"v1",
            "served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  ASSERT_EQ(defined.status, 201) << defined.body;
  const std::string bolts = "/apis/example.com/v1/bolts";
  const std::string bolt =
      R"({"apiVersion":"example.com/v1","kind":"Bolt","metadata":{"name":"b"},"spec":{"a":1}})";
  const http::Response refused = Do("POST", bolts + "?fieldValidation=Strict", bolt);
  EXPECT_EQ(refused.status, 400) << refused.body;
  EXPECT_THAT(Message(refused), HasSubstr("strict decoding error: unknown field \"spec\""));
  EXPECT_EQ(Do("GET", bolts + "/b").status, 404);
  for (const char* const validation : {"", "?fieldValidation=Warn"}) {  // It is the default.
    const http::Response made = Do("POST", bolts + validation, bolt);
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_THAT(WarningsOf(made), ElementsAre(R"(299 - "unknown field \"spec\"")"));
    EXPECT_EQ(At(Json(made), {"spec"}), "");
    EXPECT_EQ(Do("DELETE", bolts + "/b").status, 200);
  }
  const http::Response ignored = Do("POST", bolts + "?fieldValidation=Ignore", bolt);
  EXPECT_EQ(ignored.status, 201);
  EXPECT_THAT(WarningsOf(ignored), IsEmpty());
  JsonTree changed = Json(ignored);
  changed["spec"]["a"] = 2;
  const http::Response put = Do("PUT", bolts + "/b", changed.ToJson());
  EXPECT_EQ(put.status, 200) << put.body;
  EXPECT_THAT(WarningsOf(put), ElementsAre(R"(299 - "unknown field \"spec\"")"));
  EXPECT_EQ(Do("PUT", bolts + "/b?fieldValidation=Strict", changed.ToJson()).status, 400);
  const http::Response patched = Do("PATCH", bolts + "/b", R"({"spec":{"a":1}})", kMergePatch);
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_THAT(WarningsOf(patched), ElementsAre(R"(299 - "unknown field \"spec\"")"));
}

TEST_F(DuplicateFieldsTest, OfAStreamTheFirstDocumentIsApplied) {
  const http::Response made = Apply(std::string(kConfig) + "---\na: 1\na: 2\n", "Warn");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(WarningsOf(made), ElementsAre(R"(299 - "line 7: key \"a\" already set in map")"));
}

TEST_F(DuplicateFieldsTest, AJsonBody) {
  const std::string json = R"({"metadata":{"name":"m"},"data":{"a":"1","a":"2"}})";
  const http::Response refused = Do("POST", std::string(kMaps) + "?fieldValidation=Strict", json);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(Message(refused), HasSubstr("strict decoding error: duplicate field \"data.a\""));
  const http::Response warned = Do("POST", kMaps, json);
  EXPECT_EQ(warned.status, 201);
  EXPECT_THAT(WarningsOf(warned), ElementsAre(R"(299 - "duplicate field \"data.a\"")"));
  EXPECT_EQ(At(Json(warned), {"data", "a"}), "2");
}

TEST_F(DuplicateFieldsTest, TheParameterIsCheckedForProtobufToo) {
  api::core::v1::ConfigMap map;
  map.metadata.name = "m";
  std::string body;
  codec::WriteEnvelope("v1", "ConfigMap", codec::EncodeProtobuf(map), body);
  constexpr const char* kBodyType = "application/vnd.kubernetes.protobuf";
  const http::Response refused =
      Do("POST", std::string(kMaps) + "?fieldValidation=Sometimes", body, kBodyType);
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused), HasSubstr("fieldValidation: Unsupported value: \"Sometimes\""));
  EXPECT_EQ(Do("POST", std::string(kMaps) + "?fieldValidation=Strict", body, kBodyType).status,
            201);
}

TEST_F(DuplicateFieldsTest, AFieldManagerIsPrintable) {
  const std::string made = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})";
  const http::Response refused = Do("POST", std::string(kMaps) + "?fieldManager=a%0A", made);
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused),
              HasSubstr("fieldManager: Invalid value: \"a\\n\": invalid character U+000A (at "
                        "position 1)"));
  EXPECT_EQ(Do("POST", std::string(kMaps) + "?fieldManager=a%C2%A0", made).status, 422);
  EXPECT_EQ(Do("POST", std::string(kMaps) + "?fieldManager=caf%C3%A9%20au%20lait", made).status,
            201);
}

}  // namespace
}  // namespace kubexx::apiserver
