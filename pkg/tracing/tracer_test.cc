#include "kubexx/tracing/tracer.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/hex.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/tracing/testing/recorded_spans.h"

namespace kubexx::tracing {
namespace {

using testing::AttributeOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RecordedSpans;
using ::testing::SizeIs;
using testing::TracerTo;

TEST(TracerTest, ASpanHasItsTimesNameAndAttributes) {
  base::testing::FakeClock clock;
  const auto spans = std::make_shared<RecordedSpans>();
  const base::WallTime start = clock.Wall();
  {
    Span span = TracerTo(spans, clock)->Start("work", SpanKind::kClient);
    EXPECT_TRUE(span.is_recording());
    span.Set("text", "a");
    span.Set("number", std::int64_t{7});
    span.Set("text", "b");
    span.Set("flag", true);
    clock.Advance(std::chrono::seconds(3));
    EXPECT_THAT(spans->spans(), IsEmpty());
  }
  ASSERT_THAT(spans->spans(), SizeIs(1));
  const SpanData span = spans->spans().front();
  EXPECT_EQ(span.name, "work");
  EXPECT_EQ(span.kind, SpanKind::kClient);
  EXPECT_EQ(span.start, start);
  EXPECT_EQ(span.end - span.start, std::chrono::seconds(3));
  EXPECT_THAT(span.attributes, SizeIs(3));
  EXPECT_EQ(AttributeOf(span, "text"), "b");
  EXPECT_EQ(AttributeOf(span, "number"), "7");
  EXPECT_EQ(AttributeOf(span, "flag"), "true");
  EXPECT_FALSE(span.error);
  EXPECT_EQ(span.parent, SpanId{});
  EXPECT_EQ(TraceParentOf(span.context), "00-00000000000000010000000000000002-0000000000000003-01");
}

TEST(TracerTest, ScopesMakeParents) {
  const auto spans = std::make_shared<RecordedSpans>();
  const auto tracer = TracerTo(spans);
  SpanContext outer_context;
  {
    const Span outer = tracer->Start("outer");
    outer_context = outer.context();
    const Scope scope(outer);
    {
      const Span inner = tracer->Start("inner");
      const Scope within(inner);
      EXPECT_EQ(Current(), inner.context());
      tracer->Start("innermost").End();
    }
    EXPECT_EQ(Current(), outer.context());
    std::thread([&tracer] {
      EXPECT_FALSE(Current().IsValid()) << "a thread has scopes of its own";
      tracer->Start("elsewhere").End();
    }).join();
  }
  EXPECT_FALSE(Current().IsValid());
  ASSERT_THAT(spans->spans(), SizeIs(4));
  const auto of = [&spans](const std::string& name) {
    for (SpanData& span : spans->spans()) {
      if (span.name == name) {
        return span;
      }
    }
    return SpanData();
  };
  EXPECT_EQ(of("inner").parent, outer_context.span);
  EXPECT_EQ(of("innermost").parent, of("inner").context.span);
  EXPECT_EQ(of("innermost").context.trace, outer_context.trace);
  EXPECT_NE(of("elsewhere").context.trace, outer_context.trace);
}

TEST(TracerTest, ASpanEndsOnceAndKeepsItsContext) {
  const auto spans = std::make_shared<RecordedSpans>();
  Span span = TracerTo(spans)->Start("work");  // the span outlives its tracer
  const SpanContext context = span.context();
  span.Fail("no luck");
  span.End();
  span.End();
  span.Set("late", "x");
  EXPECT_EQ(span.context(), context);
  Span moved = std::move(span);
  moved = Span();
  ASSERT_THAT(spans->spans(), SizeIs(1));
  EXPECT_EQ(spans->spans().front().error, "no luck");
  EXPECT_THAT(spans->spans().front().attributes, IsEmpty());
}

TEST(TracerTest, WhatIsAssignedToEndsBefore) {
  const auto spans = std::make_shared<RecordedSpans>();
  const auto tracer = TracerTo(spans);
  Span span = tracer->Start("first");
  span = tracer->Start("second");
  EXPECT_THAT(spans->spans(), SizeIs(1));
  span = Span();
  EXPECT_THAT(spans->spans(), SizeIs(2));
}

TEST(TracerTest, WhatIsNotSampledIsPassedOnAndNotRecorded) {
  const auto spans = std::make_shared<RecordedSpans>();
  Tracer tracer({.sampler = {.ratio = 0}, .sink = spans});
  {
    Span span = tracer.Start("work");
    EXPECT_FALSE(span.is_recording());
    EXPECT_TRUE(span.context().IsValid());
    EXPECT_TRUE(TraceParentOf(span.context()).ends_with("-00"));
    const Scope scope(span);
    EXPECT_EQ(tracer.Start("child").context().trace, span.context().trace);
  }
  EXPECT_THAT(spans->spans(), IsEmpty());
}

TEST(TracerTest, NoTracerMakesNoSpan) {
  Span span = StartSpan(nullptr, "work");
  span.Set("name", "value");
  span.Fail("why");
  span.End();
  EXPECT_FALSE(span.context().IsValid());
  EXPECT_FALSE(span.is_recording());
}

TEST(TracerTest, ASpanIsBounded) {
  const auto spans = std::make_shared<RecordedSpans>();
  {
    Span span = TracerTo(spans)->Start(std::string(5000, 'n'));
    for (int i = 0; i < 500; ++i) {
      span.Set("a" + std::to_string(i), std::string(5000, 'v'));
    }
    span.Fail(std::string(5000, 'e'));
  }
  const SpanData span = spans->spans().at(0);
  EXPECT_THAT(span.name, SizeIs(SpanLimits::kTextBytes));
  EXPECT_THAT(span.attributes, SizeIs(SpanLimits::kAttributes));
  EXPECT_THAT(AttributeOf(span, "a0"), SizeIs(SpanLimits::kTextBytes));
  EXPECT_THAT(*span.error, SizeIs(SpanLimits::kTextBytes));
}

TEST(TracerTest, IdsDiffer) {
  Tracer one({});
  Tracer other({});
  const SpanContext first = one.Start("a").context();
  const SpanContext second = one.Start("b").context();
  const SpanContext third = other.Start("c").context();
  EXPECT_NE(first.trace, second.trace);
  EXPECT_NE(first.span, second.span);
  EXPECT_NE(first.trace, third.trace);
}

TEST(TraceParentTest, IsReadAsItIsWritten) {
  const std::string header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto context = ParseTraceParent(header);
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(TraceParentOf(*context), header);
  EXPECT_EQ(base::ToHex(context->span), "b7ad6b7169203331");
  EXPECT_FALSE(
      ParseTraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02")->sampled);
  EXPECT_TRUE(ParseTraceParent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what"));
}

TEST(TraceStateTest, OnlyWhatEverybodyTakesIsSentOn) {
  const auto sent = [](std::string state) { return TraceStateOf({.state = std::move(state)}); };
  EXPECT_EQ(sent("a=1, b=~"), "a=1, b=~");
  EXPECT_EQ(sent(std::string(512, 'a')), std::string(512, 'a'));
  EXPECT_EQ(sent(std::string(513, 'a')), "");
  EXPECT_EQ(sent(std::string(31, ',')), std::string(31, ','));
  EXPECT_EQ(sent(std::string(32, ',')), "");
  EXPECT_EQ(sent("a=1\r\nX: y"), "");
  EXPECT_EQ(sent("a=\xff"), "");
}

TEST(TraceParentTest, WhatIsMalformedIsNoParent) {
  const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ParseTraceParent(good.substr(0, size))) << size;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = 'X';
    EXPECT_FALSE(ParseTraceParent(bad)) << bad;
  }
  for (const std::string bad : {
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
           "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
           "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more",
       }) {
    EXPECT_FALSE(ParseTraceParent(bad)) << bad;
  }
}

}  // namespace
}  // namespace kubexx::tracing
