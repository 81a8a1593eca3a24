#include "kubexx/reloader/policy/sighting.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloader/model/workload_kind.h"

namespace kubexx::reloader {
namespace {

TEST(Sighting, HasTheTemplateWhileARolloutIsFollowed) {
  const auto template_of = [](const std::string& record) {
    Workload workload{.uid = "u", .template_version = {.generation = 1, .digest = "abc"}};
    workload.annotations["reloader.kubexx.io/rollout-state"] = record;
    return SightingOf(workload).template_hash;
  };
  EXPECT_EQ(template_of("started u"), "abc");
  EXPECT_EQ(template_of("failed u"), "abc");
  EXPECT_EQ(template_of("completed u"), "");
  EXPECT_EQ(template_of("started another"), "");
}

TEST(Sighting, HasWhatIsPresumedAndForHowLongTheKindSettles) {
  const auto presumed_with = [](const std::string& name,
                                std::optional<base::Duration> settled_for) {
    AddCustomKinds({{.group = "a.example.com",
                     .version = "v1",
                     .kind = name,
                     .resource = name + "s",
                     .settled_for = settled_for}});
    return SightingOf({.id = {*ParseWorkloadKind(name), {"ns", "w"}},
                       .presumed = reloadpolicy::Phase::kFailed})
        .presumed;
  };
  ASSERT_TRUE(presumed_with("SightedOne", std::chrono::seconds(5)));
  EXPECT_EQ(presumed_with("SightedOne", std::chrono::seconds(5))->phase,
            reloadpolicy::Phase::kFailed);
  EXPECT_EQ(presumed_with("SightedOne", std::chrono::seconds(5))->after, std::chrono::seconds(5));
  EXPECT_FALSE(presumed_with("SightedOther", std::nullopt)->after);
  EXPECT_FALSE(SightingOf({}).presumed);
}

TEST(Sighting, TellsWhenAnOperatorRolledTheWorkload) {
  EXPECT_FALSE(SightingOf({}).rolled);
  const Workload workload{.own_written = apimachinery::Time{.seconds = 1'795'000'000}};
  EXPECT_EQ(SightingOf(workload).rolled, base::WallTime(std::chrono::seconds(1'795'000'000)));
}

TEST(Sighting, TellsWhatIsWantedAndWhenTheRolloutWasComplete) {
  Workload workload{.phase = reloadpolicy::Phase::kUnavailable,
                    .ended = apimachinery::Time{.seconds = 1'795'000'000},
                    .wanted = 7};
  EXPECT_EQ(SightingOf(workload).wanted, 7);
  EXPECT_EQ(SightingOf(workload).completed, base::WallTime(std::chrono::seconds(1'795'000'000)));
  workload.phase = reloadpolicy::Phase::kFailed;
  EXPECT_FALSE(SightingOf(workload).completed) << "that is when it failed";
  workload.phase = reloadpolicy::Phase::kUnseen;
  workload.timed_out = true;
  EXPECT_FALSE(SightingOf(workload).completed) << "also when the status is of before";
}

TEST(Sighting, HasTheTemplateOfAKindWhoseStatusMayBeOld) {
  AddCustomKinds(
      {{.group = "a.example.com", .version = "v1", .kind = "Aged", .resource = "ageds"}});
  const auto template_of = [](const std::string& kind) {
    return SightingOf({.id = {*ParseWorkloadKind(kind), {"ns", "w"}},
                       .template_version = {.generation = 1, .digest = "abc"}})
        .template_without_status;
  };
  EXPECT_EQ(template_of("Aged"), "abc");
  EXPECT_EQ(template_of("Deployment"), "");
}

}  // namespace
}  // namespace kubexx::reloader
