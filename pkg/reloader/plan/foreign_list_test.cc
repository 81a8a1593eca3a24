#include "kubexx/reloader/plan/foreign_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "kubexx/reloader/plan/decision.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const SourceId kSharedSettings{SourceType::kConfigMap, {"app", "shared/settings"}};
const SourceId kSharedPassword{SourceType::kSecret, {"app", "shared/db"}};

AnnotationKeys LookingAtOthers() {
  AnnotationKeys keys;
  keys.other_namespaces = true;
  return keys;
}

Workload Naming(const std::string& text) {
  Workload workload;
  workload.id = {WorkloadKind::kDeployment, {"app", "web"}};
  workload.annotations[std::string(kReloadOnOtherNamespaces)] = text;
  workload.containers = {{.name = "app"}};
  return workload;
}

TEST(ForeignId, IsTheObjectAsOneNamespaceSeesIt) {
  EXPECT_EQ(ForeignId(SourceType::kConfigMap, {"shared", "settings"}, "app"), kSharedSettings);
  EXPECT_EQ(ObjectKeyOf(kSharedSettings), (apimachinery::ObjectKey{"shared", "settings"}));
  EXPECT_TRUE(IsForeign(kSharedSettings));
  const SourceId own{SourceType::kConfigMap, {"app", "settings"}};
  EXPECT_FALSE(IsForeign(own));
  EXPECT_EQ(ObjectKeyOf(own), own.key);
}

TEST(ForeignListIn, NamesConfigMapsAndSecrets) {
  const ForeignList list = ForeignListIn(
      " ConfigMap/shared/settings,, secrets / shared / db,configmaps/shared/settings", "app");
  EXPECT_THAT(list.sources, ElementsAre(kSharedSettings, kSharedPassword));
  EXPECT_THAT(list.bad_items, IsEmpty());
}

TEST(ForeignListIn, SaysWhatIsWrongWithAnItem) {
  const auto fault = [](const std::string& item) {
    const ForeignList list = ForeignListIn(item, "app");
    EXPECT_THAT(list.sources, IsEmpty()) << item;
    return list.bad_items.empty() ? std::string() : list.bad_items[0].error;
  };
  EXPECT_THAT(fault("settings"), HasSubstr("write KIND/NAMESPACE/NAME"));
  EXPECT_THAT(fault("ConfigMap/settings"), HasSubstr("write KIND/NAMESPACE/NAME"));
  EXPECT_THAT(fault("Certificate/shared/web"), HasSubstr("only a ConfigMap or a Secret"));
  EXPECT_THAT(fault("SecretProviderClass/shared/web"), HasSubstr("only a ConfigMap or a Secret"));
  EXPECT_THAT(fault("Secret/.*/db"), HasSubstr("patterns are not possible"));
  EXPECT_THAT(fault("Secret//db"), HasSubstr("names no namespace"));
  EXPECT_THAT(fault("Secret/shared/db-.*"), HasSubstr("patterns are not possible"));
  EXPECT_THAT(fault("Secret/shared/"), HasSubstr("names no object"));
  EXPECT_THAT(fault("Secret/shared/a=b"), HasSubstr("names no object"));
  EXPECT_THAT(fault("Secret/shared/a/b"), HasSubstr("names no object"));
  EXPECT_THAT(fault("Secret/app/db"), HasSubstr("name it in secret.reloader.stakater.com/reload"));
}

TEST(ForeignListIn, ReadsABoundedNumberOfItems) {
  std::string text;
  for (std::size_t i = 0; i < 5 * ForeignList::kMaxItems; ++i) {
    text += "Secret/shared/s" + std::to_string(i) + ",";
  }
  const ForeignList list = ForeignListIn(text, "app");
  EXPECT_THAT(list.sources, SizeIs(ForeignList::kMaxItems));
  EXPECT_THAT(list.bad_items, ElementsAre(Field(&BadItem::error, HasSubstr("first 100"))));
}

TEST(ForeignSourcesOf, AreThoseOfTheTemplateWhereTheWorkloadNamesNone) {
  Workload workload = Naming("");
  workload.template_annotations[std::string(kReloadOnOtherNamespaces)] = "Secret/shared/db";
  EXPECT_THAT(ForeignSourcesOf(workload, LookingAtOthers()), IsEmpty());
  workload.annotations.clear();
  EXPECT_THAT(ForeignSourcesOf(workload, LookingAtOthers()), ElementsAre(kSharedPassword));
}

TEST(ForeignSourcesOf, AreNoneWithoutTheFlag) {
  const Workload workload = Naming("Secret/shared/db, nonsense");
  EXPECT_THAT(ForeignSourcesOf(workload, {}), IsEmpty());
  EXPECT_THAT(BadValues(workload, {}), IsEmpty());
  EXPECT_THAT(BadValues(workload, {.keys = LookingAtOthers()}), SizeIs(1));
}

TEST(NamesForeignSource, SaysTheSameAsTheSet) {
  std::string bounded;
  for (std::size_t i = 0; i < ForeignList::kMaxItems; ++i) {
    bounded += "Secret/shared/s" + std::to_string(i) + ",,";
  }
  const SourceId other_kind{SourceType::kConfigMap, {"app", "shared/db"}};
  const SourceId longer{SourceType::kSecret, {"app", "shared/old-db"}};
  const SourceId elsewhere{SourceType::kSecret, {"other", "shared/db"}};
  const SourceId own{SourceType::kSecret, {"app", "db"}};
  for (const std::string& text : std::vector<std::string>{
           "Secret/shared/db", " secrets / shared / db ,", "Secret/shared/old-db", "Secret/app/db",
           "nonsense,db,/db,Secret/shared/db", "Secret/shared/old-db,ConfigMap/shared/db",
           bounded + "Secret/shared/db", bounded}) {
    const Workload workload = Naming(text);
    const std::set<SourceId> all = ForeignSourcesOf(workload, LookingAtOthers());
    for (const SourceId& id : {kSharedPassword, other_kind, longer, elsewhere, own}) {
      EXPECT_EQ(NamesForeignSource(workload, LookingAtOthers(), id), all.contains(id))
          << text << " " << id.key.name;
    }
    EXPECT_FALSE(NamesForeignSource(workload, {}, kSharedPassword));
  }
}

TEST(Decide, TakesNoPatternForTheNameOfAForeignSource) {
  const DecisionRules rules{.keys = LookingAtOthers(), .auto_reload_all = true};
  PatternCache patterns;
  Workload workload = Naming("Secret/shared/db");
  workload.annotations["configmap.reloader.stakater.com/reload"] = ".*";
  EXPECT_EQ(Decide({.id = kSharedPassword}, workload, rules, patterns), Verdict::kExplicit);
  EXPECT_EQ(Decide({.id = kSharedSettings, .match = true}, workload, rules, patterns),
            Verdict::kNoRule);
  EXPECT_EQ(Decide({.id = kSharedPassword, .ignore = true}, workload, rules, patterns),
            Verdict::kIgnored);
}

TEST(NotAvailable, SaysTheSameWhetherOrNotTheSourceExists) {
  const BadItem bad = NotAvailable(kSharedSettings);
  EXPECT_EQ(bad.item,
            "reloader.kubexx.io/reload-on-other-namespaces: \"ConfigMap/shared/settings\"");
  EXPECT_THAT(bad.error, HasSubstr("has to exist"));
  EXPECT_THAT(bad.error,
              HasSubstr("name app in its annotation reloader.kubexx.io/allowed-namespaces"));
}

}  // namespace
}  // namespace kubexx::reloader
