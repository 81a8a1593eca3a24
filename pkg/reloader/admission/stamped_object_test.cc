#include "kubexx/reloader/admission/stamped_object.h"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/cache/object.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/projection.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using codec::JsonTree;
using testing::HasSubstr;
using testing::Not;

/// A workload that takes the ConfigMap "settings" and the Secret "db" into its environment.
JsonTree Born(const std::string& annotations = R"("reloader.stakater.com/auto":"true")",
              const std::string& env = "", const std::string& template_annotations = "") {
  const auto object = JsonTree::Parse(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","uid":"u-1","annotations":{)" +
      annotations + R"(}},"spec":{"replicas":2,"template":{"metadata":{"annotations":{)" +
      template_annotations +
      R"(}},"spec":{"containers":[{"name":"side"},{"name":"app","unknown":{"kept":1},"env":[{"name":"A","value":"1"})" +
      env +
      R"(],"envFrom":[{"configMapRef":{"name":"settings"}},{"secretRef":{"name":"db"}}]}]}}}})");
  EXPECT_TRUE(object) << object.error().ToString();
  return object ? *object : JsonTree();
}

class StampedObjectTest : public testing::Test {
 protected:
  StampedObjectTest() {
    sources_[{SourceType::kConfigMap, {"shop", "settings"}}] = "1";
    sources_[{SourceType::kSecret, {"shop", "db"}}] = "2";
  }
  Result<JsonTree> Stamp(const JsonTree& object,
                         ReloadStrategy strategy = ReloadStrategy::kEnvVars) {
    const auto with_sources = [this](const Workload&,
                                     base::FunctionRef<void(const SourceLookup&)> use) {
      const auto get = [this](const SourceId& id) -> std::optional<Source> {
        const auto found = sources_.find(id);
        return found == sources_.end()
                   ? std::nullopt
                   : std::optional(Source{.id = id, .digest = DigestOf(found->second)});
      };
      const auto names = [](SourceType) { return std::vector<std::string>(); };
      use({get, names});
      return failure_ ? Result<void>(apimachinery::Fail(*failure_)) : Result<void>();
    };
    return StampedObject({.kind = WorkloadKind::kDeployment,
                          .object = object,
                          .rules = rules_,
                          .strategy = strategy,
                          .records = records_,
                          .patterns = patterns_,
                          .with_sources = with_sources,
                          .now = now_});
  }
  /// Returns the object as the webhook changes it, or the object itself when that fails.
  JsonTree Stamped(const JsonTree& object, ReloadStrategy strategy = ReloadStrategy::kEnvVars) {
    auto stamped = Stamp(object, strategy);
    EXPECT_TRUE(stamped) << stamped.error().ToString();
    return stamped ? *std::move(stamped) : object;
  }
  static std::string BaselineIn(const JsonTree& object) {
    const JsonTree* annotations = object.At({"metadata", "annotations"});
    return annotations == nullptr ? std::string()
                                  : std::string(annotations->TextAt(kBaselineAnnotation));
  }
  static std::string EnvIn(const JsonTree& object) {
    return object.At({"spec", "template", "spec", "containers"})
        ->elements()[1]
        .Find("env")
        ->ToJson();
  }
  static std::string Digits(const std::string& data) { return DigestOf(data).ToString(); }

  std::map<SourceId, std::string> sources_;
  std::optional<apimachinery::Status> failure_;
  DecisionRules rules_;
  bool records_ = true;
  PatternCache patterns_;
  base::WallTime now_{};
};

TEST_F(StampedObjectTest, HasTheVariablesAndTheBaselineOfPresentData) {
  const JsonTree stamped = Stamped(Born());
  EXPECT_EQ(EnvIn(stamped),
            R"([{"name":"A","value":"1"},{"name":"STAKATER_DB_SECRET","value":")" + Digits("2") +
                R"("},{"name":"STAKATER_SETTINGS_CONFIGMAP","value":")" + Digits("1") + R"("}])");
  EXPECT_EQ(BaselineIn(stamped),
            "v1 u-1 configmap/settings=" + Digits("1") + " secret/db=" + Digits("2"));
  EXPECT_THAT(stamped.ToJson(), HasSubstr(R"("unknown":{"kept":1})"));
}

TEST_F(StampedObjectTest, IsWhatAnOperatorHasNothingToDoFor) {
  const JsonTree stamped = Stamped(Born());
  cache::Object object{.encoding = codec::Encoding::kJson, .bytes = stamped.ToJson()};
  ASSERT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, object));
  const auto workload = WorkloadFrom(WorkloadKind::kDeployment, object);
  ASSERT_TRUE(workload);
  const auto get = [this](const SourceId& id) -> std::optional<Source> {
    return Source{.id = id, .digest = DigestOf(sources_.at(id))};
  };
  const auto names = [](SourceType) { return std::vector<std::string>(); };
  const Plan plan = MakePlan(*workload, {get, names}, {}, rules_, patterns_);
  EXPECT_TRUE(plan.changes.empty());
  EXPECT_FALSE(plan.record) << "nothing is to be recorded either";
}

TEST_F(StampedObjectTest, IsTheSameWhenItIsStampedAgain) {
  for (const ReloadStrategy strategy : {ReloadStrategy::kEnvVars, ReloadStrategy::kAnnotations}) {
    const JsonTree once = Stamped(Born(), strategy);
    EXPECT_NE(once, Born());
    now_ += std::chrono::hours(1);
    EXPECT_EQ(Stamped(once, strategy), once);
  }
}

// API servers make the name of `generateName`, and the UID, after they have asked webhooks.
TEST_F(StampedObjectTest, NeedsNoName) {
  JsonTree object = Born();
  object["metadata"].Erase("name");
  object["metadata"].Erase("uid");
  object["metadata"]["generateName"] = "web-";
  const JsonTree stamped = Stamped(object);
  EXPECT_THAT(EnvIn(stamped), HasSubstr(Digits("1")));
  EXPECT_EQ(BaselineIn(stamped), "") << "it would be bound to nothing";
  EXPECT_EQ(stamped.At({"metadata"})->TextAt("name"), "");
}

TEST_F(StampedObjectTest, WithTheOtherStrategyHasTheAnnotation) {
  const JsonTree stamped = Stamped(Born(), ReloadStrategy::kAnnotations);
  EXPECT_EQ(EnvIn(stamped), R"([{"name":"A","value":"1"}])");
  EXPECT_THAT(
      std::string(
          stamped.At({"spec", "template", "metadata", "annotations"})->TextAt(kLastReloadedFrom)),
      HasSubstr(R"("hash":")"));
  EXPECT_THAT(BaselineIn(stamped), HasSubstr("configmap/settings=" + Digits("1")));
}

TEST_F(StampedObjectTest, OfACopyHasNothingOfTheOther) {
  const JsonTree stamped = Stamped(Born(
      R"("reloader.stakater.com/auto":"true","reloader.kubexx.io/baseline":"v1 other secret/x=)" +
          Digits("x") + R"(")",
      R"(,{"name":"STAKATER_SETTINGS_CONFIGMAP","value":")" + Digits("old") + R"("})",
      R"("reloader.kubexx.io/restarted-for":"x")"));
  EXPECT_THAT(EnvIn(stamped), HasSubstr(Digits("1")));
  EXPECT_THAT(EnvIn(stamped), Not(HasSubstr(Digits("old"))));
  EXPECT_THAT(BaselineIn(stamped), HasSubstr("v1 u-1 configmap/settings"));
}

TEST_F(StampedObjectTest, LeavesOutASourceThatDoesNotExist) {
  sources_.erase({SourceType::kSecret, {"shop", "db"}});
  const JsonTree stamped = Stamped(Born());
  EXPECT_THAT(EnvIn(stamped), Not(HasSubstr("STAKATER_DB_SECRET")));
  EXPECT_EQ(BaselineIn(stamped), "v1 u-1 configmap/settings=" + Digits("1"));
  rules_.reload_on_create = true;
  EXPECT_EQ(BaselineIn(Stamped(Born())),
            "v1 u-1 configmap/settings=" + Digits("1") + " secret/db=-");
}

TEST_F(StampedObjectTest, IsTheObjectWhereNoRuleApplies) {
  EXPECT_EQ(Stamped(Born("")), Born(""));
  rules_.auto_reload_all = true;
  EXPECT_NE(Stamped(Born("")), Born(""));
  sources_.clear();
  EXPECT_EQ(Stamped(Born()), Born());
}

TEST_F(StampedObjectTest, HasNoBaselineWhereNoneIsWanted) {
  EXPECT_EQ(
      BaselineIn(Stamped(Born(
          R"("reloader.stakater.com/auto":"true","reloader.kubexx.io/record-baseline":"false")"))),
      "");
  records_ = false;
  const JsonTree stamped = Stamped(Born());
  EXPECT_EQ(BaselineIn(stamped), "");
  EXPECT_THAT(EnvIn(stamped), HasSubstr("STAKATER_DB_SECRET"));
}

TEST_F(StampedObjectTest, CannotBeMadeOfWhatCannotBeRead) {
  failure_ = apimachinery::Status(apimachinery::Reason::kTimeout, "slow");
  EXPECT_FALSE(Stamp(Born()));
  failure_.reset();
  for (const char* text :
       {"{}", "[]", R"({"spec":7})", R"({"spec":{"template":{"spec":{"containers":{}}}}})"}) {
    const auto object = JsonTree::Parse(text);
    ASSERT_TRUE(object);
    const auto stamped = Stamp(*object);
    EXPECT_TRUE(!stamped || *stamped == *object) << text;
  }
}

TEST(HasSameTemplateOfOthers, LooksPastWhatRolloutsLeave) {
  const JsonTree plain = Born();
  EXPECT_TRUE(HasSameTemplateOfOthers(
      plain,
      Born(
          "", R"(,{"name":"STAKATER_X_SECRET","value":"1"})",
          R"("reloader.stakater.com/last-reloaded-from":"{}","reloader.kubexx.io/restarted-for":"x")")));
  EXPECT_FALSE(HasSameTemplateOfOthers(plain, Born("", R"(,{"name":"B","value":"1"})")));
  EXPECT_FALSE(
      HasSameTemplateOfOthers(plain, Born("", "", R"("kubectl.kubernetes.io/restartedAt":"now")")));
  EXPECT_FALSE(HasSameTemplateOfOthers(plain, JsonTree::Object()));
  EXPECT_TRUE(HasSameTemplateOfOthers(JsonTree::Object(), JsonTree::Object()));
}

}  // namespace
}  // namespace kubexx::reloader
