// Events of both APIs, written to a real API server and read back.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster_fixture.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/events/v1/resources.gen.h"
#include "kubexx/api/events/v1/types.gen.h"
#include "kubexx/events/core_recorder.h"
#include "kubexx/events/series_recorder.h"
#include "kubexx/kubernetes/resource_client.h"

namespace kubexx::integration {
namespace {

using events::EventType;

class EventsTest : public ClusterTest {
 protected:
  events::RecorderOptions Options() {
    return {.component = "kubexx-test", .instance = "kubexx-test-0", .registry = &registry_};
  }
  /// An object of the namespace for events to be about.
  ConfigMap Subject() const {
    Create("subject", "v");
    const auto object = ConfigMaps().Get("subject");
    EXPECT_TRUE(object) << object.error().ToString();
    return object.value_or(ConfigMap());
  }
  template <class E>
  std::vector<E> Stored() const {
    const auto list = kubernetes::ResourceClient<E>(client_, namespace_).List();
    EXPECT_TRUE(list) << list.error().ToString();
    return list ? list->items : std::vector<E>();
  }
  double Count(const std::string& api, const std::string& result) {
    return registry_.Counter("kubexx_events_total", "", {{"api", api}, {"result", result}}).Value();
  }

  metrics::Registry registry_;
};

TEST_F(EventsTest, CoreEventsAreCountedAndCombined) {
  const ConfigMap subject = Subject();
  {
    events::CoreRecorder recorder(
        std::make_shared<events::ClientSink<api::core::v1::Event>>(client_), Options());
    for (int i = 0; i < 3; ++i) {
      recorder.Event(subject, EventType::kWarning, "Repeated", "the same \"text\"\n");
    }
    for (int i = 1; i <= 12; ++i) {
      recorder.Event(subject, EventType::kNormal, "Varied", "text " + std::to_string(i));
    }
  }
  int repeated = 0;
  int varied = 0;
  int combined = 0;
  for (const auto& event : Stored<api::core::v1::Event>()) {
    EXPECT_EQ(event.involved_object.uid, subject.metadata.uid);
    EXPECT_EQ(event.involved_object.kind, "ConfigMap");
    EXPECT_EQ(event.source.component, "kubexx-test");
    if (event.reason == "Repeated") {
      ++repeated;
      EXPECT_EQ(event.count, 3);
      EXPECT_EQ(event.message, "the same \"text\"\n");
      EXPECT_EQ(event.type, "Warning");
    } else if (event.message == "(combined from similar events): text 12") {
      ++combined;
      EXPECT_EQ(event.count, 3) << "the texts 10, 11 and 12";
    } else {
      ++varied;
      EXPECT_EQ(event.count, 1);
    }
  }
  EXPECT_EQ(repeated, 1);
  EXPECT_EQ(varied, 9);
  EXPECT_EQ(combined, 1);
  EXPECT_EQ(Count("core", "refused"), 0);
  EXPECT_EQ(Count("core", "failed"), 0);
}

TEST_F(EventsTest, RepeatedEventsBecomeASeries) {
  const ConfigMap subject = Subject();
  {
    events::SeriesRecorder recorder(
        std::make_shared<events::ClientSink<api::events::v1::Event>>(client_), Options());
    for (int i = 0; i < 7; ++i) {
      recorder.Event(subject, EventType::kNormal, "Repeated", "text " + std::to_string(i));
    }
    events::Occurrence once;
    once.regarding = events::ReferenceTo(subject, "data{value}");
    once.related = events::ReferenceTo(subject);
    once.type = EventType::kWarning;
    once.reason = "Once";
    once.action = "Acting";
    once.note = std::string(3000, 'n');
    recorder.Record(once);
  }
  const auto stored = Stored<api::events::v1::Event>();
  ASSERT_EQ(stored.size(), 2U);
  for (const auto& event : stored) {
    EXPECT_EQ(event.regarding.uid, subject.metadata.uid);
    EXPECT_EQ(event.reporting_controller, "kubexx-test");
    EXPECT_EQ(event.reporting_instance, "kubexx-test-0");
    if (event.reason == "Once") {
      EXPECT_EQ(event.action, "Acting");
      EXPECT_EQ(event.note.size(), 1024U);
      EXPECT_EQ(event.regarding.field_path, "data{value}");
      EXPECT_TRUE(event.related);
      EXPECT_FALSE(event.series);
    } else {
      EXPECT_EQ(event.note, "text 0");
      ASSERT_TRUE(event.series);
      EXPECT_EQ(event.series->count, 7);
    }
  }
  EXPECT_EQ(Count("events.k8s.io", "refused"), 0);
}

TEST_F(EventsTest, ASeriesWhoseEventWasDeletedIsCreatedAgain) {
  const ConfigMap subject = Subject();
  const kubernetes::ResourceClient<api::events::v1::Event> client(client_, namespace_);
  events::SeriesRecorder recorder(
      std::make_shared<events::ClientSink<api::events::v1::Event>>(client_), Options());
  recorder.Event(subject, EventType::kNormal, "Repeated", "text");
  ASSERT_TRUE(Await([&] { return Stored<api::events::v1::Event>().size() == 1; }));
  const auto removed = client.Delete(Stored<api::events::v1::Event>().at(0).metadata.name);
  ASSERT_TRUE(removed) << removed.error().ToString();
  recorder.Event(subject, EventType::kNormal, "Repeated", "text");
  recorder.Stop();
  const auto stored = Stored<api::events::v1::Event>();
  ASSERT_EQ(stored.size(), 1U);
  ASSERT_TRUE(stored[0].series);
  EXPECT_EQ(stored[0].series->count, 2);
}

}  // namespace
}  // namespace kubexx::integration
