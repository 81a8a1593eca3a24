#include "kubexx/reloader/model/source_trace.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/reloader/model/projection.h"

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kTracedConfigMap[] =
    R"({"metadata":{"namespace":"ns","name":"x","managedFields":[)"
    R"({"manager":"labels","operation":"Update","time":"2026-01-03T00:00:00Z","fieldsV1":{"f:metadata":{"f:labels":{}}}},)"
    R"({"manager":"old","operation":"Update","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:data":{"f:a":{}}}},)"
    R"({"manager":"kubectl\u001b[2J","operation":"Apply","time":"2026-01-02T00:00:00Z","fieldsV1":{"f:data":{"f:b":{}}}}]},)"
    R"("data":{"a":"SWORDFISH","b":"2"}})";

std::optional<SourceTrace> ProjectedTrace(SourceType type, const std::string& text,
                                          SourceDetail detail) {
  cache::Object object{.encoding = codec::Encoding::kJson, .bytes = text, .key = {"ns", "x"}};
  const auto projected = ProjectSource(type, {}, object, detail);
  EXPECT_TRUE(projected) << projected.error().ToString();
  EXPECT_THAT(object.bytes, Not(HasSubstr("SWORDFISH")));
  return TraceFrom(object);
}

ShortDigest ShortDigestOf(const std::string& value) {
  ShortDigest digest{};
  std::copy_n(DigestOf(value).bytes.begin(), digest.size(), digest.begin());
  return digest;
}

TEST(SourceTrace, TellsKeysAndTheLastWriterOfData) {
  const auto trace =
      ProjectedTrace(SourceType::kConfigMap, kTracedConfigMap, SourceDetail::kWithKeys);
  ASSERT_TRUE(trace);
  ASSERT_TRUE(trace->values);
  EXPECT_EQ(*trace->values, (std::map<std::string, ShortDigest>{{"a", ShortDigestOf("SWORDFISH")},
                                                                {"b", ShortDigestOf("2")}}));
  ASSERT_TRUE(trace->writer);
  EXPECT_EQ(trace->writer->manager, "kubectl?[2J") << "a terminal would obey it";
  EXPECT_EQ(trace->writer->time.ToString(), "2026-01-02T00:00:00Z");
}

TEST(SourceTrace, ARestoreHasWrittenTheDataThatItHasGivenBackToATool) {
  const auto writer_at = [](const std::string& tool_time) {
    const auto trace = ProjectedTrace(
        SourceType::kConfigMap,
        R"({"metadata":{"namespace":"ns","name":"x","managedFields":[)"
        R"({"manager":"flux","operation":"Apply","time":")" +
            tool_time +
            R"(","fieldsV1":{"f:data":{"f:a":{}}}},)"
            R"({"manager":"kubexx-reloader-restore","operation":"Update","time":"2026-01-02T00:00:00Z",)"
            R"("fieldsV1":{"f:metadata":{"f:annotations":{}}}}]},"data":{"a":"1"}})",
        SourceDetail::kWithKeys);
    return trace && trace->writer ? trace->writer->manager : "none";
  };
  EXPECT_EQ(writer_at("2026-01-02T00:00:00Z"), "kubexx-reloader-restore");
  EXPECT_EQ(writer_at("2026-01-02T00:00:01Z"), "flux") << "it has written them since";
}

TEST(SourceTrace, IsKeptOfASecretAndOfOneWithoutDataOrManagers) {
  const auto secret = ProjectedTrace(
      SourceType::kSecret,
      R"({"metadata":{"namespace":"ns","name":"x"},"data":{"password":"U1dPUkRGSVNI"}})",
      SourceDetail::kWithKeys);
  ASSERT_TRUE(secret && secret->values);
  EXPECT_EQ(secret->values->at("password"), ShortDigestOf("SWORDFISH"));
  EXPECT_FALSE(secret->writer);
  const auto empty =
      ProjectedTrace(SourceType::kConfigMap, R"({"metadata":{"namespace":"ns","name":"x"}})",
                     SourceDetail::kWithKeys);
  ASSERT_TRUE(empty && empty->values);
  EXPECT_TRUE(empty->values->empty());
}

TEST(SourceTrace, IsNotKeptUnlessAskedFor) {
  EXPECT_FALSE(ProjectedTrace(SourceType::kConfigMap, kTracedConfigMap, SourceDetail::kDigest));
}

TEST(SourceTrace, OfVeryManyKeysTellsNone) {
  std::string data;
  for (std::size_t i = 0; i <= SourceTrace::kMaxKeys; ++i) {
    data += (i == 0 ? "" : ",") + ("\"k" + std::to_string(i) + "\":\"v\"");
  }
  const auto trace = ProjectedTrace(
      SourceType::kConfigMap, R"({"metadata":{"namespace":"ns","name":"x"},"data":{)" + data + "}}",
      SourceDetail::kWithKeys);
  ASSERT_TRUE(trace);
  EXPECT_FALSE(trace->values);
}

}  // namespace
}  // namespace kubexx::reloader
