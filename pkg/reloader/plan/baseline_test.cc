#include "kubexx/reloader/plan/baseline.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

const SourceId kConfig{SourceType::kConfigMap, {"ns", "app.config"}};
const SourceId kPassword{SourceType::kSecret, {"ns", "password"}};

TEST(Baseline, IsReadAsItIsWritten) {
  Baseline baseline{.uid = "4f9b-1"};
  EXPECT_EQ(baseline.ToString(), "v1 4f9b-1");
  EXPECT_EQ(Baseline::Parse("v1 4f9b-1", "ns"), baseline);
  baseline.digests[kConfig] = DigestOf("data");
  baseline.digests[kPassword] = kNoSource;
  const std::string text = baseline.ToString();
  EXPECT_EQ(text,
            "v1 4f9b-1 configmap/app.config=a17c9aaa61e80a1bf71d0d850af4e5baa9800bbd"
            " secret/password=-");
  EXPECT_EQ(Baseline::Parse(text, "ns"), baseline);
}

TEST(Baseline, TheSizeOfAnEntryIsWhatItTakes) {
  Baseline baseline{.uid = "u"};
  const std::size_t before = baseline.ToString().size();
  baseline.digests[kConfig] = DigestOf("data");
  EXPECT_EQ(baseline.ToString().size(), before + Baseline::SizeOf(kConfig));
}

class MangledBaselineTest : public testing::TestWithParam<std::string> {};

TEST_P(MangledBaselineTest, IsNone) { EXPECT_FALSE(Baseline::Parse(GetParam(), "ns")); }

INSTANTIATE_TEST_SUITE_P(
    All, MangledBaselineTest,
    testing::Values("", "v1", "v1 ", "v2 uid", "{}", "v1 uid configmap", "v1 uid configmap/=-",
                    "v1 uid configmap/a=", "v1 uid configmap/a=12", "v1 uid pod/a=-",
                    "v1 uid  configmap/a=-",
                    "v1 uid configmap/a=-=", "v1 uid configmap/a=-,secret/b=-",
                    "v1 uid configmap/a=A17C9AAA61E80A1BF71D0D850AF4E5BAA9800BBD",
                    "v1 " + std::string(Baseline::kMaxBytes, 'u')));

}  // namespace
}  // namespace kubexx::reloader
