#include "kubexx/reloader/strategy.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

const base::WallTime kNow{std::chrono::seconds(1700000000)};
const SourceId kConfig{SourceType::kConfigMap, {"ns", "config"}};
const SourceId kPassword{SourceType::kSecret, {"ns", "password"}};

std::vector<Change> TwoChanges() {
  return {{.container = "app",
           .variable = "STAKATER_CONFIG_CONFIGMAP",
           .value = "01",
           .sources = {{kConfig, DigestOf("a")}},
           .causes = {kConfig}},
          {.container = "app",
           .variable = "STAKATER_PASSWORD_SECRET",
           .value = "02",
           .sources = {{kPassword, DigestOf("b")}},
           .causes = {kPassword}}};
}

TEST(LastReloadedFrom, IsTheOriginalsText) {
  EXPECT_EQ(LastReloadedFrom(kConfig, DigestOf("key=updated"), "app", kNow),
            R"({"type":"CONFIGMAP","name":"config","namespace":"ns",)"
            R"("hash":"6b3093988321555757cc9b88a5f2d59101a0261c",)"
            R"("containerRefs":["app"],"observedAt":1700000000})");
}

TEST(LastReloadedFrom, IsReadBack) {
  Workload workload;
  EXPECT_FALSE(ParseReloadedFrom(workload));
  std::string& text = workload.template_annotations[std::string(kLastReloadedFrom)];
  text = LastReloadedFrom(kPassword, DigestOf("x"), "app", kNow);
  EXPECT_EQ(ParseReloadedFrom(workload), (ReloadedFrom{kPassword, DigestOf("x").ToString()}));
  for (const char* bad : {"", "{", "[]", "{}", R"({"type":"POD","name":"a"})", R"({"type":1})"}) {
    text = bad;
    EXPECT_FALSE(ParseReloadedFrom(workload)) << bad;
  }
}

TEST(MakeWrite, EnvVarsSetsEachVariable) {
  const WorkloadWrite write = MakeWrite({.uid = "u"}, TwoChanges(), ReloadStrategy::kEnvVars, kNow);
  const WorkloadWrite expected{.uid = "u",
                               .variables = {{"app", "STAKATER_CONFIG_CONFIGMAP", "01"},
                                             {"app", "STAKATER_PASSWORD_SECRET", "02"}}};
  EXPECT_EQ(write, expected);
}

TEST(MakeWrite, AnnotationsNamesTheLastCause) {
  const WorkloadWrite write = MakeWrite({}, TwoChanges(), ReloadStrategy::kAnnotations, kNow);
  const WorkloadWrite expected{
      .template_annotations = {{std::string(kLastReloadedFrom),
                                LastReloadedFrom(kPassword, DigestOf("b"), "app", kNow)}}};
  EXPECT_EQ(write, expected);
}

}  // namespace
}  // namespace kubexx::reloader
