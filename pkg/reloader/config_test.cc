#include "kubexx/reloader/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<Config> Parse(std::vector<const char*> arguments,
                     const std::map<std::string, std::string>& environment = {}) {
  flags::FlagSet flags("kubexx-reloader", "", "1.0");
  const ConfigFlags config(flags);
  arguments.insert(arguments.begin(), "kubexx-reloader");
  const auto outcome = flags.Parse(static_cast<int>(arguments.size()), arguments.data());
  if (!outcome) {
    return apimachinery::Fail(outcome.status());
  }
  return config.Build([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  });
}

TEST(Config, HasTheOriginalsDefaults) {
  const auto config = Parse({});
  ASSERT_TRUE(config) << config.status().ToString();
  EXPECT_FALSE(config->rules.auto_reload_all);
  EXPECT_EQ(config->rules.keys.configmap_reload, "configmap.reloader.stakater.com/reload");
  EXPECT_THAT(config->namespaces, IsEmpty());
  EXPECT_EQ(config->metrics_address, ":9090");
  EXPECT_EQ(config->settle_window, std::chrono::milliseconds(100));
  EXPECT_EQ(config->logging.level, logging::Level::kInfo);
  EXPECT_EQ(config->logging.format, logging::Format::kText);
}

TEST(Config, RenamesAnnotations) {
  const auto config = Parse({"--auto-annotation=x/auto", "--configmap-annotation", "x/cm",
                             "--secret-annotation=x/s", "--configmap-auto-annotation=x/ca",
                             "--secret-auto-annotation=x/sa", "--ignore-annotation=x/i",
                             "--auto-search-annotation=x/search",
                             "--search-match-annotation=x/match", "--auto-reload-all"});
  ASSERT_TRUE(config) << config.status().ToString();
  const AnnotationKeys& keys = config->rules.keys;
  EXPECT_THAT(
      (std::vector{keys.auto_reload, keys.configmap_reload, keys.secret_reload, keys.configmap_auto,
                   keys.secret_auto, keys.ignore, keys.search, keys.match}),
      ElementsAre("x/auto", "x/cm", "x/s", "x/ca", "x/sa", "x/i", "x/search", "x/match"));
  EXPECT_TRUE(config->rules.auto_reload_all);
}

TEST(Config, TakesNamespacesFromTheFlagBeforeTheEnvironment) {
  EXPECT_THAT(
      Parse({"--namespaces=b,a", "--namespaces=a"}, {{"KUBERNETES_NAMESPACE", "own"}})->namespaces,
      ElementsAre("a", "b"));
  EXPECT_THAT(Parse({}, {{"KUBERNETES_NAMESPACE", "own"}})->namespaces, ElementsAre("own"));
  EXPECT_THAT(Parse({"--namespaces=a", "--namespaces-to-ignore=b"})->ignored_namespaces, IsEmpty());
  EXPECT_THAT(Parse({"--namespaces-to-ignore=b,c"})->ignored_namespaces, ElementsAre("b", "c"));
}

TEST(Config, IgnoresOneTypeOfSource) {
  EXPECT_THAT(Parse({"--resources-to-ignore=ConfigMaps"})->ignored_types,
              ElementsAre(SourceType::kConfigMap));
  EXPECT_FALSE(Parse({"--resources-to-ignore=configmaps,secrets"}));
  EXPECT_FALSE(Parse({"--resources-to-ignore=pods"}));
}

TEST(Config, BadLogSettingsAreWarnings) {
  const auto bad_level = Parse({"--log-level=loud"});
  ASSERT_TRUE(bad_level);
  EXPECT_THAT(bad_level->warnings, testing::Contains(HasSubstr("loud")));
  const auto bad_format = Parse({"--log-format=xml", "--log-level=debug"});
  ASSERT_TRUE(bad_format);
  EXPECT_EQ(bad_format->logging.level, logging::Level::kInfo);
  EXPECT_EQ(Parse({"--log-level=WARN"})->logging.level, logging::Level::kWarning);
  EXPECT_EQ(Parse({"--log-level=panic"})->logging.level, logging::Level::kError);
  EXPECT_EQ(Parse({"--log-format=json"})->logging.format, logging::Format::kJson);
}

TEST(Config, AcceptsTheOriginalsDefaultsOfWhatIsNotSupported) {
  EXPECT_TRUE(
      Parse({"--is-Argo-Rollouts=false", "--reload-on-create", "false", "--reload-on-delete=no",
             "--reload-strategy=env-vars", "--enable-ha=false", "--sync-after-restart",
             "--pprof-addr=:7070", "--ignored-workload-types=jobs,cronjobs", "argument"}));
}

class Refused : public testing::TestWithParam<std::vector<const char*>> {};

TEST_P(Refused, WithTheFlagInTheMessage) {
  const auto config = Parse(GetParam());
  ASSERT_FALSE(config);
  EXPECT_EQ(config.status().reason, apimachinery::Reason::kInvalidConfig);
  const std::string flag = GetParam().front();
  EXPECT_THAT(config.status().message, HasSubstr(flag.substr(2, flag.find('=') - 2)));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, Refused,
    testing::Values(std::vector{"--webhook-url=http://x"}, std::vector{"--namespace-selector=a=b"},
                    std::vector{"--is-Argo-Rollouts=true"}, std::vector{"--reload-on-create=true"},
                    std::vector{"--reload-on-delete", "true"}, std::vector{"--enable-ha"},
                    std::vector{"--enable-pprof"}, std::vector{"--enable-csi-integration"},
                    std::vector{"--reload-strategy=annotations"},
                    std::vector{"--reload-strategy=default"},
                    std::vector{"--pause-deployment-annotation=x"},
                    std::vector{"--settle-window=-1s"}, std::vector{"--settle-window=soon"},
                    std::vector{"--workers=0"}, std::vector{"--workers=1000"},
                    std::vector{"--kube-api-qps=0"}, std::vector{"--namespaces=a,"},
                    std::vector{"--unknown=1"}));

TEST(Config, RefusesABadSelectorAndAlerts) {
  EXPECT_FALSE(Parse({"--resource-label-selector=???"}));
  EXPECT_FALSE(Parse({}, {{"ALERT_ON_RELOAD", "true"}}));
}

}  // namespace
}  // namespace kubexx::reloader
