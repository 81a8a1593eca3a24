#include "kubexx/reloader/model/used_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/codec/codec.h"

namespace kubexx::reloader {
namespace {

const UsedKeys::key_type kUsedConfig{SourceType::kConfigMap, "config"};
const UsedKeys::key_type kUsedSecret{SourceType::kSecret, "secret"};

UsedKeys UsedIn(const std::string& pod) {
  const auto spec = codec::DecodeJson<api::core::v1::PodSpec>(pod);
  EXPECT_TRUE(spec) << pod;
  return spec ? UsedKeysOf(*spec) : UsedKeys();
}

/// The keys of the ConfigMap "config" that a container uses. "-" stands for all keys, or for none.
std::string KeysWith(const std::string& volume, const std::string& container) {
  const UsedKeys used =
      UsedIn(R"({"volumes":[)" + volume + R"(],"containers":[{"name":"app",)" + container + "}]}");
  const auto found = used.find(kUsedConfig);
  return found == used.end() ? "-" : found->second;
}

constexpr char kWholeVolume[] = R"({"name":"v","configMap":{"name":"config"}})";
constexpr char kItems[] = R"({"name":"v","configMap":{"name":"config","items":[
    {"key":"a","path":"etc/a.conf"},{"key":"b","path":"etc/b.conf"},{"key":"c","path":"c"}]}})";

std::string Mounted(const std::string& how) {
  return R"("volumeMounts":[{"name":"v","mountPath":"/m")" + how + "}]";
}

TEST(UsedKeys, AVariableUsesItsKey) {
  const std::string both = R"("env":[
      {"name":"A","valueFrom":{"configMapKeyRef":{"name":"config","key":"b"}}},
      {"name":"B","valueFrom":{"configMapKeyRef":{"name":"config","key":"a"}}},
      {"name":"C","value":"x"},{"name":"D","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
      {"name":"S","valueFrom":{"secretKeyRef":{"name":"secret","key":"password"}}}])";
  EXPECT_EQ(UsedIn(R"({"containers":[{"name":"app",)" + both + "}]}"),
            (UsedKeys{{kUsedConfig, "a,b"}, {kUsedSecret, "password"}}));
}

TEST(UsedKeys, InitContainersCountAsWell) {
  EXPECT_EQ(UsedIn(R"({"initContainers":[{"name":"init","env":[
                {"name":"A","valueFrom":{"configMapKeyRef":{"name":"config","key":"i"}}}]}],
              "containers":[{"name":"app","env":[
                {"name":"A","valueFrom":{"configMapKeyRef":{"name":"config","key":"a"}}}]}]})"),
            (UsedKeys{{kUsedConfig, "a,i"}}));
  EXPECT_EQ(UsedIn(R"({"initContainers":[{"name":"init",
                "envFrom":[{"configMapRef":{"name":"config"}}]}],
              "containers":[{"name":"app","env":[
                {"name":"A","valueFrom":{"configMapKeyRef":{"name":"config","key":"a"}}}]}]})"),
            UsedKeys())
      << "one that uses all of it is enough";
}

TEST(UsedKeys, EnvFromAndAWholeVolumeUseAllKeys) {
  const std::string key = R"(,"env":[
      {"name":"A","valueFrom":{"configMapKeyRef":{"name":"config","key":"b"}}}])";
  EXPECT_EQ(KeysWith("", R"("envFrom":[{"configMapRef":{"name":"config"}}])" + key), "-");
  EXPECT_EQ(KeysWith(kWholeVolume, Mounted("") + key), "-");
  EXPECT_EQ(KeysWith(kWholeVolume, R"("image":"x")" + key), "b") << "it is mounted nowhere";
}

TEST(UsedKeys, OfAVolumeItsItemsAreUsed) {
  EXPECT_EQ(KeysWith(kItems, Mounted("")), "a,b,c");
  EXPECT_EQ(KeysWith(kItems, R"("image":"x")"), "-") << "it is mounted nowhere";
  EXPECT_EQ(UsedIn(R"({"volumes":[{"name":"v","secret":{"secretName":"secret",
                "items":[{"key":"tls.crt","path":"x"}]}}],
              "containers":[{"name":"app","volumeMounts":[{"name":"v","mountPath":"/m"}]}]})"),
            (UsedKeys{{kUsedSecret, "tls.crt"}}));
}

TEST(UsedKeys, ASubPathSelectsAFileOrAFolder) {
  EXPECT_EQ(KeysWith(kWholeVolume, Mounted(R"(,"subPath":"app.yaml")")), "app.yaml");
  EXPECT_EQ(KeysWith(kWholeVolume, Mounted(R"(,"subPath":"./app.yaml")")), "app.yaml");
  EXPECT_EQ(KeysWith(kItems, Mounted(R"(,"subPath":"etc/a.conf")")), "a");
  EXPECT_EQ(KeysWith(kItems, Mounted(R"(,"subPath":"etc/")")), "a,b");
  EXPECT_EQ(KeysWith(kItems, Mounted(R"(,"subPath":".")")), "a,b,c");
  EXPECT_EQ(KeysWith(kWholeVolume, Mounted(R"(,"subPathExpr":"app.yaml")")), "app.yaml");
}

TEST(UsedKeys, WhatCannotBeToldUsesAllKeys) {
  EXPECT_EQ(KeysWith(kWholeVolume, Mounted(R"x(,"subPathExpr":"$(POD_NAME)")x")), "-");
  EXPECT_EQ(KeysWith(kWholeVolume, Mounted(R"(,"subPath":"..data/app.yaml")")), "-");
  EXPECT_EQ(KeysWith(kWholeVolume, Mounted(R"(,"subPath":"..data")")), "-");
  EXPECT_EQ(KeysWith(kItems, Mounted(R"(,"subPath":"elsewhere")")), "-");
  EXPECT_EQ(KeysWith(kItems, Mounted(R"(,"subPath":"et")")), "-") << "no folder of that name";
  std::string items;
  for (int i = 0; i < 200; ++i) {
    items += (i == 0 ? "" : ",") + std::string(R"({"key":"long-name-)") + std::to_string(i) +
             R"(","path":"p)" + std::to_string(i) + R"("})";
  }
  EXPECT_EQ(KeysWith(R"({"name":"v","configMap":{"name":"config","items":[)" + items + "]}}",
                     Mounted("")),
            "-")
      << "a list has a longest length";
}

TEST(UsedKeys, EachSourceOfAProjectedVolumeHasItsOwn) {
  const std::string volume = R"({"name":"v","projected":{"sources":[
      {"configMap":{"name":"config","items":[{"key":"a","path":"conf/a"}]}},
      {"secret":{"name":"secret","items":[{"key":"k","path":"tls/k"},{"key":"l","path":"tls/l"}]}},
      {"downwardAPI":{}}]}})";
  const auto used = [&](const std::string& how) {
    return UsedIn(R"({"volumes":[)" + volume + R"(],"containers":[{"name":"app",)" + Mounted(how) +
                  "}]}");
  };
  EXPECT_EQ(used(""), (UsedKeys{{kUsedConfig, "a"}, {kUsedSecret, "k,l"}}));
  EXPECT_EQ(used(R"(,"subPath":"tls/k")"), (UsedKeys{{kUsedSecret, "k"}}));
  EXPECT_EQ(used(R"(,"subPath":"other")"), UsedKeys());
}

TEST(UsedKeys, ReadsBackWhatItWrites) {
  const UsedKeys used{{kUsedConfig, "a,b.yaml"}, {kUsedSecret, "k"}};
  EXPECT_EQ(TextOf(used), "configmap/config=a,b.yaml secret/secret=k");
  EXPECT_EQ(UsedKeysFrom(TextOf(used)), used);
  EXPECT_EQ(UsedKeysFrom(""), UsedKeys());
  EXPECT_EQ(UsedKeysFrom("nonsense other/x=a configmap=a/b secret/secret=k"),
            (UsedKeys{{kUsedSecret, "k"}}));
}

TEST(UsedKeys, ListsAreCompared) {
  EXPECT_EQ(KeysInBoth("", ""), "");
  EXPECT_EQ(KeysInBoth("a,b", ""), "a,b");
  EXPECT_EQ(KeysInBoth("", "a,b"), "a,b");
  EXPECT_EQ(KeysInBoth("a,b,c", "b,c,d"), "b,c");
  EXPECT_EQ(KeysInBoth("a", "b"), kNoKeys);
  EXPECT_TRUE(HasNoKeysBeyond("a", "a,b"));
  EXPECT_TRUE(HasNoKeysBeyond("a", ""));
  EXPECT_TRUE(HasNoKeysBeyond("", ""));
  EXPECT_FALSE(HasNoKeysBeyond("a,b", "a"));
  EXPECT_FALSE(HasNoKeysBeyond("", "a"));
}

}  // namespace
}  // namespace kubexx::reloader
