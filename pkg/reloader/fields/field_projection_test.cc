#include "kubexx/reloader/fields/field_projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "kubexx/codec/codec.h"
#include "kubexx/reloader/model/source_trace.h"

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::UnorderedElementsAre;

SourceKind KindOf(std::initializer_list<const char*> fields) {
  SourceKind kind{.group = "cert-manager.io",
                  .version = "v1",
                  .kind = "ProjectedCertificate",
                  .resource = "projectedcertificates"};
  for (const char* field : fields) {
    kind.fields.push_back(ObjectField::Parse(field).value());
  }
  return kind;
}

/// What an informer keeps of the object.
cache::Object KeptOf(const SourceKind& kind, std::string json,
                     SourceDetail detail = SourceDetail::kDigest) {
  cache::Object object{
      .encoding = codec::Encoding::kJson, .bytes = std::move(json), .key = {"ns", "web"}};
  const auto projected = TransformForFields(kind, {}, detail)(object);
  EXPECT_TRUE(projected);
  return object;
}

class FieldProjectionTest : public testing::Test {
 protected:
  FieldProjectionTest() {
    AddSourceKinds({KindOf({"status.revision"})});
    type_ = TypeCalled(&SourceTypeNames::kind, "ProjectedCertificate").value();
  }
  Source SourceIn(const std::string& json,
                  std::initializer_list<const char*> fields = {"status.revision"}) {
    return SourceFrom(type_, KeptOf(KindOf(fields), json)).value();
  }

  SourceType type_{};
};

TEST_F(FieldProjectionTest, TheDigestIsOfTheFieldsOnly) {
  const Source source = SourceIn(R"({"spec":{"x":1},"status":{"revision":2,"at":"today"}})");
  EXPECT_EQ(source.digest, DigestOf("status.revision=2"));
  EXPECT_EQ(source.id, (SourceId{type_, {"ns", "web"}}));
  EXPECT_EQ(source.digest, SourceIn(R"({"spec":{"x":2},"status":{"revision":2}})").digest);
  EXPECT_NE(source.digest, SourceIn(R"({"status":{"revision":3}})").digest);
  EXPECT_NE(source.digest, SourceIn(R"({"status":{"revision":"2"}})").digest);
}

TEST_F(FieldProjectionTest, WithoutAFieldItIsNoSource) {
  EXPECT_EQ(SourceIn(R"({"status":{}})").digest, kNoSource);
  const std::initializer_list<const char*> both = {"status.revision", "status.at"};
  EXPECT_EQ(SourceIn(R"({"status":{"revision":2}})", both).digest, kNoSource);
  EXPECT_EQ(SourceIn(R"({"status":{"revision":2,"at":"now"}})", both).digest,
            DigestOf(R"(status.at="now";status.revision=2)"));
}

TEST_F(FieldProjectionTest, AnnotationsOfSourcesCount) {
  const Source source = SourceIn(
      R"({"metadata":{"annotations":{"reloader.stakater.com/ignore":"true",
          "reloader.kubexx.io/paused":"yes"}},"status":{"revision":2}})");
  EXPECT_TRUE(source.ignore);
  EXPECT_TRUE(source.paused);
}

TEST_F(FieldProjectionTest, NoValueIsKept) {
  for (const SourceDetail detail : {SourceDetail::kDigest, SourceDetail::kWithKeys}) {
    const cache::Object kept =
        KeptOf(KindOf({"status.token"}), R"({"status":{"token":"hunter2"},"spec":{"big":"other"}})",
               detail);
    EXPECT_THAT(kept.bytes, Not(HasSubstr("hunter2")));
    EXPECT_THAT(kept.bytes, Not(HasSubstr("other")));
  }
}

TEST_F(FieldProjectionTest, ATraceNamesFieldsAndTheirWriter) {
  const std::string json =
      R"({"metadata":{"managedFields":[
           {"manager":"kubectl","time":"2026-01-01T00:00:09Z","fieldsV1":{"f:spec":{"f:x":{}}}},
           {"manager":"cert-manager","time":"2026-01-01T00:00:05Z",
            "fieldsV1":{"f:status":{"f:revision":{},"f:conditions":{}}}},
           {"manager":"before","time":"2026-01-01T00:00:01Z","fieldsV1":{"f:status":{}}}]},
         "status":{"revision":2,"conditions":[{"type":"Ready","reason":"Ok"}]}})";
  const SourceKind kind = KindOf({"status.revision", "status.conditions[type=Ready].reason"});
  const auto trace = TraceFrom(KeptOf(kind, json, SourceDetail::kWithKeys));
  ASSERT_TRUE(trace && trace->values && trace->writer);
  EXPECT_THAT(*trace->values, UnorderedElementsAre(Key("status.revision"),
                                                   Key("status.conditions.type-Ready.reason")));
  EXPECT_EQ(trace->writer->manager, "cert-manager");
  EXPECT_FALSE(TraceFrom(KeptOf(kind, json)));
}

TEST_F(FieldProjectionTest, ATraceNamesTheFieldsThatAreThere) {
  const SourceKind kind = KindOf({"status.revision", "status.at"});
  const auto trace = TraceFrom(KeptOf(kind, R"({"status":{"at":"now"}})", SourceDetail::kWithKeys));
  ASSERT_TRUE(trace && trace->values);
  EXPECT_THAT(*trace->values, UnorderedElementsAre(Key("status.at"))) << "only the other is lost";
}

TEST_F(FieldProjectionTest, OnlyAManagerOfNothingElseTellsWhenAFieldWasWritten) {
  const auto written = [](const std::string& fields, const char* created = "2026-01-01T00:00:01Z") {
    const auto object = codec::JsonTree::Parse(
        R"({"metadata":{"creationTimestamp":")" + std::string(created) +
        R"(","managedFields":[{"manager":"first","time":"2026-01-01T00:00:01Z",
            "fieldsV1":{"f:status":{"f:revision":{}}}},
           {"manager":"a","time":"2026-01-01T00:00:05Z","fieldsV1":)" +
        fields + R"(}]},"status":{"revision":2,"at":{"x":1}}})");
    const auto time = FieldDigestsOf(KindOf({"status.revision", "status.at"}), *object).written;
    return time ? time->ToString() : "unknown";
  };
  const std::string at = "2026-01-01T00:00:05Z";
  EXPECT_EQ(written(R"({"f:status":{"f:revision":{}}})"), at);
  EXPECT_EQ(written(R"({"f:status":{".":{},"f:at":{".":{},"f:x":{}}}})"), at);
  EXPECT_EQ(written(R"({"f:metadata":{"f:labels":{}},"f:status":{"f:revision":{}}})"), at);
  EXPECT_EQ(written(R"({"f:status":{"f:revision":{}}})", "2026-01-01T00:00:07Z"),
            "2026-01-01T00:00:07Z")
      << "it was restored";
  EXPECT_EQ(written(R"({"f:spec":{"f:x":{}}})"), "2026-01-01T00:00:01Z");
  for (const char* others :
       {R"({"f:status":{"f:revision":{},"f:refreshTime":{}}})",
        R"({"f:status":{"f:revision":{},"f:other":{"f:y":{}}}})",
        R"({"f:spec":{"f:x":{}},"f:status":{"f:revision":{}}})", R"({"f:status":{}})"}) {
    EXPECT_EQ(written(others), "unknown") << others;
  }
}

TEST_F(FieldProjectionTest, AnObjectThatNobodyHasWrittenSinceIsAsCreated) {
  const auto written = [](const std::string& second) {
    return KeptOf(KindOf({"status.revision"}),
                  R"({"metadata":{"creationTimestamp":"2026-01-01T00:00:05Z","managedFields":[
                       {"manager":"a","time":"2026-01-01T00:00:05Z","fieldsV1":{}},
                       {"manager":"b","time":"2026-01-01T00:00:)" +
                      second + R"(Z","fieldsV1":{}}]},"status":{"revision":2}})");
  };
  EXPECT_TRUE(IsAsCreated(written("06")));
  EXPECT_FALSE(IsAsCreated(written("09"))) << "it may only have got its label";
  EXPECT_FALSE(IsAsCreated(KeptOf(KindOf({"status.revision"}), R"({"status":{"revision":2}})")));
}

// It must not count as deleted.
TEST_F(FieldProjectionTest, WhatCannotBeDecodedIsThereAndUnknown) {
  const std::string deep = std::string(600, '[') + std::string(600, ']');
  const auto object =
      KeptOf(KindOf({"status.revision"}), R"({"spec":)" + deep + R"(,"status":{"revision":2}})");
  const auto source = SourceFrom(type_, object);
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, testing::HasSubstr("512 levels"));
}

TEST_F(FieldProjectionTest, WhatIsNotJsonIsUnknownAndAnotherEncodingIsRefused) {
  cache::Object object{.encoding = codec::Encoding::kJson, .bytes = "{x", .key = {"ns", "web"}};
  EXPECT_TRUE(ProjectFields(KindOf({"status.revision"}), {}, object));
  EXPECT_FALSE(SourceFrom(type_, object));
  cache::Object packed{.encoding = codec::Encoding::kProtobuf, .bytes = "x", .key = {"ns", "web"}};
  EXPECT_FALSE(ProjectFields(KindOf({"status.revision"}), {}, packed));
}

}  // namespace
}  // namespace kubexx::reloader
