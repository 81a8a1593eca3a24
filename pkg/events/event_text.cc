#include "kubexx/events/event_text.h"

#include <fmt/format.h>

#include "kubexx/base/ascii.h"
#include "kubexx/base/identity.h"
#include "kubexx/base/utf8.h"

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

std::string CutUtf8(std::string_view text, std::size_t max_bytes) {
  // What is cut off need not be repaired; a repaired byte takes three, never fewer than it had.
  std::string out = base::ToValidUtf8(text.substr(0, max_bytes + 4));
  if (out.size() <= max_bytes) {
    return out;
  }
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0U) == 0x80U) {
    --end;
  }
  out.resize(end);
  return out;
}

std::string EventName(std::string_view object, std::int64_t unix_nanoseconds) {
  std::string name = fmt::format("{}.{:x}", object, unix_nanoseconds);
  return IsDnsSubdomain(name) ? name : base::RandomUuid();
}

}  // namespace kubexx::events
