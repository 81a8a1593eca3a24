#include "kubexx/reloader/notify/message_sender.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FakeClock;

/// Gives its answers one after the other, and then repeats the last one. Thread-safe.
class FakeTarget {
 public:
  explicit FakeTarget(std::vector<int> answers) : answers_(std::move(answers)) {}
  MessageSender::Post Post() {
    return [this](const Message& message, const std::stop_token&) -> Result<int> {
      const base::MutexLock lock(mu_);
      got_.push_back(message.body);
      changed_.notify_all();
      const int answer = answers_[std::min(got_.size(), answers_.size()) - 1];
      if (answer == 0) {
        return Fail(Reason::kUnavailable, "no connection");
      }
      return answer;
    };
  }
  std::vector<std::string> Await(
      std::size_t n, const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " messages", where);
    while (got_.size() < n) {
      patience.Wait(changed_, mu_, got_);
    }
    return got_;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  const std::vector<int> answers_;
  std::vector<std::string> got_ KX_GUARDED_BY(mu_);
};

MessageSender::Options Options(base::Clock& clock, metrics::Registry& registry) {
  return {.name = "alert",
          .accepts = [](int status) { return status < 400; },
          .clock = clock,
          .registry = &registry};
}

double Count(metrics::Registry& registry, const char* result) {
  return registry
      .Counter("kubexx_reloader_messages_total",
               "Alerts, notifications and webhook calls, by what became of them.",
               {{"target", "alert"}, {"result", result}})
      .Value();
}

TEST(MessageSender, SendsInOrderAndFlushesAtItsEnd) {
  FakeClock clock;
  metrics::Registry registry;
  FakeTarget target({200});
  MessageSender sender(Options(clock, registry), target.Post());
  for (const char* body : {"a", "b", "c"}) {
    sender.Send({"text/plain", body});
  }
  sender.Stop();
  EXPECT_EQ(target.Await(3), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(Count(registry, "sent"), 3);
  sender.Send({"text/plain", "late"});
  EXPECT_EQ(Count(registry, "dropped"), 1);
}

TEST(MessageSender, TriesAgainWhenThatMayHelp) {
  FakeClock clock;
  metrics::Registry registry;
  FakeTarget target({0, 503, 200});
  MessageSender sender(Options(clock, registry), target.Post());
  sender.Send({"text/plain", "a"});
  target.Await(1);
  clock.AdvanceToSleeper(std::chrono::milliseconds(100));
  target.Await(2);
  clock.AdvanceToSleeper(std::chrono::milliseconds(200));
  target.Await(3);
  sender.Stop();
  EXPECT_EQ(Count(registry, "sent"), 1);
}

TEST(MessageSender, PausesNoLongerThanItsLimit) {
  FakeClock clock;
  metrics::Registry registry;
  FakeTarget target({0, 503, 429, 200});
  MessageSender::Options options = Options(clock, registry);
  MessageSender sender({.name = "alert",
                        .accepts = options.accepts,
                        .attempts = 4,
                        .first_pause = std::chrono::seconds(1),
                        .longest_pause = std::chrono::seconds(2),
                        .clock = clock,
                        .registry = &registry},
                       target.Post());
  sender.Send({"text/plain", "a"});
  std::size_t sent = 0;
  for (const int pause : {1, 2, 2}) {
    target.Await(++sent);
    clock.AdvanceToSleeper(std::chrono::seconds(pause));
  }
  target.Await(4);
  sender.Stop();
  EXPECT_EQ(Count(registry, "sent"), 1);
}

TEST(MessageSender, WaitsAsLongAsItIsAskedToAndNotForEver) {
  FakeClock clock;
  metrics::Registry registry;
  std::atomic<int> tries = 0;
  MessageSender sender(Options(clock, registry),
                       [&](const Message&, const std::stop_token&) -> Result<int> {
                         const int wait = ++tries == 1 ? 40 : 86'400;
                         if (tries == 3) {
                           return 200;
                         }
                         apimachinery::Status status(Reason::kTooManyRequests, "slowly", 429);
                         status.details.retry_after = std::chrono::seconds(wait);
                         return Fail(std::move(status));
                       });
  sender.Send({"text/plain", "a"});
  KX_AWAIT_EQ(tries, 1);
  clock.AdvanceToSleeper(std::chrono::seconds(40));
  KX_AWAIT_EQ(tries, 2);
  clock.AdvanceToSleeper(std::chrono::minutes(5));
  KX_AWAIT_EQ(tries, 3);
  sender.Stop();
  EXPECT_EQ(Count(registry, "sent"), 1);
}

TEST(MessageSender, CountsWhatItsEndLoses) {
  FakeClock clock;
  metrics::Registry registry;
  FakeTarget target({503});
  MessageSender::Options options = Options(clock, registry);
  options.first_pause = std::chrono::hours(1);
  options.flush_limit = base::Duration(0);
  MessageSender sender(std::move(options), target.Post());
  for (const char* body : {"a", "b", "c"}) {
    sender.Send({"text/plain", body});
  }
  target.Await(1);
  const logging::testing::Capture log;
  sender.Stop();
  EXPECT_EQ(Count(registry, "dropped"), 3) << "the one that was to be sent again, and the rest";
  EXPECT_EQ(log.Count("target=alert lost=3"), 1U) << testing::PrintToString(log.lines());
  EXPECT_EQ(Count(registry, "failed"), 0);
}

TEST(MessageSender, HasTheTimeOfItsFlushFromItsCloseOn) {
  FakeClock clock;
  metrics::Registry registry;
  FakeTarget target({503});
  MessageSender::Options options = Options(clock, registry);
  options.first_pause = std::chrono::hours(1);
  options.flush_limit = std::chrono::seconds(1);
  MessageSender sender(std::move(options), target.Post());
  sender.Send({"text/plain", "a"});
  target.Await(1);
  sender.Close();
  sender.Send({"text/plain", "late"});
  EXPECT_EQ(Count(registry, "dropped"), 1);
  clock.Advance(std::chrono::seconds(1));
  sender.Stop();  // at once: nobody moves the clock any more
  EXPECT_EQ(Count(registry, "dropped"), 2);
}

TEST(MessageSender, TakesARefusalAsFinal) {
  FakeClock clock;
  metrics::Registry registry;
  FakeTarget target({404});
  MessageSender sender(Options(clock, registry), target.Post());
  sender.Send({"text/plain", "a"});
  sender.Stop();
  EXPECT_EQ(target.Await(1).size(), 1U);
  EXPECT_EQ(Count(registry, "failed"), 1);
}

TEST(MessageSender, DropsWhatDoesNotFit) {
  FakeClock clock;
  metrics::Registry registry;
  base::Mutex mu;
  base::CondVar changed;
  bool entered = false;
  bool open = false;
  MessageSender::Options options = Options(clock, registry);
  MessageSender sender({.name = "alert",
                        .accepts = options.accepts,
                        .queue_size = 1,
                        .clock = clock,
                        .registry = &registry},
                       [&](const Message&, const std::stop_token&) -> Result<int> {
                         const base::MutexLock lock(mu);
                         entered = true;
                         changed.notify_all();
                         KX_AWAIT_CHANGE(changed, mu, open);
                         return 200;
                       });
  sender.Send({"text/plain", "under way"});
  {
    const base::MutexLock lock(mu);
    KX_AWAIT_CHANGE(changed, mu, entered);
  }
  sender.Send({"text/plain", "waits"});
  std::optional<bool> delivered;
  sender.Send({"text/plain", "too many"}, [&](bool is_delivered) { delivered = is_delivered; });
  EXPECT_EQ(Count(registry, "dropped"), 1);
  EXPECT_EQ(delivered, false);
  {
    const base::MutexLock lock(mu);
    open = true;
    changed.notify_all();
  }
  sender.Stop();
  EXPECT_EQ(Count(registry, "sent"), 2);
}

}  // namespace
}  // namespace kubexx::reloader
