#include "kubexx/tracing/sampler.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

namespace kubexx::tracing {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<double> ParseRatio(std::string_view text) {
  double ratio = 1;
  if (text.empty()) {
    return ratio;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
  if (error != std::errc() || end != text.data() + text.size() || !(ratio >= 0 && ratio <= 1)) {
    return Fail(Reason::kInvalidConfig,
                "OTEL_TRACES_SAMPLER_ARG \"" + std::string(text) + "\": must be from 0 to 1");
  }
  return ratio;
}

}  // namespace

bool Sampler::Samples(const SpanContext& parent, const TraceId& trace) const {
  if (parent_based && parent.IsValid()) {
    return parent.sampled;
  }
  if (ratio >= 1 || ratio <= 0) {
    return ratio >= 1;
  }
  // As in Go: the lower half of the id, without its last bit, so that the bound fits.
  std::uint64_t low = 0;
  for (std::size_t i = trace.size() / 2; i < trace.size(); ++i) {
    low = low << 8 | trace[i];
  }
  constexpr double kAll = 9223372036854775808.0;  // 2^63
  return low >> 1 < static_cast<std::uint64_t>(ratio * kAll);
}

Result<Sampler> ParseSampler(std::string_view name, std::string_view argument) {
  Sampler sampler;
  if (name.empty()) {
    return sampler;
  }
  constexpr std::string_view kParentBased = "parentbased_";
  std::string_view root = name;
  sampler.parent_based = root.starts_with(kParentBased);
  root.remove_prefix(sampler.parent_based ? kParentBased.size() : 0);
  if (root == "always_on") {
    sampler.ratio = 1;
  } else if (root == "always_off") {
    sampler.ratio = 0;
  } else if (root == "traceidratio") {
    KX_ASSIGN_OR_RETURN(sampler.ratio, ParseRatio(argument));
  } else {
    return Fail(Reason::kInvalidConfig,
                "OTEL_TRACES_SAMPLER \"" + std::string(name) +
                    "\": must be always_on, always_off or traceidratio, or one of these with "
                    "parentbased_ in front");
  }
  return sampler;
}

}  // namespace kubexx::tracing
