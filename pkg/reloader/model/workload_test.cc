#include "kubexx/reloader/model/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;

const Reference kApp{SourceType::kConfigMap, "app"};
const Reference kOther{SourceType::kConfigMap, "other"};
const Reference kAppSecret{SourceType::kSecret, "app"};

struct ChoiceCase {
  std::string name{};
  std::vector<Volume> volumes{};
  std::vector<Container> containers{};
  std::vector<Container> init_containers{};
  bool explicit_match = false;
  std::optional<std::size_t> want{};
};

class ChoiceTable : public testing::TestWithParam<ChoiceCase> {};

TEST_P(ChoiceTable, ChoosesAsTheOriginal) {
  Workload workload;
  workload.volumes = GetParam().volumes;
  workload.containers = GetParam().containers;
  workload.init_containers = GetParam().init_containers;
  EXPECT_EQ(ChooseContainer(workload, SourceType::kConfigMap, "app", GetParam().explicit_match),
            GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Containers, ChoiceTable,
    testing::Values(ChoiceCase{.name = "NoReference", .containers = {{.name = "a"}}},
                    ChoiceCase{.name = "NoReferenceButExplicit",
                               .containers = {{.name = "a"}},
                               .explicit_match = true,
                               .want = 0},
                    ChoiceCase{.name = "ExplicitWithoutContainers", .explicit_match = true},
                    ChoiceCase{.name = "FirstMount",
                               .volumes = {{"v", {kApp}}},
                               .containers = {{.name = "a"},
                                              {.name = "b", .mounts = {"v"}},
                                              {.name = "c", .mounts = {"v"}}},
                               .want = 1},
                    ChoiceCase{.name = "MountBeatsEnv",
                               .volumes = {{"v", {kApp}}},
                               .containers = {{.name = "a", .references = {kApp}},
                                              {.name = "b", .mounts = {"v"}}},
                               .want = 1},
                    ChoiceCase{.name = "MountInInitGoesToTheFirst",
                               .volumes = {{"v", {kApp}}},
                               .containers = {{.name = "a"}, {.name = "b", .references = {kApp}}},
                               .init_containers = {{.name = "i", .mounts = {"v"}}},
                               .want = 0},
                    ChoiceCase{.name = "MountInInitWithoutContainers",
                               .volumes = {{"v", {kApp}}},
                               .init_containers = {{.name = "i", .mounts = {"v"}}}},
                    ChoiceCase{.name = "MountedNowhere",
                               .volumes = {{"v", {kApp}}},
                               .containers = {{.name = "a"}}},
                    ChoiceCase{.name = "OnlyTheFirstVolumeIsTried",
                               .volumes = {{"v", {kApp}}, {"w", {kApp}}},
                               .containers = {{.name = "a"}, {.name = "b", .mounts = {"w"}}}},
                    ChoiceCase{.name = "MountedNowhereThenEnv",
                               .volumes = {{"v", {kApp}}},
                               .containers = {{.name = "a"}, {.name = "b", .references = {kApp}}},
                               .want = 1},
                    ChoiceCase{.name = "ProjectedVolume",
                               .volumes = {{"v", {kOther, kAppSecret, kApp}}},
                               .containers = {{.name = "a", .mounts = {"v"}}},
                               .want = 0},
                    ChoiceCase{.name = "EnvInInitGoesToTheFirst",
                               .containers = {{.name = "a"}, {.name = "b"}},
                               .init_containers = {{.name = "i", .references = {kApp}}},
                               .want = 0},
                    ChoiceCase{.name = "EnvInInitWithoutContainers",
                               .init_containers = {{.name = "i", .references = {kApp}}}},
                    ChoiceCase{.name = "TypeCounts",
                               .containers = {{.name = "a", .references = {kAppSecret}}}}),
    [](const auto& row) { return row.param.name; });

TEST(ReferencedSources, AreSortedAndUnique) {
  Workload workload;
  workload.id.key.namespace_ = "ns";
  workload.volumes = {{"v", {kAppSecret, kOther}}};
  workload.containers = {{.name = "a", .references = {kApp, kApp}}};
  workload.init_containers = {{.name = "i", .references = {kAppSecret}}};
  EXPECT_THAT(ReferencedSources(workload),
              ElementsAre(SourceId{SourceType::kConfigMap, {"ns", "app"}},
                          SourceId{SourceType::kConfigMap, {"ns", "other"}},
                          SourceId{SourceType::kSecret, {"ns", "app"}}));
}

TEST(FindVariable, TakesTheFirstOfSeveral) {
  const Container container{.name = "a", .variables = {{"X", "1"}, {"Y", "2"}, {"X", "3"}}};
  ASSERT_NE(FindVariable(container, "X"), nullptr);
  EXPECT_EQ(*FindVariable(container, "X"), "1");
  EXPECT_EQ(FindVariable(container, "Z"), nullptr);
}

TEST(WorkloadKind, NamesRoundTrip) {
  for (const WorkloadKind kind : kWorkloadKinds) {
    EXPECT_EQ(ParseWorkloadKind(KindName(kind)), kind);
  }
  EXPECT_EQ(ParseWorkloadKind("Pod"), std::nullopt);
}

}  // namespace
}  // namespace kubexx::reloader
