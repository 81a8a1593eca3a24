#include "kubexx/reloader/operator/config.h"

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
    return apimachinery::Fail(outcome.error());
  }
  return config.Build([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  });
}

TEST(Config, HasTheOriginalsDefaults) {
  const auto config = Parse({});
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_FALSE(config->rules.auto_reload_all);
  EXPECT_EQ(config->rules.keys.configmap_reload, "configmap.reloader.stakater.com/reload");
  EXPECT_THAT(config->namespaces, IsEmpty());
  EXPECT_EQ(config->metrics_address, ":9090");
  EXPECT_EQ(config->settle_window, std::chrono::milliseconds(100));
  EXPECT_EQ(config->release_window, std::chrono::seconds(3));
  EXPECT_EQ(config->logging.level, logging::Level::kInfo);
  EXPECT_EQ(config->logging.format, logging::Format::kText);
  EXPECT_THAT(config->warnings, IsEmpty()) << "to watch all namespaces is usual";
}

TEST(Config, RenamesAnnotations) {
  const auto config = Parse(
      {"--auto-annotation=x/auto", "--configmap-annotation", "x/cm", "--secret-annotation=x/s",
       "--configmap-auto-annotation=x/ca", "--secret-auto-annotation=x/sa",
       "--ignore-annotation=x/i", "--auto-search-annotation=x/search",
       "--search-match-annotation=x/match", "--auto-reload-all",
       "--pause-deployment-annotation=x/p", "--pause-deployment-time-annotation=x/at"});
  ASSERT_TRUE(config) << config.error().ToString();
  const AnnotationKeys& keys = config->rules.keys;
  EXPECT_THAT((std::vector{keys.auto_reload, keys.configmap_reload, keys.secret_reload,
                           keys.configmap_auto, keys.secret_auto, keys.ignore, keys.search,
                           keys.match, keys.pause_period, keys.paused_at}),
              ElementsAre("x/auto", "x/cm", "x/s", "x/ca", "x/sa", "x/i", "x/search", "x/match",
                          "x/p", "x/at"));
  EXPECT_TRUE(config->rules.auto_reload_all);
}

// The first line of the log tells which namespaces are watched, also when all of them are.
TEST(Config, ADefaultInstallWarnsOfNothing) {
  const auto config =
      Parse({}, {{"RELOADER_NAMESPACE", "ops"}, {"RELOADER_DEPLOYMENT_NAME", "reloader-reloader"}});
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_THAT(config->namespaces, IsEmpty());
  EXPECT_THAT(config->warnings, IsEmpty());
}

TEST(Config, TellsTheFlagsThatJudge) {
  EXPECT_THAT(Parse({})->meta_info.arguments, IsEmpty());
  EXPECT_THAT(
      Parse({"--auto-reload-all", "--namespaces-to-ignore", "a,b", "--context=mine",
             "--log-level=debug", "--webhook-url=https://user:SECRET@x", "--reload-policies=false"})
          ->meta_info.arguments,
      ElementsAre("--auto-reload-all=true", "--namespaces-to-ignore=a,b",
                  "--webhook-url=https://not-told", "--reload-policies=false"));
  EXPECT_THAT(Parse({}, {{"KUBERNETES_NAMESPACE", "shop"}})->meta_info.arguments,
              ElementsAre("--namespaces=shop"));
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
              ElementsAre(SourceType::kConfigMap, SourceType::kSecretProviderClass));
  EXPECT_THAT(Parse({"--enable-csi-integration"})->ignored_types, IsEmpty());
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
  const auto text = Parse({"--log-format=text", "--log-level=debug"});
  EXPECT_EQ(text->logging.level, logging::Level::kDebug);
  EXPECT_THAT(text->warnings, testing::IsEmpty());
}

TEST(Config, AcceptsTheOriginalsSyntax) {
  EXPECT_TRUE(
      Parse({"--is-Argo-Rollouts=false", "--reload-on-create", "false", "--reload-on-delete=no",
             "--reload-strategy=env-vars", "--enable-ha=false", "--sync-after-restart",
             "--pprof-addr=:7070", "--ignored-workload-types=jobs,cronjobs", "argument"}));
}

TEST(Config, TracingIsOffUnlessItIsSwitchedOn) {
  EXPECT_FALSE(Parse({})->tracing);
  const auto traced = Parse({"--tracing", "--otlp-endpoint=http://collector:4318"});
  ASSERT_TRUE(traced);
  EXPECT_TRUE(traced->tracing);
  EXPECT_EQ(traced->otlp_endpoint, "http://collector:4318");
  EXPECT_THAT(Parse({"--otlp-endpoint=http://collector:4318"}).error().message,
              HasSubstr("--otlp-endpoint: needs --tracing"));
}

class Refused : public testing::TestWithParam<std::vector<const char*>> {};

TEST_P(Refused, WithTheFlagInTheMessage) {
  const auto config = Parse(GetParam());
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().reason, apimachinery::Reason::kInvalidConfig);
  const std::string flag = GetParam().front();
  EXPECT_THAT(config.error().message, HasSubstr(flag.substr(2, flag.find('=') - 2)));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, Refused,
    testing::Values(std::vector{"--reload-strategy=default"}, std::vector{"--settle-window=-1s"},
                    std::vector{"--settle-window=soon"}, std::vector{"--release-settle-window=2h"},
                    std::vector{"--workers=0"}, std::vector{"--workers=1000"},
                    std::vector{"--history=-1"}, std::vector{"--history=51"},
                    std::vector{"--kube-api-qps=0"}, std::vector{"--namespaces=a,"},
                    std::vector{"--namespaces=Bad_Name"}, std::vector{"--unknown=1"},
                    std::vector{"--shards=0"}, std::vector{"--shards=2"},
                    std::vector{"--shards=65"}, std::vector{"--webhook-url=sink"},
                    std::vector{"--resource-label-selector=???"},
                    std::vector{"--namespace-selector=a in b"}));

TEST(Config, AdmissionNeedsToKnowItsNamespace) {
  const std::map<std::string, std::string> own = {{"RELOADER_NAMESPACE", "tools"}};
  EXPECT_FALSE(Parse({"--admission"}));
  EXPECT_FALSE(Parse({})->admission.enabled);
  const auto config = Parse({"--admission", "--admission-name=hook", "--admission-addr=:1"}, own);
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_TRUE(config->admission.enabled);
  EXPECT_EQ(config->admission.name, "hook");
  EXPECT_EQ(config->admission.namespace_, "tools");
  EXPECT_FALSE(Parse({"--admission", "--admission-name=Bad"}, own));
  EXPECT_FALSE(Parse({"--admission-warnings"}, own)) << "nothing would serve them";
  EXPECT_TRUE(Parse({"--admission", "--admission-warnings"}, own)->admission.warnings);
  EXPECT_FALSE(Parse({"--admission", "--admission-url=https://host/path"}, own));
  const auto dry = Parse({"--admission", "--dry-run"}, own);
  ASSERT_TRUE(dry);
  EXPECT_FALSE(dry->admission.enabled) << "it would change what is stored";
  EXPECT_THAT(dry->warnings, testing::Contains(HasSubstr("--dry-run")));
}

TEST(Config, RestoringNeedsToKnowItsNamespace) {
  const auto without = Parse({"--allow-restore"});
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("RELOADER_NAMESPACE"));
  const auto config = Parse({"--allow-restore"}, {{"RELOADER_NAMESPACE", "ops"}});
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_TRUE(config->allow_restore);
}

TEST(Config, HaNeedsToKnowItsPod) {
  const std::map<std::string, std::string> pod = {{"POD_NAME", "p-0"}, {"POD_NAMESPACE", "ops"}};
  const auto config = Parse({"--enable-ha", "--shards=4"}, pod);
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_TRUE(config->ha.enabled);
  EXPECT_EQ(config->ha.pod_name, "p-0");
  EXPECT_EQ(config->ha.pod_namespace, "ops");
  EXPECT_EQ(config->ha.shards, 4);
  const auto without = Parse({"--enable-ha"}, {{"POD_NAME", "p-0"}});
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("POD_NAMESPACE"));
  EXPECT_FALSE(Parse({}, pod)->ha.enabled);
}

TEST(Config, SelectsNamespacesWhenAllAreWatched) {
  // The chart passes the value like this, in quotes, as CSV.
  EXPECT_EQ(Parse({"--namespace-selector=\"team:a\""})->namespace_selector, "team=a");
  EXPECT_EQ(Parse({"--namespace-selector=\"team in (a, b)\""})->namespace_selector,
            "team in (a,b)");
  EXPECT_EQ(Parse({"--namespace-selector=team:a", "--namespaces=x"})->namespace_selector, "");
}

TEST(Config, ReportsOptionsInTheOriginalsOrder) {
  const auto config =
      Parse({"--reload-on-create", "1", "--log-level=debug", "--namespaces-to-ignore=a,b"});
  ASSERT_TRUE(config) << config.error().ToString();
  const auto& options = config->meta_info.reported_options;
  ASSERT_EQ(options.size(), 34U);
  EXPECT_EQ(options.front(), (std::pair<std::string, OptionValue>("autoReloadAll", false)));
  EXPECT_EQ(options[18], (std::pair<std::string, OptionValue>("logLevel", "debug")));
  EXPECT_EQ(options[21], (std::pair<std::string, OptionValue>("reloadOnCreate", true)));
  EXPECT_FALSE(config->rules.reload_on_create) << "only exactly \"true\" has an effect";
  EXPECT_EQ(options[31], (std::pair<std::string, OptionValue>("namespacesToIgnore",
                                                              std::vector<std::string>{"a", "b"})));
  EXPECT_EQ(options.back(), (std::pair<std::string, OptionValue>("pprofAddr", ":6060")));
}

// Everybody who may read ConfigMaps in the operator's namespace can read this one.
TEST(Config, WebhookUrlIsReportedNowhere) {
  const auto config = Parse({"--webhook-url=https://hooks.example/SECRET"});
  ASSERT_TRUE(config) << config.error().ToString();
  for (const auto& [name, value] : config->meta_info.reported_options) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      EXPECT_EQ(*text, name == "webhookUrl" ? "https://not-told" : *text);
      EXPECT_THAT(*text, Not(HasSubstr("SECRET"))) << name;
    }
  }
}

TEST(Config, DisregardsAListOfWorkloadTypesWithABadOne) {
  const auto good = Parse({"--ignored-workload-types=jobs,cronjobs"});
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->ignore_jobs && good->ignore_cron_jobs);
  const auto bad = Parse({"--ignored-workload-types=jobs,Pods"});
  ASSERT_TRUE(bad);
  EXPECT_FALSE(bad->ignore_jobs || bad->ignore_cron_jobs);
  EXPECT_THAT(bad->warnings, testing::Contains(HasSubstr("Pods")));
}

TEST(Config, TakesKindsThatTheOperatorDoesNotKnow) {
  constexpr char kFlag[] =
      "--workload-kinds=[{group: apps.kruise.io, version: v1alpha1, kind: CloneSet, resource: "
      "clonesets}]";
  const auto config = Parse({kFlag});
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->workload_kinds.size(), 1);
  EXPECT_EQ(config->workload_kinds.front().resource, "clonesets");
  EXPECT_THAT(config->meta_info.arguments, ElementsAre(kFlag)) << "commands have to know them";
  EXPECT_THAT(Parse({})->workload_kinds, IsEmpty());
  for (const char* kind : {"Deployment", "ConfigMap", "Secret", "SecretProviderClass",
                           "ReloadPolicy", "ClusterReloadPolicy"}) {
    const std::string flag =
        "--workload-kinds=[{group: a.example.com, version: v1, kind: " + std::string(kind) +
        ", resource: foos}]";
    EXPECT_EQ(Parse({flag.c_str()}).error().message,
              "--workload-kinds: [0].kind: \"" + std::string(kind) +
                  "\" is what the operator calls a kind of its own, and it tells kinds apart by "
                  "their names");
  }
}

TEST(Config, TakesKindsOfSources) {
  constexpr char kKinds[] =
      "--source-kinds=[{group: cert-manager.io, version: v1, kind: Certificate, resource: "
      "certificates, fields: [status.revision]}]";
  const auto config = Parse({kKinds});
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->source_kinds.size(), 1);
  EXPECT_EQ(config->source_kinds.front().resource, "certificates");
  EXPECT_THAT(config->rules.source_kinds, ElementsAre("Certificate"));
  EXPECT_THAT(config->meta_info.arguments, ElementsAre(kKinds)) << "commands have to know them";
  EXPECT_THAT(Parse({})->source_kinds, IsEmpty());
  EXPECT_THAT(Parse({kKinds,
                     "--workload-kinds=[{group: a.example.com, version: v1, kind: "
                     "Certificate, resource: foos}]"})
                  .error()
                  .message,
              HasSubstr("--source-kinds: [0].kind: \"Certificate\" is what the operator calls"));
}

TEST(Config, TakesAlertsAndMetaInfoFromTheEnvironment) {
  const auto config = Parse({}, {{"ALERT_ON_RELOAD", "true"},
                                 {"ALERT_SINK", " Slack "},
                                 {"ALERT_WEBHOOK_URL", "http://sink/x"},
                                 {"ALERT_ADDITIONAL_INFO", " cluster 1\n"},
                                 {"ALERT_WEBHOOK_PROXY", "http://proxy:1"},
                                 {"RELOADER_NAMESPACE", "ops"},
                                 {"RELOADER_DEPLOYMENT_NAME", "reloader"}});
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->alerts.enabled);
  EXPECT_EQ(config->alerts.sink, "slack");
  EXPECT_EQ(config->alerts.url, "http://sink/x");
  EXPECT_EQ(config->alerts.additional_info, "cluster 1");
  EXPECT_EQ(config->alerts.proxy, "http://proxy:1");
  EXPECT_EQ(config->meta_info.namespace_, "ops");
  EXPECT_EQ(config->meta_info.deployment_name, "reloader");
  EXPECT_FALSE(Parse({}, {{"ALERT_ON_RELOAD", "True"}})->alerts.enabled);
  EXPECT_EQ(Parse({}, {{"ALERT_SINK", "webhook"}})->alerts.sink, "raw");
  for (const char* known : {"", "webhook", "raw", "gchat", "TEAMS"}) {
    EXPECT_THAT(Parse({}, {{"ALERT_SINK", known}})->warnings, testing::IsEmpty()) << known;
  }
  EXPECT_THAT(Parse({}, {{"ALERT_SINK", "pager"}})->warnings,
              testing::ElementsAre(HasSubstr("ALERT_SINK: \"pager\"")));
  for (const char* known : {"", "false", "0"}) {
    EXPECT_THAT(Parse({}, {{"ALERT_ON_RELOAD", known}})->warnings, testing::IsEmpty()) << known;
  }
  for (const char* unknown : {"yes", "True", "1"}) {
    EXPECT_THAT(Parse({}, {{"ALERT_ON_RELOAD", unknown}})->warnings,
                testing::ElementsAre(HasSubstr("ALERT_ON_RELOAD")))
        << unknown;
  }
  EXPECT_THAT(Parse({}, {{"ALERT_ON_RELOAD", "true"}})->warnings,
              testing::Contains(HasSubstr("ALERT_WEBHOOK_URL")));
}

TEST(Config, TakesTheFileOfReceivers) {
  const auto config = Parse({"--notifications=/etc/receivers.yaml"});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->notifications, "/etc/receivers.yaml");
  EXPECT_THAT(config->warnings, testing::IsEmpty());
  EXPECT_THAT(config->meta_info.arguments, testing::IsEmpty()) << "other commands need no file";
  EXPECT_THAT(Parse({"--notifications=x", "--dry-run"})->warnings,
              testing::Contains("--notifications has no effect with --dry-run"));
  EXPECT_THAT(Parse({"--notifications=x", "--webhook-url=http://x"})->warnings,
              testing::Contains("--notifications has no effect with --webhook-url"));
}

}  // namespace
}  // namespace kubexx::reloader
