// Both recorders with a fake clock and a fake sink.
#include "kubexx/events/recorder.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/identity.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/events/core_recorder.h"
#include "kubexx/events/series_recorder.h"
#include "kubexx/events/testing/fake_sink.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::events {
namespace {

using namespace std::chrono_literals;
using api::core::v1::Pod;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FakeClock;
using ::testing::SizeIs;
using ::testing::StartsWith;
using CoreSink = testing::FakeSink<api::core::v1::Event>;
using SeriesSink = testing::FakeSink<api::events::v1::Event>;

Pod MakePod(const std::string& name, const std::string& namespace_ = "shop") {
  Pod pod;
  pod.metadata.name = name;
  pod.metadata.namespace_ = namespace_;
  pod.metadata.uid = "uid-" + name;
  return pod;
}

template <class Sink>
class RecorderTest : public ::testing::Test {
 protected:
  RecorderOptions Options() {
    return {.component = "tester",
            .instance = "tester-1",
            .clock = clock_,
            .registry = &registry_,
            .seed = 3};
  }
  double Count(const std::string& api, const std::string& result) {
    return registry_.Counter("kubexx_events_total", "", {{"api", api}, {"result", result}}).Value();
  }
  /// Every request is answered as when there is no server.
  static Result<void> NoServer(const typename Sink::Request&, const std::stop_token&) {
    return Fail(Reason::kUnavailable, "no connection");
  }

  FakeClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
};

using CoreRecorderTest = RecorderTest<CoreSink>;
using SeriesRecorderTest = RecorderTest<SeriesSink>;

TEST_F(CoreRecorderTest, WritesAnEvent) {
  CoreRecorder recorder(sink_, Options());
  recorder.Event(MakePod("web"), EventType::kWarning, "Failed", "it broke");
  const auto event = sink_->Await(1).at(0).event;
  EXPECT_THAT(event.metadata.name, StartsWith("web."));
  EXPECT_EQ(event.metadata.namespace_, "shop");
  EXPECT_EQ(event.involved_object.kind, "Pod");
  EXPECT_EQ(event.involved_object.api_version, "v1");
  EXPECT_EQ(event.involved_object.uid, "uid-web");
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.reason, "Failed");
  EXPECT_EQ(event.message, "it broke");
  EXPECT_EQ(event.count, 1);
  EXPECT_EQ(event.source.component, "tester");
  EXPECT_EQ(event.source.host, "tester-1");
  EXPECT_EQ(event.first_timestamp, apimachinery::Time::From(clock_.Wall()));
  recorder.Stop();
  EXPECT_EQ(Count("core", "written"), 1);
}

TEST_F(CoreRecorderTest, PutsEventsOfClusterScopedObjectsIntoDefault) {
  CoreRecorder recorder(sink_, Options());
  recorder.Event(MakePod("node", ""), EventType::kNormal, "R", "m");
  EXPECT_EQ(sink_->Await(1).at(0).event.metadata.namespace_, "default");
}

TEST_F(CoreRecorderTest, PatchesTheCountOfTheSameEvent) {
  CoreRecorder recorder(sink_, Options());
  for (int i = 0; i < 3; ++i) {
    recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  }
  const auto requests = sink_->Await(3);
  EXPECT_EQ(requests[0].patch, "");
  EXPECT_THAT(requests[1].patch, StartsWith("{\"count\":2,"));
  EXPECT_THAT(requests[2].patch, StartsWith("{\"count\":3,"));
  EXPECT_EQ(requests[2].event.metadata.name, requests[0].event.metadata.name);
}

TEST_F(CoreRecorderTest, AnExceptionOfTheSinkCostsItsEvent) {
  sink_->SetFault([](const CoreSink::Request& request, const std::stop_token&) -> Result<void> {
    return request.event.reason == "Bad" ? throw std::runtime_error("boom") : Result<void>();
  });
  const logging::testing::Capture capture;
  CoreRecorder recorder(sink_, Options());
  recorder.Event(MakePod("web"), EventType::kNormal, "Bad", "m");
  recorder.Event(MakePod("web"), EventType::kNormal, "Good", "m");
  recorder.Stop();
  EXPECT_EQ(Count("core", "written"), 1);
  EXPECT_EQ(Count("core", "refused"), 1);
  EXPECT_EQ(capture.Count("boom"), 1U);
}

TEST_F(SeriesRecorderTest, AnExceptionOfTheSinkCostsItsEvent) {
  sink_->SetFault([](const SeriesSink::Request& request, const std::stop_token&) -> Result<void> {
    return request.event.reason == "Bad" ? throw std::runtime_error("boom") : Result<void>();
  });
  SeriesRecorder recorder(sink_, Options());
  recorder.Event(MakePod("web"), EventType::kNormal, "Bad", "m");
  recorder.Event(MakePod("web"), EventType::kNormal, "Good", "m");
  recorder.Stop();
  EXPECT_EQ(Count("events.k8s.io", "written"), 1);
  EXPECT_EQ(Count("events.k8s.io", "refused"), 1);
}

TEST_F(CoreRecorderTest, CreatesAnEventAgainThatHasGone) {
  sink_->SetFault([](const CoreSink::Request& request, const std::stop_token&) -> Result<void> {
    return request.patch.empty() ? Result<void>()
                                 : Result<void>(Fail(Reason::kNotFound, "gone", 404));
  });
  CoreRecorder recorder(sink_, Options());
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  const auto requests = sink_->Await(3);
  EXPECT_EQ(requests[2].patch, "");
  EXPECT_EQ(requests[2].event.count, 2);
  EXPECT_EQ(requests[2].event.metadata.resource_version, "");
}

TEST_F(CoreRecorderTest, GivesUpWhatTheServerRefuses) {
  sink_->SetFault([](const CoreSink::Request& request, const std::stop_token&) -> Result<void> {
    return request.event.reason == "Bad" ? Result<void>(Fail(Reason::kInternalError, "broken", 500))
                                         : Result<void>();
  });
  CoreRecorder recorder(sink_, Options());
  recorder.Event(MakePod("a"), EventType::kNormal, "Bad", "m");
  recorder.Event(MakePod("a"), EventType::kNormal, "Good", "m");
  EXPECT_EQ(sink_->Await(2).at(1).event.reason, "Good");
  recorder.Stop();
  EXPECT_EQ(Count("core", "refused"), 1);
  EXPECT_EQ(Count("core", "written"), 1);
}

TEST_F(CoreRecorderTest, TriesTwelveTimesTenSecondsApart) {
  sink_->SetFault(NoServer);
  CoreRecorder recorder(sink_, Options());
  recorder.Event(MakePod("a"), EventType::kNormal, "R", "m");
  sink_->Await(1);
  clock_.AwaitSleepers(1);
  clock_.Advance(10s);  // The first pause is random, and at most this long.
  for (std::size_t tries = 2; tries < 12; ++tries) {
    sink_->Await(tries);
    clock_.AdvanceToSleeper(10s);
  }
  EXPECT_THAT(sink_->Await(12), SizeIs(12));
  recorder.Stop();
  EXPECT_THAT(sink_->Requests(), SizeIs(12));
  EXPECT_EQ(Count("core", "failed"), 1);
}

TEST_F(CoreRecorderTest, HoldsBackSpam) {
  CoreRecorder recorder(sink_, Options());
  for (int i = 0; i < 30; ++i) {
    recorder.Event(MakePod("a"), EventType::kNormal, "R", "m");
  }
  recorder.Stop();
  EXPECT_THAT(sink_->Requests(), SizeIs(25));
  EXPECT_EQ(Count("core", "filtered"), 5);
}

TEST_F(CoreRecorderTest, DropsWhatDoesNotFitAndNeverBlocks) {
  const logging::testing::Capture log;
  std::latch entered(1);
  sink_->SetFault(
      [&entered](const CoreSink::Request&, const std::stop_token& stop) -> Result<void> {
        entered.count_down();
        (void)base::Clock::Real().SleepFor(1h, stop);
        return Fail(Reason::kCancelled, "stopped");
      });
  RecorderOptions options = Options();
  options.queue_size = 10;
  options.flush_limit = 0s;
  CoreRecorder recorder(sink_, options);
  recorder.Event(MakePod("first"), EventType::kNormal, "R", "m");
  KX_AWAIT(entered.try_wait());
  for (int i = 0; i < 15; ++i) {
    recorder.Event(MakePod("a" + std::to_string(i)), EventType::kNormal, "R", "m");
  }
  EXPECT_EQ(Count("core", "dropped"), 5);
  EXPECT_EQ(log.Count("recorder's queue is full"), 1U) << "one line a minute";
  clock_.Advance(1min);
  recorder.Event(MakePod("later"), EventType::kNormal, "R", "m");
  EXPECT_EQ(log.Count("events=5"), 1U) << "four before it and itself";
}

TEST_F(CoreRecorderTest, WritesWhatIsQueuedWhenItStops) {
  const logging::testing::Capture log;
  CoreRecorder recorder(sink_, Options());
  for (int i = 0; i < 20; ++i) {
    recorder.Event(MakePod("a" + std::to_string(i)), EventType::kNormal, "R", "m");
  }
  recorder.Stop();
  EXPECT_THAT(sink_->Requests(), SizeIs(20));
  recorder.Event(MakePod("late"), EventType::kNormal, "R", "m");
  EXPECT_EQ(Count("core", "dropped"), 1);
  EXPECT_EQ(log.Count("as their recorder was stopped"), 1U);
  recorder.Stop();
}

TEST_F(CoreRecorderTest, TriesEachOnceWhenItStopsWithoutAServer) {
  sink_->SetFault(NoServer);
  CoreRecorder recorder(sink_, Options());
  for (int i = 0; i < 3; ++i) {
    recorder.Event(MakePod("a" + std::to_string(i)), EventType::kNormal, "R", "m");
  }
  sink_->Await(1);
  recorder.Stop();
  EXPECT_THAT(sink_->Requests(), SizeIs(3));
  EXPECT_EQ(Count("core", "failed"), 3);
}

TEST_F(CoreRecorderTest, GivesUpFlushingAfterTheLimit) {
  std::latch entered(1);
  sink_->SetFault(
      [&entered](const CoreSink::Request&, const std::stop_token& stop) -> Result<void> {
        entered.count_down();
        (void)base::Clock::Real().SleepFor(1h, stop);
        return Fail(Reason::kCancelled, "stopped");
      });
  const logging::testing::Capture log;
  auto recorder = std::make_unique<CoreRecorder>(sink_, Options());
  recorder->Event(MakePod("a"), EventType::kNormal, "R", "m");
  recorder->Event(MakePod("b"), EventType::kNormal, "R", "m");
  KX_AWAIT(entered.try_wait());
  std::jthread stopping([&recorder] { recorder.reset(); });
  clock_.AdvanceToSleeper(5s);
  stopping.join();
  EXPECT_THAT(sink_->Requests(), SizeIs(1));
  EXPECT_EQ(Count("core", "dropped"), 2);
  EXPECT_EQ(Count("core", "refused"), 0) << "the server did not say anything";
  EXPECT_EQ(log.lines().size(), 1U);
  EXPECT_EQ(log.Count("Events were not written before their recorder ended"), 1U);
  EXPECT_EQ(log.Count("events=2"), 1U);
}

TEST_F(CoreRecorderTest, TakesEventsOfManyThreads) {
  {
    CoreRecorder recorder(sink_, Options());
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&recorder, t] {
        for (int i = 0; i < 50; ++i) {
          recorder.Event(MakePod("p" + std::to_string(t) + "-" + std::to_string(i)),
                         EventType::kNormal, "R", "m");
        }
      });
    }
  }
  EXPECT_THAT(sink_->Requests(), SizeIs(200));
}

TEST_F(SeriesRecorderTest, WritesAnEvent) {
  SeriesRecorder recorder(sink_, Options());
  Occurrence occurrence;
  occurrence.regarding = ReferenceTo(MakePod("web"));
  occurrence.related = ReferenceTo(MakePod("other"));
  occurrence.reason = "Scaled";
  occurrence.action = "Scaling";
  occurrence.note = std::string(2000, 'n');
  occurrence.annotations["a"] = "b";
  recorder.Record(occurrence);
  const auto event = sink_->Await(1).at(0).event;
  EXPECT_THAT(event.metadata.name, StartsWith("web."));
  EXPECT_EQ(event.metadata.namespace_, "shop");
  EXPECT_EQ(event.metadata.annotations.at("a"), "b");
  EXPECT_EQ(event.event_time, apimachinery::MicroTime::From(clock_.Wall()));
  EXPECT_EQ(event.regarding.name, "web");
  ASSERT_TRUE(event.related);
  EXPECT_EQ(event.related->name, "other");
  EXPECT_EQ(event.reporting_controller, "tester");
  EXPECT_EQ(event.reporting_instance, "tester-1");
  EXPECT_EQ(event.action, "Scaling");
  EXPECT_EQ(event.note.size(), 1024U);
  EXPECT_EQ(event.type, "Normal");
  EXPECT_FALSE(event.series);
}

TEST_F(SeriesRecorderTest, FillsInActionAndInstance) {
  RecorderOptions options = Options();
  options.instance = "";
  SeriesRecorder recorder(sink_, options);
  recorder.Event(MakePod("web"), EventType::kNormal, "Scaled", "m");
  const auto event = sink_->Await(1).at(0).event;
  EXPECT_EQ(event.action, "Scaled");
  EXPECT_EQ(event.reporting_instance, "tester-" + base::HostName());
}

TEST_F(SeriesRecorderTest, BeginsASeriesWithTheSecondAndWritesItsCountWhenItStops) {
  {
    SeriesRecorder recorder(sink_, Options());
    for (int i = 0; i < 10; ++i) {
      recorder.Event(MakePod("web"), EventType::kNormal, "R", "m" + std::to_string(i));
    }
  }
  const auto requests = sink_->Requests();
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_EQ(requests[0].patch, "");
  EXPECT_THAT(requests[1].patch, StartsWith("{\"series\":{\"count\":2,"));
  EXPECT_THAT(requests[2].patch, StartsWith("{\"series\":{\"count\":10,"));
  EXPECT_EQ(Count("events.k8s.io", "counted"), 8);
  EXPECT_EQ(Count("events.k8s.io", "written"), 3);
}

TEST_F(SeriesRecorderTest, TellsHowManyEventsAndSeriesItCouldNotWriteInTime) {
  const logging::testing::Capture log;
  std::latch entered(1);
  auto recorder = std::make_unique<SeriesRecorder>(sink_, Options());
  for (int i = 0; i < 3; ++i) {
    recorder->Event(MakePod("series"), EventType::kNormal, "R", "m");
  }
  sink_->Await(2);
  sink_->SetFault(
      [&entered](const SeriesSink::Request&, const std::stop_token& stop) -> Result<void> {
        entered.count_down();
        (void)base::Clock::Real().SleepFor(1h, stop);
        return Fail(Reason::kCancelled, "stopped");
      });
  for (const char* name : {"a", "b", "c"}) {
    recorder->Event(MakePod(name), EventType::kNormal, "R", "m");
  }
  KX_AWAIT(entered.try_wait());
  std::jthread stopping([&recorder] { recorder.reset(); });
  clock_.AdvanceToSleeper(5s);
  stopping.join();
  EXPECT_EQ(Count("events.k8s.io", "dropped"), 4) << "three events and the count of a series";
  EXPECT_EQ(log.lines().size(), 1U);
  EXPECT_EQ(log.Count("events=4"), 1U);
}

TEST_F(SeriesRecorderTest, SaysNothingWhenAllIsWritten) {
  const logging::testing::Capture log;
  {
    SeriesRecorder recorder(sink_, Options());
    for (int i = 0; i < 3; ++i) {
      recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
    }
  }
  EXPECT_EQ(log.lines().size(), 0U);
}

TEST_F(SeriesRecorderTest, CreatesASeriesWhoseEventHasGone) {
  sink_->SetFault([](const SeriesSink::Request& request, const std::stop_token&) -> Result<void> {
    return request.patch.empty() ? Result<void>()
                                 : Result<void>(Fail(Reason::kNotFound, "gone", 404));
  });
  SeriesRecorder recorder(sink_, Options());
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  const auto created = sink_->Await(3).at(2).event;
  ASSERT_TRUE(created.series);
  EXPECT_EQ(created.series->count, 2);
}

TEST_F(SeriesRecorderTest, TriesAgainWhenASeriesIsThereAfterAll) {
  std::atomic<int> patches = 0;
  sink_->SetFault(
      [&patches](const SeriesSink::Request& request, const std::stop_token&) -> Result<void> {
        if (!request.patch.empty() && ++patches == 1) {
          return Fail(Reason::kNotFound, "not there yet", 404);
        }
        if (request.patch.empty() && request.event.series) {
          return Fail(Reason::kAlreadyExists, "there now", 409);
        }
        return {};
      });
  SeriesRecorder recorder(sink_, Options());
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  sink_->Await(3);
  clock_.AdvanceToSleeper(10s);
  clock_.Advance(2500ms);  // the jitter
  EXPECT_NE(sink_->Await(4).at(3).patch, "");
}

TEST_F(SeriesRecorderTest, RefreshesAndClosesSeries) {
  SeriesRecorder recorder(sink_, Options());
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  sink_->Await(2);
  // Closed at the second look, 12 minutes on: at the first it had not been idle for longer than 6.
  clock_.AdvanceToSleeper(6min);
  clock_.AdvanceToSleeper(6min);
  EXPECT_THAT(sink_->Await(3).at(2).patch, StartsWith("{\"series\":{\"count\":2,"));
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  EXPECT_EQ(sink_->Await(4).at(3).patch, "") << "a new event";
}

TEST_F(SeriesRecorderTest, KeepsASeriesThatCouldNotBeClosed) {
  SeriesRecorder recorder(sink_, Options());
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  sink_->Await(2);
  sink_->SetFault(NoServer);
  clock_.AdvanceToSleeper(6min);
  clock_.AdvanceToSleeper(6min);
  sink_->Await(3);
  sink_->SetFault({});
  clock_.AdvanceToSleeper(6min);
  EXPECT_THAT(sink_->Await(4).at(3).patch, StartsWith("{\"series\":{\"count\":2,"));
}

TEST_F(SeriesRecorderTest, GivesUpAfterTwelveTries) {
  sink_->SetFault(NoServer);
  SeriesRecorder recorder(sink_, Options());
  recorder.Event(MakePod("web"), EventType::kNormal, "R", "m");
  for (std::size_t tries = 1; tries < 12; ++tries) {
    sink_->Await(tries);
    clock_.AdvanceToSleeper(10s);
    clock_.Advance(2500ms);
  }
  sink_->Await(12);
  recorder.Stop();
  EXPECT_THAT(sink_->Requests(), SizeIs(12));
  EXPECT_EQ(Count("events.k8s.io", "failed"), 1);
}

}  // namespace
}  // namespace kubexx::events
