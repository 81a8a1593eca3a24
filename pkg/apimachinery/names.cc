#include "kubexx/apimachinery/names.h"

#include <algorithm>
#include <cstddef>

#include "kubexx/base/ascii.h"

namespace kubexx::apimachinery {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;

bool IsPart(std::string_view text) {
  return !text.empty() && base::IsLowerAlphanumeric(text.front()) &&
         base::IsLowerAlphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return base::IsLowerAlphanumeric(c) || c == '-'; });
}

}  // namespace

bool IsDnsLabel(std::string_view text) { return text.size() <= kMaxLabel && IsPart(text); }

bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > kMaxSubdomain) {
    return false;
  }
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsPart(text.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(dot + 1);
  }
}

}  // namespace kubexx::apimachinery
