#include "kubexx/tracing/sampler.h"

#include <gmock/gmock.h>

#include <string>

namespace kubexx::tracing {
namespace {

using ::testing::HasSubstr;

TraceId IdWithLowHalf(std::uint64_t low) {
  TraceId id{};
  for (std::size_t i = id.size(); i-- > id.size() / 2; low >>= 8) {
    id.at(i) = static_cast<std::uint8_t>(low);
  }
  return id;
}

TEST(SamplerTest, ThePartOfTheTracesIsThatOfTheRatio) {
  const Sampler half{.ratio = 0.5};
  EXPECT_TRUE(half.Samples({}, IdWithLowHalf(1)));
  EXPECT_TRUE(half.Samples({}, IdWithLowHalf(0x7fffffffffffffffULL)));
  EXPECT_FALSE(half.Samples({}, IdWithLowHalf(0x8000000000000000ULL)));
  EXPECT_FALSE(half.Samples({}, IdWithLowHalf(0xffffffffffffffffULL)));
  EXPECT_TRUE((Sampler{.ratio = 1}.Samples({}, IdWithLowHalf(0xffffffffffffffffULL))));
  EXPECT_FALSE((Sampler{.ratio = 0}.Samples({}, IdWithLowHalf(0))));
}

TEST(SamplerTest, AParentDecidesWhereItIsAsked) {
  SpanContext parent{.trace = IdWithLowHalf(1), .span = {1}, .sampled = true};
  EXPECT_TRUE((Sampler{.parent_based = true, .ratio = 0}.Samples(parent, parent.trace)));
  EXPECT_FALSE((Sampler{.parent_based = false, .ratio = 0}.Samples(parent, parent.trace)));
  parent.sampled = false;
  EXPECT_FALSE((Sampler{.parent_based = true, .ratio = 1}.Samples(parent, parent.trace)));
  EXPECT_TRUE((Sampler{.parent_based = false, .ratio = 1}.Samples(parent, parent.trace)));
}

TEST(SamplerTest, NamesAreThoseOfOpenTelemetry) {
  const auto parsed = [](const char* name, const char* argument) {
    const auto sampler = ParseSampler(name, argument);
    EXPECT_TRUE(sampler) << sampler.error().message;
    return sampler.value_or(Sampler{.ratio = -1});
  };
  EXPECT_EQ(parsed("", "0.1"), (Sampler{.parent_based = true, .ratio = 1}));
  EXPECT_EQ(parsed("always_on", ""), (Sampler{.parent_based = false, .ratio = 1}));
  EXPECT_EQ(parsed("always_off", ""), (Sampler{.parent_based = false, .ratio = 0}));
  EXPECT_EQ(parsed("traceidratio", "0.25"), (Sampler{.parent_based = false, .ratio = 0.25}));
  EXPECT_EQ(parsed("traceidratio", ""), (Sampler{.parent_based = false, .ratio = 1}));
  EXPECT_EQ(parsed("parentbased_always_on", ""), Sampler());
  EXPECT_EQ(parsed("parentbased_always_off", ""), (Sampler{.parent_based = true, .ratio = 0}));
  EXPECT_EQ(parsed("parentbased_traceidratio", "1e-3"),
            (Sampler{.parent_based = true, .ratio = 0.001}));
}

TEST(SamplerTest, OthersAreRefusedWithWhatIsPossible) {
  EXPECT_THAT(ParseSampler("jaeger_remote", "").error().message,
              HasSubstr("OTEL_TRACES_SAMPLER \"jaeger_remote\": must be always_on"));
  for (const char* bad : {"-0.1", "1.1", "nan", "half", "0.5x"}) {
    EXPECT_THAT(ParseSampler("traceidratio", bad).error().message,
                HasSubstr("OTEL_TRACES_SAMPLER_ARG \"" + std::string(bad) + "\": must be from 0"));
  }
}

}  // namespace
}  // namespace kubexx::tracing
