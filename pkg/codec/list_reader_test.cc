#include "kubexx/codec/list_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "kubexx/codec/envelope.h"
#include "kubexx/codec/testing/testdata.h"

namespace kubexx::codec {
namespace {

using apimachinery::Result;
using ::testing::ElementsAre;
using testing::FromHex;
using ::testing::HasSubstr;

struct Outcome {
  std::vector<std::string> items{};
  Result<ListMeta> meta = ListMeta{};
};

Outcome Read(Encoding encoding, const std::vector<std::string_view>& chunks,
             std::size_t limit = 1 << 20) {
  Outcome outcome;
  ListReader reader(encoding, limit);
  const auto sink = [&outcome](std::string_view bytes) -> Result<void> {
    outcome.items.emplace_back(bytes);
    return {};
  };
  for (const std::string_view chunk : chunks) {
    // A copy of its own, so that a sanitizer sees reads beyond the chunk.
    const std::vector<char> copy(chunk.begin(), chunk.end());
    if (auto fed = reader.Feed({copy.data(), copy.size()}, sink); !fed) {
      outcome.meta = apimachinery::Fail(fed.error());
      return outcome;
    }
  }
  outcome.meta = reader.Finish();
  return outcome;
}

std::string ProtobufList() {
  // metadata{resourceVersion "42", continue "next", remainingItemCount 300}, two items, an empty
  // one, and an unknown field of every wire type.
  const std::string list = FromHex(
      "0a 0d 12 02 34 32 1a 04 6e 65 78 74 20 ac 02"
      "12 03 01 02 03"
      "48 96 01"
      "51 01 02 03 04 05 06 07 08"
      "5d 01 02 03 04"
      "62 02 ff ff"
      "12 00"
      "12 02 aa bb");
  std::string out;
  WriteEnvelope("v1", "PodList", list, out);
  return out;
}

constexpr std::string_view kJsonList =
    R"( {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"42","continue":"ne\u0078t",)"
    R"("remainingItemCount":300},"extra":[{"items":[1]},"}"], "n":-1.5e3 ,"items":[{"a":"}]\""}, {"b":{"c":[{}]}},)"
    R"({}],"last":null} )";

void ExpectJsonItems(const Outcome& outcome) {
  ASSERT_TRUE(outcome.meta.has_value()) << outcome.meta.error().ToString();
  EXPECT_THAT(outcome.items, ElementsAre(R"({"a":"}]\""})", R"({"b":{"c":[{}]}})", "{}"));
  EXPECT_EQ(outcome.meta->resource_version, "42");
  EXPECT_EQ(outcome.meta->continue_, "next");
  EXPECT_EQ(outcome.meta->remaining_item_count, 300);
}

void ExpectProtobufItems(const Outcome& outcome) {
  ASSERT_TRUE(outcome.meta.has_value()) << outcome.meta.error().ToString();
  EXPECT_THAT(outcome.items, ElementsAre(FromHex("01 02 03"), "", FromHex("aa bb")));
  EXPECT_EQ(outcome.meta->resource_version, "42");
  EXPECT_EQ(outcome.meta->continue_, "next");
  EXPECT_EQ(outcome.meta->remaining_item_count, 300);
}

TEST(ListReader, ReadsAWholeResponse) {
  ExpectJsonItems(Read(Encoding::kJson, {kJsonList}));
  ExpectProtobufItems(Read(Encoding::kProtobuf, {ProtobufList()}));
}

TEST(ListReader, ReadsAResponseSplitAnywhere) {
  const std::string protobuf = ProtobufList();
  for (std::size_t at = 0; at <= kJsonList.size(); ++at) {
    ExpectJsonItems(Read(Encoding::kJson, {kJsonList.substr(0, at), kJsonList.substr(at)}));
  }
  for (std::size_t at = 0; at <= protobuf.size(); ++at) {
    ExpectProtobufItems(Read(Encoding::kProtobuf, {std::string_view(protobuf).substr(0, at),
                                                   std::string_view(protobuf).substr(at)}));
  }
}

std::vector<std::string_view> Chunks(std::string_view text, std::mt19937& random, std::size_t max) {
  std::vector<std::string_view> chunks;
  while (!text.empty()) {
    const std::size_t size = std::min<std::size_t>(text.size(), 1 + random() % max);
    chunks.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return chunks;
}

TEST(ListReader, ReadsAResponseInRandomChunks) {
  std::mt19937 random(1);
  const std::string protobuf = ProtobufList();
  for (std::size_t round = 0; round < 300; ++round) {
    ExpectJsonItems(Read(Encoding::kJson, Chunks(kJsonList, random, 1 + round % 9)));
    ExpectProtobufItems(Read(Encoding::kProtobuf, Chunks(protobuf, random, 1 + round % 9)));
  }
}

TEST(ListReader, PassesAnItemWithinTheChunkWithoutCopying) {
  const auto within = [](std::string_view part, std::string_view whole) {
    return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
  };
  for (const Encoding encoding : {Encoding::kJson, Encoding::kProtobuf}) {
    const std::string text = encoding == Encoding::kJson ? std::string(kJsonList) : ProtobufList();
    ListReader reader(encoding);
    int copied = 0;
    const auto fed = reader.Feed(text, [&](std::string_view item) -> Result<void> {
      copied += item.empty() || within(item, text) ? 0 : 1;
      return {};
    });
    EXPECT_TRUE(fed.has_value());
    EXPECT_EQ(copied, 0);
  }
}

TEST(ListReader, TakesMetadataBehindTheItemsAndListsWithoutItems) {
  const auto behind =
      Read(Encoding::kJson, {R"({"items":[{}],"metadata":{"resourceVersion":"7"}})"});
  ASSERT_TRUE(behind.meta.has_value());
  EXPECT_EQ(behind.meta->resource_version, "7");
  EXPECT_EQ(behind.items.size(), 1u);
  for (const std::string_view text :
       {R"({"items":null,"metadata":null})", R"({"items":[]})", "{}", "{ }\n"}) {
    const auto empty = Read(Encoding::kJson, {text});
    EXPECT_TRUE(empty.meta.has_value()) << text;
    EXPECT_TRUE(empty.items.empty());
  }
  std::string envelope;
  WriteEnvelope("v1", "PodList", "", envelope);
  EXPECT_TRUE(Read(Encoding::kProtobuf, {envelope}).meta.has_value());
}

TEST(ListReader, RefusesMalformedJson) {
  for (const std::string_view text : {"",
                                      "[]",
                                      "x",
                                      "{",
                                      "{]",
                                      R"({"items")",
                                      R"({"items":)",
                                      R"({"items":[)",
                                      R"({"items":[{)",
                                      R"({"items":[{}])",
                                      R"({"items":[{},]})",
                                      R"({"items":[{} {}]})",
                                      R"({"items":[?]})",
                                      R"({"items":{}})",
                                      R"({"items":"x"})",
                                      R"({"items":nope})",
                                      R"({"a":1,})",
                                      R"({"a" 1})",
                                      R"({"a":1 "b":2})",
                                      R"({"a":1}x)",
                                      R"({,"a":1})",
                                      R"({"metadata":[]})",
                                      R"({"metadata":{"resourceVersion":1}})",
                                      R"({"metadata":{"remainingItemCount":"x"}})",
                                      R"({"\x":1})",
                                      R"({"a":?})"}) {
    EXPECT_FALSE(Read(Encoding::kJson, {text}).meta.has_value()) << text;
  }
}

TEST(ListReader, RefusesMalformedProtobuf) {
  for (const std::string_view hex : {"",
                                     "6b 38 73",
                                     "6b 38 73 01",
                                     "7b 7d",
                                     "6b 38 73 00",
                                     "6b 38 73 00 00",
                                     "6b 38 73 00 12",
                                     "6b 38 73 00 12 05 12 01",
                                     "6b 38 73 00 12 02 12 05",
                                     "6b 38 73 00 12 01 12",
                                     "6b 38 73 00 12 01 92",
                                     "6b 38 73 00 12 02 10 01",
                                     "6b 38 73 00 10 01",
                                     "6b 38 73 00 12 00 12 00",
                                     "6b 38 73 00 12 01 13",
                                     "6b 38 73 00 12 ff ff ff ff ff ff ff ff ff ff 01",
                                     "6b 38 73 00 12 00 1a 01 78",
                                     "6b 38 73 00 12 03 0a 01 ff",
                                     "6b 38 73 00 12 02 49 01",
                                     "6b 38 73 00 12 00 80"}) {
    EXPECT_FALSE(Read(Encoding::kProtobuf, {FromHex(hex)}).meta.has_value()) << hex;
  }
}

TEST(ListReader, EveryTruncationIsAnError) {
  const std::string protobuf = ProtobufList();
  for (std::size_t size = 0; size + 4 < protobuf.size();
       ++size) {  // the last two fields are optional
    EXPECT_FALSE(
        Read(Encoding::kProtobuf, {std::string_view(protobuf).substr(0, size)}).meta.has_value())
        << size;
  }
  const std::string_view json = kJsonList.substr(0, kJsonList.size() - 1);
  for (std::size_t size = 0; size < json.size(); ++size) {
    EXPECT_FALSE(Read(Encoding::kJson, {json.substr(0, size)}).meta.has_value()) << size;
  }
}

TEST(ListReader, BoundsTheSizeOfAnItem) {
  const std::string item = R"({"a":")" + std::string(100, 'x') + R"("})";
  const std::string list = R"({"items":[{},)" + item + "]}";
  const std::string_view view = list;
  for (const auto& chunks : {std::vector{view}, std::vector{view.substr(0, 40), view.substr(40)}}) {
    EXPECT_TRUE(Read(Encoding::kJson, chunks, item.size()).meta.has_value());
    const auto refused = Read(Encoding::kJson, chunks, item.size() - 1);
    ASSERT_FALSE(refused.meta.has_value());
    EXPECT_THAT(refused.meta.error().message, HasSubstr("items[1]: larger than"));
  }
}

TEST(ListReader, ClaimedLengthsAllocateNothing) {
  // An item of 2^62 bytes in a list of 2^63 - 1.
  const auto huge = Read(
      Encoding::kProtobuf,
      {FromHex("6b 38 73 00 12 ff ff ff ff ff ff ff ff 7f 12 80 80 80 80 80 80 80 80 40 00 00")});
  ASSERT_FALSE(huge.meta.has_value());
  EXPECT_THAT(huge.meta.error().message, HasSubstr("larger than"));
}

TEST(ListReader, AnErrorOfTheSinkEndsTheReading) {
  ListReader reader(Encoding::kJson);
  int calls = 0;
  const auto sink = [&calls](std::string_view) -> Result<void> {
    ++calls;
    return apimachinery::Fail(apimachinery::Reason::kCancelled, "stop");
  };
  const auto fed = reader.Feed(kJsonList, sink);
  ASSERT_FALSE(fed.has_value());
  EXPECT_EQ(fed.error().reason, apimachinery::Reason::kCancelled);
  EXPECT_FALSE(reader.Feed("]}", sink).has_value());
  EXPECT_FALSE(reader.Finish().has_value());
  EXPECT_EQ(calls, 1);
}

TEST(ListReader, RandomMutationsNeverCrash) {
  std::mt19937 random(20240607);
  for (int round = 0; round < 20000; ++round) {
    const Encoding encoding = round % 2 == 0 ? Encoding::kJson : Encoding::kProtobuf;
    std::string text = encoding == Encoding::kJson ? std::string(kJsonList) : ProtobufList();
    for (std::uint32_t i = 0; i <= random() % 4; ++i) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const auto outcome = Read(encoding, Chunks(text, random, 16));
    EXPECT_TRUE(outcome.meta.has_value() ||
                outcome.meta.error().reason == apimachinery::Reason::kMalformed);
  }
}

TEST(ListReader, AnItemThatIsNoObjectIsOneItem) {
  const std::string_view list = R"({"items":[{"a":1}, null ,5,-1.5e3,"x",[[]],{}]})";
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const Outcome outcome = Read(Encoding::kJson, {list.substr(0, at), list.substr(at)});
    ASSERT_TRUE(outcome.meta) << outcome.meta.error().ToString();
    EXPECT_THAT(outcome.items,
                ElementsAre(R"({"a":1})", "null", "5", "-1.5e3", R"("x")", "[[]]", "{}"));
  }
}

// Reads a list of ConfigMaps, and returns what was read and the error.
Outcome ReadMaps(Encoding encoding, std::string_view response, WantedType wanted) {
  Outcome outcome;
  ListReader reader(encoding);
  reader.Expect(std::move(wanted));
  const auto fed = reader.Feed(response, [&outcome](std::string_view bytes) -> Result<void> {
    outcome.items.emplace_back(bytes);
    return {};
  });
  outcome.meta = fed ? reader.Finish() : Result<ListMeta>(apimachinery::Fail(fed.error()));
  return outcome;
}

TEST(ListReader, RefusesWhatIsNoListOfTheWantedType) {
  struct Case {
    std::string_view json;
    std::string_view why;
  };
  for (const auto& [json, why] : {
           Case{"{}", "got no kind"},
           Case{R"({"error":"backend overloaded"})", "got no kind"},
           Case{R"({"kind":7,"items":[]})", "got no kind"},
           Case{R"({"kind":null,"items":[{}]})", "got no kind"},
           Case{R"({"kind":"Status","apiVersion":"v1","status":"Failure","items":[]})",
                "got v1 Status"},
           Case{R"({"kind":"SecretList","apiVersion":"v1","items":[{}]})", "got v1 SecretList"},
           Case{R"({"apiVersion":"v2","kind":"ConfigMapList","items":[{}]})",
                "got v2 ConfigMapList"},
           Case{R"({"kind":"ConfigMap","apiVersion":"v1"})", "got v1 ConfigMap"},
           Case{R"({"kind":"List","apiVersion":"v1"})", "got v1 List"},
           Case{R"({"kind":"PartialObjectMetadataList","items":[{}]})", "PartialObjectMetadata"},
       }) {
    const Outcome outcome =
        ReadMaps(Encoding::kJson, json, {.api_version = "v1", .kind = "ConfigMap"});
    ASSERT_FALSE(outcome.meta) << json;
    EXPECT_EQ(outcome.meta.error().reason, apimachinery::Reason::kMalformed);
    EXPECT_THAT(outcome.meta.error().message, HasSubstr("expected ConfigMapList"));
    EXPECT_THAT(outcome.meta.error().message, HasSubstr(why)) << json;
    EXPECT_TRUE(outcome.items.empty() || !json.starts_with(R"({"kind":"S)")) << json;
  }
  for (const std::string_view kind : {"Status", "SecretList", ""}) {
    std::string envelope;
    WriteEnvelope("v1", kind, "", envelope);
    const Outcome outcome =
        ReadMaps(Encoding::kProtobuf, envelope, {.api_version = "v1", .kind = "ConfigMap"});
    ASSERT_FALSE(outcome.meta) << kind;
    EXPECT_THAT(outcome.meta.error().message, HasSubstr("expected ConfigMapList"));
  }
  const Outcome unknown =
      ReadMaps(Encoding::kJson, R"({"kind":"Status","items":[]})", {.api_version = "v1"});
  ASSERT_FALSE(unknown.meta);
  EXPECT_THAT(unknown.meta.error().message, HasSubstr("expected a list"));
}

TEST(ListReader, ReadsTheListsThatServersSend) {
  const WantedType maps{.api_version = "v1", .kind = "ConfigMap"};
  const WantedType widgets{.api_version = "example.com/v1", .kind = "Widget"};
  const WantedType metadata{.api_version = "v1", .or_metadata = true};
  struct Case {
    WantedType wanted;
    std::string_view json;
  };
  for (
      const auto& [wanted, json] : {
          Case{maps, R"({"kind":"ConfigMapList","apiVersion":"v1","items":[{}]})"},
          Case{maps, R"({"items":[{}],"apiVersion":"v1","kind":"ConfigMapList"})"},
          Case{widgets, R"({"kind":"Widgets","items":[{}],"apiVersion":"example.com/v1"})"},
          Case{maps, R"({"kind":"ConfigMapList","items":[{}]})"},
          Case{maps, R"({"kind":"List","apiVersion":"v1","items":[{}]})"},
          Case{widgets, R"({"kind":"Widgets","apiVersion":"example.com/v1","items":[{}]})"},
          Case{
              metadata,
              R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{}]})"},
          Case{metadata, R"({"kind":"PodList","apiVersion":"v1","items":[{}]})"},
          Case{{.api_version = "example.com/v1"},
               R"({"kind":"Widgets","apiVersion":"example.com/v1","items":[{}]})"},
      }) {
    const Outcome outcome = ReadMaps(Encoding::kJson, json, wanted);
    ASSERT_TRUE(outcome.meta) << json << outcome.meta.error().ToString();
    EXPECT_THAT(outcome.items, ElementsAre("{}"));
  }
  EXPECT_TRUE(ReadMaps(Encoding::kJson, R"({"kind":"ConfigMapList","items":null})", maps).meta);
  EXPECT_TRUE(ReadMaps(Encoding::kJson, R"({"kind":"ConfigMapList"})", maps).meta);
  std::string empty;
  WriteEnvelope("v1", "ConfigMapList", "", empty);
  EXPECT_TRUE(ReadMaps(Encoding::kProtobuf, empty, maps).meta);
}

}  // namespace
}  // namespace kubexx::codec
