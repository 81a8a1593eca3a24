// The JSON codec on a hand-written type; all real types are in roundtrip_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/testing/sample.h"
#include "kubexx/codec/testing/testdata.h"

namespace kubexx::codec {
namespace {

using ::testing::HasSubstr;
using testing::Inner;
using testing::Sample;

constexpr std::string_view kHead = R"({"kind":"Sample","apiVersion":"example.com/v1",)";

// The text of one member of the sample, "" when it is left out.
std::string MemberOf(const Sample& sample, std::string_view name) {
  const std::string json = EncodeJson(sample);
  const std::string key = "\"" + std::string(name) + "\":";
  const std::size_t at = json.find(key);
  if (at == std::string::npos) {
    return "";
  }
  int depth = 0;
  for (std::size_t i = at + key.size(); i < json.size(); ++i) {
    depth += json[i] == '{' || json[i] == '[' ? 1 : json[i] == '}' || json[i] == ']' ? -1 : 0;
    if (depth < 0 || (depth == 0 && json[i] == ',')) {
      return json.substr(at + key.size(), i - at - key.size());
    }
  }
  return json.substr(at + key.size());
}

TEST(Json, AZeroObjectHasWhatGoCannotLeaveOut) {
  EXPECT_EQ(
      EncodeJson(Sample()),
      std::string(kHead) +
          R"("int32":0,"inner":{"name":""},"optText":null,"texts":[],"quantity":"0","time":null,)"
          R"("microTime":null,"duration":"0s","intOrString":0,"raw":null})");
}

TEST(Json, EscapesAsGo) {
  Sample sample;
  sample.text = "\"\\/\b\f\n\r\t\x01\x7f<>&\u00e9\u2028\u2029\U0001f600";
  EXPECT_EQ(
      MemberOf(sample, "text"),
      "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\\u003c\\u003e\\u0026\u00e9\\u2028\\u2029\U0001f600\"");
  sample.text =
      "a\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82";  // every way of being malformed
  EXPECT_EQ(MemberOf(sample, "text"),
            R"("a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd")");
}

TEST(Json, FormatsNumbersAsGo) {
  const auto text = [](double value) {
    Sample sample;
    sample.number = value;
    return MemberOf(sample, "number");
  };
  EXPECT_EQ(text(1.5), "1.5");
  EXPECT_EQ(text(100), "100");
  EXPECT_EQ(text(-0.000001), "-0.000001");
  EXPECT_EQ(text(0.0000001), "1e-7");
  EXPECT_EQ(text(123456789e-17), "1.23456789e-9");
  EXPECT_EQ(text(1e20), "100000000000000000000");
  EXPECT_EQ(text(1e21), "1e+21");
  EXPECT_EQ(text(1e-300), "1e-300");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "null");
  Sample sample;
  sample.int64 = std::numeric_limits<std::int64_t>::min();
  sample.uint64 = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(MemberOf(sample, "int64"), "-9223372036854775808");
  EXPECT_EQ(MemberOf(sample, "uint64"), "18446744073709551615");
}

TEST(Json, CompactsAndEscapesRawText) {
  Sample sample;
  sample.raw.raw = " { \"a\" : [ 1 , \"<b>\" ] ,\n\"c\":{} } ";
  EXPECT_EQ(MemberOf(sample, "raw"), R"({"a":[1,"\u003cb\u003e"],"c":{}})");
  sample.raw.raw = std::string("k8s\0\x0a", 5);
  EXPECT_EQ(MemberOf(sample, "raw"), "null");
  sample.raw.raw = R"({"unfinished":)";
  EXPECT_EQ(MemberOf(sample, "raw"), "null");
}

TEST(Json, LeavesOutWhatIsZeroOrEmpty) {
  Sample sample;
  sample.omit_zero_time = {0};
  sample.omit_zero_inner.children.emplace_back();
  sample.inlined.inlined_text = "x";
  EXPECT_EQ(MemberOf(sample, "omitZeroTime"), R"("1970-01-01T00:00:00Z")");
  EXPECT_EQ(MemberOf(sample, "omitZeroInner"), R"({"name":"","children":[{"name":""}]})");
  EXPECT_EQ(MemberOf(sample, "inlinedText"), R"("x")");
  EXPECT_EQ(MemberOf(sample, "inlined"), "");
}

TEST(Json, EveryKindComesBack) {
  const std::string json =
      std::string(kHead) +
      R"("flag":true,"int32":-1,"int64":-2,"uint32":4000000000,"uint64":18446744073709551615,"number":2.5,)"
      R"("text":"t\u00e9\ud83d\ude00\n","bytes":"AP8=","inner":{"name":"a","port":80,"next":{"name":""},)"
      R"("children":[{"name":"c"},{"name":""}]},"optInt":0,"optText":"","optInner":{"name":""},"ints":[0,-1,300],)"
      R"("texts":["","b"],"inners":[{"name":"x"}],"labels":{"":"","a\"b":"1"},"data":{"e":"","k":"dg=="},)"
      R"("byName":{"k":{"name":"v"}},"extra":{"l":["a",""],"n":[]},"quantity":"1536Mi",)"
      R"("time":"2006-01-02T15:04:05Z","microTime":"2006-01-02T15:04:05.123456Z","duration":"1h0m0s",)"
      R"("intOrString":"25%","raw":{"a":1.0},"fields":{"f:a":{}},"value":[1,2],"inlinedText":"in",)"
      R"("inlinedMessage":{"name":"line"},"omitZeroTime":"1970-01-01T00:00:01Z","omitZeroInner":{"name":"z"},)"
      R"("dateTime":"2006-01-02t15:04:05.1234567890+01:00"})";
  const auto sample = DecodeJson<Sample>(json);
  ASSERT_TRUE(sample.has_value()) << sample.error().ToString();
  EXPECT_EQ(testing::CanonicalJson(EncodeJson(*sample)), testing::CanonicalJson(json));
  const auto through_protobuf = DecodeProtobuf<Sample>(EncodeProtobuf(*sample));
  ASSERT_TRUE(through_protobuf.has_value());
  EXPECT_EQ(*through_protobuf, *sample);
}

TEST(Json, NullLeavesTheZeroValue) {
  std::string json = "{";
  for (const FieldSchema& field : SchemaOf<Sample>().fields) {
    json += (json.size() > 1 ? ",\"" : "\"") + std::string(field.name) + "\":null";
  }
  const auto sample = DecodeJson<Sample>(json + "}");
  ASSERT_TRUE(sample.has_value()) << sample.error().ToString();
  EXPECT_EQ(*sample, Sample());
  const auto elements =
      DecodeJson<Sample>(R"({"texts":[null],"inners":[null],"labels":{"a":null}})");
  ASSERT_TRUE(elements.has_value());
  EXPECT_EQ(elements->texts.size() + elements->inners.size() + elements->labels.size(), 3u);
}

TEST(Json, UnknownFieldsAreIgnoredAndTheLastDuplicateWins) {
  const auto sample = DecodeJson<Sample>(
      R"({"other":{"x":[1,"}"]},"texts":["a"],"text":"1","Text":"no","texts":["b"],"text":"2","more":-1e5})");
  ASSERT_TRUE(sample.has_value()) << sample.error().ToString();
  EXPECT_EQ(sample->text, "2");
  EXPECT_EQ(sample->texts, std::vector<std::string>{"b"});
}

TEST(Json, QuantitiesMayBeNumbers) {
  EXPECT_EQ(DecodeJson<Sample>(R"({"quantity":1.5})")->quantity.ToString(), "1500m");
  EXPECT_EQ(DecodeJson<Sample>(R"({"quantity":" 2Ki "})")->quantity.ToString(), "2Ki");
}

TEST(Json, AForeignKindIsRefused) {
  EXPECT_TRUE(DecodeJson<Sample>(R"({"kind":"Sample","apiVersion":"example.com/v1"})").has_value());
  EXPECT_TRUE(DecodeJson<Sample>(R"({"kind":"","apiVersion":null})").has_value());
  EXPECT_EQ(DecodeJson<Sample>(R"({"kind":"Pod"})").error().message, "kind: expected \"Sample\"");
  EXPECT_EQ(DecodeJson<Sample>(R"({"apiVersion":"v1"})").error().message,
            "apiVersion: expected \"example.com/v1\"");
}

struct BadCase {
  std::string_view json;
  std::string_view message;
};

void PrintTo(const BadCase& bad, std::ostream* out) { *out << bad.json; }

class BadJson : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadJson, IsRefusedWithThePathOfTheField) {
  const auto sample = DecodeJson<Sample>(GetParam().json);
  ASSERT_FALSE(sample.has_value());
  EXPECT_EQ(sample.error().reason, apimachinery::Reason::kMalformed);
  EXPECT_THAT(sample.error().message, ::testing::StartsWith(std::string(GetParam().message)));
}

constexpr BadCase kBad[] = {
    {R"([])", "expected an object"},
    {R"(1)", "expected an object"},
    {R"({"flag":1})", "flag: expected true or false"},
    {R"({"flag":truex})", "flag: expected true or false"},
    {R"({"int32":"1"})", "int32: expected an integer"},
    {R"({"int32":1.0})", "int32: expected an integer"},
    {R"({"int32":1e2})", "int32: expected an integer"},
    {R"({"int32":01})", "int32: expected an integer"},
    {R"({"int32":2147483648})", "int32: integer out of range"},
    {R"({"uint32":-1})", "uint32: expected an integer"},
    {R"({"int64":9223372036854775808})", "int64: integer out of range"},
    {R"({"number":"1"})", "number: expected a number"},
    {R"({"number":1e999})", "number: number out of range"},
    {R"({"text":1})", "text: expected a string"},
    {R"({"text":"\x"})", "text: bad escape in string"},
    {R"({"text":"\u12"})", "text: bad escape in string"},
    {R"({"bytes":"!"})", "bytes: not base64"},
    {R"({"bytes":"YQ"})", "bytes: not base64"},
    {R"({"inner":[]})", "inner: expected an object"},
    {R"({"inner":{"children":[{},{"port":"x"}]}})", "inner.children[1].port: expected an integer"},
    {R"({"texts":"a"})", "texts: expected an array"},
    {R"({"texts":["a",1]})", "texts[1]: expected a string"},
    {R"({"labels":[]})", "labels: expected an object"},
    {R"({"labels":{"a":1}})", "labels[a]: expected a string"},
    {R"({"byName":{"k":{"next":{"port":1.5}}}})", "byName[k].next.port: expected an integer"},
    {R"({"extra":{"k":["a",{}]}})", "extra[k][1]: expected a string"},
    {R"({"quantity":"x"})", "quantity: not a quantity"},
    {R"({"time":"yesterday"})", "time: not an RFC 3339 time"},
    {R"({"duration":5})", "duration: expected a string"},
    {R"({"intOrString":1.5})", "intOrString: expected a 32-bit integer or a string"},
    {R"({"intOrString":{}})", "intOrString: expected a 32-bit integer or a string"},
    {R"({"raw":{"a" 1}})", "raw: "},
    {R"({"value":[1,]})", "value: malformed JSON value"},
    {R"({"inlinedMessage":{"port":true}})", "inlinedMessage.port: expected an integer"},
    {R"({"unknown":{"a" 1}})", "[unknown]: "},
    {R"({"unknown":tru})", "[unknown]: malformed JSON value"},
    {R"({} {})", "text behind the object"},
    {R"({}x)", ""},
    {R"({"text":"a" "int32":1})", ""},
    {R"({"text" "a"})", ""},
    {R"({"text":"a)", ""},
    {R"({"inner":{"name":"a"})", ""},
    {"", ""},
    {"{\"text\":\"a\nb\"}", ""},
    {"{\"text\":\"\xff\"}", ""},
};
constexpr auto CaseName = [](const auto& test) { return std::to_string(test.index); };
INSTANTIATE_TEST_SUITE_P(Cases, BadJson, ::testing::ValuesIn(kBad), CaseName);

std::string Repeat(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

TEST(Json, DepthIsBounded) {
  const auto nested = [](int levels) {
    return Repeat(R"({"next":)", levels - 1) + "{}" + Repeat("}", levels - 1);
  };
  EXPECT_TRUE(DecodeJson<Inner>(nested(64)).has_value());
  EXPECT_THAT(DecodeJson<Inner>(nested(65)).error().message, HasSubstr("nested too deeply"));
  for (const std::string_view open : {"[", R"({"a":)"}) {
    const std::string bomb = Repeat(open, 200'000);
    EXPECT_FALSE(DecodeJson<Sample>(R"({"raw":)" + bomb).has_value());
    EXPECT_FALSE(DecodeJson<Sample>(R"({"unknown":)" + bomb).has_value());
    EXPECT_FALSE(DecodeJson<Sample>(bomb).has_value());
  }
  const auto deep = R"({"raw":)" + Repeat("[", 512) + Repeat("]", 512) + "}";
  EXPECT_TRUE(DecodeJson<Sample>(deep).has_value());
  EXPECT_FALSE(
      DecodeJson<Sample>(R"({"raw":)" + Repeat("[", 513) + Repeat("]", 513) + "}").has_value());
}

TEST(Json, EveryTruncationIsRefused) {
  const std::string json =
      std::string(kHead) +
      R"("inner":{"name":"a\n","children":[{"port":1}]},"raw":{"a":[true]},"labels":{"a":"b"}})";
  ASSERT_TRUE(DecodeJson<Sample>(json).has_value());
  for (std::size_t size = 0; size < json.size(); ++size) {
    EXPECT_FALSE(DecodeJson<Sample>(json.substr(0, size)).has_value()) << json.substr(0, size);
  }
}

TEST(Json, RandomMutationsNeverCrash) {
  std::mt19937 random(20240602);
  const auto decoded =
      DecodeJson<Sample>(R"({"inner":{"children":[{"port":5}]},"raw":[{"x":"<\u0041"}],)"
                         R"("labels":{"a":"b"},"bytes":"AAAA","time":"2006-01-02T15:04:05Z"})");
  ASSERT_TRUE(decoded.has_value());
  const std::string json = EncodeJson(*decoded);
  constexpr std::string_view kAlphabet = "{}[]\",:\\untrfalse0-9.eE \x01\xff";
  for (int round = 0; round < 20'000; ++round) {
    std::string mutated = json;
    for (std::uint32_t i = 0; i <= random() % 4; ++i) {
      mutated[random() % mutated.size()] = kAlphabet[random() % kAlphabet.size()];
    }
    if (const auto sample = DecodeJson<Sample>(mutated)) {
      const std::string again = EncodeJson(*sample);
      const auto twice = DecodeJson<Sample>(again);
      ASSERT_TRUE(twice.has_value()) << mutated << "\n"
                                     << again << "\n"
                                     << twice.error().ToString();
      ASSERT_EQ(EncodeJson(*twice), again);
    }
  }
}

using Schema = api::apiextensions::v1::JSONSchemaProps;

TEST(Json, SchemaUnionsTakeTheirShortAndLongForms) {
  for (const std::string_view json :
       {R"({"items":{"type":"string"}})", R"({"items":[{"type":"string"},{}]})",
        R"({"additionalProperties":true})", R"({"additionalProperties":false})",
        R"({"additionalProperties":{"type":"object"}})",
        R"({"dependencies":{"a":["x","y"],"b":{"type":"number"}}})",
        R"({"default":{"a":[1,null]}})", R"({"enum":[1,"a",null],"maximum":1.5})"}) {
    const auto schema = DecodeJson<Schema>(json);
    ASSERT_TRUE(schema.has_value()) << json << schema.error().ToString();
    EXPECT_EQ(testing::CanonicalJson(EncodeJson(*schema)), testing::CanonicalJson(json));
    const auto through_protobuf = DecodeProtobuf<Schema>(EncodeProtobuf(*schema));
    ASSERT_TRUE(through_protobuf.has_value());
    EXPECT_EQ(EncodeJson(*through_protobuf), EncodeJson(*schema));
  }
  EXPECT_EQ(DecodeJson<Schema>(R"({"additionalProperties":1})").error().message,
            "additionalProperties: expected a JSON schema or its short form");
  EXPECT_EQ(DecodeJson<Schema>(R"({"properties":{"a":{"items":[{"type":1}]}}})").error().message,
            "properties[a].items[0].type: expected a string");
}

}  // namespace
}  // namespace kubexx::codec
