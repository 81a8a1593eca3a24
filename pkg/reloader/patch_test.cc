#include "kubexx/reloader/patch.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

TEST(StrategicMergePatch, SetsOneVariable) {
  EXPECT_EQ(StrategicMergePatch(
                {{.container = "app", .variable = "STAKATER_A_CONFIGMAP", .value = "01"}}),
            R"({"spec":{"template":{"spec":{"containers":[{"name":"app","env":[)"
            R"({"name":"STAKATER_A_CONFIGMAP","value":"01"}]}]}}}})");
}

TEST(StrategicMergePatch, GroupsByContainer) {
  EXPECT_EQ(
      StrategicMergePatch({{.container = "b", .variable = "X", .value = "1"},
                           {.container = "a", .variable = "Y", .value = "2"},
                           {.container = "b", .variable = "Z", .value = "3"}}),
      R"({"spec":{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"}]},)"
      R"({"name":"b","env":[{"name":"X","value":"1"},{"name":"Z","value":"3"}]}]}}}})");
}

TEST(StrategicMergePatch, EscapesWhateverComes) {
  EXPECT_EQ(
      StrategicMergePatch({{.container = "a\"\\\n", .variable = "X", .value = ""}}),
      R"({"spec":{"template":{"spec":{"containers":[{"name":"a\"\\\u000a","env":[{"name":"X","value":""}]}]}}}})");
}

}  // namespace
}  // namespace kubexx::reloader
