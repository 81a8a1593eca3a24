#include "kubexx/apimachinery/resource_version.h"

#include <algorithm>

#include "kubexx/base/ascii.h"

namespace kubexx::apimachinery {
namespace {

bool IsVersionNumber(std::string_view text) {
  return !text.empty() && (text.front() != '0' || text.size() == 1) &&
         std::ranges::all_of(text, base::IsDigit);
}

}  // namespace

std::optional<std::strong_ordering> CompareResourceVersions(std::string_view a,
                                                            std::string_view b) {
  if (!IsVersionNumber(a) || !IsVersionNumber(b)) {
    return std::nullopt;
  }
  return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

}  // namespace kubexx::apimachinery
