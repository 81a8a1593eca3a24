#include "kubexx/reloader/plan/baseline.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>

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

TEST(Baseline, OfAJobThatIsMadeAnewNamesTheOneBefore) {
  Baseline baseline{.uid = "4f9b-1", .is_of_next = true};
  baseline.Set(kConfig, DigestOf("data"), {});
  const std::string text = baseline.ToString();
  EXPECT_TRUE(text.starts_with("v1 >4f9b-1 configmap/app.config=")) << text;
  EXPECT_EQ(Baseline::Parse(text, "ns"), baseline);
  Workload job{.id = {WorkloadKind::kJob, {"ns", "once"}},
               .uid = "4f9b-2",
               .annotations = {{std::string(kBaselineAnnotation), text}}};
  EXPECT_EQ(OwnBaselineOf(job), std::nullopt) << "somebody else has copied it";
  job.is_made_with_baseline = true;
  EXPECT_EQ(OwnBaselineOf(job), baseline);
  baseline.is_of_next = false;
  job.annotations[std::string(kBaselineAnnotation)] = baseline.ToString();
  EXPECT_EQ(OwnBaselineOf(job), std::nullopt) << "stakater/Reloader copies what is on the Job";
  job.uid = "4f9b-1";
  EXPECT_EQ(OwnBaselineOf(job), baseline);
}

TEST(Baseline, TheSizeOfAnEntryIsWhatItTakes) {
  Baseline baseline{.uid = "u"};
  const std::size_t before = baseline.ToString().size();
  baseline.digests[kConfig] = DigestOf("data");
  EXPECT_EQ(baseline.ToString().size(), before + Baseline::SizeOf(kConfig));
}

TEST(Baseline, TellsUpToWhichVersionsItsWriterHadSeenTheSources) {
  Baseline baseline{.uid = "u", .edition = 3};
  baseline.Set(kConfig, DigestOf("data"), "a,b", 17);
  baseline.Set(kPassword, kNoSource, {});
  EXPECT_EQ(baseline.ToString(),
            "v1 u/3 configmap/app.config=" + DigestOf("data").ToString() + ":a,b secret/password=-")
      << "nobody could say what they are good for";
  baseline.template_written = apimachinery::Time{.seconds = 100};
  const std::string text = baseline.ToString();
  EXPECT_EQ(text, "v2 u/3 100 configmap/app.config=" + DigestOf("data").ToString() +
                      "@17:a,b secret/password=-");
  EXPECT_EQ(Baseline::Parse(text, "ns"), baseline);
  EXPECT_EQ(baseline.VersionOf(kConfig), 17U);
  EXPECT_EQ(baseline.VersionOf(kPassword), 0U);
  const std::size_t before = text.size();
  const SourceId other{SourceType::kSecret, {"ns", "other"}};
  baseline.Set(other, DigestOf("data"), "a", 1234);
  EXPECT_EQ(baseline.ToString().size(), before + Baseline::SizeOf(other, "a", 1234));
  baseline.Erase(other);
  EXPECT_EQ(baseline.ToString(), text);
}

/// Adds a kind of sources with this field.
SourceType KindWithField(const std::string& field) {
  AddSourceKinds({{.group = "b.example.com",
                   .version = "v1",
                   .kind = "RecordedKind",
                   .resource = "recordedkinds",
                   .fields = {ObjectField::Parse(field).value()}}});
  return TypeCalled(&SourceTypeNames::kind, "RecordedKind").value();
}

TEST(Baseline, NamesTheDescriptionUnderWhichADigestWasTaken) {
  const SourceId source{KindWithField("status.revision"), {"ns", "web-tls"}};
  const std::string mark = DescribedBy(source.type)->mark;
  Baseline baseline{.uid = "u", .template_written = apimachinery::Time{.seconds = 100}};
  const std::size_t before = baseline.ToString().size();
  baseline.Set(source, DigestOf("data"), {}, 5);
  const std::string text = baseline.ToString();
  EXPECT_EQ(text,
            "v2 u 100 recordedkind." + mark + "/web-tls=" + DigestOf("data").ToString() + "@5");
  EXPECT_EQ(text.size(), before + Baseline::SizeOf(source, {}, 5));
  EXPECT_EQ(Baseline::Parse(text, "ns"), baseline);
  EXPECT_FALSE(baseline.HasOtherFields(source));

  KindWithField("status.other");
  const auto parsed = Baseline::Parse(text, "ns");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->HasOtherFields(source));
  EXPECT_EQ(parsed->ToString(), text) << "it stays as it is";
  Baseline copy{.uid = "u", .template_written = apimachinery::Time{.seconds = 100}};
  copy.SetAs(*parsed, source);
  EXPECT_EQ(copy, *parsed);
  copy.Set(source, DigestOf("data"), {}, 5);
  EXPECT_FALSE(copy.HasOtherFields(source));
  EXPECT_NE(copy.ToString(), text);
}

TEST(Baseline, NamesWhatIsDue) {
  const SourceId source{KindWithField("status.revision"), {"ns", "web-tls"}};
  Baseline baseline{.uid = "u", .template_written = apimachinery::Time{.seconds = 100}};
  const std::size_t before = baseline.ToString().size();
  baseline.Set(source, DigestOf("data"), {}, 5);
  baseline.due.insert(source);
  const std::string text = baseline.ToString();
  EXPECT_EQ(text, "v2 u 100 recordedkind." + DescribedBy(source.type)->mark +
                      ".due/web-tls=" + DigestOf("data").ToString() + "@5");
  EXPECT_EQ(text.size(), before + Baseline::SizeOf(source, {}, 5, true));
  EXPECT_EQ(Baseline::Parse(text, "ns"), baseline);
  Baseline copy{.uid = "u", .template_written = apimachinery::Time{.seconds = 100}};
  copy.SetAs(baseline, source);
  EXPECT_EQ(copy, baseline);
  copy.Set(source, DigestOf("data"), {}, 5);
  EXPECT_FALSE(copy.IsDue(source));
  baseline.Erase(source);
  EXPECT_TRUE(baseline.due.empty());
  KindWithField("status.other");
  const auto parsed = Baseline::Parse(text, "ns");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->IsDue(source) && parsed->HasOtherFields(source));
  EXPECT_EQ(parsed->ToString(), text);
  for (const char* entry : {"secret.due/a=-", "recordedkind.due/a=-", "forgotten.due/a=-"}) {
    EXPECT_FALSE(Baseline::Parse("v1 u " + std::string(entry), "ns")) << entry;
  }
  EXPECT_TRUE(Baseline::Parse("v1 u forgotten.0a1b2c3d.due/a=-", "ns"));
}

TEST(Baseline, WhatThisProcessDoesNotKnowStaysAsItIs) {
  const std::string known = "v2 u 100 secret/password=-";
  const std::string unknown = "forgotten.0a1b2c3d/web=" + DigestOf("data").ToString() + "@5";
  for (const std::string& text :
       {known + " " + unknown, known + " " + unknown + " lost.ffffffff/a=-"}) {
    const auto parsed = Baseline::Parse(text, "ns");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->digests.size(), 1U);
    EXPECT_EQ(parsed->ToString(), text);
  }
  auto without_versions = Baseline::Parse(known + " " + unknown + ":a,b", "ns");
  ASSERT_TRUE(without_versions);
  without_versions->template_written.reset();
  const std::string text = without_versions->ToString();
  EXPECT_EQ(text, "v1 u secret/password=- " + unknown.substr(0, unknown.find('@')) + ":a,b");
  EXPECT_TRUE(Baseline::Parse(text, "ns"));
  for (const char* entry :
       {"forgotten/web=-", "forgotten.0a1b2c3/web=-", "forgotten.0A1B2C3D/web=-",
        "For.0a1b2c3d/web=-", ".0a1b2c3d/web=-", "secret.0a1b2c3d/web=-", "forgotten.0a1b2c3d/=-",
        "forgotten.0a1b2c3d/web=x"}) {
    EXPECT_FALSE(Baseline::Parse("v1 u " + std::string(entry), "ns")) << entry;
  }
  KindWithField("status.revision");
  EXPECT_FALSE(Baseline::Parse("v1 u recordedkind/web=-", "ns")) << "without a mark";
}

TEST(Baseline, IsOlderThanATemplateThatWasWrittenLater) {
  Baseline baseline{.uid = "u"};
  EXPECT_FALSE(baseline.IsOlderThanTemplate(apimachinery::Time{.seconds = 100}));
  baseline.template_written = apimachinery::Time{.seconds = 100};
  EXPECT_FALSE(baseline.IsOlderThanTemplate(std::nullopt));
  EXPECT_FALSE(baseline.IsOlderThanTemplate(apimachinery::Time{.seconds = 100}));
  EXPECT_TRUE(baseline.IsOlderThanTemplate(apimachinery::Time{.seconds = 101}));
}

class MangledBaselineTest : public testing::TestWithParam<std::string> {};

TEST_P(MangledBaselineTest, IsNone) { EXPECT_FALSE(Baseline::Parse(GetParam(), "ns")); }

INSTANTIATE_TEST_SUITE_P(
    All, MangledBaselineTest,
    testing::Values("", "v1", "v1 ", "v1 >", "v1 > configmap/a=-", "v2 uid", "{}",
                    "v1 uid configmap", "v1 uid configmap/=-", "v1 uid configmap/a=",
                    "v1 uid configmap/a=12", "v1 uid pod/a=-", "v1 uid  configmap/a=-",
                    "v1 uid configmap/a=-=", "v1 uid configmap/a=-,secret/b=-",
                    "v1 uid configmap/a=A17C9AAA61E80A1BF71D0D850AF4E5BAA9800BBD",
                    "v1 uid configmap/a=-@5", "v2 uid configmap/a=-", "v2 uid 1x", "v2 uid ",
                    "v2 uid 1 configmap/a=-@", "v2 uid 1 configmap/a=-@0",
                    "v2 uid 1 configmap/a=-@x", "v2 uid 1 configmap/a=-@5@6", "v3 uid 1",
                    "v1 " + std::string(Baseline::kMaxBytes, 'u')));

}  // namespace
}  // namespace kubexx::reloader
