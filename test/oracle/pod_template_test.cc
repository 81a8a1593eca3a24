#include "oracle/pod_template.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::oracle {
namespace {

std::string OthersPartOfText(std::string_view text) {
  const auto parsed = codec::JsonTree::Parse(std::string(text));
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? OthersPartOf(*parsed) : "";
}

// kube-apiserver writes "env" between the fields of a container, in the order of their Go type.
TEST(PodTemplateTest, AFirstVariableOfOperatorsLeavesTheRestAsItWas) {
  EXPECT_EQ(
      OthersPartOfText(
          R"({"spec":{"containers":[{"name":"c","env":[{"name":"STAKATER_A_CONFIGMAP","value":"1"}],"image":"i"}]}})"),
      OthersPartOfText(R"({"spec":{"containers":[{"name":"c","image":"i"}]}})"));
}

TEST(PodTemplateTest, VariablesOfOthersCount) {
  const std::string without =
      R"({"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"}],"image":"i"}]}})";
  EXPECT_EQ(
      OthersPartOfText(
          R"({"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"},{"name":"STAKATER_A_CONFIGMAP","value":"1"}],"image":"i"}]}})"),
      OthersPartOfText(without));
  EXPECT_NE(
      OthersPartOfText(
          R"({"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"2"}],"image":"i"}]}})"),
      OthersPartOfText(without));
}

TEST(WrongInHistory, IsANewestRolloutForOtherDataThanTheTemplateNames) {
  const std::string history =
      R"({"v":1,"of":"u","rollouts":[{"at":"2026-01-02T00:00:00Z","outcome":"rolling","sources":[)"
      R"({"source":"configmap/s","digest":"0123456789ab"}]},{"at":"2026-01-01T00:00:00Z","outcome":"done",)"
      R"("sources":[{"source":"configmap/s","digest":"ffffffffffff"}]}]})";
  EXPECT_EQ(WrongInHistory(history, "u", "STAKATER_S_CONFIGMAP=0123456789abcdef "), "");
  EXPECT_NE(WrongInHistory(history, "u", "STAKATER_S_CONFIGMAP=ffffffffffffffff "), "");
  EXPECT_NE(WrongInHistory(history, "other", "STAKATER_S_CONFIGMAP=0123456789abcdef "), "");
  EXPECT_NE(WrongInHistory("{", "u", ""), "");
  EXPECT_NE(WrongInHistory(R"({"v":1,"of":"u","rollouts":[]})", "u", ""), "");
}

}  // namespace
}  // namespace kubexx::oracle
