// Informers that share the threads of one executor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/leak_check.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/testing/recorder.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {
namespace {

using std::chrono::milliseconds;
using testing::FakeSource;
using testing::Gate;
using testing::Recorder;

std::size_t ThreadCount() { return base::testing::ReadHeldResources().threads.size(); }

class InformerExecutorTest : public ::testing::Test {
 protected:
  struct Informer {
    std::shared_ptr<FakeSource> source = std::make_shared<FakeSource>();
    std::unique_ptr<SharedInformerBase> informer{};
    std::vector<HandlerRegistration> handlers{};

    void Add(const std::string& name, SharedInformerBase::RawHandler handler,
             HandlerOptions options = {}) {
      handlers.push_back(informer->AddRawHandler(name, std::move(handler), options));
    }
  };

  Informer NewInformer(const std::string& name) {
    Informer made;
    made.informer = std::make_unique<SharedInformerBase>(
        made.source,
        InformerOptions{
            .name = name, .registry = &registry_, .use_watch_list = false, .executor = executor_});
    return made;
  }
  static void StartAndSync(SharedInformerBase& informer) {
    informer.Start();
    ASSERT_TRUE(informer.WaitForSync(base::testing::PatienceEnd().token()));
  }
  static SharedInformerBase::RawHandler Waiting(Gate& gate) {
    return [&gate](const RawEvent&) { gate.Wait(); };
  }

  metrics::Registry registry_;
  std::shared_ptr<base::Executor> executor_ = std::make_shared<base::Executor>(
      base::ExecutorOptions{.threads = 1, .patience = milliseconds(1)});
};

TEST_F(InformerExecutorTest, SixtyInformersNeedAReflectorsThreadEachAndFewMore) {
  executor_ = std::make_shared<base::Executor>(
      base::ExecutorOptions{.threads = 2, .patience = std::chrono::hours(1)});
  constexpr std::size_t kInformers = 60;
  const std::size_t before = ThreadCount();
  std::vector<Informer> informers;
  std::vector<std::unique_ptr<Recorder>> recorders;
  for (std::size_t i = 0; i < kInformers; ++i) {
    Informer& informer = informers.emplace_back(NewInformer("i" + std::to_string(i)));
    for (int k = 0; k < 3; ++k) {
      informer.Add("h" + std::to_string(k),
                   recorders.emplace_back(std::make_unique<Recorder>())->Handler());
    }
    informer.source->Put({"a", "1"}, "x");
    informer.informer->Start();
  }
  for (const Informer& informer : informers) {
    informer.source->Put({"a", "2"}, "x");
  }
  for (const auto& recorder : recorders) {
    recorder->AwaitEvents(2);
  }
  EXPECT_LE(ThreadCount(), before + kInformers + 3);
}

TEST_F(InformerExecutorTest, AHandlerThatWaitsHoldsUpNobodyElse) {
  Gate gate;
  Recorder beside;
  Recorder elsewhere;
  Informer one = NewInformer("one");
  Informer other = NewInformer("other");
  one.Add("waits", Waiting(gate));
  one.Add("beside", beside.Handler());
  other.Add("elsewhere", elsewhere.Handler());
  one.source->Put({"a", "1"}, "x");
  other.source->Put({"a", "1"}, "x");
  StartAndSync(*one.informer);
  StartAndSync(*other.informer);
  for (const char* name : {"2", "3"}) {
    one.source->Put({"a", name}, "x");
    other.source->Put({"a", name}, "x");
  }
  beside.AwaitEvents(3);
  elsewhere.AwaitEvents(3);
  EXPECT_EQ(one.informer->Size(), 3U);
  gate.Open();
}

TEST_F(InformerExecutorTest, AHandlerThatHoldsItsInformerBackHoldsUpNoOtherInformer) {
  executor_ = std::make_shared<base::Executor>(base::ExecutorOptions{.threads = 1});
  Gate gate;
  Recorder held;
  Recorder elsewhere;
  Informer one = NewInformer("one");
  Informer other = NewInformer("other");
  one.Add("waits",
          [&gate, record = held.Handler()](const RawEvent& event) {
            gate.Wait();
            record(event);
          },
          {.buffer = 1, .overflow = Overflow::kHoldBack});
  other.Add("elsewhere", elsewhere.Handler());
  StartAndSync(*one.informer);
  StartAndSync(*other.informer);
  for (int i = 0; i < 100; ++i) {
    one.source->Put({"a", "1"}, std::to_string(i));
    other.source->Put({"a", "1"}, std::to_string(i));
  }
  elsewhere.AwaitEvents(100);
  gate.Open();
  held.AwaitEvents(100);
  EXPECT_EQ(held.log().size(), 100U) << "none was merged";
}

TEST_F(InformerExecutorTest, TwoHundredHandlersThatWaitHaveAThreadEachAndNoMore) {
  executor_ = std::make_shared<base::Executor>(base::ExecutorOptions{
      .threads = 2, .patience = milliseconds(1), .keep_idle = milliseconds(0)});
  constexpr std::size_t kHandlers = 200;
  Gate gate;
  std::atomic<std::size_t> there = 0;
  Recorder other;
  Informer informer = NewInformer("things");
  for (std::size_t i = 0; i < kHandlers; ++i) {
    informer.Add("h" + std::to_string(i), [&](const RawEvent&) {
      ++there;
      gate.Wait();
    });
  }
  StartAndSync(*informer.informer);
  informer.source->Put({"a", "1"}, "x");
  KX_AWAIT_EQ(there, kHandlers);
  informer.Add("other", other.Handler());
  informer.source->Put({"a", "2"}, "x");
  other.AwaitEvents(2);
  EXPECT_LE(executor_->threads(), kHandlers + 2);
  gate.Open();
  KX_AWAIT_EQ(there, 2 * kHandlers);
  KX_AWAIT_LE(executor_->threads(), 2U);
}

// All of them run on the only thread there is, and none waits until its patience is over.
TEST_F(InformerExecutorTest, AHandlerMayAddAndRemoveHandlersAndStopAnotherInformer) {
  executor_ = std::make_shared<base::Executor>(
      base::ExecutorOptions{.threads = 1, .patience = std::chrono::hours(1)});
  Informer one = NewInformer("one");
  Informer other = NewInformer("other");
  Recorder added;
  Recorder last;
  std::optional<HandlerRegistration> of_other =
      other.informer->AddRawHandler("of other", [](const RawEvent&) {});
  std::optional<HandlerRegistration> inner;
  one.Add("acts", [&](const RawEvent& event) {
    if (event.key().name == "1") {
      inner = one.informer->AddRawHandler("inner", added.Handler());
    } else if (event.key().name == "2") {
      inner.reset();
      of_other.reset();
      other.informer->Stop();
    } else {
      other.informer->Start();
    }
  });
  one.Add("last", last.Handler());
  StartAndSync(*other.informer);
  StartAndSync(*one.informer);
  one.source->Put({"a", "1"}, "x");
  added.AwaitEvents(1);
  one.source->Put({"a", "2"}, "x");
  last.AwaitEvents(2);
  one.source->Put({"a", "3"}, "x");
  last.AwaitEvents(3);
  one.informer->Stop();
  EXPECT_FALSE(one.informer->OnOwnThread());
  EXPECT_TRUE(other.informer->WaitForSync(base::testing::PatienceEnd().token()));
}

TEST_F(InformerExecutorTest, AHandlerThatThrowsLosesThatEventOnly) {
  Informer informer = NewInformer("things");
  std::atomic<int> told = 0;
  informer.Add("throws", [&told](const RawEvent&) {
    ++told;
    throw 1;
  });
  StartAndSync(*informer.informer);
  informer.source->Put({"a", "1"}, "x");
  informer.source->Put({"a", "2"}, "x");
  KX_AWAIT_EQ(told, 2);
  informer.informer->Stop();
  EXPECT_EQ(registry_
                .Counter("informer_handler_exceptions_total", "",
                         {{"name", "things"}, {"handler", "throws"}})
                .Value(),
            2);
}

TEST_F(InformerExecutorTest, ARegistrationMayOutliveInformerAndExecutor) {
  const std::size_t before = ThreadCount();
  std::optional<HandlerRegistration> registration;
  {
    Informer informer = NewInformer("things");
    registration = informer.informer->AddRawHandler("one", [](const RawEvent&) {});
    StartAndSync(*informer.informer);
  }
  executor_.reset();
  registration.reset();
  KX_AWAIT_LE(ThreadCount(), before);
}

}  // namespace
}  // namespace kubexx::cache
