#include "kubexx/apiserver/endpoints/call/field_validation.h"

#include <gmock/gmock.h>

#include "kubexx/api/apps/v1/types.gen.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> DuplicateFields(const std::string& json) {
  return FieldFaults(managedfields::Type::Anything(), json);
}

TEST(FieldFaultsTest, DuplicatesHaveTheirPaths) {
  EXPECT_THAT(DuplicateFields(R"({"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]})"), IsEmpty());
  EXPECT_THAT(DuplicateFields(R"({"a" : 1 , "b":"\"a\":", "a":[ ],"c":null})"),
              ElementsAre(R"(duplicate field "a")"));
  EXPECT_THAT(DuplicateFields(R"({"s":{"l":[{},{"x":-1.5e3,"x":true}]},"s":{}})"),
              ElementsAre(R"(duplicate field "s.l[1].x")", R"(duplicate field "s")"));
  EXPECT_THAT(DuplicateFields("[1,2]"), IsEmpty());
  EXPECT_THAT(DuplicateFields(R"("a")"), IsEmpty());
}

TEST(FieldFaultsTest, AreNotTooMany) {
  std::string json = "[";
  for (int i = 0; i < 1000; ++i) {
    json += R"({"a":1,"a":2},)";
  }
  json.back() = ']';
  EXPECT_THAT(DuplicateFields(json), SizeIs(100));
}

TEST(FieldFaultsTest, AreInTheOrderOfTheText) {
  const auto type = managedfields::Type::Builtin(codec::SchemaOf<api::apps::v1::Deployment>());
  EXPECT_THAT(FieldFaults(type, R"({"metadata":{"foo":{"a":1,"a":2}},"spec":{"replicas":1,
                                    "replicas":2},"x":[{"y":1}],"spec":{"z":1}})"),
              ElementsAre(R"(unknown field "metadata.foo")", R"(duplicate field "spec.replicas")",
                          R"(unknown field "x")", R"(duplicate field "spec")",
                          R"(unknown field "spec.z")"));
}

TEST(UnknownFieldsTest, HaveTheirPaths) {
  const auto type = managedfields::Type::Builtin(codec::SchemaOf<api::apps::v1::Deployment>());
  const auto object = JsonTree::Parse(R"({"apiVersion":"apps/v1","kind":"Deployment","x":1,
      "metadata":{"name":"a","labels":{"anything":"y"}},
      "spec":{"foo":{"bar":1},"template":{"spec":{"containers":[{"name":"a"},
        {"imagee":"b","resources":{"limits":{"cpu":"1"}}}]}}}})");
  ASSERT_TRUE(object);
  EXPECT_THAT(UnknownFields(type, *object),
              ElementsAre(R"(unknown field "x")", R"(unknown field "spec.foo")",
                          R"(unknown field "spec.template.spec.containers[1].imagee")"));
}

TEST(UnknownFieldsTest, SchemasWithoutPropertiesHaveNone) {
  const auto schema = JsonTree::Parse(R"({"type":"object","properties":{"spec":{"type":"object"},
      "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
      "map":{"type":"object","additionalProperties":{"type":"string"}}}})");
  ASSERT_TRUE(schema);
  const std::string json = R"({"apiVersion":"v1","kind":"Bolt","metadata":{"name":"a"},
      "spec":{"foo":{"bar":1}},"open":{"a":{"b":1}},"map":{"a":"b"},"x":1})";
  const auto object = JsonTree::Parse(json);
  ASSERT_TRUE(object);
  const auto type = managedfields::Type::Custom(&*schema);
  EXPECT_THAT(UnknownFields(type, *object),
              ElementsAre(R"(unknown field "spec.foo")", R"(unknown field "x")"));
  EXPECT_THAT(FieldFaults(type, json),
              ElementsAre(R"(unknown field "spec.foo")", R"(unknown field "x")"));
  const auto bare = JsonTree::Parse(R"({"type":"object"})");
  ASSERT_TRUE(bare);
  EXPECT_THAT(FieldFaults(managedfields::Type::Custom(&*bare), R"({"kind":"Bolt","spec":{"a":1}})"),
              ElementsAre(R"(unknown field "spec")"));
}

}  // namespace
}  // namespace kubexx::apiserver
