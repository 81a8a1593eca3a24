#include "kubexx/apiserver/endpoints/request/media_type.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace kubexx::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> TypesOf(std::string_view accept) {
  std::vector<std::string> types;
  for (const MediaType& media : ParseAccept(accept)) {
    types.push_back(media.type);
  }
  return types;
}

/// "json", "protobuf", with ":Table" or the like and ":beta"; "none" for 406.
std::string FormFor(std::string_view accept, const Offer& offer = {}) {
  const auto form = Negotiate(accept, offer);
  if (!form) {
    return "none";
  }
  std::string text = form->encoding == codec::Encoding::kJson ? "json" : "protobuf";
  switch (form->view) {
    case View::kObject:
      break;
    case View::kTable:
      text += ":Table";
      break;
    case View::kPartialMetadata:
      text += ":Partial";
      break;
    case View::kPartialMetadataList:
      text += ":PartialList";
      break;
  }
  return text + (form->beta ? ":beta" : "");
}

TEST(ParseAcceptTest, SortsByQuality) {
  EXPECT_THAT(TypesOf("a/b;q=0.1, c/d;q=0.25, e/f;q=0.2, g/h"),
              ElementsAre("g/h", "c/d", "e/f", "a/b"));
}

TEST(ParseAcceptTest, WhatNamesATypeGoesBeforeWhatDoesNot) {
  EXPECT_THAT(TypesOf("*/*, a/*, a/b"), ElementsAre("a/b", "a/*", "*/*"));
  EXPECT_THAT(TypesOf("*, a/b;q=0.5"), ElementsAre("a/b", "*/*"));
}

TEST(ParseAcceptTest, AQualityThatIsNoNumberIsNone) {
  EXPECT_THAT(TypesOf("a/b;q=high, c/d;q=0.1, e/f; q= 1"), ElementsAre("c/d", "a/b", "e/f"));
}

TEST(ParseAcceptTest, LeavesOutWhatIsNoMediaType) {
  EXPECT_THAT(TypesOf("json, a/b/c, /, , a/, ;q=1"), IsEmpty());
  EXPECT_THAT(TypesOf("a/b/"), ElementsAre("a/b"));
}

TEST(ParseAcceptTest, ParametersAreNamesWithOneValue) {
  const auto types = ParseAccept("a/b; x = 1 ;y;z==;u=1=2;v=3=");
  ASSERT_EQ(types.size(), 1U);
  EXPECT_EQ(types[0].Parameter("x"), "1");
  EXPECT_EQ(types[0].Parameter("v"), "3");
  EXPECT_EQ(types[0].parameters.size(), 3U);  // and z, which is empty
}

TEST(NegotiateTest, CaseCounts) {
  EXPECT_EQ(FormFor("Application/JSON"), "none");
  EXPECT_EQ(FormFor("application/json;AS=Table;V=v1;G=meta.k8s.io"), "json");
}

TEST(NegotiateTest, QualitiesChooseBetweenEncodings) {
  EXPECT_EQ(FormFor(""), "json");
  EXPECT_EQ(FormFor("application/json;q=0.5,application/vnd.kubernetes.protobuf;q=0.9"),
            "protobuf");
  EXPECT_EQ(FormFor("application/json;q=0.55,application/vnd.kubernetes.protobuf;q=0.54"), "json");
  EXPECT_EQ(FormFor("application/json;q=0"), "json");
  EXPECT_EQ(FormFor("text/html, */*;q=0.1"), "json");
  EXPECT_EQ(FormFor("text/*"), "none");
}

TEST(NegotiateTest, ViewsHaveTwoVersions) {
  EXPECT_EQ(FormFor("application/json;as=Table;g=meta.k8s.io;v=v1"), "json:Table");
  EXPECT_EQ(FormFor("application/json;as=Table;g=meta.k8s.io;v=v1beta1"), "json:Table:beta");
  EXPECT_EQ(FormFor("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1"),
            "json:Partial:beta");
  EXPECT_EQ(FormFor("application/json;as=Table;g=meta.k8s.io;v=v2"), "none");
  EXPECT_EQ(FormFor("application/json;as=Table"), "none");
  EXPECT_EQ(FormFor("application/json;g=meta.k8s.io;v=v1"), "none");
  EXPECT_EQ(FormFor("application/json;as=;g=;v="), "json");
}

TEST(NegotiateTest, MetadataComesInProtobufAndTablesDoNot) {
  EXPECT_EQ(FormFor("application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;"
                    "g=meta.k8s.io;v=v1,application/json"),
            "protobuf:PartialList");
  EXPECT_EQ(FormFor("application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,"
                    "application/json;q=0.1"),
            "json");
}

TEST(NegotiateTest, ACustomResourceHasOnlyItsMetadataInProtobuf) {
  const Offer custom{.protobuf = false};
  EXPECT_EQ(FormFor("application/vnd.kubernetes.protobuf", custom), "none");
  EXPECT_EQ(FormFor("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;"
                    "g=meta.k8s.io;v=v1",
                    custom),
            "protobuf:Partial");
}

TEST(NegotiateTest, WhatHasNoTablesIsNotGivenAsSomethingElse) {
  const Offer review{.tables = false};
  EXPECT_EQ(FormFor("application/json;as=Table;g=meta.k8s.io;v=v1", review), "none");
  EXPECT_EQ(FormFor("application/json;as=Table;g=meta.k8s.io;v=v1,application/json", review),
            "json");
}

TEST(NegotiateTest, StreamsAreWatches) {
  EXPECT_EQ(FormFor("application/vnd.kubernetes.protobuf;stream=watch"), "protobuf");
  EXPECT_EQ(FormFor("application/json;stream=other"), "none");
}

}  // namespace
}  // namespace kubexx::apiserver
