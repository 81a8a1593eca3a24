#include "kubexx/codec/watch_reader.h"

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

struct Event {
  WatchEventType type{};
  Encoding encoding{};
  std::string object{};
  bool operator==(const Event&) const = default;
};

void PrintTo(const Event& event, std::ostream* out) {
  *out << static_cast<int>(event.type) << " " << static_cast<int>(event.encoding) << " "
       << event.object;
}

struct WatchOutcome {
  std::vector<Event> events{};
  Result<void> result{};
};

WatchOutcome ReadWatch(Encoding encoding, const std::vector<std::string_view>& chunks,
                       std::size_t limit = 1 << 20) {
  WatchOutcome outcome;
  WatchReader reader(encoding, limit);
  for (const std::string_view chunk : chunks) {
    const std::vector<char> copy(chunk.begin(), chunk.end());
    outcome.result = reader.Feed(
        {copy.data(), copy.size()}, [&outcome](const WatchFrame& frame) -> Result<void> {
          outcome.events.push_back({frame.type, frame.encoding, std::string(frame.object)});
          return {};
        });
    if (!outcome.result) {
      break;
    }
  }
  return outcome;
}

std::string Field(char tag, std::string_view bytes) {
  return std::string(1, tag) + static_cast<char>(bytes.size()) +
         std::string(bytes);  // lengths below 128
}

std::string Frame(std::string_view type, std::string_view raw) {
  const std::string body = Field(0x0a, type) + Field(0x12, Field(0x0a, raw));
  return std::string(3, '\0') + static_cast<char>(body.size()) + body;
}

std::string Enveloped(std::string_view raw) {
  std::string out;
  WriteEnvelope("v1", "Pod", raw, out);
  return out;
}

std::string ProtobufStream() {
  return Frame("ADDED", Enveloped("\x0a\x01z")) + Frame("MODIFIED", Enveloped("")) +
         Frame("DELETED", R"({"kind":"X"})") + Frame("ERROR", Enveloped("\x1a\x01m"));
}

constexpr std::string_view kJsonStream = R"({"type":"ADDED","object":{"a":"}\\\""}}
{"object":{"b":[{},{}]},"type":"MODIFIED"}{"type":"BOOK\u004dARK","object":{},"more":1}

 {"type":"DELETED","object":{"c":null}} {"type":"ERROR","object":{"code":410}}
)";

void ExpectJsonEvents(const WatchOutcome& outcome) {
  ASSERT_TRUE(outcome.result.has_value()) << outcome.result.error().ToString();
  EXPECT_THAT(outcome.events,
              ElementsAre(Event{WatchEventType::kAdded, Encoding::kJson, R"({"a":"}\\\""})"},
                          Event{WatchEventType::kModified, Encoding::kJson, R"({"b":[{},{}]})"},
                          Event{WatchEventType::kBookmark, Encoding::kJson, "{}"},
                          Event{WatchEventType::kDeleted, Encoding::kJson, R"({"c":null})"},
                          Event{WatchEventType::kError, Encoding::kJson, R"({"code":410})"}));
}

void ExpectProtobufEvents(const WatchOutcome& outcome) {
  ASSERT_TRUE(outcome.result.has_value()) << outcome.result.error().ToString();
  EXPECT_THAT(outcome.events,
              ElementsAre(Event{WatchEventType::kAdded, Encoding::kProtobuf, "\x0a\x01z"},
                          Event{WatchEventType::kModified, Encoding::kProtobuf, ""},
                          Event{WatchEventType::kDeleted, Encoding::kJson, R"({"kind":"X"})"},
                          Event{WatchEventType::kError, Encoding::kProtobuf, "\x1a\x01m"}));
}

TEST(WatchReader, PassesAFrameWithBadContentOnWhenAskedTo) {
  WatchReader reader(Encoding::kJson, 1 << 20, OnBadFrame::kPass);
  std::vector<std::string> seen;
  const auto fed = reader.Feed(
      R"({"type":"PAINTED","object":{}}{"type":"ADDED"}{"type":"ADDED","object":{"a":1}})",
      [&seen](const WatchFrame& frame) -> Result<void> {
        seen.push_back(frame.malformed != nullptr ? frame.malformed->message
                                                  : std::string(frame.object));
        return {};
      });
  EXPECT_TRUE(fed.has_value());
  EXPECT_THAT(seen,
              ElementsAre("type: unknown event type", "object: expected an object", R"({"a":1})"));
  EXPECT_FALSE(reader.Feed("7", [](const WatchFrame&) { return Result<void>(); }).has_value())
      << "nobody knows where this ends";
}

TEST(WatchReader, PassesProtobufFramesWithABadEnvelopeOnToo) {
  std::string bad_encoding = Enveloped("");
  bad_encoding.replace(bad_encoding.size() - 4, 4, FromHex("1a 01 67 22 00"));
  for (const std::string& bad :
       {Frame("ADDED", "plain"), Frame("ADDED", bad_encoding), Frame("PAINTED", Enveloped(""))}) {
    WatchReader reader(Encoding::kProtobuf, 1 << 20, OnBadFrame::kPass);
    std::vector<std::string> seen;
    const auto fed = reader.Feed(
        Frame("ADDED", Enveloped("\x0a\x01"
                                 "a")) +
            bad + Frame("DELETED", Enveloped("\x0a\x01z")),
        [&seen](const WatchFrame& frame) -> Result<void> {
          seen.push_back(frame.malformed != nullptr ? "malformed" : std::string(frame.object));
          return {};
        });
    EXPECT_TRUE(fed.has_value()) << fed.error().ToString();
    EXPECT_THAT(seen, ElementsAre("\x0a\x01"
                                  "a",
                                  "malformed", "\x0a\x01z"));
  }
}

TEST(WatchReader, ReadsAStreamSplitAnywhere) {
  const std::string protobuf = ProtobufStream();
  for (std::size_t at = 0; at <= kJsonStream.size(); ++at) {
    ExpectJsonEvents(
        ReadWatch(Encoding::kJson, {kJsonStream.substr(0, at), kJsonStream.substr(at)}));
  }
  for (std::size_t at = 0; at <= protobuf.size(); ++at) {
    ExpectProtobufEvents(ReadWatch(Encoding::kProtobuf, {std::string_view(protobuf).substr(0, at),
                                                         std::string_view(protobuf).substr(at)}));
  }
}

std::vector<std::string_view> WatchChunks(std::string_view text, std::mt19937& random,
                                          std::size_t max) {
  std::vector<std::string_view> chunks;
  while (!text.empty()) {
    const std::size_t size = std::min<std::size_t>(text.size(), 1 + random() % max);
    chunks.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return chunks;
}

TEST(WatchReader, ReadsAStreamInRandomChunks) {
  std::mt19937 random(2);
  const std::string protobuf = ProtobufStream();
  for (std::size_t round = 0; round < 300; ++round) {
    ExpectJsonEvents(ReadWatch(Encoding::kJson, WatchChunks(kJsonStream, random, 1 + round % 9)));
    ExpectProtobufEvents(
        ReadWatch(Encoding::kProtobuf, WatchChunks(protobuf, random, 1 + round % 9)));
  }
}

TEST(WatchReader, AnEventIsDeliveredAsSoonAsItsLastByteIsThere) {
  WatchReader reader(Encoding::kJson);
  int events = 0;
  const auto sink = [&events](const WatchFrame&) -> Result<void> {
    ++events;
    return {};
  };
  ASSERT_TRUE(reader.Feed(R"({"type":"ADDED","object":{})", sink).has_value());
  EXPECT_EQ(events, 0);
  ASSERT_TRUE(reader.Feed("}", sink).has_value());
  EXPECT_EQ(events, 1);
}

TEST(WatchReader, RefusesMalformedStreams) {
  for (const std::string_view text :
       {"x", "[]", "1", R"({"type":"ADDED"})", R"({"object":{}})",
        R"({"type":"added","object":{}})", R"({"type":1,"object":{}})",
        R"({"type":"ADDED","object":[]})", R"({"type":"ADDED","object":{]})",
        R"({"type":"ADDED" "object":{}})", R"({})", R"({"type":"ADDED","object":{"a"}})"}) {
    EXPECT_FALSE(ReadWatch(Encoding::kJson, {text}).result.has_value()) << text;
  }
  const std::string bad_encoding = [] {
    std::string envelope = Enveloped("");
    envelope.replace(envelope.size() - 4, 4, FromHex("1a 01 67 22 00"));
    return Frame("ADDED", envelope);
  }();
  for (const std::string& bytes :
       {Frame("ADDED", "plain"), Frame("SOMETHING", Enveloped("")), FromHex("00 00 00 00"),
        FromHex("ff ff ff ff"), FromHex("00 00 00 01 0a"), FromHex("00 00 00 02 0a 05"),
        FromHex("00 00 00 02 08 01"), bad_encoding}) {
    EXPECT_FALSE(ReadWatch(Encoding::kProtobuf, {bytes}).result.has_value()) << testing::Hex(bytes);
  }
}

TEST(WatchReader, BoundsTheSizeOfAFrame) {
  const std::string event = R"({"type":"ADDED","object":{"a":")" + std::string(64, 'x') + R"("}})";
  const std::string_view view = event;
  EXPECT_TRUE(ReadWatch(Encoding::kJson, {view.substr(0, 50), view.substr(50)}, event.size())
                  .result.has_value());
  EXPECT_FALSE(ReadWatch(Encoding::kJson, {view.substr(0, 50), view.substr(50)}, event.size() - 1)
                   .result.has_value());
  EXPECT_FALSE(ReadWatch(Encoding::kJson, {view}, event.size() - 1).result.has_value());
  const auto refused = ReadWatch(Encoding::kProtobuf, {FromHex("00 00 01 01")}, 256);
  ASSERT_FALSE(refused.result.has_value());
  EXPECT_THAT(refused.result.error().message, HasSubstr("larger than 256 bytes"));
}

TEST(WatchReader, StaysFailedAfterAnError) {
  WatchReader reader(Encoding::kJson);
  const auto sink = [](const WatchFrame&) -> Result<void> { return {}; };
  EXPECT_FALSE(reader.Feed("x", sink).has_value());
  EXPECT_FALSE(reader.Feed(R"({"type":"ADDED","object":{}})", sink).has_value());
}

TEST(WatchReader, RandomMutationsNeverCrash) {
  std::mt19937 random(20240608);
  for (int round = 0; round < 20000; ++round) {
    const Encoding encoding = round % 2 == 0 ? Encoding::kJson : Encoding::kProtobuf;
    std::string text = encoding == Encoding::kJson ? std::string(kJsonStream) : ProtobufStream();
    for (std::uint32_t i = 0; i <= random() % 4; ++i) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const auto outcome = ReadWatch(encoding, WatchChunks(text, random, 16));
    EXPECT_TRUE(outcome.result.has_value() ||
                outcome.result.error().reason == apimachinery::Reason::kMalformed);
  }
}

}  // namespace
}  // namespace kubexx::codec
