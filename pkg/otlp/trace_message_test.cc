#include "kubexx/otlp/trace_message.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

// A real collector reads the messages in test/tracing. These tests show the bytes.

namespace kubexx::otlp {
namespace {

using ::testing::HasSubstr;
using tracing::SpanData;
using namespace std::string_view_literals;

SpanData ExampleSpan() {
  SpanData span;
  span.context.trace = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  span.context.span = {1, 2, 3, 4, 5, 6, 7, 8};
  span.context.sampled = true;
  span.name = "n";
  span.kind = tracing::SpanKind::kClient;
  span.start = base::WallTime(std::chrono::nanoseconds(1));
  span.end = base::WallTime(std::chrono::nanoseconds(0x0102030405060708));
  return span;
}

TEST(EncodeTracesTest, ASpanHasItsFields) {
  const SpanData span = ExampleSpan();
  const std::string encoded = EncodeTraces({{"a", "b"}}, {&span, 1});
  EXPECT_EQ(encoded,
            "\x0a\x4d"                                          // ResourceSpans
            "\x0a\x0a\x0a\x08\x0a\x01\x61\x12\x03\x0a\x01\x62"  // Resource: a=b
            "\x12\x3f\x0a\x08\x0a\x06kubexx"                    // ScopeSpans, scope
            "\x12\x33"                                          // Span
            "\x0a\x10\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
            "\x12\x08\x01\x02\x03\x04\x05\x06\x07\x08"
            "\x2a\x01n"
            "\x30\x03"
            "\x39\x01\0\0\0\0\0\0\0"
            "\x41\x08\x07\x06\x05\x04\x03\x02\x01"sv);
}

TEST(EncodeTracesTest, ParentErrorAndAttributesAreThereWhereTheyAreSet) {
  SpanData span = ExampleSpan();
  span.parent = {9, 9, 9, 9, 9, 9, 9, 9};
  span.error = "why";
  span.attributes = {
      {"t", std::string("x")}, {"n", std::int64_t{-1}}, {"b", true}, {"e", std::string()}};
  const std::string encoded = EncodeTraces({}, {&span, 1});
  EXPECT_THAT(encoded, HasSubstr("\x22\x08\x09\x09\x09\x09\x09\x09\x09\x09"));
  EXPECT_THAT(encoded, HasSubstr("\x7a\x07\x12\x03why\x18\x02"));
  EXPECT_THAT(encoded, HasSubstr("\x4a\x08\x0a\x01t\x12\x03\x0a\x01x"));
  EXPECT_THAT(encoded, HasSubstr("\x4a\x10\x0a\x01n\x12\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                                 "\x01"));
  EXPECT_THAT(encoded, HasSubstr("\x4a\x07\x0a\x01"
                                 "b\x12\x02\x10\x01"));
  EXPECT_THAT(encoded, HasSubstr("\x4a\x07\x0a\x01"
                                 "e\x12\x02\x0a\0"sv));
}

TEST(EncodeTracesTest, TextsAreValidUtf8) {
  SpanData span = ExampleSpan();
  span.name = "a\xff";
  EXPECT_THAT(EncodeTraces({}, {&span, 1}), HasSubstr("\x2a\x04"
                                                      "a\xef\xbf\xbd"));
}

TEST(EncodeTracesTest, LongMessagesHaveLongLengths) {
  SpanData span = ExampleSpan();
  span.name = std::string(300, 'n');
  EXPECT_THAT(EncodeTraces({}, {&span, 1}), HasSubstr("\x2a\xac\x02nnn"));
}

TEST(DecodePartialSuccessTest, ReadsWhatTheCollectorRefused) {
  const auto all = DecodePartialSuccess("");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->rejected_spans, 0);
  const auto partial = DecodePartialSuccess("\x0a\x09\x08\x07\x12\x05w\n\x7fy!\x10\x01"sv);
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->rejected_spans, 7);
  EXPECT_EQ(partial->message, "w  y!");
  // Fields that are not known, of all wire types.
  EXPECT_TRUE(DecodePartialSuccess("\x10\x01\x19\1\2\3\4\5\6\7\x08\x25\1\2\3\4\x2a\1x"sv));
}

TEST(DecodePartialSuccessTest, WhatIsCutOrMalformedIsNoAnswer) {
  const std::string_view good = "\x0a\x09\x08\x07\x12\x05why!!"sv;
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_FALSE(DecodePartialSuccess(good.substr(0, size))) << size;
  }
  EXPECT_FALSE(DecodePartialSuccess("{\"partialSuccess\":{}}"));
  EXPECT_FALSE(DecodePartialSuccess("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv));
  EXPECT_FALSE(DecodePartialSuccess("\x0b"sv));
}

}  // namespace
}  // namespace kubexx::otlp
