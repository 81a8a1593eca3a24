#include "kubexx/tracing/span_context.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "kubexx/base/hex.h"

namespace kubexx::tracing {
namespace {

constexpr unsigned kSampledFlag = 1;
// W3C Trace Context: what everybody has to pass on, and how many members there may be.
constexpr std::size_t kMaxStateBytes = 512;
constexpr std::ptrdiff_t kMaxStateMembers = 32;

// Upper-case digits are not allowed.
bool FromHex(std::string_view text, std::span<std::uint8_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string_view digits = text.substr(2 * i, 2);
    if (std::ranges::any_of(digits, [](char c) { return c >= 'A' && c <= 'F'; })) {
      return false;
    }
    const int high = base::HexValue(digits[0]);
    const int low = base::HexValue(digits[1]);
    if (high < 0 || low < 0) {
      return false;
    }
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

bool IsSet(std::span<const std::uint8_t> bytes) {
  return std::ranges::any_of(bytes, [](std::uint8_t byte) { return byte != 0; });
}

}  // namespace

bool SpanContext::IsValid() const { return IsSet(trace) && IsSet(span); }

std::string TraceParentOf(const SpanContext& context) {
  return "00-" + base::ToHex(context.trace) + "-" + base::ToHex(context.span) +
         (context.sampled ? "-01" : "-00");
}

std::string TraceStateOf(const SpanContext& context) {
  const std::string& state = context.state;
  const bool printable = std::ranges::all_of(state, [](char c) { return c >= ' ' && c <= '~'; });
  const bool is_short =
      state.size() <= kMaxStateBytes && std::ranges::count(state, ',') < kMaxStateMembers;
  return printable && is_short ? state : std::string();
}

std::optional<SpanContext> ParseTraceParent(std::string_view header) {
  constexpr std::size_t kTraceAt = 3;
  constexpr std::size_t kSpanAt = 36;
  constexpr std::size_t kFlagsAt = 53;
  constexpr std::size_t kSize = 55;
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  SpanContext context;
  const bool well_formed =
      header.size() >= kSize && header[kTraceAt - 1] == '-' && header[kSpanAt - 1] == '-' &&
      header[kFlagsAt - 1] == '-' && FromHex(header, version) &&
      FromHex(header.substr(kTraceAt), context.trace) &&
      FromHex(header.substr(kSpanAt), context.span) && FromHex(header.substr(kFlagsAt), flags);
  constexpr std::uint8_t kNoVersion = 0xff;
  if (!well_formed || version[0] == kNoVersion || !context.IsValid()) {
    return std::nullopt;
  }
  // A later version may have more behind a dash.
  if (header.size() > kSize && (version[0] == 0 || header[kSize] != '-')) {
    return std::nullopt;
  }
  context.sampled = (flags[0] & kSampledFlag) != 0;
  return context;
}

}  // namespace kubexx::tracing
