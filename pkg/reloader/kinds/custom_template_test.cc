#include "kubexx/reloader/kinds/custom_template.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

std::string Home(const CustomKind& kind, const std::string& object) {
  JsonTree tree = *JsonTree::Parse(object);
  TakeTemplateHome(kind, tree);
  return tree.ToJson();
}

std::string Away(const CustomKind& kind, const std::string& patch) {
  JsonTree tree = *JsonTree::Parse(patch);
  SendTemplateAway(kind, tree);
  return tree.ToJson();
}

TEST(CustomTemplateTest, ATemplateWhereADeploymentHasItStays) {
  const std::string object =
      R"({"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"f:template":{}}}}]},"spec":{"template":{"a":1}}})";
  EXPECT_EQ(Home({}, object), object);
  EXPECT_EQ(Away({}, object), object);
}

TEST(CustomTemplateTest, AnotherOneIsMovedWithItsManagedFields) {
  const CustomKind kind{.pod_template = {"spec", "pool", "pods"}};
  EXPECT_EQ(
      Home(
          kind,
          R"({"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"f:pool":{"f:size":{},"f:pods":{"f:a":{}}}}}},)"
          R"({"fieldsV1":{"f:spec":{"f:template":{"f:x":{}}}}},{"manager":"m"}]},)"
          R"("spec":{"template":"my-template","pool":{"size":3,"pods":{"a":1}}}})"),
      R"({"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"f:pool":{"f:size":{}},"f:template":{"f:a":{}}}}},)"
      R"({"fieldsV1":{"f:spec":{}}},{"manager":"m"}]},)"
      R"("spec":{"pool":{"size":3},"template":{"a":1}}})");
  EXPECT_EQ(Away(kind, R"({"metadata":{"annotations":{"b":"c"}},"spec":{"template":{"a":1}}})"),
            R"({"metadata":{"annotations":{"b":"c"}},"spec":{"pool":{"pods":{"a":1}}}})");
}

TEST(CustomTemplateTest, FieldsThatOnlyLedToItAreGone) {
  const CustomKind kind{.pod_template = {"spec", "pool", "pods"}};
  EXPECT_EQ(
      Home(kind,
           R"({"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"f:pool":{"f:pods":{}}}}}]},)"
           R"("spec":{"pool":{"pods":{}}}})"),
      R"({"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"f:template":{}}}}]},)"
      R"("spec":{"pool":{},"template":{}}})");
}

TEST(CustomTemplateTest, OneBelowSpecTemplateIsMovedToo) {
  const CustomKind kind{.pod_template = {"spec", "template", "spec", "pods"}};
  EXPECT_EQ(Home(kind, R"({"spec":{"template":{"spec":{"pods":{"a":1},"b":2}}}})"),
            R"({"spec":{"template":{"a":1}}})");
  EXPECT_EQ(Away(kind, R"({"spec":{"template":{"a":1}}})"),
            R"({"spec":{"template":{"spec":{"pods":{"a":1}}}}})");
}

TEST(CustomTemplateTest, AnObjectWithoutOneHasNone) {
  const CustomKind kind{.pod_template = {"spec", "pool", "pods"}};
  for (const char* object : {"{}", R"({"spec":{}})", R"({"spec":{"pool":{}}})",
                             R"({"spec":{"pool":"text"}})", R"({"metadata":{}})"}) {
    EXPECT_EQ(Home(kind, object), object);
    EXPECT_EQ(Away(kind, object), object);
  }
  EXPECT_EQ(Home(kind, R"({"spec":{"template":{"a":1}}})"), R"({"spec":{}})");
}

}  // namespace
}  // namespace kubexx::reloader
