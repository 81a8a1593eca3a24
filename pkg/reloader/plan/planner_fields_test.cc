// Tests plans for sources of described kinds: what a new description means for what was recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

SourceType Describe(std::initializer_list<const char*> fields) {
  SourceKind kind{.group = "plan.example.com",
                  .version = "v1",
                  .kind = "PlanCertificate",
                  .resource = "plancertificates"};
  for (const char* field : fields) {
    kind.fields.push_back(ObjectField::Parse(field).value());
  }
  AddSourceKinds({kind});
  return TypeCalled(&SourceTypeNames::kind, "PlanCertificate").value();
}

std::string MarkOf(SourceType type) { return DescribedBy(type)->mark; }

class PlannerFieldsTest : public testing::Test, public DigestsOver {
 protected:
  PlannerFieldsTest() {
    workload_.id = {WorkloadKind::kDeployment, {"ns", "web"}};
    workload_.uid = "u";
    workload_.annotations = {{std::string(kReloadOn), "PlanCertificate/web-tls"}};
    workload_.containers = {{.name = "app"}};
  }

  std::optional<Digest> Over(const SourceId&, std::string_view) override { return std::nullopt; }
  std::optional<apimachinery::Time> WrittenAt(const SourceId&) override { return written_; }
  void Put(const std::string& value) {
    sources_[id_] = {.id = id_, .digest = DigestOf(value), .resource_version = 7};
  }
  void Record(const std::string& text) {
    workload_.annotations[std::string(kBaselineAnnotation)] = text;
  }
  /// What a baseline has that was written under the present description.
  std::string Recorded(const std::string& value) const {
    return "v1 u plancertificate." + MarkOf(type_) + "/web-tls=" + DigestOf(value).ToString();
  }
  /// Likewise while a rollout for other data waits.
  std::string RecordedAsDue(const Digest& digest) const {
    return "v1 u plancertificate." + MarkOf(type_) + ".due/web-tls=" + digest.ToString();
  }
  Plan Make(const Knowledge& known = {}) {
    const auto get = [this](const SourceId& id) {
      const auto found = sources_.find(id);
      return found == sources_.end() ? std::nullopt : std::optional(found->second);
    };
    const auto names = [](SourceType) { return std::vector<std::string>{"web-tls"}; };
    return MakePlan(workload_, SourceLookup{get, names, this}, known, rules_, patterns_);
  }

  const SourceType type_ = Describe({"status.revision"});
  const SourceId id_{type_, {"ns", "web-tls"}};
  Workload workload_;
  std::map<SourceId, Source> sources_;
  std::optional<apimachinery::Time> written_;
  DecisionRules rules_{.source_kinds = {"PlanCertificate"}};
  PatternCache patterns_;
};

TEST_F(PlannerFieldsTest, AFirstSightIsRecordedAndRollsNothing) {
  Put("1");
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  EXPECT_EQ(plan.baseline.ToString(), Recorded("1"));
}

TEST_F(PlannerFieldsTest, AnotherDigestThanTheRecordedOneRolls) {
  Record(Recorded("1"));
  Put("1");
  EXPECT_THAT(Make().changes, IsEmpty());
  Put("2");
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].variable, "STAKATER_WEB_TLS_PLANCERTIFICATE");
  EXPECT_EQ(plan.changes[0].container, "app");
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(id_));
}

TEST_F(PlannerFieldsTest, WhatIsNotThereYetIsAsASourceThatIsCreated) {
  rules_.reload_on_create = true;
  const Plan first = Make();
  EXPECT_THAT(first.changes, IsEmpty());
  EXPECT_EQ(first.baseline.ToString(), "v1 u plancertificate." + MarkOf(type_) + "/web-tls=-");
  Record(first.baseline.ToString());
  Put("1");
  EXPECT_EQ(Make().changes.size(), 1U);
  rules_.reload_on_create = false;
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(PlannerFieldsTest, ANewDescriptionRollsNothingAndIsRecorded) {
  const std::string before = Recorded("1");
  Record(before);
  Describe({"status.revision", "status.at"});
  Put("both");
  workload_.containers[0].variables = {
      {"STAKATER_WEB_TLS_PLANCERTIFICATE", DigestOf("1").ToString()}};
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record && plan.is_news);
  EXPECT_EQ(plan.baseline.ToString(), Recorded("both"));
  // The same process sees a change before the new record is written.
  Put("changed");
  Knowledge known;
  known.pairs[id_] = {.kind = Kind::kConfirmed, .digest = DigestOf("both")};
  EXPECT_EQ(Make(known).changes.size(), 1U);
  known.pairs[id_] = {.kind = Kind::kObserved, .digest = DigestOf("both")};
  EXPECT_EQ(Make(known).changes.size(), 1U);
  Record(Recorded("both"));
  EXPECT_EQ(Make().changes.size(), 1U) << "from then on the record is about the present fields";
}

TEST_F(PlannerFieldsTest, ARecordOfOtherFieldsStaysWhileTheSourceIsUnknown) {
  const std::string before = Recorded("1");
  Record(before);
  Describe({"status.at"});
  sources_[id_] = {.id = id_, .unknown = true};
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_EQ(plan.baseline.ToString(), before);
  Describe({"status.revision"});
}

TEST_F(PlannerFieldsTest, ARecordOfOtherFieldsStaysUntilTheSourceHasThePresentOnes) {
  const std::string before = Recorded("1");
  Record(before);
  Describe({"status.revision", "status.at"});
  for (const bool on_delete : {false, true}) {
    rules_.reload_on_delete = on_delete;
    for (const char* list : {"PlanCertificate/web-tls", "PlanCertificate/web-.*"}) {
      workload_.annotations[std::string(kReloadOn)] = list;
      const Plan plan = Make();
      EXPECT_THAT(plan.changes, IsEmpty()) << list;
      EXPECT_FALSE(plan.record) << list;
      EXPECT_EQ(plan.baseline.ToString(), before) << list;
    }
  }
  Put("both");
  EXPECT_THAT(Make().changes, IsEmpty()) << "the first value of the new field is no change";
  EXPECT_EQ(Make().baseline.ToString(), Recorded("both"));
  // This process knew the source under the present fields before it was deleted.
  sources_.clear();
  rules_.by_variables = false;
  Knowledge known;
  known.pairs[id_] = {.kind = Kind::kConfirmed, .digest = DigestOf("both")};
  EXPECT_EQ(Make(known).changes.size(), 1U);
  Describe({"status.revision"});
}

// The baseline of a rollout leaves open whether its pods began with data that have gone since.
TEST_F(PlannerFieldsTest, ANewDescriptionRollsNothingSoonAfterARolloutEither) {
  workload_.template_written = workload_.own_written = apimachinery::Time{.seconds = 100};
  written_ = apimachinery::Time{.seconds = 130};
  Record("v2 u 0" + Recorded("1").substr(4) + "@5");
  Put("1");
  EXPECT_EQ(Make().changes.size(), 1U) << "under the same description it has been written since";
  Describe({"status.revision", "spec.x"});
  sources_.clear();
  EXPECT_THAT(Make().changes, IsEmpty());
  Put("both");
  EXPECT_THAT(Make().changes, IsEmpty());
  Describe({"status.revision"});
}

// A policy, a pause or a limit holds the rollout back while the operator gets another description.
TEST_F(PlannerFieldsTest, ARolloutThatWaitsOutlivesItsDescription) {
  Record(Recorded("1"));
  Put("2");
  const std::string due = RecordedAsDue(DigestOf("1"));
  const Plan waiting = Make();
  EXPECT_TRUE(waiting.record && waiting.is_news);
  EXPECT_EQ(BaselineAfter(waiting, {}), due);
  Record(due);
  EXPECT_FALSE(Make().record) << "once is enough";
  Put("1");
  EXPECT_THAT(Make().changes, IsEmpty());
  EXPECT_EQ(BaselineAfter(Make(), {}), Recorded("1")) << "it waits no more";

  Describe({"status.revision", "status.at"});
  sources_.clear();
  EXPECT_THAT(Make().changes, IsEmpty()) << "it has not all fields yet";
  EXPECT_EQ(Make().baseline.ToString(), due);
  Put("both");
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(id_));
  const std::string waits_on = BaselineAfter(plan, {});
  EXPECT_EQ(waits_on, RecordedAsDue(UnknownData()));
  EXPECT_EQ(BaselineAfter(plan, plan.changes), Recorded("both")) << "it is rolled once";
  Record(waits_on);
  EXPECT_FALSE(Make().record);
  EXPECT_EQ(Make().changes.size(), 1U);
  // And over the next description.
  Describe({"status.at"});
  Put("at");
  EXPECT_EQ(Make().changes.size(), 1U);
  Knowledge known;
  known.pairs[id_] = {.kind = Kind::kObserved, .digest = DigestOf("at")};
  EXPECT_EQ(Make(known).changes.size(), 1U) << "a change that came first does not settle it";
  // Nobody knows whether it was deleted, or never had the new field: the rollout is due either way.
  sources_.clear();
  rules_.reload_on_delete = true;
  rules_.by_variables = false;
  EXPECT_EQ(Make().changes.size(), 1U);
  Describe({"status.revision"});
}

// The flag is off for a while, or another operator looks after the workload's ConfigMaps.
TEST_F(PlannerFieldsTest, WhatIsRecordedOfAKindOfOthersIsLeftAlone) {
  const std::string of_others =
      Recorded("1").substr(4) + " plansecret.0a1b2c3d/db=" + DigestOf("1").ToString();
  Record("v1 u" + of_others);
  Put("2");
  rules_.source_kinds = {};
  const Plan idle = Make();
  EXPECT_THAT(idle.changes, IsEmpty());
  EXPECT_FALSE(idle.record) << "entries of others are no reason to write";
  // One of its own.
  const SourceId config{SourceType::kConfigMap, {"ns", "config"}};
  workload_.annotations["configmap.reloader.stakater.com/reload"] = "config";
  sources_[config] = {.id = config, .digest = DigestOf("c"), .resource_version = 7};
  const Plan plan = Make();
  EXPECT_TRUE(plan.record);
  const std::string own = "v1 u configmap/config=" + DigestOf("c").ToString();
  EXPECT_EQ(plan.baseline.ToString(), own + of_others);
  // They go with the last name of such an object.
  workload_.annotations.erase(std::string(kReloadOn));
  EXPECT_EQ(Make().baseline.ToString(), own);
  workload_.template_annotations[std::string(kReloadOn)] = "PlanCertificate/web-tls";
  EXPECT_EQ(Make().baseline.ToString(), own + of_others);
}

}  // namespace
}  // namespace kubexx::reloader
