#include "kubexx/reloader/observe/explain.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/in_place/reload_action.h"
#include "kubexx/reloader/observe/explain_turn.h"
#include "kubexx/reloader/plan/baseline.h"

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const SourceId kShopConfig{SourceType::kConfigMap, {"shop", "config"}};
const SourceId kShopPassword{SourceType::kSecret, {"shop", "password"}};

class ExplainTest : public testing::Test, public DigestsOver {
 protected:
  ExplainTest() {
    workload_.id = {WorkloadKind::kDeployment, {"shop", "web"}};
    workload_.uid = "u1";
    workload_.annotations["reloader.stakater.com/auto"] = "true";
    workload_.containers.push_back(
        {.name = "app",
         .references = {{SourceType::kConfigMap, "config"}, {SourceType::kSecret, "password"}}});
    Put(kShopConfig, "now");
    Put(kShopPassword, "now");
    Record({{kShopConfig, DigestOf("now")}, {kShopPassword, DigestOf("now")}});
  }

  std::optional<Digest> Over(const SourceId&, std::string_view) override { return std::nullopt; }
  std::optional<apimachinery::Time> WrittenAt(const SourceId&) override { return written_at_; }

  void Put(const SourceId& id, const std::string& data) {
    sources_[id] = {.id = id, .digest = DigestOf(data)};
  }
  void Record(std::map<SourceId, Digest> digests) {
    const Baseline baseline{.uid = workload_.uid, .digests = std::move(digests)};
    workload_.annotations[std::string(kBaselineAnnotation)] = baseline.ToString();
  }
  Explanation Ask() {
    const auto get = [this](const SourceId& id) -> std::optional<Source> {
      const auto found = sources_.find(id);
      return found == sources_.end() ? std::nullopt : std::optional(found->second);
    };
    const auto names = [](SourceType) { return std::vector<std::string>(); };
    return Explain({workload_,
                    {get, names, this},
                    rules_,
                    arbiter_,
                    now_,
                    selector_,
                    paused_by_others_,
                    [this](const SourceId&) {
                      ++users_asked_for_;
                      return users_;
                    },
                    {},
                    {},
                    wave_lines_});
  }

  Workload workload_;
  std::map<SourceId, Source> sources_;
  DecisionRules rules_;
  std::string selector_;
  bool paused_by_others_ = false;
  std::optional<apimachinery::Time> written_at_;
  std::vector<Workload> users_;
  int users_asked_for_ = 0;
  WaveLines* wave_lines_ = nullptr;
  reloadpolicy::Arbiter arbiter_;
  base::WallTime now_ = base::WallTime(std::chrono::seconds(1'795'000'000));
};

TEST_F(ExplainTest, NothingIsDueWhenNothingChanged) {
  const Explanation explanation = Ask();
  EXPECT_FALSE(explanation.due);
  EXPECT_FALSE(explanation.hold);
  ASSERT_THAT(explanation.sources, SizeIs(2));
  EXPECT_EQ(explanation.sources[0].id, kShopConfig);
  EXPECT_EQ(explanation.sources[0].verdict, Verdict::kAuto);
  EXPECT_EQ(explanation.sources[0].container, "app");
  EXPECT_EQ(explanation.sources[0].recorded, explanation.sources[0].digest);
  const std::string text = ToText(explanation);
  EXPECT_THAT(text, HasSubstr("No rollout is due."));
  EXPECT_THAT(text, HasSubstr("ConfigMap config: rolls the workload when it changes (auto is on); "
                              "has not changed"));
}

TEST_F(ExplainTest, WhatHasNoRoomInTheBaselineIsNotSaidToBeUnchanged) {
  std::string list;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "config-" + std::to_string(i);
    Put({SourceType::kConfigMap, {"shop", name}}, "now");
    list += name + ",";
  }
  workload_.annotations["configmap.reloader.stakater.com/reload"] = list;
  int left_out = 0;
  for (const SourceExplanation& source : Ask().sources) {
    left_out += source.left_out ? 1 : 0;
    EXPECT_EQ(source.left_out, source.summary.contains("there is no room to record it"));
    EXPECT_FALSE(source.left_out && source.summary.contains("has not changed"));
  }
  EXPECT_GT(left_out, 100);
}

// An operator that may not patch the workload records nothing, and its rollouts are refused.
TEST_F(ExplainTest, WhereNothingIsRecordedItDoesNotSayThatNothingIsDue) {
  Record({{kShopConfig, DigestOf("now")}});
  const std::string text = ToText(Ask());
  EXPECT_THAT(text, HasSubstr("No rollout is due by what is recorded.\n"));
  EXPECT_THAT(text, HasSubstr("Secret password: rolls the workload when it changes (auto is on); "
                              "nothing is recorded of it on the workload yet: only the running "
                              "operator knows whether it has changed\n"));
}

TEST_F(ExplainTest, ValuesOfAnnotationsDoNotChangeTheTerminal) {
  workload_.annotations["reloader.kubexx.io/keys"] = "a\n\x1b[2J \u202eb\u00fc";
  EXPECT_THAT(ToText(Ask()), HasSubstr(R"(reloader.kubexx.io/keys: "a\n\x1b[2J \u202eb)"
                                       "\u00fc\" is neither All nor Referenced\n"));
}

TEST_F(ExplainTest, AChangeIsDueAndNamed) {
  Put(kShopPassword, "new");
  const Explanation explanation = Ask();
  EXPECT_TRUE(explanation.due);
  EXPECT_FALSE(explanation.sources[0].due);
  EXPECT_TRUE(explanation.sources[1].due);
  EXPECT_THAT(ToText(explanation), HasSubstr("A rollout is due and may begin."));
  EXPECT_THAT(ToText(explanation), HasSubstr("Secret password: has changed"));
}

TEST_F(ExplainTest, WhatOnlyNewPodsGetWaitsForAReloadThatTheProgramMayRefuse) {
  rules_.reload_in_place = true;
  workload_.containers[0].references = {{SourceType::kSecret, "password"}};
  workload_.containers[0].mounts = {"v"};
  workload_.volumes = {{"v", {{SourceType::kConfigMap, "config"}}}};
  workload_.annotations[std::string(kReloadInPlace)] = "exec:nginx -s reload";
  workload_.annotations[std::string(kReloadOnRefusal)] = "keep";
  workload_.annotations[std::string(kReloadingInPlace)] = "u1 2026-01-01T00:00:00Z";
  Record({{kShopConfig, UnknownData()}, {kShopPassword, DigestOf("now")}});
  EXPECT_EQ(Ask().awaits_reload, "") << "nothing but the reload is due";
  Put(kShopPassword, "new");
  EXPECT_THAT(ToText(Ask()), HasSubstr("A rollout is due and waits.\n"));
  EXPECT_THAT(ToText(Ask()),
              HasSubstr("  waits: new data of Secret password, which only new pods get, wait until "
                        "the program has taken those that its pods are reloaded for in place, or, "
                        "if it refuses them, until these change.\n"));
  EXPECT_THAT(ToJson(Ask()), HasSubstr(R"("awaitsReload":"new data of Secret password)"));
  EXPECT_THAT(ToJson(Ask()), HasSubstr(R"("mayBegin":false)"));
  workload_.annotations.erase(std::string(kReloadOnRefusal));
  EXPECT_EQ(Ask().awaits_reload, "") << "all of it is rolled at once";
}

// An operator that ran while the data were changed and changed back has called the rollout off, and
// has not renewed the record yet.
TEST_F(ExplainTest, OfDataThatHaveComeBackItDoesNotSayThatARolloutIsDue) {
  workload_.template_written = apimachinery::Time{.seconds = 100};
  const Baseline baseline{
      .uid = workload_.uid,
      .digests = {{kShopConfig, DigestOf("now")}, {kShopPassword, DigestOf("now")}},
      .template_written = Baseline::kNoTemplate,
      .versions = {{kShopConfig, 5}, {kShopPassword, 5}}};
  workload_.annotations[std::string(kBaselineAnnotation)] = baseline.ToString();
  sources_[kShopPassword].resource_version = 9;
  written_at_ = apimachinery::Time{.seconds = 110};
  const Explanation explanation = Ask();
  ASSERT_TRUE(explanation.due);
  EXPECT_THAT(ToText(explanation), HasSubstr("A rollout may be due: see the sources."));
  EXPECT_THAT(
      ToText(explanation),
      HasSubstr("Secret password: has the data that are recorded, but was written since then"));
  EXPECT_THAT(ToJson(explanation), HasSubstr(R"("inDoubt":true)"));
}

// kubectl rollout undo restores the pod template and the annotations of the revision before. The
// pods of that revision began with older data.
TEST_F(ExplainTest, AfterAnUndoNothingIsDueUntilTheDataChange) {
  workload_.containers[0].variables = {
      {"STAKATER_CONFIG_CONFIGMAP", DigestOf("before").ToString()}};
  Record({{kShopConfig, DigestOf("before")}, {kShopPassword, DigestOf("now")}});
  EXPECT_TRUE(Ask().due) << "nobody has undone anything";
  workload_.baseline_restored = apimachinery::Time{.seconds = 100};
  written_at_ = apimachinery::Time{.seconds = 90};
  EXPECT_FALSE(Ask().due);
  EXPECT_THAT(ToText(Ask()), HasSubstr("No rollout is due."));
  EXPECT_THAT(ToJson(Ask()), HasSubstr(R"("due":false)"));
  written_at_ = apimachinery::Time{.seconds = 110};
  EXPECT_TRUE(Ask().due) << "written after the undo";
}

TEST_F(ExplainTest, TellsThatTheDataOfASourceWerePutBack) {
  EXPECT_THAT(ToText(Ask()), testing::Not(HasSubstr("put these data back")));
  sources_[kShopConfig].restored = true;
  EXPECT_THAT(ToText(Ask()), HasSubstr("the operator has put these data back, the last good ones"));
}

TEST_F(ExplainTest, AboutOneMomentTheWavesAreLookedAtOnce) {
  arbiter_.SetPolicy({.id = {"shop", "careful"},
                      .settings = {.waves = reloadpolicy::Waves{.sizes = {{.count = 2}}}}});
  Put(kShopPassword, "new");
  const Baseline rolled{.uid = "u2", .digests = {{kShopPassword, DigestOf("new")}}};
  Workload canary = workload_;
  canary.id.key.name = "a-canary";
  canary.uid = "u2";
  canary.annotations[std::string(kBaselineAnnotation)] = rolled.ToString();
  Workload late = workload_;
  late.id.key.name = "b-canary";
  users_ = {workload_, late, canary};
  WaveLines lines;
  wave_lines_ = &lines;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(ToText(Ask()), HasSubstr("wave 2 of 2 waits for Deployment/shop/b-canary"));
  }
  EXPECT_EQ(users_asked_for_, 1);
  // The first wave waits for nobody, whoever has asked before.
  std::swap(workload_, late);
  EXPECT_FALSE(Ask().hold);
  EXPECT_EQ(users_asked_for_, 1);
}

TEST_F(ExplainTest, AnEarlierWaveIsWaitedForAndItsFailureHolds) {
  arbiter_.SetPolicy({.id = {"shop", "careful"},
                      .settings = {.waves = reloadpolicy::Waves{.sizes = {{.count = 1}}}}});
  Put(kShopPassword, "new");
  Workload canary = workload_;
  canary.id.key.name = "a-canary";
  canary.uid = "u2";
  const auto has_rolled_for = [&](const std::string& data) {
    const Baseline baseline{.uid = canary.uid, .digests = {{kShopPassword, DigestOf(data)}}};
    canary.annotations[std::string(kBaselineAnnotation)] = baseline.ToString();
    users_ = {workload_, canary};
  };
  has_rolled_for("now");
  EXPECT_THAT(ToText(Ask()), HasSubstr("  waits: Wave: wave 2 of 2 waits for "
                                       "Deployment/shop/a-canary, which is of an earlier wave"));
  EXPECT_THAT(ToText(Ask()), HasSubstr("waves: 1, then the rest, each healthy for 1m0s"));
  has_rolled_for("new");
  EXPECT_FALSE(Ask().hold);
  canary.phase = reloadpolicy::Phase::kUpdating;
  has_rolled_for("new");
  EXPECT_TRUE(Ask().hold) << "a release has made its pods anew, and they are not there yet";
  canary.phase = reloadpolicy::Phase::kComplete;
  has_rolled_for("new");
  canary.annotations["reloader.kubexx.io/rolled-data"] =
      "failed u2 Secret/password=" + DigestOf("new").ToString();
  arbiter_.Observe({"Deployment", canary.id.key},
                   {canary.uid, canary.annotations, reloadpolicy::Phase::kComplete}, now_);
  EXPECT_THAT(ToText(Ask()), HasSubstr("  waits: WaveFailed: the rollout of "
                                       "Deployment/shop/a-canary for Secret/password has failed"));
}

TEST_F(ExplainTest, WhatComesFirstIsWaitedFor) {
  Put(kShopPassword, "new");
  Workload api = workload_;
  api.id.key.name = "api";
  api.uid = "u2";
  const auto has_rolled_for = [&api](const std::string& data) {
    const Baseline baseline{.uid = api.uid, .digests = {{kShopPassword, DigestOf(data)}}};
    api.annotations[std::string(kBaselineAnnotation)] = baseline.ToString();
  };
  has_rolled_for("now");
  users_ = {workload_, api};
  EXPECT_FALSE(Ask().hold) << "both are of order 0";
  workload_.annotations["reloader.kubexx.io/order"] = "1";
  EXPECT_THAT(ToText(Ask()),
              HasSubstr("  waits: Order: waits for Deployment/shop/api, which comes first"));
  EXPECT_THAT(ToJson(Ask()), HasSubstr(R"("mayBegin":false)"));
  has_rolled_for("new");
  users_ = {workload_, api};
  EXPECT_FALSE(Ask().hold) << "it has been rolled, and nobody follows its rollout";
  api.annotations["reloader.kubexx.io/last-rollout"] = "2026-11-18T23:05:00Z";
  api.annotations["reloader.kubexx.io/rollout-state"] = "started u2";
  arbiter_.Observe({"Deployment", api.id.key},
                   {api.uid, api.annotations, reloadpolicy::Phase::kUpdating}, now_);
  EXPECT_THAT(ToText(Ask()), HasSubstr("  waits: Order: waits for Deployment/shop/api"));
  Put(kShopPassword, "now");
  EXPECT_FALSE(Ask().hold) << "nothing is due";
}

TEST_F(ExplainTest, ASuspendedCronJobIsNotRolled) {
  workload_.id.kind = WorkloadKind::kCronJob;
  workload_.suspended = true;
  EXPECT_THAT(ToText(Ask()),
              HasSubstr("No rollout is due, and none would be made: it is suspended"));
  Put(kShopPassword, "new");
  const Explanation explanation = Ask();
  EXPECT_TRUE(explanation.due);
  EXPECT_THAT(ToText(explanation),
              HasSubstr("A rollout is due and will not be made: it is suspended"));
  EXPECT_THAT(ToText(explanation), HasSubstr("reloader.kubexx.io/run-suspended"));
  EXPECT_THAT(ToJson(explanation), HasSubstr(R"("mayBegin":false)"));
}

TEST_F(ExplainTest, WhoseListOfKeysCountsIsTold) {
  sources_[kShopConfig].keys = "a,b";
  EXPECT_THAT(ToText(Ask()),
              HasSubstr("; of its keys only a,b count (annotation reloader.kubexx.io/keys)"));
  reloadpolicy::Policy policy{.id = {"shop", "p"},
                              .sources = {{.kind = "ConfigMap", .name = "config", .keys = "c"}}};
  arbiter_.SetPolicy(policy);
  EXPECT_THAT(ToText(Ask()),
              HasSubstr("(annotation reloader.kubexx.io/keys, and not c of ReloadPolicy shop/p)"));
  sources_[kShopConfig].keys = "c";
  EXPECT_THAT(ToText(Ask()), HasSubstr("of its keys only c count (ReloadPolicy shop/p)"));
  policy.id = {"", "p"};
  policy.enforced = true;
  arbiter_.SetPolicy(policy);
  EXPECT_THAT(ToText(Ask()), HasSubstr("(ClusterReloadPolicy p, whatever its annotation says)"));
}

TEST_F(ExplainTest, WhichKeysTheWorkloadUsesIsTold) {
  workload_.annotations["reloader.kubexx.io/keys"] = "Referenced";
  workload_.used_keys = {{{SourceType::kConfigMap, "config"}, "a,b"}};
  sources_[kShopConfig].by_use = true;
  sources_[kShopConfig].keys = "a,b";
  sources_[kShopPassword].by_use = true;
  EXPECT_THAT(ToText(Ask()),
              HasSubstr("; of its keys only a,b count, which the pod template uses (keys: "
                        "Referenced, annotation reloader.kubexx.io/keys)"));
  EXPECT_THAT(ToText(Ask()), HasSubstr("Secret password: rolls the workload when it changes (auto "
                                       "is on); has not changed; all of its keys count"));
  EXPECT_THAT(ToText(Ask()), HasSubstr("  keys: Referenced (annotation reloader.kubexx.io/keys)"));
  EXPECT_THAT(ToJson(Ask()), HasSubstr(R"("keys":"a,b","keyScope":"Referenced")"));
  sources_[kShopConfig].keys = "a";
  EXPECT_THAT(ToText(Ask()), HasSubstr("only a count, which the pod template uses and a list"));
  sources_[kShopConfig].keys = std::string(kNoKeys);
  EXPECT_THAT(ToText(Ask()), HasSubstr("none of its keys count: the pod template uses only a,b"));
  EXPECT_THAT(ToJson(Ask()), HasSubstr(R"("keys":"","keyScope":"None")"));
}

TEST_F(ExplainTest, APolicyThatHoldsIsNamed) {
  arbiter_.SetPolicy({.id = {"shop", "p"}, .settings = {.paused = true, .max_in_namespace = 3}});
  Put(kShopPassword, "new");
  const Explanation explanation = Ask();
  ASSERT_TRUE(explanation.hold);
  const std::string text = ToText(explanation);
  EXPECT_THAT(text, HasSubstr("A rollout is due and waits."));
  EXPECT_THAT(text, HasSubstr("waits: Paused: no rollout begins (ReloadPolicy shop/p)"));
  EXPECT_THAT(text, HasSubstr("maxConcurrentRolloutsPerNamespace: 3 (ReloadPolicy shop/p)"));
}

// Whoever mends one of them would wonder why nothing happens.
TEST_F(ExplainTest, EachReasonToWaitIsNamed) {
  arbiter_.SetPolicy({.id = {"shop", "p"}, .settings = {.paused = true}});
  Put(kShopConfig, "new");
  Put(kShopPassword, "new");
  sources_[kShopConfig].paused = true;
  sources_[kShopPassword].paused = true;
  const Explanation explanation = Ask();
  ASSERT_TRUE(explanation.hold);
  EXPECT_EQ(explanation.hold->reason, reloadpolicy::HoldReason::kPaused);
  EXPECT_THAT(explanation.further_holds, SizeIs(2));
  EXPECT_THAT(ToText(explanation),
              HasSubstr("  waits: Paused: no rollout begins (ReloadPolicy shop/p)\n"
                        "  and waits: SourcePaused: ConfigMap/shop/config is paused (annotation "
                        "reloader.kubexx.io/paused)\n"
                        "  and waits: SourcePaused: Secret/shop/password is paused"));
  EXPECT_THAT(ToJson(explanation),
              HasSubstr(R"("furtherHolds":[{"reason":"SourcePaused","message":"ConfigMap/)"));
}

TEST_F(ExplainTest, WhatNeverRollsItSaysWhy) {
  sources_[kShopConfig].ignore = true;
  workload_.annotations["secrets.exclude.reloader.stakater.com/reload"] = "password";
  std::string text = ToText(Ask());
  EXPECT_THAT(text, HasSubstr("its ignore annotation says that it never rolls anything"));
  EXPECT_THAT(text, HasSubstr("the workload's exclude list names it"));
  workload_.annotations.erase("reloader.stakater.com/auto");
  sources_.erase(kShopPassword);
  sources_[kShopConfig].ignore = false;
  text = ToText(Ask());
  EXPECT_THAT(text, HasSubstr("ConfigMap config: never rolls the workload: no annotation asks"));
  EXPECT_THAT(text, HasSubstr("Secret password: does not exist"));
}

TEST_F(ExplainTest, BadAnnotationsAreListed) {
  workload_.annotations["reloader.kubexx.io/order"] = "first";
  workload_.annotations["secret.reloader.stakater.com/reload"] = "(";
  workload_.annotations["reloader.kubexx.io/settle-window"] = "soon";
  EXPECT_THAT(ToText(Ask()), HasSubstr("Has no effect: reloader.kubexx.io/settle-window"));
  EXPECT_THAT(ToText(Ask()), HasSubstr("one that became due would wait: InvalidAnnotation: "
                                       "reloader.kubexx.io/order: \"first\" is not a number"));
}

TEST_F(ExplainTest, ABadPausePeriodIsRefusedAndMayNotBegin) {
  workload_.annotations["deployment.reloader.stakater.com/pause-period"] = "soon";
  EXPECT_THAT(ToText(Ask()), HasSubstr("No rollout is due, and one would be refused: annotation "));
  Put(kShopConfig, "new");
  EXPECT_THAT(ToText(Ask()), HasSubstr("A rollout is due and is refused: annotation deployment."));
  EXPECT_THAT(ToText(Ask()), Not(HasSubstr("may begin")));
  EXPECT_EQ(codec::JsonTree::Parse(ToJson(Ask()))->At({"mayBegin"})->AsBool(), false);
  // It cannot be paused, and is rolled without a pause.
  workload_.id.kind = WorkloadKind::kStatefulSet;
  EXPECT_THAT(ToText(Ask()), HasSubstr("A rollout is due and may begin."));
}

TEST_F(ExplainTest, ThePauseOfADeploymentIsTold) {
  EXPECT_THAT(ToText(Ask()), Not(HasSubstr("Paused")));
  workload_.paused = true;
  EXPECT_THAT(ToText(Ask()), HasSubstr("Paused by somebody else; a rollout changes the pod"));
  workload_.annotations["deployment.reloader.stakater.com/pause-period"] = "5m";
  workload_.annotations["deployment.reloader.stakater.com/paused-at"] = "2026-11-18T11:05:00Z";
  EXPECT_THAT(ToText(Ask()), HasSubstr("Paused by the operator, since 2026-11-18T11:05:00Z, until "
                                       "2026-11-18T11:10:00Z;"));
  now_ += std::chrono::minutes(10);
  EXPECT_THAT(ToText(Ask()), HasSubstr("2026-11-18T11:05:00Z, and about to be resumed;"));
  EXPECT_THAT(*codec::JsonTree::Parse(ToJson(Ask()))->At({"pause"})->AsString(),
              HasSubstr("by the operator"));
  paused_by_others_ = true;
  EXPECT_THAT(ToText(Ask()), HasSubstr("Paused by somebody else;"));
}

TEST_F(ExplainTest, TheLastRolloutIsSaidOnlyWhileItIsWrittenDown) {
  workload_.annotations["reloader.kubexx.io/last-rollout"] = "2026-01-01T00:00:00Z";
  EXPECT_THAT(ToText(Ask()), Not(HasSubstr("last rolled")));
  arbiter_.SetPolicy({.id = {"shop", "p"}, .settings = {.max_in_namespace = 3}});
  EXPECT_THAT(ToText(Ask()), HasSubstr("last rolled under a policy at 2026-01-01T00:00:00Z"));
}

TEST_F(ExplainTest, SearchHintsAtTheMissingMatch) {
  workload_.annotations.erase("reloader.stakater.com/auto");
  workload_.annotations["reloader.stakater.com/search"] = "true";
  sources_[kShopConfig].match = true;
  const std::string text = ToText(Ask());
  EXPECT_THAT(text, HasSubstr("ConfigMap config: rolls the workload when it changes (search"));
  EXPECT_THAT(text, HasSubstr("Secret password: never rolls the workload: search is on, but the "
                              "source lacks the annotation reloader.stakater.com/match: \"true\""));
}

TEST_F(ExplainTest, WhatIsNotWatchedIsSaidBeforeAnythingElse) {
  const Explanation left_alone{.workload = workload_.id,
                               .not_watched = "the namespace shop is not watched"};
  EXPECT_EQ(ToText(left_alone),
            "Deployment shop/web: nothing rolls it: the namespace shop is not watched\n");
  Explanation by_others = left_alone;
  by_others.flags = "given here";
  EXPECT_THAT(ToText(by_others), HasSubstr("watched\nBy the flags given here.\n"));
  const auto tree = codec::JsonTree::Parse(ToJson(left_alone));
  ASSERT_TRUE(tree);
  EXPECT_EQ(*tree->At({"notWatched"})->AsString(), "the namespace shop is not watched");
  EXPECT_EQ(tree->At({"mayBegin"})->AsBool(), false);
}

TEST_F(ExplainTest, SourcesThatTheFlagsLeaveOutAreNamed) {
  rules_.ignored_types = {SourceType::kSecret};
  selector_ = "team=shop";
  sources_.erase(kShopConfig);
  const std::string text = ToText(Ask());
  EXPECT_THAT(text, HasSubstr("Secret password: is not watched, because of --resources-to-ignore"));
  EXPECT_THAT(text, HasSubstr("ConfigMap config: does not exist, or --resource-label-selector "
                              "leaves it out"));
}

TEST_F(ExplainTest, JsonSaysTheSame) {
  arbiter_.SetPolicy({.id = {"shop", "p"}, .settings = {.paused = true}});
  Put(kShopConfig, "new");
  const auto tree = codec::JsonTree::Parse(ToJson(Ask()));
  ASSERT_TRUE(tree);
  EXPECT_EQ(*tree->At({"kind"})->AsString(), "Deployment");
  EXPECT_EQ(tree->At({"due"})->AsBool(), true);
  EXPECT_EQ(tree->At({"mayBegin"})->AsBool(), false);
  EXPECT_EQ(*tree->At({"hold", "reason"})->AsString(), "Paused");
  EXPECT_EQ(*tree->At({"sources", "0", "name"})->AsString(), "config");
  EXPECT_EQ(tree->At({"sources", "0", "due"})->AsBool(), true);
  EXPECT_EQ(*tree->At({"settings", "0", "origin"})->AsString(), "ReloadPolicy shop/p");
}

TEST_F(ExplainTest, WhatPoliciesSayThatMayNotBeReadIsNotKnown) {
  Put(kShopConfig, "newer");
  Explanation explanation = Ask();
  ASSERT_TRUE(explanation.due);
  EXPECT_THAT(ToText(explanation), HasSubstr("may begin."));
  explanation.unread_policies = {"ClusterReloadPolicies"};
  EXPECT_THAT(ToText(explanation), Not(HasSubstr("may begin.")));
  EXPECT_THAT(ToText(explanation),
              HasSubstr("A rollout is due; whether it may begin is not known."));
  EXPECT_THAT(ToText(explanation), HasSubstr("ClusterReloadPolicies may not be read"));
  const auto tree = codec::JsonTree::Parse(ToJson(explanation));
  ASSERT_TRUE(tree);
  EXPECT_THAT(tree->ToJson(), HasSubstr(R"("unreadPolicies":["ClusterReloadPolicies"])"));
  EXPECT_THAT(tree->ToJson(), HasSubstr(R"("mayBegin":false)"));
}

}  // namespace
}  // namespace kubexx::reloader
