#include "kubexx/reloader/receivers/receiver_settings.h"

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

NotificationSettings Good(const std::string& yaml) {
  const auto settings = ParseNotificationSettings(yaml);
  EXPECT_TRUE(settings) << settings.error().ToString();
  return settings ? *settings : NotificationSettings();
}

std::string Refusal(const std::string& yaml) {
  const auto settings = ParseNotificationSettings(yaml);
  EXPECT_FALSE(settings) << yaml;
  return settings ? "" : settings.error().message;
}

/// The file with one receiver, which has this member besides a name, a type and a URL.
std::string With(const std::string& member, const std::string& type = "Slack") {
  return "receivers:\n- name: ops\n  type: " + type + "\n  url: https://example.com/hidden\n  " +
         member + "\n";
}

TEST(NotificationSettings, HaveDefaultsThatWork) {
  const NotificationSettings settings = Good(
      "receivers:\n"
      "- {name: ops, type: Slack, url: 'https://example.com'}\n"
      "- {name: events, type: CloudEvents, url: 'http://example.com'}\n"
      "- {name: graphs, type: Grafana, url: 'http://example.com'}\n");
  ASSERT_EQ(settings.receivers.size(), 3U);
  EXPECT_EQ(settings.cluster, "");
  const ReceiverSettings& ops = settings.receivers[0];
  EXPECT_EQ(ops.name, "ops");
  EXPECT_EQ(ops.type, ReceiverType::kSlack);
  EXPECT_THAT(ops.severities, ElementsAre(Severity::kInfo, Severity::kWarning, Severity::kError));
  EXPECT_EQ(ops.digest, (StormLimits{.after = 20, .every = std::chrono::minutes(1)}));
  EXPECT_EQ(settings.receivers[1].digest.after, std::nullopt) << "machines get every event";
  EXPECT_TRUE(settings.receivers[1].batches);
  EXPECT_THAT(settings.receivers[2].severities, ElementsAre(Severity::kInfo));
}

TEST(NotificationSettings, HaveAllMembersOfTheirPage) {
  const NotificationSettings settings = Good(
      "cluster: prod\n"
      "receivers:\n"
      "- name: ops\n"
      "  type: Teams\n"
      "  url: https://example.com/hook?sig=1\n"
      "  headers: {Authorization: Bearer t}\n"
      "  proxy: http://proxy:3128\n"
      "  caFile: /etc/ca.pem\n"
      "  severities: [Warning, Error]\n"
      "  namespaces: [shop, 'team-*']\n"
      "  policies: [shop/careful, all]\n"
      "  digest: {after: 0, every: 5m}\n"
      "- {name: events, type: CloudEvents, url: 'https://example.com', batches: false,\n"
      "   digest: {every: 1h}}\n");
  ASSERT_EQ(settings.receivers.size(), 2U);
  EXPECT_EQ(settings.cluster, "prod");
  const ReceiverSettings& ops = settings.receivers[0];
  EXPECT_EQ(ops.url, "https://example.com/hook?sig=1");
  EXPECT_THAT(ops.headers, ElementsAre(Pair("Authorization", "Bearer t")));
  EXPECT_EQ(ops.proxy, "http://proxy:3128");
  EXPECT_EQ(ops.ca_file, "/etc/ca.pem");
  EXPECT_THAT(ops.severities, ElementsAre(Severity::kWarning, Severity::kError));
  EXPECT_THAT(ops.namespaces, ElementsAre("shop", "team-*"));
  EXPECT_THAT(ops.policies, ElementsAre("shop/careful", "all"));
  EXPECT_EQ(ops.digest, (StormLimits{.after = 0, .every = std::chrono::minutes(5)}));
  EXPECT_FALSE(settings.receivers[1].batches);
  EXPECT_EQ(settings.receivers[1].digest.after, 20U) << "a digest was asked for";
}

TEST(NotificationSettings, SayWhereWhatIsWrong) {
  EXPECT_EQ(Refusal("receivers:\n"
                    "- {name: ops, type: Slack, url: 'https://example.com'}\n"
                    "- {name: team, type: Slak, url: 'https://example.com'}\n"),
            "receivers[1].type: \"Slak\" is none of Slack, Teams, GoogleChat, CloudEvents, Grafana "
            "and Text");
  EXPECT_EQ(Refusal("receivers:\n- {name: ops, type: Slack, url: 'https://a'}\n"
                    "- {name: ops, type: Slack, url: 'https://a'}\n"),
            "receivers[1].name: another receiver has the name \"ops\", too");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "one YAML document"},
      {"[]", "must be an object"},
      {"a: 1", "there is no member \"a\"; the members are cluster, receivers"},
      {"cluster: 1\nreceivers: []", "cluster: must be a text"},
      {"cluster: " + std::string(101, 'x'), "cluster: must have at most 100 bytes"},
      {"cluster: x", "receivers: must be a list of 1 to 50 receivers"},
      {"receivers: []", "receivers: must be a list of 1 to 50 receivers"},
      {"receivers: [1]", "receivers[0]: must be an object"},
      {"receivers: [{}]", "receivers[0].name: \"\" is no name"},
      {"receivers: [{name: Ops}]", "receivers[0].name: \"Ops\" is no name"},
      {"receivers: [{name: alert}]", "receivers[0].name: \"alert\" has another meaning"},
      {"receivers: [{name: ops}]", "receivers[0].type: \"\" is none of Slack"},
      {"receivers: [{name: ops, type: Text}]", "receivers[0].url: must begin with http://"},
      {With("channel: x"), "receivers[0]: there is no member \"channel\"; the members are name, "},
      {With("headers: [x]"), "receivers[0].headers: must be an object"},
      {With("headers: {Host: x}"), "receivers[0].headers.Host: is set by the operator"},
      {With("headers: {X: 1}"), "receivers[0].headers.X: must be a text"},
      {With("headers: {X: ''}"), "receivers[0].headers.X: must not be empty"},
      {With("severities: []"),
       "receivers[0].severities: must be a list of some of Info, Warning "
       "and Error"},
      {With("severities: [Bad]"), "receivers[0].severities[0]: \"Bad\" is none of Info, Warning"},
      {With("namespaces: shop"), "receivers[0].namespaces: must be a list of 1 to 1000 patterns"},
      {With("policies: [a, '']"), "receivers[0].policies[1]: must not be empty"},
      {With("digest: 1m"), "receivers[0].digest: must be an object"},
      {With("digest: {after: -1}"), "receivers[0].digest.after: must be a number between 0 and"},
      {With("digest: {every: often}"), "receivers[0].digest.every: "},
      {With("digest: {every: 10ms}"), "receivers[0].digest.every: "},
      {With("batches: false"), "receivers[0].batches: only a receiver of the type CloudEvents"},
      {With("batches: 1", "CloudEvents"), "receivers[0].batches: must be true or false"},
      {With("name: b"), "key \"name\" already set"},
      {"receivers: [", "line"},
  };
  for (const auto& [yaml, message] : cases) {
    EXPECT_THAT(Refusal(yaml), HasSubstr(message)) << yaml;
    EXPECT_THAT(Refusal(yaml), Not(HasSubstr("hidden"))) << yaml;
  }
  EXPECT_THAT(Refusal("receivers: [{name: ops, type: Text, url: 'ftp://hidden'}]"),
              Not(HasSubstr("hidden")));
}

TEST(NotificationSettings, NameTheFileThatIsWrong) {
  const base::testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/receivers.yaml";
  EXPECT_THAT(LoadNotificationSettings(path).error().message,
              "cannot read " + path + ": No such file or directory");
  EXPECT_THAT(LoadNotificationSettings(folder.path()).error().message, HasSubstr("Is a directory"));
  std::ofstream(path) << "receivers: []";
  EXPECT_THAT(LoadNotificationSettings(path).error().message,
              path + ": receivers: must be a list of 1 to 50 receivers");
  std::ofstream(path) << With("severities: [Error]");
  const auto settings = LoadNotificationSettings(path);
  ASSERT_TRUE(settings) << settings.error().ToString();
  EXPECT_EQ(settings->receivers.size(), 1U);
  std::ofstream(path) << std::string((1 << 20) + 1, '#');
  EXPECT_THAT(LoadNotificationSettings(path).error().message,
              "cannot read " + path + ": it is larger than 1 MiB");
}

TEST(ReceiverSettings, WantWhatTheirFiltersLetThrough) {
  const auto wants = [](const ReceiverSettings& settings, const std::string& namespace_,
                        std::vector<reloadpolicy::PolicyId> policies,
                        Severity severity = Severity::kError) {
    return settings.Wants(
        {.severity = severity, .namespace_ = namespace_, .policies = std::move(policies)});
  };
  ReceiverSettings all{.severities = {Severity::kWarning, Severity::kError}};
  EXPECT_TRUE(wants(all, "shop", {}));
  EXPECT_TRUE(wants(all, "", {{"", "all"}}));
  EXPECT_FALSE(wants(all, "shop", {}, Severity::kInfo));

  ReceiverSettings some = all;
  some.namespaces = {"shop", "team-*"};
  EXPECT_TRUE(wants(some, "shop", {}));
  EXPECT_TRUE(wants(some, "team-a", {}));
  EXPECT_FALSE(wants(some, "workshop", {}));
  EXPECT_FALSE(wants(some, "", {{"", "all"}})) << "it belongs to no namespace";

  ReceiverSettings governed = all;
  governed.policies = {"shop/careful", "all", "team-*/*"};
  EXPECT_TRUE(wants(governed, "shop", {{"shop", "other"}, {"shop", "careful"}}));
  EXPECT_TRUE(wants(governed, "", {{"", "all"}}));
  EXPECT_TRUE(wants(governed, "team-a", {{"team-a", "x"}}));
  EXPECT_FALSE(wants(governed, "shop", {}));
  EXPECT_FALSE(wants(governed, "shop", {{"shop", "all"}})) << "a policy of a namespace";
}

}  // namespace
}  // namespace kubexx::reloader
