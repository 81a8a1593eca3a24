#include "kubexx/events/event_text.h"

#include <fmt/format.h>

#include "kubexx/base/ascii.h"
#include "kubexx/base/identity.h"

namespace kubexx::events {
namespace {

constexpr std::size_t kMaxNameBytes = 253;

/// RFC 1123 as Kubernetes reads it: labels of a-z, 0-9 and inner "-", joined by dots.
bool IsDnsSubdomain(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes) {
    return false;
  }
  char before = '.';
  for (const char c : name) {
    const bool begins = before == '.';
    const bool fits = base::IsLowerAlphanumeric(c) || (c == '-' && !begins) ||
                      (c == '.' && !begins && before != '-');
    if (!fits) {
      return false;
    }
    before = c;
  }
  return base::IsLowerAlphanumeric(before);
}

}  // namespace

std::string EventName(std::string_view object, std::int64_t unix_nanoseconds) {
  std::string name = fmt::format("{}.{:x}", object, unix_nanoseconds);
  return IsDnsSubdomain(name) ? name : base::RandomUuid();
}

}  // namespace kubexx::events
