// Tests the calls that an informer's handlers and other callbacks may make on the informer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::cache {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using apimachinery::Result;

class InformerOwnThreadsTest : public ::testing::Test {
 protected:
  void Put(const std::string& name) { source_->Put({"n", name}, "x"); }
  void Make(InformerOptions options) {
    informer_ = std::make_shared<SharedInformer<ConfigMap>>(source_, std::move(options));
  }
  void Make() { Make({.name = "configmaps", .use_watch_list = false}); }

  std::shared_ptr<testing::FakeSource> source_ = std::make_shared<testing::FakeSource>();
  std::shared_ptr<SharedInformer<ConfigMap>> informer_;
};

TEST_F(InformerOwnThreadsTest, AHandlerMayStopItsInformer) {
  Put("a");
  Put("b");
  Make();
  std::atomic<int> told = 0;
  std::binary_semaphore stopped(0);
  const auto registration =
      informer_->AddRawHandler("stops", [&](const SharedInformerBase::RawEvent&) {
        EXPECT_TRUE(informer_->OnOwnThread());
        informer_->Stop();
        if (++told == 1) {
          stopped.release();
        }
      });
  EXPECT_FALSE(informer_->OnOwnThread());
  informer_->Start();
  KX_AWAIT(stopped.try_acquire());
  informer_->Stop();  // waits for the threads that the handler could not wait for
  EXPECT_EQ(told, 1) << "after a stop it is told no more";
  Put("c");
  informer_->Start();
  KX_AWAIT_GE(told, 2);
  informer_->Start();  // the second event stopped it again: this call waits and then starts it
  KX_AWAIT_GE(told, 3);
  informer_->Stop();
  EXPECT_EQ(told, 3) << "what it had not been told of it is told of after the next start";
}

// Each of them calls on a thread for which the other calls wait.
TEST_F(InformerOwnThreadsTest, AllMayStopItAtOnce) {
  for (int i = 0; i < 50; ++i) {
    Put("a" + std::to_string(i));
    Make();
    std::atomic<int> there = 0;
    const auto stop = [&](const SharedInformerBase::RawEvent&) {
      ++there;
      informer_->Stop();
    };
    const auto first = informer_->AddRawHandler("first", stop);
    const auto second = informer_->AddRawHandler("second", stop);
    informer_->Start();
    KX_AWAIT_NE(there, 0);
    informer_->Stop();
  }
}

TEST_F(InformerOwnThreadsTest, WhoIsToldOfErrorsMayStopIt) {
  Put("a");
  source_->FailLists(apimachinery::Status(Reason::kForbidden, "may not list", 403));
  std::binary_semaphore stopped(0);
  Make(
      {.name = "configmaps", .use_watch_list = false, .on_error = [&](const apimachinery::Status&) {
         informer_->Stop();
         stopped.release();
       }});
  informer_->Start();
  KX_AWAIT(stopped.try_acquire());
  informer_->Stop();
  EXPECT_FALSE(informer_->HasSynced());
  EXPECT_EQ(source_->lists(), 1);
  informer_->Start();
  EXPECT_TRUE(informer_->WaitForSync(base::testing::PatienceEnd().token()));
}

TEST_F(InformerOwnThreadsTest, ATransformMayStopIt) {
  Put("a");
  std::binary_semaphore stopped(0);
  Make({.name = "configmaps",
        .transform = [&](Object&) -> Result<void> {
          informer_->Stop();
          stopped.release();
          return {};
        },
        .use_watch_list = false});
  informer_->Start();
  KX_AWAIT(stopped.try_acquire());
  informer_->Stop();
}

TEST_F(InformerOwnThreadsTest, AHandlerMayEndItsOwnRegistration) {
  for (const bool destroys : {false, true}) {
    Put("a");
    Make();
    std::atomic<int> told = 0;
    std::atomic<int> others = 0;
    std::binary_semaphore ready(0);
    std::binary_semaphore done(0);
    std::optional<HandlerRegistration> registration;
    registration = informer_->AddRawHandler("ends", [&](const SharedInformerBase::RawEvent&) {
      KX_AWAIT(ready.try_acquire());
      ++told;
      if (destroys) {
        registration.reset();
      } else {
        registration->Reset();
      }
      done.release();
    });
    const auto other = informer_->AddRawHandler(
        "other", [&others](const SharedInformerBase::RawEvent&) { ++others; });
    ready.release();
    informer_->Start();
    KX_AWAIT(done.try_acquire());
    const int before = others;
    Put("b" + std::to_string(destroys));
    KX_AWAIT_GT(others, before);
    EXPECT_EQ(told, 1);
    if (!destroys) {
      informer_->Stop();
      EXPECT_FALSE(informer_->HandlerHasSynced("ends")) << "there is none of this name";
    }
    informer_.reset();
    EXPECT_EQ(told, 1);
  }
}

TEST_F(InformerOwnThreadsTest, AHandlerCannotStartWhatItHasStopped) {
  const logging::testing::Capture log;
  Put("a");
  Make();
  std::binary_semaphore stopped(0);
  const auto registration =
      informer_->AddRawHandler("starts", [&](const SharedInformerBase::RawEvent&) {
        informer_->Start();  // it runs
        informer_->Stop();
        EXPECT_EQ(log.Count("cannot be started"), 0U);
        informer_->Start();
        stopped.release();
      });
  informer_->Start();
  KX_AWAIT(stopped.try_acquire());
  informer_->Stop();
  EXPECT_EQ(log.Count("cannot be started"), 1U);
  EXPECT_EQ(log.Count("informer=configmaps"), 1U);
}

TEST_F(InformerOwnThreadsTest, RequestStopDoesNotWait) {
  Put("a");
  Make();
  std::binary_semaphore runs(0);
  std::binary_semaphore go_on(0);
  std::atomic<bool> returned = false;
  const auto registration =
      informer_->AddRawHandler("blocks", [&](const SharedInformerBase::RawEvent&) {
        runs.release();
        KX_AWAIT(go_on.try_acquire());
        returned = true;
      });
  informer_->Start();
  KX_AWAIT(runs.try_acquire());
  informer_->RequestStop();
  go_on.release();
  informer_->Stop();
  EXPECT_TRUE(returned);
}

// For example, a read starts a cache again while a manager stops all caches.
TEST_F(InformerOwnThreadsTest, AStopThatMeetsAStartWaitsForNothingThatGoesOn) {
  Put("a");
  for (int i = 0; i < 10; ++i) {
    Make();
    std::binary_semaphore runs(0);
    std::binary_semaphore go_on(0);
    const auto registration =
        informer_->AddRawHandler("blocks", [&](const SharedInformerBase::RawEvent&) {
          runs.release();
          KX_AWAIT(go_on.try_acquire());
        });
    informer_->Start();
    KX_AWAIT(runs.try_acquire());
    informer_->RequestStop();
    std::atomic<int> there = 0;
    const auto await = [&there](int threads) {
      KX_AWAIT_GE(there, threads);
      for (int looks = 0; looks < 100; ++looks) {
        // So that most of the threads have come further than their start.
        base::testing::LetOthersRun();
      }
    };
    std::jthread starter([&] {
      ++there;
      informer_->Start();  // waits for the handler first
    });
    await(1);
    std::jthread stopper([&] {
      ++there;
      informer_->Stop();
    });
    await(2);
    go_on.release();
  }
}

using InformerOwnThreadsDeathTest = InformerOwnThreadsTest;

TEST_F(InformerOwnThreadsDeathTest, AHandlerThatDestroysItsInformerIsToldWhichOne) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto destroy = [this] {
    Put("a");
    Make();
    std::binary_semaphore never(0);
    const auto registration = informer_->AddRawHandler(
        "destroys", [this](const SharedInformerBase::RawEvent&) { informer_.reset(); });
    informer_->Start();
    KX_AWAIT(never.try_acquire());
  };
  EXPECT_DEATH(destroy(), "destroyed by one of its own handlers.*informer=configmaps");
}

}  // namespace
}  // namespace kubexx::cache
