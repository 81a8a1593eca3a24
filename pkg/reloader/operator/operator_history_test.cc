// Tests what an operator with --history writes together with rollouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/history/history.h"
#include "kubexx/reloader/testing/operator_fixture.h"

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::Not;

class OperatorHistory : public OperatorTest {
 protected:
  OperatorHistory() { history_ = 10; }

  void PutWritten(const std::string& value, const std::string& manager, std::int64_t at) {
    api::core::v1::ConfigMap config_map;
    config_map.metadata.namespace_ = "ns";
    config_map.metadata.name = "config";
    config_map.data = {{"key", value}, {"same", "1"}};
    config_map.metadata.managed_fields.push_back(
        {.manager = manager,
         .operation = "Update",
         .time = apimachinery::Time{.seconds = at},
         .fields_v1 = apimachinery::FieldsV1{R"({"f:data":{"f:key":{}}})"}});
    Put(*config_maps_, config_map);
  }
  /// Returns the history in a write, or std::nullopt when the write does not contain it.
  static std::optional<std::string> HistoryIn(const FakeWriter::Call& call) {
    const auto patch = codec::JsonTree::Parse(call.patch);
    const codec::JsonTree* text =
        patch ? patch->At({"metadata", "annotations", "reloader.kubexx.io/history"}) : nullptr;
    return text == nullptr ? std::nullopt
                           : std::optional(text->AsString() == nullptr ? std::string("removed")
                                                                       : *text->AsString());
  }
  static api::apps::v1::Deployment WithHistory(api::apps::v1::Deployment deployment,
                                               const std::string& text) {
    deployment.metadata.annotations[std::string(kHistoryAnnotation)] = text;
    return deployment;
  }
};

TEST_F(OperatorHistory, IsInTheRolloutsOwnWriteAndNotInTheTemplate) {
  PutWritten("1", "helm", 100);
  PutSecret("password", "x");
  Put(*deployments_, Web());
  StartOperator();
  PutWritten("2", "kubectl-edit", 200);
  AwaitEvents("configmaps", "update", 1);
  Settle();
  const auto calls = writer_.Await(1);
  const auto text = HistoryIn(calls[0]);
  ASSERT_TRUE(text) << calls[0].patch;
  const auto history = History::Parse(*text);
  ASSERT_TRUE(history) << history.error().ToString();
  EXPECT_EQ(history->owner, "uid-web");
  ASSERT_EQ(history->rollouts.size(), 1U);
  ASSERT_EQ(history->rollouts[0].sources.size(), 1U);
  const HistorySource& source = history->rollouts[0].sources[0];
  EXPECT_EQ(source.name, "config");
  ASSERT_TRUE(source.keys);
  ASSERT_EQ(source.keys->size(), 1U);
  EXPECT_EQ(source.keys->begin()->first, "key");
  ASSERT_TRUE(source.writer);
  EXPECT_EQ(source.writer->manager, "kubectl-edit");
  EXPECT_EQ(source.writer->time.seconds, 200);
  const auto patch = codec::JsonTree::Parse(calls[0].patch);
  ASSERT_TRUE(patch);
  EXPECT_THAT(patch->At({"spec"})->ToJson(), Not(HasSubstr("history")));
}

TEST_F(OperatorHistory, WithTheOtherStrategyIsNotInTheTemplateEither) {
  PutWritten("1", "helm", 100);
  PutSecret("password", "x");
  Put(*deployments_, Web());
  StartOperator(ReloadStrategy::kAnnotations);
  PutWritten("2", "helm", 200);
  AwaitEvents("configmaps", "update", 1);
  Settle();
  const auto calls = writer_.Await(1);
  EXPECT_TRUE(HistoryIn(calls[0])) << calls[0].patch;
  const auto patch = codec::JsonTree::Parse(calls[0].patch);
  ASSERT_TRUE(patch);
  EXPECT_THAT(patch->At({"spec"})->ToJson(), Not(HasSubstr("history")));
}

TEST_F(OperatorHistory, ThatIsBrokenIsReplaced) {
  PutWritten("1", "helm", 100);
  PutSecret("password", "x");
  Put(*deployments_, WithHistory(Web(), R"({"v":1,"of":"\u001b","rollouts":[[[)"));
  StartOperator();
  PutWritten("2", "helm", 200);
  AwaitEvents("configmaps", "update", 1);
  Settle();
  const auto text = HistoryIn(writer_.Await(1)[0]);
  ASSERT_TRUE(text);
  const auto history = History::Parse(*text);
  ASSERT_TRUE(history) << *text;
  EXPECT_EQ(history->rollouts.size(), 1U);
}

TEST_F(OperatorHistory, OfAWorkloadThatWasCopiedDoesNotCount) {
  PutWritten("1", "helm", 100);
  PutSecret("password", "x");
  const History other{.owner = "uid-api", .rollouts = std::vector<HistoryEntry>(3)};
  Put(*deployments_, WithHistory(Web(), other.ToString()));
  StartOperator();
  PutWritten("2", "helm", 200);
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_EQ(History::Parse(*HistoryIn(writer_.Await(1)[0]))->rollouts.size(), 1U);
}

TEST_F(OperatorHistory, IsLeftOutWhereTheServerDoesNotAcceptIt) {
  recording_ = BaselineRecording::kNever;
  PutWritten("1", "helm", 100);
  PutSecret("password", "x");
  Put(*deployments_, Web());
  writer_.Fail(kWeb, {apimachinery::Reason::kInvalid, "annotations: too long", 422});
  StartOperator();
  PutWritten("2", "helm", 200);
  AwaitEvents("configmaps", "update", 1);
  Settle();
  const auto calls = writer_.Await(2);
  EXPECT_TRUE(HistoryIn(calls[0]));
  EXPECT_FALSE(HistoryIn(calls[1])) << "the rollout matters more";
}

TEST_F(OperatorHistory, ThatIsNotAcceptedTakesNoBaselineWithIt) {
  PutWritten("1", "helm", 100);
  PutSecret("password", "x");
  Put(*deployments_, Web());
  writer_.FailHistories({apimachinery::Reason::kInvalid, "annotations: too long", 422});
  StartOperator();
  PutWritten("2", "helm", 200);
  AwaitEvents("configmaps", "update", 1);
  Settle();
  const auto calls = writer_.Await(2);
  EXPECT_FALSE(HistoryIn(calls[1]));
  EXPECT_NE(calls[1].baseline, "") << "there is room for it without the history";
  AwaitReconciles("success", 1);
  EXPECT_EQ(writer_.calls().size(), 2U);
}

TEST_F(OperatorHistory, IsTakenAwayWithTheNextRolloutWhenNobodyKeepsIt) {
  history_ = 0;
  PutWritten("1", "helm", 100);
  PutSecret("password", "x");
  Put(*deployments_, WithHistory(Web(), History{.owner = "uid-web", .rollouts = {{}}}.ToString()));
  StartOperator();
  PutWritten("2", "helm", 200);
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_EQ(HistoryIn(writer_.Await(1)[0]), "removed");
}

TEST_F(OperatorHistory, IsNotWrittenUnlessAskedFor) {
  history_ = 0;
  PutWritten("1", "helm", 100);
  PutSecret("password", "x");
  Put(*deployments_, Web());
  StartOperator();
  PutWritten("2", "helm", 200);
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_FALSE(HistoryIn(writer_.Await(1)[0]));
}

}  // namespace
}  // namespace kubexx::reloader
