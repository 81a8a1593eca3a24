#include "kubexx/tracing/batch_processor.h"

#include <gmock/gmock.h>

#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::tracing {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FakeClock;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The sizes of the batches that came, and what becomes of them.
class Collector {
 public:
  Result<void> Take(std::span<const SpanData> batch, const std::stop_token& stop) {
    base::MutexLock lock(mu_);
    sizes_.push_back(batch.size());
    while (!open_ && !stop.stop_requested()) {
      (void)base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max());
    }
    return answer_;
  }
  BatchProcessor::Export AsExport() {
    return [this](std::span<const SpanData> batch, const std::stop_token& stop) {
      return Take(batch, stop);
    };
  }
  std::vector<std::size_t> sizes() const {
    const base::MutexLock lock(mu_);
    return sizes_;
  }
  // Holds every export up until the next call.
  void SetOpen(bool open) {
    const base::MutexLock lock(mu_);
    open_ = open;
    changed_.notify_all();
  }
  void SetAnswer(Result<void> answer) {
    const base::MutexLock lock(mu_);
    answer_ = std::move(answer);
  }

 private:
  mutable base::Mutex mu_;
  base::CondVar changed_;
  std::vector<std::size_t> sizes_ KX_GUARDED_BY(mu_);
  bool open_ KX_GUARDED_BY(mu_) = true;
  Result<void> answer_ KX_GUARDED_BY(mu_);
};

class BatchProcessorTest : public ::testing::Test {
 protected:
  BatchProcessor::Options Options() {
    return {.max_queue = 10, .max_batch = 4, .clock = clock_, .registry = &registry_};
  }
  void End(BatchProcessor& processor, int count) {
    for (int i = 0; i < count; ++i) {
      processor.OnEnd({.name = "span"});
    }
  }
  double Count(const std::string& result) {
    return registry_.Counter("tracing_spans_total", "", {{"result", result}}).Value();
  }

  FakeClock clock_;
  metrics::Registry registry_;
  Collector collector_;
};

TEST_F(BatchProcessorTest, AFullBatchGoesAtOnceAndOthersAfterTheDelay) {
  BatchProcessor processor(Options(), collector_.AsExport());
  End(processor, 4);
  KX_AWAIT_EQ(collector_.sizes(), (std::vector<std::size_t>{4}));
  End(processor, 3);
  clock_.AdvanceToSleeper(std::chrono::seconds(5));
  KX_AWAIT_EQ(collector_.sizes(), (std::vector<std::size_t>{4, 3}));
  KX_AWAIT_EQ(Count("exported"), 7);
}

TEST_F(BatchProcessorTest, WhileTheCollectorIsAwayMemoryIsBoundedAndNobodyWaits) {
  collector_.SetOpen(false);
  BatchProcessor processor(Options(), collector_.AsExport());
  End(processor, 4);
  KX_AWAIT_EQ(collector_.sizes(), (std::vector<std::size_t>{4}));
  End(processor, 100);
  EXPECT_EQ(Count("queue_full"), 90);
  collector_.SetOpen(true);
  KX_AWAIT_EQ(collector_.sizes(), (std::vector<std::size_t>{4, 4, 4}));
  clock_.AdvanceToSleeper(std::chrono::seconds(5));
  KX_AWAIT_EQ(collector_.sizes(), (std::vector<std::size_t>{4, 4, 4, 2}));
}

TEST_F(BatchProcessorTest, AFailedBatchIsCountedLoggedAndNotKept) {
  const logging::testing::Capture log;
  collector_.SetAnswer(Fail(Reason::kUnavailable, "nobody there"));
  BatchProcessor processor(Options(), collector_.AsExport());
  End(processor, 4);
  KX_AWAIT_EQ(Count("failed"), 4);
  KX_AWAIT_EQ(log.lines().size(), 1U);
  EXPECT_THAT(log.lines().front(),
              AllOf(HasSubstr("Spans were dropped because they could not be exported"),
                    HasSubstr("nobody there")));
  collector_.SetAnswer({});
  End(processor, 4);
  KX_AWAIT_EQ(Count("exported"), 4);
  EXPECT_THAT(collector_.sizes(), ElementsAre(4, 4));
}

TEST_F(BatchProcessorTest, AnExporterThatThrowsCostsABatch) {
  BatchProcessor processor(Options(),
                           [](std::span<const SpanData>, const std::stop_token&) -> Result<void> {
                             throw std::runtime_error("oops");
                           });
  End(processor, 4);
  KX_AWAIT_EQ(Count("failed"), 4);
  End(processor, 4);
  KX_AWAIT_EQ(Count("failed"), 8);
}

TEST_F(BatchProcessorTest, ShutdownSendsWhatIsThereAndTakesNoMore) {
  BatchProcessor processor(Options(), collector_.AsExport());
  End(processor, 3);
  processor.Shutdown(std::chrono::seconds(5));
  EXPECT_THAT(collector_.sizes(), ElementsAre(3));
  End(processor, 5);
  EXPECT_THAT(collector_.sizes(), ElementsAre(3));
  processor.Shutdown(std::chrono::seconds(5));
}

TEST_F(BatchProcessorTest, ShutdownDoesNotWaitForACollectorForLong) {
  collector_.SetOpen(false);
  BatchProcessor processor(Options(), collector_.AsExport());
  End(processor, 4);
  KX_AWAIT_EQ(collector_.sizes(), (std::vector<std::size_t>{4}));
  End(processor, 2);
  std::jthread end([&processor] { processor.Shutdown(std::chrono::seconds(5)); });
  clock_.AdvanceToSleeper(std::chrono::seconds(5));
  end.join();
  EXPECT_EQ(Count("too_late"), 2);
  EXPECT_THAT(collector_.sizes(), ElementsAre(4));
}

TEST_F(BatchProcessorTest, ItsDestructorEndsAnExport) {
  collector_.SetOpen(false);
  std::optional<BatchProcessor> processor(std::in_place, Options(), collector_.AsExport());
  End(*processor, 4);
  KX_AWAIT_EQ(collector_.sizes(), (std::vector<std::size_t>{4}));
  processor.reset();
}

TEST_F(BatchProcessorTest, ABatchIsNeverLargerThanTheQueue) {
  BatchProcessor processor({.max_queue = 2, .max_batch = 500, .clock = clock_},
                           collector_.AsExport());
  End(processor, 2);
  KX_AWAIT_EQ(collector_.sizes(), (std::vector<std::size_t>{2}));
}

}  // namespace
}  // namespace kubexx::tracing
