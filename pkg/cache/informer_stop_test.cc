// A stop that is requested while an informer starts.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/leak_check.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/fake_source.h"

namespace kubexx::cache {
namespace {

constexpr int kRounds = 200;

class InformerStopTest : public ::testing::Test {
 protected:
  // Many handlers, so that the start takes its time.
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
  SharedInformerBase informer_{source_, {.name = "things", .use_watch_list = false}};
  std::vector<HandlerRegistration> handlers_;
};

TEST_F(InformerStopTest, LeavesNoThreadOfAHandlerWhenItComesAmidTheStart) {
  const std::size_t before = base::testing::ReadHeldResources().threads.size();
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(informer_.HasSynced()) << "in the run before";
    std::atomic<bool> started = false;
    std::jthread stopper([&] {
      while (informer_.HasSynced() && !started) {  // before that it would be no request
      }
      informer_.RequestStop();
    });
    informer_.Start();
    started = true;
    stopper.join();
    KX_AWAIT_EQ(base::testing::ReadHeldResources().threads.size(), before);
    informer_.Start();
    ASSERT_TRUE(informer_.WaitForSync(base::testing::PatienceEnd().token()));
    informer_.Stop();
  }
}

// Several that stop, and one that starts: in the end it runs or it does not.
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

}  // namespace
}  // namespace kubexx::cache
