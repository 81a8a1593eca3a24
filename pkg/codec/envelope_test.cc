#include "kubexx/codec/envelope.h"

#include <gtest/gtest.h>

#include "kubexx/api/registry.gen.h"
#include "kubexx/codec/object_meta.h"
#include "kubexx/codec/registry.h"
#include "kubexx/codec/testing/testdata.h"

namespace kubexx::codec {
namespace {

using testing::FromHex;
using testing::Hex;

TEST(Envelope, HasTheBytesOfGo) {
  std::string out = "before";
  WriteEnvelope("v1", "Pod", "\x01\x02", out);
  EXPECT_EQ(Hex(out.substr(6)),
            "6b 38 73 00 0a 09 0a 02 76 31 12 03 50 6f 64 12 02 01 02 1a 00 22 00");
}

TEST(Envelope, ComesApartWithoutCopies) {
  std::string bytes;
  WriteEnvelope("apps/v1", "Deployment", std::string(300, 'x'), bytes);
  const auto envelope = ReadEnvelope(bytes);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->api_version, "apps/v1");
  EXPECT_EQ(envelope->kind, "Deployment");
  EXPECT_EQ(envelope->raw, std::string(300, 'x'));
  EXPECT_TRUE(envelope->raw.data() > bytes.data() &&
              envelope->raw.data() < bytes.data() + bytes.size());
}

TEST(Envelope, ReadsContentTypeAndSkipsUnknownFields) {
  const std::string bytes =
      FromHex("6b 38 73 00 22 01 74 1a 01 65 2a 02 08 01 30 05 0a 02 18 01 12 00");
  const auto envelope = ReadEnvelope(bytes);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->content_type, "t");
  EXPECT_EQ(envelope->content_encoding, "e");
}

TEST(Envelope, RefusesBadBytes) {
  for (const std::string_view hex :
       {"", "6b 38 73", "6b 38 73 01 0a", "6b 38 73 00 0a", "6b 38 73 00 0a 05 0a",
        "6b 38 73 00 10 01", "6b 38 73 00 0a 02 0a 05", "6b 38 73 00 00", "6b 38 73 00 0a 02 08 01",
        "6b 38 73 00 12 ff ff ff ff ff ff ff ff 7f"}) {
    const auto envelope = ReadEnvelope(FromHex(hex));
    ASSERT_FALSE(envelope.has_value()) << hex;
    EXPECT_EQ(envelope.error().reason, apimachinery::Reason::kMalformed);
  }
}

TEST(Registry, FindsEveryTypeByItsNames) {
  for (const TypeSchema* type : api::Registry().types()) {
    EXPECT_EQ(api::Registry().Find(ApiVersionOf(*type), type->kind), type) << type->name;
  }
  EXPECT_EQ(api::Registry().Find("v1", "Nothing"), nullptr);
  EXPECT_EQ(api::Registry().Find("", "Pod"), nullptr);
  EXPECT_EQ(api::Registry().Find("apps/v1/x", "Deployment"), nullptr);
  EXPECT_EQ(Registry({}).Find("v1", "Pod"), nullptr);
}

TEST(ObjectMeta, IsFoundInBothEncodings) {
  const auto json = ScanObjectMeta(
      Encoding::kJson,
      R"({"spec":{"metadata":{"name":"no"}},"metadata":{"namespace":"n\u0073","managedFields":[{}],)"
      R"("name":"a","resourceVersion":"5","uid":"u","labels":{"name":"x"}}})");
  const auto protobuf = ScanObjectMeta(
      Encoding::kProtobuf,
      FromHex("12 02 0a 00 0a 14 0a 01 61 12 01 67 1a 02 6e 73 22 00 2a 01 75 32 01 35 38 05"));
  for (const auto& meta : {json, protobuf}) {
    ASSERT_TRUE(meta.has_value()) << meta.error().ToString();
    EXPECT_EQ(meta->name, "a");
    EXPECT_EQ(meta->namespace_, "ns");
    EXPECT_EQ(meta->uid, "u");
    EXPECT_EQ(meta->resource_version, "5");
  }
  EXPECT_TRUE(ScanObjectMeta(Encoding::kJson, R"({"metadata":null})").has_value());
  EXPECT_TRUE(ScanObjectMeta(Encoding::kJson, "{}")->name.empty());
  EXPECT_TRUE(ScanObjectMeta(Encoding::kProtobuf, "")->name.empty());
}

TEST(ObjectMeta, OfBadBytesIsAnError) {
  for (const std::string_view json :
       {"", "[]", "{", R"({"metadata":[]})", R"({"metadata":{"name":1}})",
        R"({"metadata":{"name":"a"})", R"({"metadata":{}}x)"}) {
    EXPECT_FALSE(ScanObjectMeta(Encoding::kJson, json).has_value()) << json;
  }
  for (const std::string_view hex :
       {"0a", "0a 05", "0a 02 0a 05", "08 01", "0a 02 08 01", "12 05", "00"}) {
    EXPECT_FALSE(ScanObjectMeta(Encoding::kProtobuf, FromHex(hex)).has_value()) << hex;
  }
}

}  // namespace
}  // namespace kubexx::codec
