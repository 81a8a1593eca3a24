#include "kubexx/reloader/observe/meta_info.h"

#include <gtest/gtest.h>

#include <optional>

namespace kubexx::reloader {
namespace {

TEST(MetaInfo, HasTheOriginalsForm) {
  MetaInfoSettings settings{.namespace_ = "ops", .deployment_name = "reloader"};
  settings.reported_options = {{"autoReloadAll", true},
                               {"logFormat", std::string("json")},
                               {"namespacesToIgnore", std::vector<std::string>{"a", "b"}},
                               {"resourceSelectors", std::vector<std::string>{}}};
  const auto object = MetaInfoOf(settings, {.version = "1.2.3"});
  EXPECT_EQ(object.metadata.name, "reloader-meta-info");
  EXPECT_EQ(object.metadata.namespace_, "ops");
  EXPECT_EQ(object.metadata.labels.at("reloader.stakater.com/meta-info"), "reloader");
  EXPECT_EQ(object.data.at("buildInfo"),
            R"({"goVersion":"","releaseVersion":"1.2.3","commitHash":"",)"
            R"("commitTime":"0001-01-01T00:00:00Z","edition":"oss"})");
  EXPECT_EQ(object.data.at("reloaderOptions"),
            R"({"autoReloadAll":true,"logFormat":"json","namespacesToIgnore":["a","b"],)"
            R"("resourceSelectors":[]})");
  EXPECT_EQ(object.data.at("deploymentInfo"), R"({"name":"reloader","namespace":"ops"})");
}

TEST(MetaInfo, TellsOthersByWhichFlagsToJudge) {
  MetaInfoSettings settings{.namespace_ = "ops", .deployment_name = "reloader"};
  settings.arguments = {"--auto-reload-all=true", "--namespaces=a,b"};
  auto object = MetaInfoOf(settings, {});
  const auto told = ToldBy(object);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->deployment, (apimachinery::ObjectKey{"ops", "reloader"}));
  EXPECT_EQ(told->arguments, settings.arguments);
  for (const char* other : {"", "{}", "[1]", "[", R"(["-"])", R"([""])", R"(["--a=1","b"])"}) {
    object.data["kubexxArguments"] = other;
    EXPECT_FALSE(ToldBy(object)) << other;
  }
  object.data.erase("kubexxArguments");
  EXPECT_FALSE(ToldBy(object));
}

TEST(MetaInfo, ANameThatNoDeploymentHasIsNone) {
  for (const char* name : {"web\n\u001b[2K", "Web", "../configmaps/x", ""}) {
    const auto told = ToldBy(MetaInfoOf({.namespace_ = "aaa", .deployment_name = name}, {}));
    ASSERT_TRUE(told);
    EXPECT_EQ(told->deployment, (apimachinery::ObjectKey{"aaa", ""})) << name;
  }
}

TEST(MetaInfo, TellsWherePoliciesMayNotBeRead) {
  const MetaInfoSettings settings{.namespace_ = "ops", .deployment_name = "reloader"};
  const auto told = ToldBy(MetaInfoOf(settings, {}, {{"shop", "may not be read"}}));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->UnreadIn("shop"), "may not be read");
  EXPECT_EQ(told->UnreadIn("other"), std::nullopt);
  const auto everywhere = ToldBy(MetaInfoOf(settings, {}, {{"", "none may"}}));
  ASSERT_TRUE(everywhere);
  EXPECT_EQ(everywhere->UnreadIn("other"), "none may");
  EXPECT_FALSE(MetaInfoOf(settings, {}).data.contains("kubexxUnreadPolicies"));
  auto object = MetaInfoOf(settings, {});
  object.data["kubexxUnreadPolicies"] = "[";
  ASSERT_TRUE(ToldBy(object));
  EXPECT_EQ(ToldBy(object)->UnreadIn("shop"), std::nullopt);
}

}  // namespace
}  // namespace kubexx::reloader
