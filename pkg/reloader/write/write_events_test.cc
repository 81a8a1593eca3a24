#include "kubexx/reloader/write/write_events.h"

#include <gtest/gtest.h>

#include <vector>

namespace kubexx::reloader {
namespace {

const SourceId kWrittenSource{SourceType::kSecret, {"ns", "password"}};
const WorkloadId kWrittenWorkload{WorkloadKind::kStatefulSet, {"ns", "db"}};

TEST(WriteEvents, SayWhatTheOriginalSays) {
  WriteReport report{.workload = kWrittenWorkload, .uid = "u-1", .causes = {kWrittenSource}};
  const events::Occurrence good = EventAbout(report, kWrittenSource);
  EXPECT_EQ(good.regarding.api_version, "apps/v1");
  EXPECT_EQ(good.regarding.kind, "StatefulSet");
  EXPECT_EQ(good.regarding.namespace_, "ns");
  EXPECT_EQ(good.regarding.name, "db");
  EXPECT_EQ(good.regarding.uid, "u-1");
  EXPECT_EQ(good.type, events::EventType::kNormal);
  EXPECT_EQ(good.reason, "Reloaded");
  EXPECT_EQ(good.note,
            "Changes detected in 'password' of type 'SECRET' in namespace 'ns', Updated 'db' of "
            "type 'StatefulSet' in namespace 'ns'");
  report.job = "db-x7c2q";
  EXPECT_EQ(EventAbout(report, kWrittenSource).note,
            "Changes detected in 'password' of type 'SECRET' in namespace 'ns', made Job "
            "'db-x7c2q' of 'db' of type 'StatefulSet' in namespace 'ns'");
  report.job.clear();
  report.paused = true;
  EXPECT_EQ(EventAbout(report, kWrittenSource).note,
            good.note + "; it is paused, and its pods follow when it is resumed");
  report.outcome = apimachinery::Fail(apimachinery::Reason::kForbidden, "no", 403);
  const events::Occurrence bad = EventAbout(report, kWrittenSource);
  EXPECT_EQ(bad.type, events::EventType::kWarning);
  EXPECT_EQ(bad.reason, "ReloadFail");
  EXPECT_EQ(bad.note,
            "Update for 'db' of type 'StatefulSet' in namespace 'ns' failed with error no");
}

/// Keeps the Events that are recorded.
class FakeRecorder final : public events::Recorder {
 public:
  explicit FakeRecorder(std::vector<events::Occurrence>& recorded) : recorded_(recorded) {}
  void Record(events::Occurrence occurrence) override {
    recorded_.push_back(std::move(occurrence));
  }

 private:
  std::vector<events::Occurrence>& recorded_;
};

TEST(WriteEvents, GoToTheRecorderOfTheSourcesType) {
  std::vector<events::Occurrence> of_secrets;
  std::vector<events::Occurrence> of_config_maps;
  WriteEvents::Recorders recorders;
  recorders.emplace(SourceType::kSecret, std::make_unique<FakeRecorder>(of_secrets));
  recorders.emplace(SourceType::kConfigMap, std::make_unique<FakeRecorder>(of_config_maps));
  WriteEvents observer(std::move(recorders));
  const SourceId config{SourceType::kConfigMap, {"ns", "config"}};
  observer.OnWrite({.workload = kWrittenWorkload,
                    .uid = "u",
                    .causes = {kWrittenSource, kWrittenSource, config}});
  EXPECT_EQ(of_secrets.size(), 2U);
  EXPECT_EQ(of_config_maps.size(), 1U);
}

}  // namespace
}  // namespace kubexx::reloader
