// The protobuf codec on a hand-written type; all real types are in roundtrip_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/testing/sample.h"
#include "kubexx/codec/testing/testdata.h"

namespace kubexx::codec {
namespace {

using testing::FromHex;
using ::testing::HasSubstr;
using testing::Hex;
using testing::Inner;
using testing::Sample;

Sample FullSample() {
  Sample sample;
  sample.flag = true;
  sample.int32 = -1;
  sample.int64 = -2;
  sample.uint32 = 4'000'000'000;
  sample.uint64 = 1ULL << 63;
  sample.number = 1.5;
  sample.text = "text";
  sample.bytes = apimachinery::Bytes(std::string("\0\xff", 2));
  sample.inner = {"inner", 80, Inner{"next", 0, {}, {}}, {{"child", 1, {}, {}}, {}}};
  sample.opt_int = 0;
  sample.opt_text = "";
  sample.opt_inner = Inner();
  sample.ints = {0, -1, 300};
  sample.texts = {"", "b"};
  sample.inners = {{}, {"x", -5, {}, {}}};
  sample.labels = {{"b", "2"}, {"a", "1"}, {"", ""}};
  sample.data["key"] = apimachinery::Bytes("value");
  sample.data["empty"] = apimachinery::Bytes();
  sample.by_name["k"] = {"v", 1, {}, {}};
  sample.extra = {{"list", {"a", ""}}, {"none", {}}};
  sample.quantity = apimachinery::Quantity::FromCanonical("1536Mi");
  sample.time = {1136214245};
  sample.micro_time = {1136214245, 123456000};
  sample.duration = {-1500};
  sample.int_or_string = std::string("25%");
  sample.raw.raw = R"({"a":1})";
  sample.fields.emplace().raw = R"({"f:a":{}})";
  sample.value.emplace().raw = "[1,2]";
  sample.inlined = {"in", Inner{"line", 0, {}, {}}};
  sample.omit_zero_time = {1};
  sample.omit_zero_inner.name = "z";
  sample.date_time = apimachinery::MicroTime{1, 1000};
  return sample;
}

TEST(Protobuf, PlainFieldsAreWrittenEvenWhenZero) {
  EXPECT_EQ(Hex(EncodeProtobuf(Inner())), "0a 00 10 00");
  EXPECT_EQ(Hex(EncodeProtobuf(Inner{"ab", -1, Inner(), {}})),
            "0a 02 61 62 10 ff ff ff ff ff ff ff ff ff 01 1a 04 0a 00 10 00");
}

TEST(Protobuf, ValueTypesHaveTheBytesOfGo) {
  Sample sample;
  sample.time = {-1};
  sample.micro_time = {1, 1000};
  sample.duration = {5};
  sample.int_or_string = 7;
  const std::string bytes = EncodeProtobuf(sample);
  EXPECT_THAT(Hex(bytes), HasSubstr("a2 01 03 0a 01 30 "  // quantity "0"
                                    "aa 01 0d 08 ff ff ff ff ff ff ff ff ff 01 10 00 "  // time
                                    "b2 01 05 08 01 10 e8 07 "     // micro time
                                    "ba 01 02 08 05 "              // duration
                                    "c2 01 06 08 00 10 07 1a 00 "  // int or string
                                    "ca 01 00 "                    // raw extension
                                    "e2 01 02 0a 00 "              // inlined message
                                    "ea 01 00 "                    // zero time
                                    "f2 01 04 0a 00 10 00"));
}

TEST(Protobuf, EveryKindComesBack) {
  const Sample sample = FullSample();
  const std::string bytes = EncodeProtobuf(sample);
  const auto decoded = DecodeProtobuf<Sample>(bytes);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().ToString();
  EXPECT_EQ(*decoded, sample);
  EXPECT_EQ(Hex(EncodeProtobuf(*decoded)), Hex(bytes));
}

TEST(Protobuf, EncodesMessagesLargerThanTheFirstBuffer) {
  Sample sample;
  for (int i = 0; i < 500; ++i) {
    sample.inners.push_back({std::string(static_cast<std::size_t>(i), 'x'), i, {}, {}});
  }
  sample.text = std::string(100'000, 'y');
  const auto decoded = DecodeProtobuf<Sample>(EncodeProtobuf(sample));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, sample);
}

TEST(Protobuf, TakesPackedScalarsUnknownFieldsAndAnyOrder) {
  const auto inner =
      DecodeProtobuf<Inner>(FromHex("10 05 fa 07 01 78 0a 01 61 f9 07 01 02 03 04 05 06 07 08"));
  ASSERT_TRUE(inner.has_value());
  EXPECT_EQ(*inner, (Inner{"a", 5, {}, {}}));
  const auto sample = DecodeProtobuf<Sample>(FromHex("6a 04 01 02 ac 02 68 05"));
  ASSERT_TRUE(sample.has_value());
  EXPECT_EQ(sample->ints, (std::vector<std::int64_t>{1, 2, 300, 5}));
  const auto group = DecodeProtobuf<Inner>(FromHex("fb 07 08 01 fb 07 fc 07 fc 07 10 05"));
  ASSERT_TRUE(group.has_value());
  EXPECT_EQ(group->port, 5);
}

TEST(Protobuf, AMessageGivenTwiceIsMerged) {
  const auto inner = DecodeProtobuf<Inner>(FromHex("1a 03 0a 01 61 1a 02 10 05"));
  ASSERT_TRUE(inner.has_value());
  ASSERT_TRUE(inner->next.has_value());
  EXPECT_EQ(*inner->next, (Inner{"a", 5, {}, {}}));
}

TEST(Protobuf, MapEntriesMayLackOrReorderTheirFields) {
  // {value "v", key "k"}, {} and {key "x"}
  const auto sample =
      DecodeProtobuf<Sample>(FromHex("82 01 06 12 01 76 0a 01 6b 82 01 00 82 01 03 0a 01 78"));
  ASSERT_TRUE(sample.has_value()) << sample.error().ToString();
  EXPECT_EQ(sample->labels, (std::map<std::string, std::string>{{"", ""}, {"k", "v"}, {"x", ""}}));
}

struct BadBytes {
  std::string_view name;
  std::string_view hex;
  std::string_view message;
};

void PrintTo(const BadBytes& bad, std::ostream* out) { *out << bad.name; }

class BadProtobuf : public ::testing::TestWithParam<BadBytes> {};

TEST_P(BadProtobuf, IsRefusedWithThePathOfTheField) {
  const auto sample = DecodeProtobuf<Sample>(FromHex(GetParam().hex));
  ASSERT_FALSE(sample.has_value());
  EXPECT_EQ(sample.error().reason, apimachinery::Reason::kMalformed);
  EXPECT_EQ(sample.error().message, GetParam().message);
}

constexpr BadBytes kBadBytes[] = {
    {"TagZero", "00", "bad field tag"},
    {"TagTooLarge", "80 80 80 80 80 01", "bad field tag"},
    {"TagCut", "80", "bad field tag"},
    {"WireTypeSix", "0e", "bad field tag"},
    {"EndGroupAlone", "fc 07", "bad unknown field"},
    {"OpenGroup", "fb 07 08 01", "bad unknown field"},
    {"VarintCut", "10 80", "int32: bad varint"},
    {"VarintTooLong", "10 ff ff ff ff ff ff ff ff ff ff 01", "int32: bad varint"},
    {"FixedCut", "31 01 02", "number: length beyond the end of the input"},
    {"WrongWireType", "12 00", "int32: wrong wire type"},
    {"LengthBeyondEnd", "3a 05 61", "text: length beyond the end of the input"},
    {"HugeLength", "3a ff ff ff ff ff ff ff ff 7f", "text: length beyond the end of the input"},
    {"NestedList", "4a 04 22 02 10 80", "inner.children[0].port: bad varint"},
    {"SecondElement", "7a 00 7a 06 22 00 22 02 08 01",
     "inners[1].children[1].name: wrong wire type"},
    {"MapValue", "92 01 07 0a 01 6b 12 02 10 80", "byName[k].port: bad varint"},
    {"MapEntryVarint", "80 01 00", "labels: wrong wire type"},
    {"MapKeyNotBytes", "82 01 02 08 01", "labels[]: wrong wire type"},
    {"StringListItem", "9a 01 09 0a 01 6b 12 04 0a 00 0a 05",
     "extra[k][1]: length beyond the end of the input"},
    {"Quantity", "a2 01 03 0a 01 78", "quantity: not a quantity such as \"100m\" or \"1.5Gi\""},
    {"TimeWireType", "aa 01 02 0a 00", "time: wrong wire type"},
    {"MicroTimeNanos", "b2 01 06 10 80 94 eb dc 03", "microTime: nanoseconds out of range"},
    {"IntOrStringType", "c2 01 02 08 02", "intOrString: neither an integer nor a string"},
    {"RawWireType", "ca 01 02 08 00", "raw: wrong wire type"},
    {"Packed", "6a 02 01 80", "ints[1]: bad varint"},
};
constexpr auto BadCaseName = [](const auto& test) { return std::string(test.param.name); };
INSTANTIATE_TEST_SUITE_P(Cases, BadProtobuf, ::testing::ValuesIn(kBadBytes), BadCaseName);

std::string Nested(int levels) {
  std::string message;
  for (int i = 1; i < levels; ++i) {
    std::string outer("\x1a");
    for (std::size_t size = message.size(); outer.size() == 1 || size > 0; size >>= 7) {
      outer += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
    }
    message = outer + message;
  }
  return message;
}

TEST(Protobuf, NestsUpTo64Levels) {
  EXPECT_TRUE(DecodeProtobuf<Inner>(Nested(64)).has_value());
  const auto deeper = DecodeProtobuf<Inner>(Nested(65));
  ASSERT_FALSE(deeper.has_value());
  EXPECT_THAT(deeper.error().message, HasSubstr("next.next: nested too deeply"));
  EXPECT_FALSE(DecodeProtobuf<Inner>(Nested(20'000)).has_value());
  EXPECT_FALSE(DecodeProtobuf<Inner>(std::string(100'000, '\xfb')).has_value());
}

TEST(Protobuf, EveryTruncationEndsWithAValueOrAnError) {
  const std::string bytes = EncodeProtobuf(FullSample());
  int refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<char> exact(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const auto sample = DecodeProtobuf<Sample>({exact.data(), exact.size()});
    refused += sample.has_value() ? 0 : 1;
    EXPECT_TRUE(sample.has_value() || sample.error().reason == apimachinery::Reason::kMalformed);
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()) / 2);
}

TEST(Protobuf, RandomMutationsDecodeToSomethingStableOrFail) {
  std::mt19937 random(20240601);
  const std::string bytes = EncodeProtobuf(FullSample());
  for (int round = 0; round < 30'000; ++round) {
    std::string mutated = bytes;
    for (std::uint32_t i = 0; i <= random() % 5; ++i) {
      mutated[random() % mutated.size()] = static_cast<char>(random());
    }
    if (const auto sample = DecodeProtobuf<Sample>(mutated)) {
      // What was understood survives another round.
      const std::string again = EncodeProtobuf(*sample);
      const auto twice = DecodeProtobuf<Sample>(again);
      ASSERT_TRUE(twice.has_value());
      ASSERT_EQ(EncodeProtobuf(*twice), again);
    }
  }
}

}  // namespace
}  // namespace kubexx::codec
