#include "kubexx/kubelet/config/pod_config.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::kubelet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Mode = PodConfig::Mode;

Pod Make(const std::string& name, const std::string& image = "i") {
  Pod pod;
  pod.metadata.namespace_ = "ns";
  pod.metadata.name = name;
  pod.metadata.uid = "uid-" + name;
  pod.spec.containers.emplace_back().image = image;
  return pod;
}

class PodConfigTest : public ::testing::Test {
 protected:
  void Begin(Mode mode = Mode::kIncremental) {
    config_ = std::make_unique<PodConfig>(mode, clock_);
    subscription_ =
        config_->Subscribe([this](const PodUpdate& update) { told_.push_back(update); });
    api_ = config_->Channel(std::string(kApiSource));
    file_ = config_->Channel(std::string(kFileSource));
  }
  /// What was told since the last call: "ADD file a b".
  std::vector<std::string> Told() {
    std::vector<std::string> lines;
    for (const PodUpdate& update : told_) {
      std::string line = std::string(ToString(update.operation)) + " " + update.source;
      for (const PodRef& pod : update.pods) {
        line += " " + pod->metadata.name;
      }
      lines.push_back(std::move(line));
    }
    told_.clear();
    return lines;
  }

  base::testing::FakeClock clock_;
  std::unique_ptr<PodConfig> config_;
  std::vector<PodUpdate> told_;
  base::Subscription subscription_;
  PodSink api_;
  PodSink file_;
};

TEST_F(PodConfigTest, TellsOfEachChangeOnce) {
  Begin();
  api_({Make("a"), Make("b")});
  EXPECT_THAT(Told(), ElementsAre("ADD api a b"));
  api_({Make("a"), Make("b")});
  EXPECT_THAT(Told(), IsEmpty());
  api_({Make("a", "other"), Make("c")});
  EXPECT_THAT(Told(), ElementsAre("REMOVE api b", "ADD api c", "UPDATE api a"));
  Pod running = Make("c");
  running.status.phase = "Running";
  api_({Make("a", "other"), running});
  EXPECT_THAT(Told(), ElementsAre("RECONCILE api c"));
  running.metadata.deletion_timestamp = apimachinery::Time{5};
  api_({Make("a", "other"), running});
  EXPECT_THAT(Told(), ElementsAre("DELETE api c"));
  api_({});
  EXPECT_THAT(Told(), ElementsAre("REMOVE api a c"));
}

TEST_F(PodConfigTest, SourcesDoNotTouchEachOther) {
  Begin();
  api_({Make("a")});
  file_({Make("a"), Make("s")});
  EXPECT_THAT(Told(), ElementsAre("ADD api a", "ADD file a s"));
  api_({});
  EXPECT_THAT(Told(), ElementsAre("REMOVE api a"));
  ASSERT_EQ(config_->State().size(), 2U);
  EXPECT_EQ(config_->State()[0]->metadata.annotations.at("kubernetes.io/config.source"), "file");
}

TEST_F(PodConfigTest, IsReadyWhenEverySourceWasHeard) {
  Begin();
  EXPECT_FALSE(config_->Ready());
  file_({});
  EXPECT_THAT(Told(), ElementsAre("ADD file")) << "the first word of a source without pods";
  EXPECT_THAT(config_->Missing(), ElementsAre("api"));
  api_({});
  EXPECT_TRUE(config_->Ready());
  file_({});
  EXPECT_THAT(Told(), ElementsAre("ADD api"));
}

TEST_F(PodConfigTest, KeepsTheTimeWhenAPodWasFirstSeen) {
  Begin();
  api_({Make("a")});
  const std::string seen =
      config_->State()[0]->metadata.annotations.at("kubernetes.io/config.seen");
  clock_.Advance(std::chrono::hours(1));
  api_({Make("a", "other"), Make("b")});
  EXPECT_EQ(config_->State()[0]->metadata.annotations.at("kubernetes.io/config.seen"), seen);
  EXPECT_NE(config_->State()[1]->metadata.annotations.at("kubernetes.io/config.seen"), seen);
}

TEST_F(PodConfigTest, OfTwoPodsOfOneNameTheFirstCounts) {
  Begin();
  Pod twin = Make("a");
  twin.metadata.uid = "another";
  file_({Make("a"), twin});
  ASSERT_EQ(config_->State().size(), 1U);
  EXPECT_EQ(config_->State()[0]->metadata.uid, "uid-a");
}

TEST_F(PodConfigTest, OfTwoPodsOfOneUidTheFirstCounts) {
  Begin();
  Pod copy = Make("b");
  copy.metadata.uid = "uid-a";
  file_({Make("a"), copy});
  ASSERT_EQ(config_->State().size(), 1U);
  EXPECT_EQ(config_->State()[0]->metadata.name, "a");
  EXPECT_THAT(Told(), ElementsAre("ADD file a"));
}

TEST_F(PodConfigTest, APodMadeAnewGoesAndComes) {
  Begin();
  api_({Make("a")});
  Told();
  Pod anew = Make("a");
  anew.metadata.uid = "another";
  api_({anew});
  EXPECT_THAT(Told(), ElementsAre("REMOVE api a", "ADD api a"));
}

TEST_F(PodConfigTest, SnapshotsHaveAllSources) {
  Begin(Mode::kSnapshot);
  api_({Make("a")});
  file_({Make("s")});
  api_({Make("a", "other")});
  EXPECT_THAT(Told(), ElementsAre("SET * a", "SET * a s", "SET * a s"));
  api_({Make("a", "other")});
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(PodConfigTest, SnapshotsAndUpdates) {
  Begin(Mode::kSnapshotAndUpdates);
  api_({Make("a")});
  api_({Make("a", "other")});
  api_({});
  EXPECT_THAT(Told(), ElementsAre("SET * a", "UPDATE api a", "SET *"));
}

TEST_F(PodConfigTest, TakesSingleChanges) {
  Begin();
  const auto ref = [](const Pod& pod) { return std::make_shared<const Pod>(pod); };
  config_->Merge({PodOperation::kAdd, "file", {ref(Make("a")), ref(Make("b"))}});
  config_->Merge({PodOperation::kUpdate, "file", {ref(Make("a", "other"))}});
  config_->Merge({PodOperation::kRemove, "file", {ref(Make("b")), ref(Make("unknown"))}});
  EXPECT_THAT(Told(), ElementsAre("ADD file a b", "UPDATE file a", "REMOVE file b"));
  EXPECT_THAT(config_->Missing(), ElementsAre("api", "file"))
      << "only a SET says what is not there";
}

TEST_F(PodConfigTest, LateConsumersGetEverythingFirst) {
  Begin();
  api_({Make("a")});
  std::vector<std::string> late;
  {
    const auto second = config_->Subscribe([&late](const PodUpdate& update) {
      late.push_back(std::string(ToString(update.operation)) + " " + update.source);
    });
    file_({Make("s")});
  }
  file_({});
  EXPECT_THAT(late, ElementsAre("SET *", "ADD file"));
}

TEST_F(PodConfigTest, ManyThreadsEndInOneState) {
  Begin();
  std::map<std::string, std::string> images;  // what a consumer believes
  const auto following = config_->Subscribe([&images](const PodUpdate& update) {
    for (const PodRef& pod : update.pods) {
      const std::string key = update.source + "/" + pod->metadata.name;
      if (update.operation == PodOperation::kRemove) {
        images.erase(key);
      } else if (update.operation != PodOperation::kSet) {
        images[key] = pod->spec.containers[0].image;
      }
    }
  });
  {
    std::vector<std::jthread> threads;
    for (const PodSink* sink : {&api_, &file_}) {
      threads.emplace_back([sink] {
        for (int i = 0; i < 200; ++i) {
          std::vector<Pod> pods;
          for (int pod = i % 3; pod < 5; ++pod) {
            pods.push_back(Make("p" + std::to_string(pod), std::to_string(i)));
          }
          (*sink)(std::move(pods));
        }
      });
    }
  }
  std::map<std::string, std::string> state;
  for (const PodRef& pod : config_->State()) {
    state[pod->metadata.annotations.at("kubernetes.io/config.source") + "/" + pod->metadata.name] =
        pod->spec.containers[0].image;
  }
  EXPECT_EQ(images, state);
  EXPECT_EQ(state.size(), 8U);
}

}  // namespace
}  // namespace kubexx::kubelet
