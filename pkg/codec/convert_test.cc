#include "kubexx/codec/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/registry.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/testing/testdata.h"

namespace kubexx::codec {
namespace {

using apimachinery::Reason;
using ::testing::HasSubstr;

apimachinery::Result<std::string> ToCompactJson(std::string_view input,
                                                ConvertOptions options = {}) {
  options.compact = true;
  return Convert(input, options, api::Registry());
}

std::string MustConvert(std::string_view input, const ConvertOptions& options) {
  auto converted = Convert(input, options, api::Registry());
  EXPECT_TRUE(converted.has_value()) << (converted ? "" : converted.error().ToString());
  return converted.value_or("");
}

constexpr std::string_view kConfigMap =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"v"}})";

TEST(Convert, DetectsTheFormat) {
  const std::string expected = std::string(kConfigMap) + "\n";
  const std::string protobuf = MustConvert(kConfigMap, {.to = FileFormat::kProtobuf});
  const std::string yaml = MustConvert(kConfigMap, {.to = FileFormat::kYaml});
  EXPECT_TRUE(protobuf.starts_with(kEnvelopeMagic));
  EXPECT_EQ(yaml, "apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  name: a\n");
  EXPECT_EQ(ToCompactJson(protobuf), expected);
  EXPECT_EQ(ToCompactJson(yaml), expected);
  EXPECT_EQ(ToCompactJson("\n " + expected), expected);
  EXPECT_EQ(ToCompactJson("{kind: ConfigMap, apiVersion: v1, metadata: {name: a}, data: {k: v}}"),
            expected);
}

TEST(Convert, WritesJsonForPeople) {
  EXPECT_EQ(
      MustConvert(R"({"kind":"X","apiVersion":"y/v1","a":[1,{"b":[],"c":{}}],"s":"{,:"})", {}),
      "{\n  \"kind\": \"X\",\n  \"apiVersion\": \"y/v1\",\n  \"a\": [\n    1,\n    {\n      \"b\": "
      "[],\n"
      "      \"c\": {}\n    }\n  ],\n  \"s\": \"{,:\"\n}\n");
}

TEST(Convert, TakesSeveralObjects) {
  const std::string json = std::string(kConfigMap) + "\n" + std::string(kConfigMap) + "\n";
  EXPECT_EQ(ToCompactJson(json), json);
  const std::string yaml = MustConvert(json, {.to = FileFormat::kYaml});
  EXPECT_THAT(yaml, HasSubstr("\n---\napiVersion"));
  EXPECT_EQ(ToCompactJson(yaml), json);
  const auto refused = Convert(yaml, {.to = FileFormat::kProtobuf}, api::Registry());
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("object 2: protobuf holds one object"));
}

TEST(Convert, PassesUnknownKindsThrough) {
  constexpr std::string_view kCustom =
      R"({"apiVersion":"example.com/v1","kind":"Thing","spec":{"big":12345678901234567890123,"x":1.0}})";
  EXPECT_EQ(ToCompactJson(kCustom), std::string(kCustom) + "\n");
  EXPECT_EQ(
      MustConvert(kCustom, {.to = FileFormat::kYaml}),
      "apiVersion: example.com/v1\nkind: Thing\nspec:\n  big: 12345678901234567890123\n  x: 1.0\n");
  const auto refused = Convert(kCustom, {.to = FileFormat::kProtobuf}, api::Registry());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "unknown type example.com/v1/Thing");
}

TEST(Convert, TheTypeMayComeFromTheOptions) {
  const std::string message = EncodeProtobuf([] {
    api::core::v1::ConfigMap map;
    map.metadata.name = "a";
    map.data["k"] = "v";
    return map;
  }());
  EXPECT_EQ(ToCompactJson(message, {.from = FileFormat::kProtobuf, .type = "v1/ConfigMap"}),
            std::string(kConfigMap) + "\n");
  EXPECT_EQ(
      ToCompactJson(R"({"metadata":{"name":"a"},"data":{"k":"v"}})", {.type = "v1/ConfigMap"}),
      std::string(kConfigMap) + "\n");
  for (const std::string type : {"ConfigMap", "/v1", "v1/", ""}) {
    const auto refused =
        Convert(message, {.from = FileFormat::kProtobuf, .to = FileFormat::kJson, .type = type},
                api::Registry());
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().reason, Reason::kInvalidConfig) << type;
  }
}

TEST(Convert, ObjectsInListsAreConvertedToo) {
  // A v1 List whose items are enveloped protobuf, one of them a List again.
  const auto list_of = [](std::initializer_list<std::string> raws) {
    api::core::v1::List list;
    for (const std::string& raw : raws) {
      list.items.emplace_back().raw = raw;
    }
    std::string out;
    WriteEnvelope("v1", "List", EncodeProtobuf(list), out);
    return out;
  };
  const std::string map = MustConvert(kConfigMap, {.to = FileFormat::kProtobuf});
  const auto json = ToCompactJson(list_of({map, std::string(kConfigMap), list_of({map})}));
  ASSERT_TRUE(json.has_value()) << json.error().ToString();
  const std::string item(kConfigMap);
  EXPECT_EQ(*json, R"({"kind":"List","apiVersion":"v1","metadata":{},"items":[)" + item + "," +
                       item + R"(,{"kind":"List","apiVersion":"v1","metadata":{},"items":[)" +
                       item + "]}]}\n");
  std::string unknown;
  WriteEnvelope("example.com/v1", "Thing", "", unknown);
  EXPECT_THAT(ToCompactJson(list_of({unknown})).error().message, HasSubstr("items: unknown type"));
  std::string deep = map;
  for (int i = 0; i < 70; ++i) {
    deep = list_of({deep});
  }
  EXPECT_THAT(ToCompactJson(deep).error().message, HasSubstr("nest too deeply"));
}

TEST(Convert, TypedListsWork) {
  const std::string json =
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5"},)"
      R"("items":[{"metadata":{"name":"a"},"data":{"k":"v"}}]})";
  EXPECT_EQ(ToCompactJson(MustConvert(json, {.to = FileFormat::kProtobuf})), json + "\n");
}

TEST(Convert, JsonInAnEnvelopeIsTakenOut) {
  const std::string body = testing::FromHex("0a 00 12 07") + R"({"a":1})" +
                           testing::FromHex("1a 00 22 10") + "application/json";
  EXPECT_EQ(ToCompactJson(std::string(kEnvelopeMagic) + body), "{\"a\":1}\n");
}

TEST(Convert, RefusesWhatItCannotRead) {
  const auto message = [](std::string_view input, ConvertOptions options = {}) {
    const auto converted = Convert(input, options, api::Registry());
    return converted ? std::string("converted") : converted.error().message;
  };
  EXPECT_THAT(message("k8s:enc:aescbc:v1:key1:xyz"), HasSubstr("encrypted at rest"));
  EXPECT_THAT(message(""), HasSubstr("empty"));
  EXPECT_THAT(message(" \n"), HasSubstr("empty"));
  EXPECT_THAT(message("# nothing\n"), HasSubstr("no object"));
  EXPECT_THAT(message("just text"), HasSubstr("not an API object"));
  EXPECT_THAT(message("[1]"), HasSubstr("not an API object"));
  EXPECT_THAT(message(R"({"kind":5})"), HasSubstr("not an API object"));
  EXPECT_THAT(message("{", {.from = FileFormat::kJson}), HasSubstr("malformed JSON in object 1"));
  EXPECT_THAT(message("{}", {.to = FileFormat::kProtobuf}), HasSubstr("does not name its kind"));
  EXPECT_THAT(message("{}", {.to = FileFormat::kAuto}), HasSubstr("cannot be auto"));
  EXPECT_THAT(message(std::string("k8s\0\x12\x05", 6)), HasSubstr("envelope"));
  EXPECT_EQ(message(R"({"kind":"ConfigMap","apiVersion":"v1","data":{"a":1}})"),
            "data[a]: expected a string");
  EXPECT_EQ(
      message(
          "kind: ConfigMap\napiVersion: v1\n---\nkind: ConfigMap\napiVersion: v1\ndata: {a: 1}"),
      "object 2: data[a]: expected a string");
}

}  // namespace
}  // namespace kubexx::codec
