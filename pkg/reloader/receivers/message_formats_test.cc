// Each form of a message against what its receiver publishes: which members there are, how long
// they may be, and what has a meaning in them.
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/receivers/chat_message.h"
#include "kubexx/reloader/receivers/cloud_event.h"
#include "kubexx/reloader/receivers/grafana_annotation.h"
#include "kubexx/reloader/receivers/notification_text.h"
#include "kubexx/reloader/receivers/receiver_message.h"
#include "kubexx/reloader/receivers/slack_message.h"
#include "kubexx/reloader/receivers/teams_message.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;
using testing::HasSubstr;
using testing::Not;

// 2026-11-29T12:00:00.123456Z
const base::WallTime kNoon{std::chrono::microseconds(1'795'953'600'123'456)};

Notification WebWasRolled() {
  return {.id = "id-1",
          .time = kNoon,
          .reason = kReloadedReason,
          .namespace_ = "shop",
          .workload = reloadpolicy::ObjectRef{"Deployment", {"shop", "web"}},
          .sources = {{"ConfigMap", {"shop", "config"}}, {"Secret", {"shop", "keys"}}},
          .policies = {{"shop", "careful"}, {"", "all"}}};
}

/// With everything in its text that has a meaning somewhere.
Notification WebCannotBeRolled(const std::string& error = "a <b> & *c* _d_ {{DATE(x)}} <!here>") {
  Notification notification = WebWasRolled();
  notification.severity = Severity::kError;
  notification.reason = kReloadFailReason;
  notification.text = error;
  return notification;
}

StormDigest LargeDigest() {
  StormDigest digest("digest-1", kNoon);
  for (int i = 0; i < 1000; ++i) {
    Notification notification = WebWasRolled();
    // Names as long as they may be.
    notification.namespace_ = "namespace-" + std::to_string(i) + std::string(48, 'x');
    notification.workload->key = {notification.namespace_, std::string(250, 'w')};
    notification.sources.front().key = {notification.namespace_, std::string(250, 's')};
    digest.Add(notification);
  }
  return digest;
}

/// One of each text whose form could break, the longest last.
std::vector<NotificationText> HardTexts() {
  return {TextOf(WebWasRolled(), "prod"), TextOf(WebCannotBeRolled(), ""),
          TextOf(WebCannotBeRolled(std::string(1000, '<') + std::string(1000, '&')), "prod"),
          TextOf(WebCannotBeRolled(std::string(2000, '"')), std::string(100, '<')),
          TextOf(LargeDigest(), "prod")};
}

void ExpectSlackText(const JsonTree& object, std::size_t max_bytes) {
  EXPECT_EQ(object.TextAt("type"), "plain_text");
  EXPECT_GE(object.TextAt("text").size(), 1U);
  EXPECT_LE(object.TextAt("text").size(), max_bytes);
}

TEST(SlackMessages, AreBlocks) {
  EXPECT_EQ(SlackMessage(TextOf(WebWasRolled(), "prod")).ToJson(),
            R"({"text":"Deployment shop/web was rolled","blocks":[)"
            R"({"type":"header","text":{"type":"plain_text",)"
            R"("text":"Deployment shop/web was rolled","emoji":false}},)"
            R"({"type":"section","fields":[)"
            R"({"type":"plain_text","text":"Workload\nDeployment shop/web","emoji":false},)"
            R"({"type":"plain_text","text":"Changed\nConfigMap shop/config, Secret shop/keys",)"
            R"("emoji":false},)"
            R"({"type":"plain_text","text":"Policies\nReloadPolicy shop/careful, )"
            R"(ClusterReloadPolicy all","emoji":false}]},)"
            R"({"type":"context","elements":[{"type":"plain_text",)"
            R"("text":"Info · prod · 2026-11-29T12:00:00Z","emoji":false}]}]})");
}

TEST(SlackMessages, EscapeWhatSlackWouldObey) {
  const JsonTree message = SlackMessage(TextOf(WebCannotBeRolled(), ""));
  EXPECT_EQ(message.TextAt("text"), "Error: Deployment shop/web cannot be rolled");
  EXPECT_EQ(message.At({"blocks", "1", "text"})->TextAt("text"),
            "The operator tries again. The last error: a &lt;b&gt; &amp; *c* _d_ {{DATE(x)}} "
            "&lt;!here&gt;");
}

TEST(SlackMessages, KeepToTheLimitsOfBlockKit) {
  for (const NotificationText& text : HardTexts()) {
    const JsonTree message = SlackMessage(text);
    const auto blocks = message.Find("blocks")->elements();
    EXPECT_LE(blocks.size(), kMaxSlackBlocks);
    for (const JsonTree& block : blocks) {
      if (block.TextAt("type") == "header") {
        ExpectSlackText(*block.Find("text"), 150);
      } else if (block.TextAt("type") == "context") {
        ASSERT_EQ(block.Find("elements")->size(), 1U);
        ExpectSlackText(block.Find("elements")->elements()[0], 2000);
      } else if (const JsonTree* fields = block.Find("fields")) {
        EXPECT_LE(fields->size(), 10U);
        for (const JsonTree& field : fields->elements()) {
          ExpectSlackText(field, 2000);
        }
      } else {
        EXPECT_EQ(block.TextAt("type"), "section");
        ExpectSlackText(*block.Find("text"), 3000);
      }
    }
  }
  const std::string large = SlackMessage(HardTexts().back()).ToJson();
  EXPECT_THAT(large, HasSubstr(" more\"")) << "it says that something is left out";
}

TEST(TeamsMessages, AreCardsOfTextRuns) {
  Notification rolled = WebWasRolled();
  rolled.sources.clear();
  rolled.policies.clear();
  EXPECT_EQ(TeamsMessage(TextOf(rolled, "")).ToJson(),
            R"({"type":"message","attachments":[{)"
            R"("contentType":"application/vnd.microsoft.card.adaptive","content":{)"
            R"("type":"AdaptiveCard","version":"1.2","body":[)"
            R"({"type":"RichTextBlock","inlines":[{"type":"TextRun",)"
            R"("text":"Deployment shop/web was rolled","size":"Medium","weight":"Bolder",)"
            R"("color":"Good"}]},)"
            R"({"type":"RichTextBlock","inlines":[)"
            R"({"type":"TextRun","text":"Workload: ","weight":"Bolder"},)"
            R"({"type":"TextRun","text":"Deployment shop/web"}]},)"
            R"({"type":"RichTextBlock","inlines":[{"type":"TextRun",)"
            R"("text":"Info · 2026-11-29T12:00:00Z","isSubtle":true,"size":"Small"}]}]}}]})");
}

TEST(TeamsMessages, PartWhatTeamsWouldObey) {
  const std::string message = TeamsMessage(TextOf(WebCannotBeRolled(), "")).ToJson();
  EXPECT_THAT(message, HasSubstr("{ {DATE(x)}}"));
  EXPECT_THAT(message, HasSubstr("*c* _d_")) << "a text run is no Markdown";
  EXPECT_THAT(message, HasSubstr(R"("color":"Attention")"));
}

TEST(TeamsMessages, KeepToTheLimitOfTeams) {
  for (const NotificationText& text : HardTexts()) {
    EXPECT_LE(TeamsMessage(text).ToJson().size(), 28'000U);
  }
  EXPECT_GT(TeamsMessage(HardTexts().back()).ToJson().size(), 8'000U) << "it says what it can";
  EXPECT_THAT(TeamsMessage(HardTexts().back()).ToJson(), HasSubstr(" more\""));
}

TEST(GoogleChatMessages, AreCards) {
  Notification rolled = WebWasRolled();
  rolled.policies.clear();
  rolled.paused = true;
  EXPECT_EQ(GoogleChatMessage(TextOf(rolled, "")).ToJson(),
            R"({"cardsV2":[{"cardId":"notification","card":{"header":{)"
            R"("title":"Deployment shop/web was rolled",)"
            R"("subtitle":"Info · 2026-11-29T12:00:00Z"},"sections":[{"widgets":[)"
            R"({"textParagraph":{"text":"It is paused; its pods follow when it is resumed."}},)"
            R"({"decoratedText":{"topLabel":"Workload","text":"Deployment shop/web",)"
            R"("wrapText":true}},)"
            R"({"decoratedText":{"topLabel":"Changed",)"
            R"("text":"ConfigMap shop/config, Secret shop/keys","wrapText":true}}]}]}}]})");
}

TEST(GoogleChatMessages, EscapeHtmlAndKeepToTheLimit) {
  const JsonTree message = GoogleChatMessage(TextOf(WebCannotBeRolled(), ""));
  EXPECT_THAT(
      std::string(
          message.At({"cardsV2", "0", "card", "sections", "0", "widgets", "0", "textParagraph"})
              ->TextAt("text")),
      HasSubstr("a &lt;b&gt; &amp; *c*"));
  for (const NotificationText& text : HardTexts()) {
    EXPECT_LE(GoogleChatMessage(text).ToJson().size(), 32'000U);
  }
}

TEST(PlainMessages, AreLines) {
  EXPECT_EQ(PlainMessage(TextOf(WebCannotBeRolled("a <b>"), "prod")),
            "Deployment shop/web cannot be rolled\n"
            "The operator tries again. The last error: a <b>\n"
            "Workload: Deployment shop/web\n"
            "Changed: ConfigMap shop/config, Secret shop/keys\n"
            "Policies: ReloadPolicy shop/careful, ClusterReloadPolicy all\n"
            "Error · prod · 2026-11-29T12:00:00Z\n");
  for (const NotificationText& text : HardTexts()) {
    EXPECT_LE(PlainMessage(text).size(), kMaxPlainBytes);
  }
}

TEST(GrafanaAnnotations, HaveTimeTagsAndText) {
  EXPECT_EQ(GrafanaAnnotation(WebWasRolled(), "prod").ToJson(),
            R"({"time":1795953600123,"tags":["kubexx-reloader","severity:info","cluster:prod",)"
            R"("namespace:shop","workload:Deployment/web","source:ConfigMap/config",)"
            R"("source:Secret/keys"],)"
            R"("text":"Deployment shop/web was rolled\nWorkload: Deployment shop/web\n)"
            R"(Changed: ConfigMap shop/config, Secret shop/keys\n)"
            R"(Policies: ReloadPolicy shop/careful, ClusterReloadPolicy all"})");
  EXPECT_THAT(std::string(GrafanaAnnotation(WebCannotBeRolled(), "").TextAt("text")),
              HasSubstr("a &lt;b&gt; &amp;"));
}

TEST(GrafanaAnnotations, TellSourcesOfOtherNamespacesApart) {
  Notification rolled = WebWasRolled();
  rolled.sources = {{"ConfigMap", {"shop", "settings"}}, {"ConfigMap", {"shared", "settings"}}};
  EXPECT_THAT(GrafanaAnnotation(rolled, "").Find("tags")->ToJson(),
              HasSubstr(R"("source:ConfigMap/settings","source:ConfigMap/shared/settings")"));
}

TEST(GrafanaAnnotations, KeepToTheLimitOfTags) {
  Notification many = WebWasRolled();
  for (int i = 0; i < 18; ++i) {
    many.sources.push_back({"ConfigMap", {"shop", std::string(200, 's') + std::to_string(i)}});
  }
  const JsonTree tags = *GrafanaAnnotation(many, std::string(100, 'c')).Find("tags");
  EXPECT_LE(tags.ToJson().size(), 500U);
  EXPECT_GE(tags.size(), 6U) << "the first ones are there";
  for (const JsonTree& tag : tags.elements()) {
    EXPECT_LE(tag.AsString()->size(), 100U + std::string("namespace:").size());
  }
  const JsonTree region = GrafanaAnnotation(LargeDigest(), "prod");
  EXPECT_EQ(region.Find("timeEnd")->AsInt(), 1795953600123);
  EXPECT_LE(region.TextAt("text").size(), 8000U);
}

TEST(GrafanaAnnotations, GoToTheApi) {
  EXPECT_EQ(AnnotationsUrl("https://g.example.com"), "https://g.example.com/api/annotations");
  EXPECT_EQ(AnnotationsUrl("https://example.com/g/?orgId=2"),
            "https://example.com/g/api/annotations?orgId=2");
  EXPECT_EQ(AnnotationsUrl("https://example.com/api/annotations/"),
            "https://example.com/api/annotations");
}

TEST(CloudEvents, HaveTheAttributesOfVersion1) {
  Notification rolled = WebWasRolled();
  rolled.job = "web-1";
  rolled.more_sources = 2;
  EXPECT_EQ(CloudEventOf(rolled, "/clusters/prod", "prod").ToJson(),
            R"({"specversion":"1.0","id":"id-1","source":"/clusters/prod",)"
            R"("type":"io.kubexx.reloader.Reloaded","subject":"Deployment/shop/web",)"
            R"("time":"2026-11-29T12:00:00.123456Z","datacontenttype":"application/json",)"
            R"("dataschema":"tag:reloader.kubexx.io,2026:notification/v1",)"
            R"("data":{"severity":"Info","reason":"Reloaded","cluster":"prod","namespace":"shop",)"
            R"("workload":{"kind":"Deployment","namespace":"shop","name":"web"},)"
            R"("sources":[{"kind":"ConfigMap","namespace":"shop","name":"config"},)"
            R"({"kind":"Secret","namespace":"shop","name":"keys"}],"moreSources":2,)"
            R"("policies":[{"kind":"ReloadPolicy","namespace":"shop","name":"careful"},)"
            R"({"kind":"ClusterReloadPolicy","name":"all"}],"job":"web-1",)"
            R"("title":"A Job of Deployment shop/web was created"}})");
  const JsonTree failed = CloudEventOf(WebCannotBeRolled("why"), "/x", "");
  EXPECT_EQ(failed.TextAt("type"), "io.kubexx.reloader.ReloadFail");
  EXPECT_EQ(failed.Find("data")->TextAt("message"), "why");
  EXPECT_EQ(failed.Find("data")->Find("cluster"), nullptr);
}

TEST(CloudEvents, OfADigestHaveItsCounts) {
  StormDigest digest("digest-1", kNoon);
  digest.Add(WebWasRolled());
  digest.Add(WebWasRolled());
  EXPECT_EQ(
      CloudEventOf(digest, "/x", "").ToJson(),
      R"({"specversion":"1.0","id":"digest-1","source":"/x",)"
      R"("type":"io.kubexx.reloader.Digest","time":"2026-11-29T12:00:00.123456Z",)"
      R"("datacontenttype":"application/json",)"
      R"("dataschema":"tag:reloader.kubexx.io,2026:digest/v1",)"
      R"("data":{"severity":"Info","reason":"Digest","title":"Gathered: 2 rollouts",)"
      R"("begin":"2026-11-29T12:00:00.123456Z","end":"2026-11-29T12:00:00.123456Z",)"
      R"("total":2,"groups":[{"severity":"Info","reason":"Reloaded","namespace":"shop",)"
      R"("source":"ConfigMap/shop/config","count":2,"workloads":["Deployment/shop/web"]}]}})");
}

TEST(CloudEvents, ComeFromAReferenceToTheOperator) {
  EXPECT_EQ(CloudEventSource("", "", ""), "/kubexx-reloader");
  EXPECT_EQ(CloudEventSource("prod eu", "ops", "reloader"),
            "/clusters/prod%20eu/namespaces/ops/deployments/reloader");
}

TEST(MessageOf, MakesABatchOfSeveralEvents) {
  const auto one = std::make_shared<const Notification>(WebWasRolled());
  const auto two = std::make_shared<const Notification>(WebCannotBeRolled());
  ReceiverSettings receiver{.type = ReceiverType::kCloudEvents};
  EXPECT_GT(MaxPerMessage(receiver), 1U);
  const Message single = MessageOf(receiver, {.source = "/x"}, std::vector{one});
  EXPECT_EQ(single.content_type, "application/cloudevents+json");
  EXPECT_THAT(single.body, testing::StartsWith("{\"specversion\""));
  const Message batch = MessageOf(receiver, {.source = "/x"}, std::vector{one, two});
  EXPECT_EQ(batch.content_type, "application/cloudevents-batch+json");
  const auto parsed = JsonTree::Parse(batch.body);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->elements().size(), 2U);
  receiver.batches = false;
  EXPECT_EQ(MaxPerMessage(receiver), 1U);
}

TEST(MessageOf, MakesTheFormOfEachType) {
  const std::vector notifications{std::make_shared<const Notification>(WebWasRolled())};
  for (const ReceiverType type : kReceiverTypes) {
    const ReceiverSettings receiver{.type = type};
    const Message message = MessageOf(receiver, {.source = "/x"}, notifications);
    const Message digest = MessageOf(receiver, {.source = "/x"}, LargeDigest());
    EXPECT_EQ(message.content_type, digest.content_type);
    EXPECT_EQ(JsonTree::Parse(message.body).has_value(), type != ReceiverType::kText);
    EXPECT_EQ(JsonTree::Parse(digest.body).has_value(), type != ReceiverType::kText);
    EXPECT_THAT(message.body, HasSubstr("Deployment shop/web was rolled"));
    EXPECT_THAT(digest.body, HasSubstr("Gathered: 1000 rollouts"));
  }
}

TEST(NotificationText, HasATitleForEachReason) {
  const auto title = [](const Notification& notification) {
    return TextOf(notification, "").title;
  };
  Notification notification = WebWasRolled();
  notification.action = "signal:HUP";
  EXPECT_EQ(title(notification), "Deployment shop/web was reloaded in place");
  notification = WebWasRolled();
  notification.reason = "RolloutFailed";
  EXPECT_EQ(title(notification), "A rollout of Deployment shop/web has failed");
  notification.reason = "BaselineFull";
  EXPECT_EQ(title(notification), "Deployment shop/web needs attention: BaselineFull");
  notification.is_of_policy = true;
  notification.severity = Severity::kWarning;
  EXPECT_EQ(title(notification), "Rollouts wait because of ReloadPolicy shop/careful");
  notification.severity = Severity::kError;
  EXPECT_EQ(title(notification), "A wave has failed under ReloadPolicy shop/careful");
  notification.workload.reset();
  EXPECT_EQ(title(notification), "ReloadPolicy shop/careful has stopped rollouts");
}

TEST(NotificationText, ShowsOnlyWhatCanBeSeen) {
  const NotificationText text = TextOf(WebCannotBeRolled("a\nb\x1b[2J\xff"), "x\ny");
  EXPECT_THAT(text.body, HasSubstr("a\\nb\\x1b[2J\ufffd"));
  EXPECT_THAT(text.footer, Not(HasSubstr("\n")));
}

TEST(ShortText, SaysThatItIsCut) {
  EXPECT_EQ(ShortText("abc", 3), "abc");
  EXPECT_EQ(ShortText(std::string(100, 'a'), 50), std::string(40, 'a') + " … (cut)");
  EXPECT_EQ(ShortText(std::string(100, 'a'), 5), "aaaaa");
  EXPECT_EQ(ShortText("\u00e4\u00e4", 3), "\u00e4");
  EXPECT_EQ(FitEscaped(std::string(100, '<'), 50, EscapeMarkup).size() <= 50, true);
  EXPECT_EQ(FitEscaped("<<", 3, EscapeMarkup), "") << "no room for one escaped character";
}

}  // namespace
}  // namespace kubexx::reloader
