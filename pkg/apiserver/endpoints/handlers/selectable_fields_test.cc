// Tests field selectors of custom resources.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;
using testing::kDefinitions;

class SelectableFieldsTest : public testing::ApiFixture {
 protected:
  void Define() {
    const http::Response made = Do("POST", kDefinitions, R"({
      "metadata":{"name":"gears.example.com"},
      "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gears","kind":"Gear"},
       "versions":[{"name":"v1","served":true,"storage":true,
        "selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.teeth"},{"jsonPath":".spec.on"}],
        "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
          "color":{"type":"string"},"teeth":{"type":"integer"},"on":{"type":"boolean"},"size":{"type":"string"}}}}}}},
        {"name":"v2","served":true,"storage":false,
         "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
    ASSERT_EQ(made.status, 201) << made.body;
    ASSERT_NO_FATAL_FAILURE(Make("red", R"({"color":"red","teeth":8,"on":true})"));
    ASSERT_NO_FATAL_FAILURE(Make("blue", R"({"color":"blue","teeth":8,"on":false})"));
    ASSERT_NO_FATAL_FAILURE(Make("bare", "{}"));
  }
  void Make(const std::string& name, const std::string& spec) {
    const http::Response made =
        Do("POST", Gears("v1"),
           R"({"apiVersion":"example.com/v1","kind":"Gear","metadata":{"name":")" + name +
               R"("},"spec":)" + spec + "}");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  static std::string Gears(const std::string& version) {
    return "/apis/example.com/" + version + "/namespaces/default/gears";
  }
  /// Returns the names of the objects that match.
  std::string Found(const std::string& selector, const std::string& more = "") {
    return NamesListed(Gears("v1") + "?fieldSelector=" + selector + more);
  }
};

TEST_F(SelectableFieldsTest, SelectObjectsByTheirValues) {
  Define();
  // From the storage, and from the cache.
  for (const char* const more : {"", "&resourceVersion=0"}) {
    EXPECT_EQ(Found("spec.color%3Dred", more), "red ");
    EXPECT_EQ(Found("spec.color!%3Dred", more), "bare blue ");
    EXPECT_EQ(Found("spec.teeth%3D8", more), "blue red ");
    EXPECT_EQ(Found("spec.teeth%3D8,spec.on%3Dfalse", more), "blue ");
    EXPECT_EQ(Found("spec.color%3D", more), "bare ");
    EXPECT_EQ(Found("spec.on%3Dtrue,metadata.name%3Dred", more), "red ");
  }
}

TEST_F(SelectableFieldsTest, OthersAreNone) {
  Define();
  for (const char* const target :
       {"?fieldSelector=spec.size%3Dx", "?fieldSelector=.spec.color%3Dred"}) {
    const http::Response refused = Do("GET", Gears("v1") + target);
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_THAT(Message(refused), HasSubstr("field label not supported"));
  }
  EXPECT_EQ(Do("GET", Gears("v2") + "?fieldSelector=spec.color%3Dred").status, 400);
}

TEST_F(SelectableFieldsTest, ACollectionIsDeletedByThem) {
  Define();
  EXPECT_EQ(Do("DELETE", Gears("v1") + "?fieldSelector=spec.teeth%3D8").status, 200);
  EXPECT_EQ(Found("metadata.name!%3Dx"), "bare ");
}

TEST_F(SelectableFieldsTest, ANewDefinitionCountsAtOnce) {
  Define();
  const std::string path = std::string(kDefinitions) + "/gears.example.com";
  JsonTree definition = Json(Do("GET", path));
  JsonTree field = JsonTree::Object();
  field["jsonPath"] = ".spec.size";
  definition["spec"]["versions"].elements()[0]["selectableFields"].Append(std::move(field));
  ASSERT_EQ(Do("PUT", path, definition.ToJson()).status, 200);
  ASSERT_NO_FATAL_FAILURE(Make("big", R"({"size":"big"})"));
  EXPECT_EQ(Found("spec.size%3Dbig"), "big ");
  EXPECT_EQ(Found("spec.size%3Dbig", "&resourceVersion=0"), "big ");
}

}  // namespace
}  // namespace kubexx::apiserver
