#include "kubexx/apiserver/object/version_priority.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>
#include <tuple>

namespace kubexx::apiserver {
namespace {

/// The maturity (2 means neither alpha nor beta), the major and the minor number.
using Version = std::tuple<int, std::int64_t, std::int64_t>;

/// Removes a number without leading zeros from the front of the text and returns it.
std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1 || text.front() == '0') {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<Version> Parse(std::string_view text) {
  if (!text.starts_with('v')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  const auto major = TakeNumber(text);
  if (!major || text.empty()) {
    return major ? std::optional<Version>({2, *major, 0}) : std::nullopt;
  }
  const bool beta = text.starts_with("beta");
  if (!beta && !text.starts_with("alpha")) {
    return std::nullopt;
  }
  text.remove_prefix(beta ? 4 : 5);
  const auto minor = TakeNumber(text);
  return minor && text.empty() ? std::optional<Version>({beta ? 1 : 0, *major, *minor})
                               : std::nullopt;
}

}  // namespace

bool IsPreferredVersion(std::string_view a, std::string_view b) {
  const auto first = Parse(a);
  const auto second = Parse(b);
  if (!first && !second) {
    return a < b;
  }
  return first && (!second || *first > *second);
}

}  // namespace kubexx::apiserver
