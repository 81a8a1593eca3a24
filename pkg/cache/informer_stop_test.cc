// A stop that is requested while an informer starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/leak_check.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/fake_source.h"

namespace kubexx::cache {
namespace {

constexpr int kRounds = 200;

class InformerStopTest : public ::testing::Test {
 protected:
  // There are many handlers, so that the start takes long.
  InformerStopTest() {
    source_->Put({"n", "a"}, "x");
    for (int i = 0; i < 16; ++i) {
      handlers_.push_back(informer_.AddRawHandler("h" + std::to_string(i),
                                                  [](const SharedInformerBase::RawEvent&) {}));
    }
    informer_.Start();
    EXPECT_TRUE(informer_.WaitForSync(base::testing::PatienceEnd().token()));
    informer_.Stop();
  }

  std::shared_ptr<testing::FakeSource> source_ = std::make_shared<testing::FakeSource>();
  /// The informer's threads are those of its own executor, so their number never changes.
  SharedInformerBase informer_{source_,
                               {.name = "things",
                                .use_watch_list = false,
                                .executor = std::make_shared<base::Executor>(
                                    base::ExecutorOptions{.threads = 1, .max_threads = 1})}};
  std::vector<HandlerRegistration> handlers_;
};

TEST_F(InformerStopTest, LeavesNoThreadAndNoHandlerWhenItComesAmidTheStart) {
  const std::size_t before = base::testing::ReadHeldResources().threads.size();
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(informer_.HasSynced()) << "in the run before";
    std::atomic<bool> started = false;
    std::jthread stopper([&] {
      while (informer_.HasSynced() && !started) {  // a stop before that would not meet the start
      }
      informer_.RequestStop();
    });
    informer_.Start();
    started = true;
    stopper.join();
    KX_AWAIT(informer_.HasEnded());
    KX_AWAIT_EQ(base::testing::ReadHeldResources().threads.size(), before);
    informer_.Start();
    ASSERT_TRUE(informer_.WaitForSync(base::testing::PatienceEnd().token()));
    informer_.Stop();
  }
}

// Several threads stop the informer and one starts it. In the end the informer either runs or does
// not.
TEST_F(InformerStopTest, OfAnEarlierRunDoesNoHarmToTheNextOne) {
  for (int i = 0; i < kRounds; ++i) {
    informer_.Start();
    informer_.RequestStop();
    {
      const std::jthread again([&] { informer_.RequestStop(); });
      informer_.Start();
    }
    informer_.Start();  // does nothing when it runs
    ASSERT_TRUE(informer_.WaitForSync(base::testing::PatienceEnd().token())) << "round " << i;
  }
}

// A reader may have taken the informer from its factory just before the factory removes it.
TEST(InformerRetireTest, TellsThoseWhoWaitForTheFirstListAtOnce) {
  const auto source = std::make_shared<testing::FakeSource>();
  source->FailLists({apimachinery::Reason::kUnavailable, "down"}, 1000000000);
  SharedInformerBase informer(
      source,
      {.name = "things", .use_watch_list = false, .on_error = [](const apimachinery::Status&) {}});
  informer.Start();
  base::testing::PatienceEnd end;
  std::optional<apimachinery::Result<void>> waited;
  bool synced = true;
  {
    const std::jthread reader(
        [&] { waited = informer.AwaitSync(end.token(), base::Duration::max()); });
    const std::jthread other([&] { synced = informer.WaitForSync(end.token()); });
    informer.Retire();
  }
  ASSERT_TRUE(waited && !*waited);
  EXPECT_EQ(waited->error().reason, apimachinery::Reason::kUnavailable);
  EXPECT_THAT(waited->error().message, ::testing::HasSubstr("the informer was removed"));
  EXPECT_FALSE(synced);
  EXPECT_FALSE(end.token().stop_requested()) << "it waited for all of its time";
}

}  // namespace
}  // namespace kubexx::cache
