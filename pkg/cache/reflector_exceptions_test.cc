// Tests a reflector when its source, its store or its error handler throws an exception.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/testing/map_store.h"
#include "kubexx/cache/undelta_store.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {
namespace {

using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using testing::FakeSource;
using ::testing::HasSubstr;

/// Throws an exception in its first calls.
class Fuse {
 public:
  explicit Fuse(int times) : left_(times) {}
  void operator()(const std::string& what) {
    if (left_.fetch_sub(1) > 0) {
      throw std::runtime_error(what);
    }
  }

 private:
  std::atomic<int> left_;
};

class ReflectorExceptionsTest : public ::testing::TestWithParam<bool> {
 protected:
  ReflectorOptions Options() { return Options(clock_); }
  ReflectorOptions Options(base::Clock& clock) {
    return {.clock = clock, .registry = &registry_, .seed = 1, .use_watch_list = GetParam()};
  }
  /// Runs until the store has the same objects as the source, including a change after the first
  /// list.
  template <class Store>
  void RunUntilEqual(std::shared_ptr<ListerWatcher> source, Store& store,
                     ReflectorOptions options) {
    source_->Put({"a", "1"}, "x");
    Reflector reflector("things", std::move(source), store, std::move(options));
    const std::jthread thread([&](const std::stop_token& stop) { reflector.Run(stop); });
    KX_AWAIT_EQ(reflector.LastSyncResourceVersion(), source_->resource_version());
    source_->Put({"a", "2"}, "x");
    KX_AWAIT_EQ(reflector.LastSyncResourceVersion(), source_->resource_version());
  }
  double Exceptions() {
    return registry_.Counter("reflector_exceptions_total", "", {{"name", "things"}}).Value();
  }

  testing::AutoClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<FakeSource> source_ = std::make_shared<FakeSource>();
};

INSTANTIATE_TEST_SUITE_P(Modes, ReflectorExceptionsTest, ::testing::Bool(),
                         [](const auto& param_info) {
                           return param_info.param ? "WatchList" : "List";
                         });

TEST_P(ReflectorExceptionsTest, ASourceThatThrowsCostsOneTry) {
  Fuse list(2);
  Fuse watch(3);
  const auto source = std::make_shared<ListWatch>(
      [&](const ListOptions& options, ListerWatcher::ObjectSink sink, std::stop_token stop) {
        list("no list today");
        return source_->List(options, sink, std::move(stop));
      },
      [&](const ListOptions& options, ListerWatcher::EventSink sink, std::stop_token stop) {
        watch("no watch today");
        return source_->Watch(options, sink, std::move(stop));
      });
  std::vector<std::string> said;
  ReflectorOptions options = Options();
  options.on_error = [&said](const Status& status) { said.push_back(status.ToString()); };
  testing::MapStore store;
  RunUntilEqual(source, store, std::move(options));
  EXPECT_EQ(Exceptions(), 5);
  EXPECT_THAT(said, ::testing::Contains(HasSubstr("list: threw: no list today")));
  EXPECT_THAT(said, ::testing::Contains(HasSubstr("watch: threw: no watch today")));
}

TEST_P(ReflectorExceptionsTest, WhoIsToldOfErrorsMayThrow) {
  source_->FailLists({Reason::kUnavailable, "down"}, 2);
  source_->FailWatches({Reason::kUnavailable, "away"}, 2);
  const logging::testing::Capture log;
  ReflectorOptions options = Options();
  options.on_error = [](const Status&) { throw 7; };  // NOLINT: not an exception, of all things
  testing::MapStore store;
  RunUntilEqual(source_, store, std::move(options));
  EXPECT_GE(Exceptions(), 2);
  EXPECT_EQ(static_cast<double>(log.Count("on_error threw")), Exceptions());
  EXPECT_GT(log.Count("away"), 0U) << "the error itself is told of, too";
}

TEST_P(ReflectorExceptionsTest, AStoreThatThrowsLosesNothing) {
  Fuse push(2);
  std::atomic<std::size_t> size = 0;
  UndeltaStore store([&](const UndeltaStore::State& state) {
    if (state.size() == 2) {
      // The first one is for a change of the watch, and the second one for a list.
      push("no push today");
    }
    size = state.size();
  });
  RunUntilEqual(source_, store, Options());
  EXPECT_EQ(size, 2U);
  EXPECT_EQ(Exceptions(), 2);
}

TEST_P(ReflectorExceptionsTest, AResyncThatCannotBeDecidedIsLeftOut) {
  base::testing::FakeClock clock;
  Fuse due(2);
  ReflectorOptions options = Options(clock);
  options.resync_period = std::chrono::minutes(1);
  options.should_resync = [&due] {
    due("cannot tell");
    return true;
  };
  testing::MapStore store;
  Reflector reflector("things", source_, store, std::move(options));
  const std::jthread thread([&](const std::stop_token& stop) { reflector.Run(stop); });
  const metrics::Counter resyncs =
      registry_.Counter("reflector_resyncs_total", "", {{"name", "things"}});
  KX_UNTIL(resyncs.Value() > 0) {
    clock.AdvanceToSleeper(std::chrono::minutes(1));
  }
  EXPECT_EQ(Exceptions(), 2);
}

// The sync does not wait for a namespace that the server refuses, even if the error handler throws.
TEST(InformerExceptionsTest, ARefusalCountsAlthoughWhoIsToldOfItThrows) {
  const auto open = std::make_shared<FakeSource>();
  const auto refused = std::make_shared<FakeSource>();
  open->Put({"open", "1"}, "x");
  refused->FailLists({Reason::kForbidden, "may not list", 403}, 1000000);
  std::vector<NamespacedSource> sources;
  sources.push_back({.namespace_ = "open", .lister_watcher = open});
  sources.push_back({.namespace_ = "refused", .lister_watcher = refused});
  SharedInformerBase informer(std::move(sources),
                              {.name = "things",
                               .use_watch_list = false,
                               .on_error = [](const Status&) { throw std::runtime_error("no"); },
                               .seed = 1});
  informer.Start();
  ASSERT_TRUE(informer.WaitForSync(base::testing::PatienceEnd().token()));
  EXPECT_TRUE(informer.Contains({"open", "1"}));
  EXPECT_EQ(informer.SyncError("refused").error().reason, Reason::kForbidden);
}

}  // namespace
}  // namespace kubexx::cache
