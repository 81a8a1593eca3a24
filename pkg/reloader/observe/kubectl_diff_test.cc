#include "kubexx/reloader/observe/kubectl_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

using codec::JsonTree;
using testing::ElementsAre;
using testing::IsEmpty;

JsonTree Parsed(std::string_view text) { return JsonTree::Parse(text).value(); }

TEST(KubectlDiff, ReadsFromMasksWhichValuesChange) {
  const JsonTree live = Parsed(R"x({"data":{"kept":"***","other":"*** (before)","gone":"***"}})x");
  JsonTree merged =
      Parsed(R"x({"data":{"kept":"***","other":"*** (after)","new":"***","plain":"YQ=="}})x");
  const MaskedData masked = MaskedDataOf(&live, merged);
  EXPECT_THAT(masked.kept, ElementsAre("kept"));
  EXPECT_THAT(masked.changed, ElementsAre("new", "other"));
  FillMasked(masked, Parsed(R"({"data":{"kept":"YQ==","other":"Yg==","gone":"Yw=="}})"), merged);
  EXPECT_EQ(merged.Find("data")->TextAt("kept"), "YQ==");
  EXPECT_NE(merged.Find("data")->TextAt("other"), "Yg==");
  EXPECT_NE(merged.Find("data")->TextAt("new"), "");
  EXPECT_EQ(merged.Find("data")->TextAt("plain"), "YQ==");
}

TEST(KubectlDiff, TakesAllKeysOfANewSecretForNew) {
  const JsonTree merged = Parsed(R"({"data":{"a":"***"}})");
  EXPECT_THAT(MaskedDataOf(nullptr, merged).changed, ElementsAre("a"));
  EXPECT_TRUE(MaskedDataOf(nullptr, Parsed("{}")).empty());
  EXPECT_TRUE(MaskedDataOf(nullptr, Parsed(R"({"data":{"a":1,"b":"YQ=="}})")).empty());
}

}  // namespace
}  // namespace kubexx::reloader
