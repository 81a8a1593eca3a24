#include "kubexx/reloader/in_place/mount_check.h"

#include <gmock/gmock.h>

#include <string>

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

const SourceId kMountedSettings{SourceType::kConfigMap, {"shop", "settings"}};
const SourceId kMountedTls{SourceType::kSecret, {"shop", "tls"}};

core::Container& AddMount(core::Container& container, const std::string& volume,
                          const std::string& path) {
  container.volume_mounts.push_back({.name = volume, .mount_path = path});
  return container;
}

/// A pod whose container "app" mounts a ConfigMap at /etc/app.
core::Pod MountingPod() {
  core::Pod pod;
  pod.metadata.namespace_ = "shop";
  core::Volume& volume = pod.spec.volumes.emplace_back();
  volume.name = "config";
  volume.volume_source.config_map.emplace().local_object_reference.name = "settings";
  core::Container& app = pod.spec.containers.emplace_back();
  app.name = "app";
  AddMount(app, "config", "/etc/app/");
  return pod;
}

std::string WhyNotIn(const core::Pod& pod, const std::map<SourceId, KeyHashes>& data = {
                                               {kMountedSettings, {{"a", "1"}}}}) {
  const auto checks = MountChecksFor(pod, "", {kMountedSettings}, data);
  return checks ? "it can be checked" : checks.error().message;
}

TEST(MountCheckTest, AllKeysOfASourceAreFilesOfItsVolume) {
  const auto checks = MountChecksFor(MountingPod(), "app", {kMountedSettings},
                                     {{kMountedSettings, {{"a", "1"}, {"b", "2"}}}});
  ASSERT_TRUE(checks) << checks.error().ToString();
  ASSERT_EQ(checks->size(), 1U);
  EXPECT_EQ(checks->front().container, "app");
  EXPECT_EQ(checks->front().directory, "/etc/app");
  EXPECT_THAT(checks->front().files, ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_THAT(checks->front().names, UnorderedElementsAre("a", "b"));
}

TEST(MountCheckTest, ItemsChooseKeysAndPaths) {
  core::Pod pod = MountingPod();
  pod.spec.volumes[0].volume_source.config_map->items = {{.key = "b", .path = "conf.d/b.conf"}};
  const auto checks =
      MountChecksFor(pod, "", {kMountedSettings}, {{kMountedSettings, {{"a", "1"}, {"b", "2"}}}});
  ASSERT_TRUE(checks) << checks.error().ToString();
  EXPECT_THAT(checks->front().files, ElementsAre(Pair("conf.d/b.conf", "2")));
  EXPECT_THAT(checks->front().names, UnorderedElementsAre("conf.d"));
  EXPECT_THAT(WhyNotIn(pod), HasSubstr("ConfigMap settings has no key b"));
  pod.spec.volumes[0].volume_source.config_map->optional = true;
  EXPECT_EQ(WhyNotIn(pod), "it can be checked");
}

TEST(MountCheckTest, NeighboursInAProjectedVolumeAreCheckedToo) {
  core::Pod pod = MountingPod();
  core::Volume& volume = pod.spec.volumes[0];
  volume.volume_source = {};
  auto& sources = volume.volume_source.projected.emplace().sources;
  sources.emplace_back().config_map.emplace().local_object_reference.name = "settings";
  sources.emplace_back().secret.emplace().local_object_reference.name = "tls";
  sources.emplace_back().downward_api.emplace().items.emplace_back().path = "labels";
  EXPECT_THAT(SourcesBeside(pod, {kMountedSettings}),
              UnorderedElementsAre(kMountedSettings, kMountedTls));
  const auto checks =
      MountChecksFor(pod, "", {kMountedSettings},
                     {{kMountedSettings, {{"a", "1"}}}, {kMountedTls, {{"a", "3"}, {"c", "2"}}}});
  ASSERT_TRUE(checks) << checks.error().ToString();
  EXPECT_THAT(checks->front().files, ElementsAre(Pair("a", "3"), Pair("c", "2")))
      << "the later source counts where both have a path";
  EXPECT_THAT(checks->front().names, UnorderedElementsAre("a", "c", "labels"));
  EXPECT_THAT(WhyNotIn(pod), HasSubstr("Secret tls does not exist"));
  sources.emplace_back().cluster_trust_bundle.emplace();
  EXPECT_THAT(WhyNotIn(pod), HasSubstr("other things beside"));
}

TEST(MountCheckTest, AVolumeOfSeveralContainersIsLookedAtInTheNamedOne) {
  core::Pod pod = MountingPod();
  core::Container& side = pod.spec.containers.emplace_back();
  side.name = "side";
  AddMount(side, "config", "/config");
  const std::map<SourceId, KeyHashes> data{{kMountedSettings, {{"a", "1"}}}};
  EXPECT_EQ(MountChecksFor(pod, "side", {kMountedSettings}, data)->front().directory, "/config");
  EXPECT_EQ(MountChecksFor(pod, "other", {kMountedSettings}, data)->front().directory, "/etc/app");
}

TEST(MountCheckTest, WhatTheKubeletDoesNotUpdateIsRefused) {
  core::Pod by_env = MountingPod();
  by_env.spec.containers[0]
      .env_from.emplace_back()
      .config_map_ref.emplace()
      .local_object_reference.name = "settings";
  EXPECT_THAT(WhyNotIn(by_env),
              HasSubstr("container app has ConfigMap settings in its environment"));
  core::Pod by_key = MountingPod();
  core::EnvVar& variable = by_key.spec.containers[0].env.emplace_back();
  variable.name = "A";
  variable.value_from.emplace().config_map_key_ref.emplace().local_object_reference.name =
      "settings";
  EXPECT_THAT(WhyNotIn(by_key), HasSubstr("in its environment"));
  core::Pod by_sub_path = MountingPod();
  by_sub_path.spec.containers[0].volume_mounts[0].sub_path = "a";
  EXPECT_THAT(WhyNotIn(by_sub_path), HasSubstr("by subPath"));
  core::Pod by_init = MountingPod();
  core::Container& init = by_init.spec.init_containers.emplace_back();
  init.name = "init";
  AddMount(init, "config", "/config");
  EXPECT_THAT(WhyNotIn(by_init), HasSubstr("init container init has read volume config"));
  by_init.spec.init_containers[0].restart_policy = "Always";
  EXPECT_EQ(WhyNotIn(by_init), "it can be checked") << "a sidecar runs as long as the pod";
  core::Pod unmounted = MountingPod();
  unmounted.spec.containers[0].volume_mounts.clear();
  EXPECT_THAT(WhyNotIn(unmounted), HasSubstr("no container mounts ConfigMap settings"));
  EXPECT_THAT(WhyNotIn(MountingPod(), {}), HasSubstr("does not exist"));
}

// The reload waited until its time for the files was over.
TEST(MountCheckTest, WhatIsMountedWithinTheFolderMayBeThere) {
  core::Pod pod = MountingPod();
  core::Container& app = pod.spec.containers[0];
  AddMount(app, "scratch", "/etc/app/cache/");
  AddMount(app, "scratch", "/etc/application");
  AddMount(app, "scratch", "/etc/app//deep/./er");
  app.termination_message_path = "/etc/app/last-words";
  const auto checks =
      MountChecksFor(pod, "", {kMountedSettings}, {{kMountedSettings, {{"a", "1"}}}});
  ASSERT_TRUE(checks) << checks.error().ToString();
  const MountCheck& check = checks->front();
  EXPECT_THAT(check.names, UnorderedElementsAre("a"));
  EXPECT_THAT(check.may_be, UnorderedElementsAre("cache", "deep", "last-words"));
  EXPECT_TRUE(HasRightNames(check, "..data\na\ncache\ndeep\nlast-words\n"));
  EXPECT_TRUE(HasRightNames(check, "..data\na\n"));
  EXPECT_FALSE(HasRightNames(check, "..data\na\ncache\nremoved\n"));
  EXPECT_FALSE(HasRightNames(check, "..data\ncache\n"));
}

TEST(MountCheckTest, WhatAnotherContainerMountsWithinTheVolumeMayBeThere) {
  core::Pod pod = MountingPod();
  core::Container& side = pod.spec.containers.emplace_back();
  side.name = "side";
  AddMount(AddMount(side, "config", "/config"), "certificates", "/config/tls/");
  const auto checks =
      MountChecksFor(pod, "app", {kMountedSettings}, {{kMountedSettings, {{"a", "1"}}}});
  ASSERT_TRUE(checks) << checks.error().ToString();
  EXPECT_THAT(checks->front().may_be, UnorderedElementsAre("tls"))
      << "the folder is one for both containers";
}

TEST(MountCheckTest, TheKubeletsFilesInEtcMayBeThere) {
  core::Pod pod = MountingPod();
  pod.spec.containers[0].volume_mounts[0].mount_path = "/etc";
  const auto checks =
      MountChecksFor(pod, "", {kMountedSettings}, {{kMountedSettings, {{"a", "1"}}}});
  ASSERT_TRUE(checks) << checks.error().ToString();
  EXPECT_TRUE(HasRightNames(checks->front(), "..data\na\nhostname\nhosts\nresolv.conf\n"));
}

TEST(MountCheckTest, AFileThatSomethingElseIsMountedOverCannotBeSeen) {
  for (const char* path : {"/etc/app/a", "/etc/app/sub", "/etc/app/sub/b"}) {
    core::Pod pod = MountingPod();
    pod.spec.volumes[0].volume_source.config_map->items = {{.key = "a", .path = "a"},
                                                           {.key = "b", .path = "sub/b"}};
    AddMount(pod.spec.containers[0], "scratch", path);
    EXPECT_THAT(WhyNotIn(pod, {{kMountedSettings, {{"a", "1"}, {"b", "2"}}}}),
                HasSubstr("container app mounts something else over /etc/app/"))
        << path;
  }
}

TEST(MountCheckTest, TheOutputsOfTheToolsAreCompared) {
  const std::string one = Sha256Of("one");
  const std::string two = Sha256Of("two");
  EXPECT_EQ(Sha256Of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const MountCheck check{.directory = "/d", .files = {{"a", one}, {"b", two}}, .names = {"a", "b"}};
  EXPECT_TRUE(HasRightHashes(check, one + "  /d/a\n" + two + "  /d/b\n"));
  EXPECT_TRUE(HasRightHashes(check, "\\" + one + "  /d\\\\/a\n" + two + "  /d/b\n"));
  EXPECT_FALSE(HasRightHashes(check, one + "  /d/a\n"));
  EXPECT_FALSE(HasRightHashes(check, two + "  /d/a\n" + one + "  /d/b\n"));
  EXPECT_FALSE(HasRightHashes(check, one + "  /d/a\n" + two + "  /d/b\nmore\n"));
  EXPECT_FALSE(HasRightHashes(check, ""));
  EXPECT_TRUE(HasRightHashes({}, ""));
  EXPECT_TRUE(HasRightNames(check, "..2026_01_01\n..data\na\nb\n"));
  EXPECT_FALSE(HasRightNames(check, "..data\na\nb\nremoved\n"));
  EXPECT_FALSE(HasRightNames(check, "..data\na\n"));
  EXPECT_FALSE(HasRightNames(check, ""));
}

}  // namespace
}  // namespace kubexx::reloader
