#include "kubexx/reloader/write/patch.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

TEST(StrategicMergePatch, SetsOneVariable) {
  const WorkloadWrite write{
      .variables = {{.container = "app", .name = "STAKATER_A_CONFIGMAP", .value = "01"}}};
  EXPECT_EQ(StrategicMergePatch(write),
            R"({"spec":{"template":{"spec":{"containers":[{"name":"app","env":[)"
            R"({"name":"STAKATER_A_CONFIGMAP","value":"01","valueFrom":null}]}]}}}})")
      << "a value beside a valueFrom is refused";
}

TEST(StrategicMergePatch, GroupsByContainer) {
  const WorkloadWrite write{.variables = {{.container = "b", .name = "X", .value = "1"},
                                          {.container = "a", .name = "Y", .value = "2"},
                                          {.container = "b", .name = "Z", .value = "3"}}};
  EXPECT_EQ(StrategicMergePatch(write),
            R"({"spec":{"template":{"spec":{"containers":[)"
            R"({"name":"a","env":[{"name":"Y","value":"2","valueFrom":null}]},)"
            R"({"name":"b","env":[{"name":"X","value":"1","valueFrom":null},)"
            R"({"name":"Z","value":"3","valueFrom":null}]}]}}}})");
}

TEST(StrategicMergePatch, RemovesAVariable) {
  const WorkloadWrite write{.variables = {{.container = "a", .name = "X"}}};
  EXPECT_EQ(StrategicMergePatch(write),
            R"({"spec":{"template":{"spec":{"containers":[{"name":"a","env":[)"
            R"({"name":"X","$patch":"delete"}]}]}}}})");
}

TEST(StrategicMergePatch, IsForOneVersionWhenItNamesOne) {
  EXPECT_EQ(StrategicMergePatch({.resource_version = "7", .paused = false}),
            R"({"metadata":{"resourceVersion":"7"},"spec":{"paused":false}})");
}

TEST(StrategicMergePatch, SetsAndRemovesAnnotationsBesides) {
  const WorkloadWrite write{.template_annotations = {{"from", "x"}},
                            .annotations = {{"a", "1"}, {"b", std::nullopt}},
                            .paused = true};
  EXPECT_EQ(StrategicMergePatch(write),
            R"({"metadata":{"annotations":{"a":"1","b":null}},)"
            R"("spec":{"paused":true,"template":{"metadata":{"annotations":{"from":"x"}}}}})");
}

TEST(StrategicMergePatch, EscapesWhateverComes) {
  const WorkloadWrite write{.variables = {{.container = "a\"\\\n\x01", .name = "X", .value = ""}}};
  EXPECT_EQ(StrategicMergePatch(write),
            R"({"spec":{"template":{"spec":{"containers":[{"name":"a\"\\\n\u0001","env":[)"
            R"({"name":"X","value":"","valueFrom":null}]}]}}}})");
}

TEST(WorkloadWrite, AnnotationsOfTheObjectAloneRollNothing) {
  EXPECT_TRUE(WorkloadWrite{}.empty());
  EXPECT_FALSE((WorkloadWrite{.annotations = {{"a", "1"}}}.Rolls()));
  EXPECT_FALSE((WorkloadWrite{.annotations = {{"a", "1"}}}.empty()));
  EXPECT_TRUE((WorkloadWrite{.template_annotations = {{"a", "1"}}}.Rolls()));
}

}  // namespace
}  // namespace kubexx::reloader
