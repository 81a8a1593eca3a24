// Tests an informer on a system that has no threads left, at each point at which a thread is
// started.
#include "kubexx/base/testing/scarce_threads/scarce_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/testing/recorder.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {
namespace {

using apimachinery::Reason;
using apimachinery::Status;
using base::testing::ScarceThreads;
using ::testing::ElementsAre;
using testing::FakeSource;
using ::testing::HasSubstr;
using testing::Recorder;

class ScarceThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if constexpr (!ScarceThreads::kWorks) {
      GTEST_SKIP() << "a sanitizer has a pthread_create of its own";
    }
    source_->Put({"a", "1"}, "x");
  }

  /// An executor with one thread for tasks and no replacement for it. It starts threads only when
  /// it starts itself.
  static std::shared_ptr<base::Executor> OfOneThread() {
    return std::make_shared<base::Executor>(
        base::ExecutorOptions{.threads = 1, .max_threads = 1, .patience = std::chrono::hours(1)});
  }

  std::shared_ptr<FakeSource> source_ = std::make_shared<FakeSource>();
  Recorder recorder_;
};

TEST_F(ScarceThreadsTest, AHandlerOfARunningInformerNeedsNoThread) {
  SharedInformerBase informer(source_, {.name = "things", .use_watch_list = false});
  informer.Start();
  ASSERT_TRUE(informer.WaitForSync(base::testing::PatienceEnd().token()));
  const ScarceThreads scarce(0);
  const auto registration = informer.AddRawHandler("recorder", recorder_.Handler());
  recorder_.AwaitEvents(1);
  source_->Put({"a", "2"}, "x");
  recorder_.AwaitEvents(2);
  EXPECT_THAT(recorder_.log(), ElementsAre("initial a/1", "add a/2"));
}

TEST_F(ScarceThreadsTest, AStartThatGetsTooFewThreadsCanBeMadeAgain) {
  int refused = 0;
  bool has_started = false;
  for (int threads = 0; !has_started && threads < 100; ++threads) {
    std::vector<NamespacedSource> sources;
    sources.push_back({.namespace_ = "a", .lister_watcher = source_});
    sources.push_back({.namespace_ = "b", .lister_watcher = std::make_shared<FakeSource>()});
    SharedInformerBase informer(
        std::move(sources), {.name = "things", .use_watch_list = false, .executor = OfOneThread()});
    Recorder recorder;
    const auto registration = informer.AddRawHandler("recorder", recorder.Handler());
    {
      const ScarceThreads scarce(threads);
      try {
        informer.Start();
        has_started = true;
      } catch (const std::system_error&) {
        ++refused;
      }
    }
    if (!has_started) {
      EXPECT_FALSE(informer.OnOwnThread());
      EXPECT_THAT(informer.SyncError().error().message, HasSubstr("it has not come yet"));
    }
    informer.Start();
    ASSERT_TRUE(informer.WaitForSync(base::testing::PatienceEnd().token()));
    recorder.AwaitEvents(1);
    EXPECT_THAT(recorder.log(), ElementsAre("initial a/1")) << "with " << threads << " threads";
  }
  EXPECT_TRUE(has_started);
  EXPECT_EQ(refused, 4) << "of the executor's two and two reflectors";
}

// A resync and a watch that may fall silent each need a thread, which the reflector starts itself.
TEST_F(ScarceThreadsTest, AReflectorThatGetsNoThreadsTriesAgain) {
  base::testing::FakeClock clock;
  metrics::Registry registry;
  testing::Gate told;
  std::optional<Status> said;  // the first error; it is read once the gate is open
  SharedInformerBase informer(source_, {.name = "things",
                                        .clock = clock,
                                        .registry = &registry,
                                        .resync_period = std::chrono::minutes(1),
                                        .use_watch_list = false,
                                        .on_error =
                                            [&](const Status& status) {
                                              if (!said) {
                                                said = status;
                                                told.Open();
                                              }
                                            },
                                        .seed = 1,
                                        .tuning = {.watch_idle_timeout = std::chrono::hours(10)},
                                        .executor = OfOneThread()});
  const auto registration = informer.AddRawHandler("recorder", recorder_.Handler());
  {
    // Enough for the two threads of the executor and for the reflector itself.
    const ScarceThreads scarce(3);
    informer.Start();
    told.Wait();
  }
  EXPECT_EQ(said->reason, Reason::kUnavailable);
  EXPECT_THAT(said->message, HasSubstr("watch: threw: "));
  const metrics::Counter resyncs =
      registry.Counter("reflector_resyncs_total", "", {{"name", "things"}});
  source_->Put({"a", "2"}, "x");
  KX_UNTIL(informer.Size() == 2 && resyncs.Value() > 0) {
    clock.Advance(std::chrono::seconds(1));
  }
  EXPECT_GT(registry.Counter("reflector_exceptions_total", "", {{"name", "things"}}).Value(), 0);
}

}  // namespace
}  // namespace kubexx::cache
