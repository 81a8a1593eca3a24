#include "kubexx/codec/object_meta.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "kubexx/api/core/v1/types.gen.h"

namespace kubexx::codec {
namespace {

using apimachinery::Reason;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

api::core::v1::Pod LabelledPod() {
  api::core::v1::Pod pod;
  pod.metadata.name = "a";
  pod.metadata.labels = {{"app", "web"}, {"example.com/empty", ""}};
  pod.metadata.annotations = {{"app", "not a label"}};
  pod.spec.node_selector = {{"disk", "ssd"}};
  pod.spec.containers.emplace_back().name = "c";
  return pod;
}

TEST(ScanLabelsTest, FindsTheLabelsOfBothEncodings) {
  const auto pod = LabelledPod();
  for (const auto& [encoding, bytes] : {std::pair(Encoding::kProtobuf, EncodeProtobuf(pod)),
                                        std::pair(Encoding::kJson, EncodeJson(pod))}) {
    const auto labels = ScanLabels(encoding, bytes);
    ASSERT_TRUE(labels) << labels.error().ToString();
    EXPECT_THAT(*labels, ElementsAre(Pair("app", "web"), Pair("example.com/empty", "")));
  }
}

TEST(ScanLabelsTest, AnObjectWithoutLabelsHasNone) {
  EXPECT_THAT(ScanLabels(Encoding::kProtobuf, EncodeProtobuf(api::core::v1::Pod())).value(),
              IsEmpty());
  for (const char* json : {"{}", R"({"metadata":null})", R"({"metadata":{"labels":null}})",
                           R"({"spec":{"labels":{"a":"b"}}})"}) {
    EXPECT_THAT(ScanLabels(Encoding::kJson, json).value(), IsEmpty()) << json;
  }
}

TEST(ScanLabelsTest, OfALabelThatIsThereTwiceTheLastCounts) {
  const std::string json = R"({"metadata":{"labels":{"a":"1","a":"\u0032"}}})";
  EXPECT_THAT(ScanLabels(Encoding::kJson, json).value(), ElementsAre(Pair("a", "2")));
}

TEST(ScanLabelsTest, RefusesBytesThatAreNoObject) {
  std::string cut = EncodeProtobuf(LabelledPod());
  cut.resize(cut.size() - 1);
  EXPECT_EQ(ScanLabels(Encoding::kProtobuf, cut).error().reason, Reason::kMalformed);
  for (const char* json :
       {"", "{broken", R"({"metadata":{"labels":{"a":1}}})", R"({"metadata":7})"}) {
    EXPECT_EQ(ScanLabels(Encoding::kJson, json).error().reason, Reason::kMalformed) << json;
  }
}

}  // namespace
}  // namespace kubexx::codec
