#include "kubexx/reloader/receivers/receiver.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/receivers/notifications.h"
#include "kubexx/rest/testing/http_threads.h"

namespace kubexx::reloader {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// An address that records what it gets. While it is closed, its answers are held back.
class RecordingAddress {
 public:
  MessageSender::Post Post() {
    return [this](const Message& message, const std::stop_token& stop) {
      const base::MutexLock lock(mu_);
      got_.push_back(message);
      changed_.notify_all();
      while (!open_ && !stop.stop_requested()) {
        (void)base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max());
      }
      return apimachinery::Result<int>(status_);
    };
  }
  void SetOpen(bool open) {
    const base::MutexLock lock(mu_);
    open_ = open;
    changed_.notify_all();
  }
  void SetStatus(int status) {
    const base::MutexLock lock(mu_);
    status_ = status;
  }
  std::vector<Message> Await(std::size_t n,
                             const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " messages", where);
    while (got_.size() < n) {
      patience.Wait(changed_, mu_, got_.size());
    }
    return got_;
  }
  /// The first line of each body.
  std::vector<std::string> Titles() {
    const base::MutexLock lock(mu_);
    std::vector<std::string> titles;
    for (const Message& message : got_) {
      titles.push_back(message.body.substr(0, message.body.find('\n')));
    }
    return titles;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<Message> got_ KX_GUARDED_BY(mu_);
  bool open_ KX_GUARDED_BY(mu_) = true;
  int status_ KX_GUARDED_BY(mu_) = 200;
};

class ReceiverTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  static ReceiverSettings SettingsOf(ReceiverType type, StormLimits digest = {}) {
    return {.name = "ops",
            .type = type,
            .severities = {kSeverities.begin(), kSeverities.end()},
            .digest = digest};
  }
  std::unique_ptr<Receiver> Make(ReceiverSettings settings) {
    return std::make_unique<Receiver>(
        Receiver::Options{.settings = std::move(settings),
                          .origin = {.source = "/test"},
                          .executor = executor_,
                          .clock = clock_,
                          .registry = &registry_,
                          .new_id = [] { return "digest"; }},
        std::make_unique<MessageSender>(
            MessageSender::Options{.name = "ops",
                                   .accepts = [](int status) { return status == 200; },
                                   .attempts = 8,
                                   .first_pause = seconds(1),
                                   .clock = clock_,
                                   .registry = &registry_},
            address_.Post()));
  }
  std::shared_ptr<const Notification> Rolled(const std::string& name,
                                             Severity severity = Severity::kInfo) {
    return std::make_shared<const Notification>(
        Notification{.id = name,
                     .time = clock_.Wall(),
                     .severity = severity,
                     .reason = severity == Severity::kInfo ? kReloadedReason : kReloadFailReason,
                     .namespace_ = "shop",
                     .workload = reloadpolicy::ObjectRef{"Deployment", {"shop", name}}});
  }
  double Count(const char* metric, const char* help, metrics::Labels labels) {
    return registry_.Counter(metric, help, std::move(labels)).Value();
  }
  double Gathered() {
    return Count("kubexx_reloader_notifications_gathered_total",
                 "Notifications that were gathered in a digest.", {{"target", "ops"}});
  }

  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<base::Executor> executor_ = std::make_shared<base::Executor>();
  RecordingAddress address_;
};

TEST_F(ReceiverTest, SendsInOrderWhatItWants) {
  ReceiverSettings settings = SettingsOf(ReceiverType::kText);
  settings.severities = {Severity::kError};
  const auto receiver = Make(settings);
  receiver->Take(Rolled("a", Severity::kError));
  receiver->Take(Rolled("b", Severity::kInfo));
  receiver->Take(Rolled("c", Severity::kError));
  address_.Await(2);
  receiver->Stop();
  EXPECT_THAT(address_.Titles(), ElementsAre("Deployment shop/a cannot be rolled",
                                             "Deployment shop/c cannot be rolled"));
  receiver->Take(Rolled("d", Severity::kError));
  EXPECT_EQ(address_.Titles().size(), 2U) << "it has stopped";
}

TEST_F(ReceiverTest, GathersWhatExceedsUntilTheEndOfTheInterval) {
  const auto receiver = Make(SettingsOf(ReceiverType::kText, {.after = 2, .every = minutes(1)}));
  for (const char* name : {"a", "b", "c", "d"}) {
    receiver->Take(Rolled(name));
  }
  receiver->Take(Rolled("e", Severity::kError));
  address_.Await(2);
  EXPECT_EQ(Gathered(), 3);
  clock_.AdvanceToSleeper(seconds(59));
  EXPECT_EQ(address_.Titles().size(), 2U) << "the interval has not ended";
  clock_.AdvanceToSleeper(seconds(1));
  const Message digest = address_.Await(3).back();
  EXPECT_THAT(digest.body, StartsWith("Gathered: 1 error, 2 rollouts\n"));
  EXPECT_THAT(digest.body, HasSubstr("Error: 1 ReloadFail in shop: Deployment/shop/e\n"
                                     "Info: 2 Reloaded in shop: Deployment/shop/c, "
                                     "Deployment/shop/d\n"));
  receiver->Take(Rolled("f"));
  EXPECT_THAT(address_.Await(4).back().body, StartsWith("Deployment shop/f was rolled"))
      << "another interval";
}

TEST_F(ReceiverTest, GathersEverythingIfItIsToldTo) {
  const auto receiver = Make(SettingsOf(ReceiverType::kText, {.after = 0, .every = minutes(5)}));
  receiver->Take(Rolled("a"));
  clock_.AdvanceToSleeper(minutes(5));
  EXPECT_THAT(address_.Await(1).back().body, StartsWith("Gathered: 1 rollout\n"));
  receiver->Take(Rolled("b"));
  clock_.AdvanceToSleeper(minutes(5));
  address_.Await(2);
}

TEST_F(ReceiverTest, SendsTheDigestWhenItStops) {
  const auto receiver = Make(SettingsOf(ReceiverType::kText, {.after = 1, .every = minutes(1)}));
  for (const char* name : {"a", "b", "c"}) {
    receiver->Take(Rolled(name));
  }
  receiver->Stop();
  EXPECT_THAT(address_.Titles(),
              ElementsAre("Deployment shop/a was rolled", "Gathered: 2 rollouts"));
}

TEST_F(ReceiverTest, GathersWhatHasNoRoom) {
  address_.SetOpen(false);
  const auto receiver = Make(SettingsOf(ReceiverType::kText));
  receiver->Take(Rolled("first"));
  address_.Await(1);
  for (std::size_t i = 0; i < Receiver::kMaxWaiting + 50; ++i) {
    receiver->Take(Rolled(std::to_string(i)));
  }
  EXPECT_EQ(Gathered(), 50);
  clock_.Advance(minutes(1));
  address_.SetOpen(true);
  const auto got = address_.Await(Receiver::kMaxWaiting + 2);
  EXPECT_THAT(got[1].body, StartsWith("Gathered: 50 rollouts\n")) << "it has waited for long";
  EXPECT_THAT(got[2].body, StartsWith("Deployment shop/0 was rolled"));
}

TEST_F(ReceiverTest, SendsFewMessagesWhenItStops) {
  address_.SetOpen(false);
  const auto receiver = Make(SettingsOf(ReceiverType::kText));
  receiver->Take(Rolled("first"));
  address_.Await(1);
  for (int i = 0; i < 100; ++i) {
    receiver->Take(Rolled(std::to_string(i)));
  }
  receiver->Close();
  address_.SetOpen(true);
  receiver->Stop();
  const auto titles = address_.Titles();
  ASSERT_EQ(titles.size(), 1 + Receiver::kMaxAtEnd + 1);
  EXPECT_EQ(titles.back(), "Gathered: 80 rollouts");
}

TEST_F(ReceiverTest, SendsEventsThatWaitAsABatch) {
  address_.SetOpen(false);
  const auto receiver = Make(SettingsOf(ReceiverType::kCloudEvents));
  receiver->Take(Rolled("a"));
  address_.Await(1);
  receiver->Take(Rolled("b"));
  receiver->Take(Rolled("c"));
  address_.SetOpen(true);
  const auto got = address_.Await(2);
  EXPECT_EQ(got[0].content_type, "application/cloudevents+json");
  EXPECT_EQ(got[1].content_type, "application/cloudevents-batch+json");
  const auto batch = codec::JsonTree::Parse(got[1].body);
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->size(), 2U);
  EXPECT_EQ(batch->elements()[0].TextAt("id"), "b");
  EXPECT_EQ(batch->elements()[1].TextAt("id"), "c");
}

TEST_F(ReceiverTest, KeepsAnIdWhenItTriesAgain) {
  address_.SetStatus(503);
  const auto receiver = Make(SettingsOf(ReceiverType::kCloudEvents));
  receiver->Take(Rolled("a"));
  address_.Await(1);
  receiver->Take(Rolled("b"));
  address_.SetStatus(200);
  clock_.AdvanceToSleeper(seconds(1));
  const auto got = address_.Await(3);
  EXPECT_EQ(got[0], got[1]);
  EXPECT_THAT(got[2].body, HasSubstr(R"("id":"b")"));
}

TEST_F(ReceiverTest, GoesOnAfterARefusal) {
  address_.SetStatus(400);
  const auto receiver = Make(SettingsOf(ReceiverType::kText));
  receiver->Take(Rolled("a"));
  address_.Await(1);
  receiver->Take(Rolled("b"));
  address_.Await(2);
  receiver->Stop();
  EXPECT_EQ(Count("kubexx_reloader_messages_total",
                  "Alerts, notifications and webhook calls, by what became of them.",
                  {{"target", "ops"}, {"result", "failed"}}),
            2);
}

TEST_F(ReceiverTest, RefusesWhatCannotBeSentWithoutShowingIt) {
  ReceiverSettings settings = SettingsOf(ReceiverType::kSlack);
  settings.url = "http://example.com:port/hidden";
  const auto bad = NewHttpReceiver(
      {.settings = settings, .executor = executor_, .clock = clock_, .registry = nullptr});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().ToString(), testing::Not(HasSubstr("hidden")));
  settings.url = "https://example.com";
  settings.ca_file = "/there/is/none.pem";
  const auto notifications =
      NewNotifications({.receivers = {settings}}, {}, {}, executor_, nullptr);
  ASSERT_FALSE(notifications);
  EXPECT_THAT(notifications.error().ToString(), HasSubstr("receiver ops: "));
  EXPECT_THAT(notifications.error().ToString(), HasSubstr("/there/is/none.pem"));
}

TEST_F(ReceiverTest, IsToldOfWritesNoticesAndTrouble) {
  ReceiverSettings settings = SettingsOf(ReceiverType::kCloudEvents);
  settings.policies = {"shop/careful"};
  std::vector<std::unique_ptr<Receiver>> receivers;
  receivers.push_back(Make(settings));
  int ids = 0;
  Notifications notifications(
      {.governing =
           [](const reloadpolicy::ObjectRef& workload) {
             return workload.key.name == "web"
                        ? std::vector<reloadpolicy::PolicyId>{{"shop", "careful"}}
                        : std::vector<reloadpolicy::PolicyId>();
           },
       .clock = clock_,
       .new_id = [&ids] { return std::to_string(++ids); }},
      std::move(receivers));
  const WorkloadId web{WorkloadKind::kDeployment, {"shop", "web"}};
  const WorkloadId other{WorkloadKind::kDeployment, {"shop", "other"}};
  WriteReport report{.workload = web, .causes = {{SourceType::kConfigMap, {"shop", "config"}}}};
  notifications.OnWrite(report);
  address_.Await(1);
  report.workload = other;
  notifications.OnWrite(report);  // no policy governs it
  report.workload = web;
  report.outcome = apimachinery::Fail(apimachinery::Reason::kConflict, "changed", 409);
  notifications.OnWrite(report);  // it may pass
  report.outcome = apimachinery::Fail(apimachinery::Reason::kForbidden, "no", 403);
  notifications.OnWrite(report);
  notifications.OnWrite(report);  // once
  address_.Await(2);
  notifications.OnNotice({.workload = web, .reason = "BaselineFull", .message = "why"});
  address_.Await(3);
  notifications.OnTrouble({.is_bad = true,
                           .reason = "RolloutsStopped",
                           .plain = "stopped",
                           .policy = reloadpolicy::PolicyId{"shop", "careful"}});
  address_.Await(4);
  notifications.OnTrouble({.reason = "RolloutsWait",
                           .plain = "wait",
                           .workload = web,
                           .policy = reloadpolicy::PolicyId{"", "all"}});
  const auto got = address_.Await(5);
  notifications.Stop();
  std::vector<std::string> types;
  for (const Message& message : got) {
    const auto event = codec::JsonTree::Parse(message.body);
    ASSERT_TRUE(event);
    types.emplace_back(event->TextAt("type"));
  }
  EXPECT_THAT(types,
              ElementsAre("io.kubexx.reloader.Reloaded", "io.kubexx.reloader.ReloadFail",
                          "io.kubexx.reloader.BaselineFull", "io.kubexx.reloader.RolloutsStopped",
                          "io.kubexx.reloader.RolloutsWait"));
  const auto last = codec::JsonTree::Parse(got.back().body);
  EXPECT_EQ(last->Find("data")->Find("policies")->ToJson(),
            R"([{"kind":"ClusterReloadPolicy","name":"all"},)"
            R"({"kind":"ReloadPolicy","namespace":"shop","name":"careful"}])");
}

}  // namespace
}  // namespace kubexx::reloader
