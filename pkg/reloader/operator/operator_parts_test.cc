#include "kubexx/reloader/operator/operator_parts.h"

#include <gtest/gtest.h>

#include "kubexx/base/executor/executor.h"

namespace kubexx::reloader {
namespace {

TEST(OperatorPartsTest, NothingIsRecordedInADryRunOrWhereNobodyWantsIt) {
  metrics::Registry registry;
  Config config;
  config.dry_run = false;
  config.record_baseline = true;
  EXPECT_EQ(OperatorOptionsFor(config, nullptr, registry).record_baselines,
            BaselineRecording::kAlways);
  config.dry_run = true;
  EXPECT_EQ(OperatorOptionsFor(config, nullptr, registry).record_baselines,
            BaselineRecording::kNever);
  config.dry_run = false;
  config.record_baseline = false;
  EXPECT_EQ(OperatorOptionsFor(config, nullptr, registry).record_baselines,
            BaselineRecording::kNever);
}

TEST(OperatorPartsTest, TheServerIsToldTheProgramAndItsVersion) {
  Config config;
  config.qps = 7;
  const rest::Config connection = ConnectionFor(config, {.host = "http://there"}, "1.2");
  EXPECT_EQ(connection.host, "http://there");
  EXPECT_EQ(connection.user_agent, "kubexx-reloader/1.2");
  EXPECT_EQ(connection.qps, 7);
}

TEST(OperatorPartsTest, PoliciesOfADryRunAreNotWrittenTo) {
  metrics::Registry registry;
  Refusals refusals(&registry);
  const auto executor = std::make_shared<base::Executor>();
  const auto served = std::make_shared<ServedApis>(nullptr);
  Config config;
  config.dry_run = true;
  config.namespaces = {"one"};
  const Policies::Options options = PolicyOptionsFor(
      config, {.refusals = refusals, .served = served, .registry = registry, .executor = executor});
  EXPECT_TRUE(options.read_only);
  EXPECT_EQ(options.namespaces, config.namespaces);
  EXPECT_EQ(options.refusals, &refusals);
  EXPECT_EQ(options.served, served);
  EXPECT_EQ(options.executor, executor);
}

TEST(OperatorPartsTest, DataAreRestoredOnlyWhereAFlagAllowsIt) {
  metrics::Registry registry;
  Refusals refusals(&registry);
  const WatchParts parts{.refusals = refusals,
                         .served = std::make_shared<ServedApis>(nullptr),
                         .registry = registry,
                         .executor = std::make_shared<base::Executor>()};
  Config config;
  EXPECT_FALSE(PolicyOptionsFor(config, parts).allow_restore);
  config.allow_restore = true;
  config.meta_info.namespace_ = "ops";
  config.rules.keys.ignore = "example.com/ignore";
  EXPECT_TRUE(PolicyOptionsFor(config, parts).allow_restore);
  EXPECT_EQ(PolicyOptionsFor(config, parts).own_namespace, "ops");
  EXPECT_EQ(PolicyOptionsFor(config, parts).ignore_annotation, "example.com/ignore");
}

}  // namespace
}  // namespace kubexx::reloader
