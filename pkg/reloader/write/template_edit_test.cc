#include "kubexx/reloader/write/template_edit.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

std::string Edited(const WorkloadWrite& write, std::string_view pod_template) {
  JsonTree tree = *JsonTree::Parse(pod_template);
  const auto edited = EditTemplate(write, tree);
  EXPECT_TRUE(edited) << edited.error().ToString();
  return tree.ToJson();
}

TEST(EditTemplate, AddsAVariableAndKeepsTheRest) {
  const WorkloadWrite write{.variables = {{"b", "X", "1"}}};
  EXPECT_EQ(Edited(write, R"({"spec":{"containers":[{"name":"a"},{"name":"b","unknown":1}]}})"),
            R"({"spec":{"containers":[{"name":"a"},)"
            R"({"name":"b","unknown":1,"env":[{"name":"X","value":"1"}]}]}})");
}

TEST(EditTemplate, ChangesAVariableInItsPlace) {
  const WorkloadWrite write{.variables = {{"a", "X", "2"}}};
  EXPECT_EQ(Edited(write, R"({"spec":{"containers":[{"name":"a","env":[)"
                          R"({"name":"X","valueFrom":{}},{"name":"Y","value":"y"}]}]}})"),
            R"({"spec":{"containers":[{"name":"a","env":[)"
            R"({"name":"X","value":"2"},{"name":"Y","value":"y"}]}]}})");
}

TEST(EditTemplate, RemovesAVariable) {
  const WorkloadWrite write{.variables = {{"a", "X", std::nullopt}, {"a", "Z", std::nullopt}}};
  EXPECT_EQ(Edited(write, R"({"spec":{"containers":[{"name":"a","env":[)"
                          R"({"name":"X","value":"1"},{"name":"Y","value":"y"}]}]}})"),
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"y"}]}]}})");
}

TEST(EditTemplate, SetsAndRemovesAnnotations) {
  const WorkloadWrite write{.template_annotations = {{"a", "1"}, {"b", std::nullopt}}};
  EXPECT_EQ(Edited(write, "{}"), R"({"metadata":{"annotations":{"a":"1"}}})");
  EXPECT_EQ(Edited(write, R"({"metadata":{"annotations":{"b":"2","c":"3"}}})"),
            R"({"metadata":{"annotations":{"c":"3","a":"1"}}})");
}

TEST(EditTemplate, AContainerThatIsGoneIsAConflict) {
  for (const char* text : {"{}", R"({"spec":{}})", R"({"spec":{"containers":[{"name":"b"}]}})"}) {
    JsonTree tree = *JsonTree::Parse(text);
    const auto edited = EditTemplate({.variables = {{"a", "X", "1"}}}, tree);
    ASSERT_FALSE(edited) << text;
    EXPECT_EQ(edited.error().reason, apimachinery::Reason::kConflict);
  }
}

}  // namespace
}  // namespace kubexx::reloader
