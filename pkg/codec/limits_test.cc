// What decoders refuse that could do harm: much memory for few bytes, and values that no other
// encoding has.
#include <gmock/gmock.h>

#include <cstddef>
#include <string>

#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/object_meta.h"
#include "kubexx/codec/watch_reader.h"

namespace kubexx::codec {
namespace {

using ::testing::HasSubstr;

TEST(DecodingLimitsTest, ListsOfNothingAreBounded) {
  // A pod whose spec has a million containers of two bytes, each of which is a struct of half a
  // kilobyte.
  std::string containers;
  for (int i = 0; i < 1'000'000; ++i) {
    containers += std::string("\x12\0", 2);
  }
  std::string message = "\x12";
  for (std::size_t size = containers.size(); size > 0; size >>= 7) {
    message += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
  }
  api::core::v1::Pod pod;
  const auto decoded = DecodeProtobuf(SchemaOf<api::core::v1::Pod>(), message + containers, &pod);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("too many elements"));
}

TEST(DecodingLimitsTest, TimesHaveAForm) {
  // A Lease with spec.renewTime of 10^15 seconds.
  const std::string message("\x12\x0d\x22\x0b\x08\x80\x80\x9a\xa6\xea\xaf\xe3\x01\x10\x00", 15);
  api::coordination::v1::Lease lease;
  const auto decoded = DecodeProtobuf(SchemaOf<api::coordination::v1::Lease>(), message, &lease);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("year"));
}

TEST(DecodingLimitsTest, ListsOfNothingAreBoundedInJsonToo) {
  std::string containers = "{}";
  for (int i = 0; i < 1'000'000; ++i) {
    containers += ",{}";
  }
  api::core::v1::Pod pod;
  const auto decoded = DecodeJson(SchemaOf<api::core::v1::Pod>(),
                                  R"({"spec":{"containers":[)" + containers + "]}}", &pod);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("too many elements"));
}

// An object of a custom resource whose spec, which preserves unknown fields, nests this deep.
std::string DeepObject(int levels) {
  const auto below = static_cast<std::size_t>(levels) - 1;
  return R"({"spec":)" + std::string(below, '[') + std::string(below, ']') +
         R"(,"metadata":{"name":"deep","namespace":"ns","labels":{"a":"b"}}})";
}

TEST(DecodingLimitsTest, WhatTheServerTakesCanBePassedOver) {
  constexpr int kServerLevels = 10'000;  // of Go's encoding/json
  const std::string deep = DeepObject(kServerLevels);
  const auto meta = ScanObjectMeta(Encoding::kJson, deep);
  ASSERT_TRUE(meta) << meta.error().ToString();
  EXPECT_EQ(meta->name, "deep");
  const auto labels = ScanLabels(Encoding::kJson, deep);
  ASSERT_TRUE(labels) << labels.error().ToString();
  EXPECT_EQ(labels->at("a"), "b");
  EXPECT_THAT(WithTypeMeta(deep, "example.com/v1", "Website"), HasSubstr("Website"));

  std::string object;
  WatchReader watch(Encoding::kJson);
  const auto read =
      watch.Feed(R"({"type":"ADDED","object":)" + deep + "}", [&](const WatchFrame& frame) {
        object = frame.object;
        return apimachinery::Result<void>();
      });
  EXPECT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(object, deep);
}

TEST(DecodingLimitsTest, NothingIsPassedOverWithoutEnd) {
  EXPECT_FALSE(ScanObjectMeta(Encoding::kJson, DeepObject(10'002)));
  EXPECT_FALSE(ScanObjectMeta(Encoding::kJson, DeepObject(1'000'000)));
  EXPECT_FALSE(ScanObjectMeta(Encoding::kJson, R"({"spec":)" + std::string(5000, '[') + "}}"));
}

TEST(DecodingLimitsTest, WhatIsGoneDownIntoHasALowerLimit) {
  EXPECT_TRUE(JsonTree::Parse(DeepObject(512)));
  EXPECT_FALSE(JsonTree::Parse(DeepObject(513)));
}

}  // namespace
}  // namespace kubexx::codec
